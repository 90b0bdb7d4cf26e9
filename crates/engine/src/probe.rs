//! What a command would lead to. The engine decides it on a copy and keeps nothing, so anyone who gives
//! advice asks the rules themselves and needs no second copy of them.

use alloc::{boxed::Box, string::String, vec::Vec};

use definition::Workflow;

use crate::{
    Answer, AnswerGate, Command, Fact, FileFact, How, Known, Question, Refusal, RunState, Stop,
    decide, decide::gate,
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

/// Tries a command without keeping what it leads to. Looks at nothing; a file that an open gate would
/// show, and did not, counts as still missing.
pub fn probe(workflow: &Workflow, state: &RunState, known: &Known, command: &Command) -> Probe {
    let unshown = find_unshown(workflow, state, known);
    let assumed = (!unshown.is_empty()).then(|| {
        let mut known = known.clone();
        known.facts.extend(unshown.into_iter().map(|it| (it, Fact::File(FileFact::Missing))));
        known
    });
    match decide(workflow, state, assumed.as_ref().unwrap_or(known), command) {
        Ok(decided) => Probe::Open(Box::new(decided.state)),
        Err(Stop::Ask(questions)) => Probe::Needs(questions),
        Err(Stop::Refused(refusal)) => Probe::Closed(refusal),
    }
}

/// Returns the files that were not there when a gate opened which shows them, and that nobody has
/// looked for since.
fn find_unshown(workflow: &Workflow, state: &RunState, known: &Known) -> Vec<Question> {
    let Some(open) = state.standing.open_gate() else { return Vec::new() };
    let Some(step) = workflow.find_step(&open.step) else { return Vec::new() };
    let paths = gate::paths_shown(workflow, state, step, open).unwrap_or_default();
    let unshown = paths.into_iter().skip(open.artifacts.len()).map(Question::File);
    unshown.filter(|it| !known.facts.contains_key(it)).collect()
}

/// Tries a person's own yes at the gate that is open, so that what comes after it can be told.
pub fn probe_approval(workflow: &Workflow, state: &RunState, known: &Known) -> Probe {
    let approval = AnswerGate {
        answer: Answer::Approve,
        feedback: String::new(),
        by: String::new(),
        how: How::Verified,
        digest: None,
    };
    probe(workflow, state, known, &Command::AnswerGate(Box::new(approval)))
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
