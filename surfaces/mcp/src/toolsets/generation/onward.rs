//! What leads on from where a scene is. The engine is asked, so that no text repeats its rules or
//! advises what it refuses.

use definition::{Target, Workflow};
use engine::{
    Action, Command, ContextChange, Known, RunState, StartStep, next, probe, probe_approval,
};
use serde_json::Map;

use super::{
    complete_step,
    words::{STEPS, Step},
};

/// How many answers of persons are looked past.
const ANSWERS_MAX: usize = 3;

/// A call that leads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Start(&'static Step),
    Complete(&'static Step),
    /// `complete_generation`.
    Finish,
    /// `resume_generation`.
    Resume,
}

/// The calls that lead on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Onward {
    pub(crate) ways: Vec<Way>,
    /// Whether a person must answer first.
    pub(crate) needs_person: bool,
}

/// Returns what leads on from `state`.
pub(super) fn find(workflow: &Workflow, state: &RunState, known: &Known) -> Onward {
    let mut state = state.clone();
    let mut needs_person = false;
    for _ in 0..ANSWERS_MAX {
        let ways = ways(workflow, &state, known);
        if !ways.is_empty() {
            return Onward { ways, needs_person };
        }
        // Only a person leads on; what comes then is told too.
        let Some(after) = probe_approval(workflow, &state, known).state().cloned() else {
            break;
        };
        (state, needs_person) = (after, true);
    }
    let needs_person = needs_person || state.standing.open_gate().is_some();
    Onward { ways: Vec::new(), needs_person }
}

fn ways(workflow: &Workflow, state: &RunState, known: &Known) -> Vec<Way> {
    let candidates = match next(workflow, state) {
        Action::Work { step, .. } => at(step.name.as_str()),
        Action::Wait { gate } => at(gate.step.as_str()),
        Action::Choose { choices, .. } => choices.iter().flat_map(of_choice).collect(),
        Action::Chore { .. } | Action::Done => Vec::new(),
        Action::Stopped { .. } => vec![Way::Resume],
    };
    let is_open = |it: &Way| probe(workflow, state, known, &it.command()).is_open();
    candidates.into_iter().filter(is_open).collect()
}

fn at(step: &str) -> Vec<Way> {
    let step = STEPS.iter().find(|it| it.key == step);
    step.into_iter().flat_map(|it| [Way::Complete(it), Way::Start(it)]).collect()
}

fn of_choice(target: &Target) -> Option<Way> {
    match target {
        Target::Step(name) => STEPS.iter().find(|it| it.key == name.as_str()).map(Way::Start),
        Target::Finish => Some(Way::Finish),
    }
}

impl Way {
    /// Returns the command that the call is.
    fn command(self) -> Command {
        match self {
            Self::Start(step) => Command::StartStep(StartStep {
                step: step.key.to_owned(),
                part: None,
                details: Map::new(),
                again: true,
                asks: false,
            }),
            Self::Complete(step) => complete_step::plain(step),
            Self::Finish => Command::CompleteRun {
                details: Map::new(),
                context: ContextChange::default(),
                early: true,
            },
            Self::Resume => Command::ReopenRun { reason: String::new(), force: true },
        }
    }
}
