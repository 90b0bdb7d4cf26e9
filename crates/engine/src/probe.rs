//! What a command would lead to. The engine decides it on a copy and keeps nothing, so anyone who gives
//! advice asks the rules themselves and needs no second copy of them.

use alloc::{boxed::Box, string::String, vec::Vec};

use definition::Workflow;

use crate::{
    Answer, AnswerGate, Command, Fact, FileFact, How, Known, Question, Refusal, RunState, Stop,
    decide,
};

/// What a command would lead to.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// The engine accepts it; the run is then like this.
    Open(Box<RunState>),
    /// It depends on something that nobody has looked at. Files are work, so this counts as open.
    Needs(Vec<Question>),
    Closed(Refusal),
}

impl Probe {
    /// Returns whether the command may be sent.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Closed(_))
    }

    /// Returns why the command would be refused.
    pub fn refusal(&self) -> Option<&Refusal> {
        if let Self::Closed(refusal) = self { Some(refusal) } else { None }
    }

    /// Returns the state after the command, where that can be told.
    pub fn state(&self) -> Option<&RunState> {
        if let Self::Open(state) = self { Some(state) } else { None }
    }
}

/// Tries a command without keeping what it leads to. Looks at nothing.
pub fn probe(workflow: &Workflow, state: &RunState, known: &Known, command: &Command) -> Probe {
    match decide(workflow, state, known, command) {
        Ok(decided) => Probe::Open(Box::new(decided.state)),
        Err(Stop::Ask(questions)) => Probe::Needs(questions),
        Err(Stop::Refused(refusal)) => Probe::Closed(refusal),
    }
}

/// Tries a person's own yes at the gate that is open, so that what comes after it can be told. The yes
/// is to what the gate showed: a file that it did not show counts as missing.
pub fn probe_approval(workflow: &Workflow, state: &RunState, known: &Known) -> Probe {
    let approval = AnswerGate {
        answer: Answer::Approve,
        feedback: String::new(),
        by: String::new(),
        how: How::Verified,
        digest: None,
    };
    let command = Command::AnswerGate(Box::new(approval));
    let found = probe(workflow, state, known, &command);
    let Probe::Needs(questions) = found else { return found };
    let shown = state.standing.open_gate().map(|it| it.artifacts.as_slice()).unwrap_or_default();
    let is_unseen = |it: &Question| match it {
        Question::File(path) => shown.iter().all(|it| it.path != *path),
        Question::Beside(_)
        | Question::Git
        | Question::Branch(_)
        | Question::Check { .. }
        | Question::Model { .. } => false,
    };
    if !questions.iter().all(is_unseen) {
        return Probe::Needs(questions);
    }
    let mut known = known.clone();
    let missing = |it| (it, Fact::File(FileFact::Missing));
    known.facts.extend(questions.into_iter().map(missing));
    probe(workflow, state, &known, &command)
}

/// Tries commands one after another: each on the state that those before it led to. One that is
/// closed leaves the state as it is.
pub fn probe_in_turn<'a>(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
    commands: impl IntoIterator<Item = &'a Command>,
) -> Vec<Probe> {
    let mut state = state.clone();
    let mut tried = Vec::new();
    for command in commands {
        let found = probe(workflow, &state, known, command);
        if let Some(after) = found.state() {
            state = after.clone();
        }
        tried.push(found);
    }
    tried
}
