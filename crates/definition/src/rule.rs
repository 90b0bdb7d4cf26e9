//! What a run does by itself, and what it can be made to do by name: `on`.
//!
//! A move (`on.call`) is a change that a caller asks for by its name, and that is refused where its
//! condition does not hold. A rule (`on.change`) is a change that the engine makes by itself as soon
//! as its condition comes true. They and all else that happens consist of the same few deeds.

use std::collections::BTreeMap;

use crate::{Condition, Expression, StepName, Template, Workflow};

/// `on.call`: a change that a caller may ask for by its name.
#[derive(Debug, Clone)]
pub struct Move {
    pub name: String,
    /// When it may be made. `None`: always.
    pub when: Option<Condition>,
    /// The move that is made in its place where it may not be.
    pub otherwise: Option<String>,
    /// The arguments that must not be blank.
    pub needs: Vec<String>,
    /// The gate that a person's consent is for which comes with it.
    pub consent: Option<Consent>,
    pub actions: Vec<Action>,
}

/// `consent`: which gate is answered by a consent that comes with a move.
#[derive(Debug, Clone)]
pub struct Consent {
    pub step: StepName,
    /// When the gate, if it is not open, is asked and answered at once.
    pub when: Option<Condition>,
}

/// `on.change`: a change that is made as soon as a condition comes true.
#[derive(Debug, Clone)]
pub struct Rule {
    pub name: String,
    pub when: Condition,
    pub actions: Vec<Action>,
}

/// `on` of a step: what is done at moments of its own. None of it leaves the step.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    /// The step is entered.
    pub enter: Vec<Action>,
    /// Its work, or that of one of its parts, is done.
    pub done: Vec<Action>,
    /// A person sends the work back at its gate.
    pub back: Vec<Action>,
}

/// One deed, and when it is done.
#[derive(Debug, Clone)]
pub struct Action {
    pub when: Option<Condition>,
    pub deed: Deed,
}

/// What a run can do. There is nothing else.
#[derive(Debug, Clone)]
pub enum Deed {
    /// Variables get new values.
    Set(BTreeMap<String, Expression>),
    /// An object is merged into the context.
    Merge(Expression),
    /// The run goes to the step of this name.
    Goto(Template),
    /// A line is added to the journal.
    Note(Template),
    /// An error is recorded.
    Error(Template),
    /// An item is added, unless there is one of this text.
    AddItem(Template),
    /// The first open item that has one of these texts is done.
    CloseItem(Vec<Template>),
    /// An item of this text must be there, open or done.
    FindItem(Template),
    /// The journal is put into the archive, with a text that would be lost otherwise.
    Rotate(Rotation, Option<Template>),
    /// A line is put first under a heading of a file.
    Insert(Insertion),
    /// Files are removed, if they are there.
    Remove(Vec<Template>),
}

impl Workflow {
    /// Whether a run changes files by itself: it inserts lines or removes files.
    pub fn changes_files(&self) -> bool {
        self.actions().any(|it| matches!(it.deed, Deed::Insert(_) | Deed::Remove(_)))
    }

    /// Returns every action of the definition, whenever it happens.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        let moves = self.moves.iter().flat_map(|it| &it.actions);
        let rules = self.rules.iter().flat_map(|it| &it.actions);
        let chores = self.chores.iter().flat_map(|it| &it.actions);
        let steps = self.steps.iter().flat_map(|step| {
            let Moments { enter, done, back } = &step.on;
            let next = step.next.iter().flat_map(|it| &it.actions);
            let review = step.review.iter().flat_map(|it| &it.limits);
            let limits = review.flat_map(|it| &it.actions);
            enter.iter().chain(done).chain(back).chain(next).chain(limits)
        });
        moves.chain(rules).chain(chores).chain(&self.adopt).chain(steps)
    }
}

/// What the archive gets of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// The findings that matter most.
    Findings,
    /// All of it.
    Whole,
}

/// A line that is put first under a heading of a file.
#[derive(Debug, Clone)]
pub struct Insertion {
    pub path: Template,
    pub heading: String,
    pub line: Template,
}
