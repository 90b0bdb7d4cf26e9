//! What leads on from where a scene is. The engine is asked, so that no text repeats its rules or
//! advises what it refuses.

use definition::{Target, Workflow};
use engine::{
    Action, AttemptStatus, Command, ContextChange, Known, Progress, RunState, StartStep, next,
    probe, probe_approval,
};
use serde_json::Map;

use super::{
    complete_step,
    words::{DRAFT, Step},
};

/// How many answers of persons are looked past.
const ANSWERS_MAX: usize = 3;

/// A call that leads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Start(&'static Step),
    /// `start_step` with `awaiting_approval`: the person is asked.
    Ask(&'static Step),
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
pub(super) fn find_onward(workflow: &Workflow, state: &RunState, known: &Known) -> Onward {
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
        Action::Work { step, .. } => at_work(workflow, state, step),
        // To begin the step again would take the question back.
        Action::Wait { gate } => {
            Step::find_key(gate.step.as_str()).map(Way::Complete).into_iter().collect()
        }
        Action::Choose { choices, .. } => choices.iter().flat_map(of_choice).collect(),
        Action::Chore { .. } | Action::Done => Vec::new(),
        Action::Stopped { .. } => vec![Way::Resume],
    };
    let is_open = |it: &Way| probe(workflow, state, known, &it.command()).is_open();
    candidates.into_iter().filter(is_open).collect()
}

/// The calls that can lead on from a step that is worked on, the best first.
fn at_work(workflow: &Workflow, state: &RunState, step: &definition::Step) -> Vec<Way> {
    let Some(own) = Step::find_key(step.name.as_str()) else { return Vec::new() };
    let effort = state.effort(&step.name, None);
    if effort.is_some_and(|it| it.trouble == AttemptStatus::Faulty) {
        // An error ends the attempt: the draft is written again, or the step is begun again.
        let earlier = workflow.steps.iter().take_while(|it| it.name != step.name);
        let earlier = earlier.filter_map(|it| Step::find_key(it.name.as_str()));
        let again = earlier.chain([own]).map(Way::Start);
        let goes_on = (own.number != DRAFT).then_some(Way::Complete(own));
        return again.chain(goes_on).collect();
    }
    let is_agreed = state.step(&step.name).is_some_and(|it| it.agreed.is_some());
    let is_begun = effort.is_some_and(|it| it.progress == Progress::Active);
    let ask = (step.gate.is_some() && is_begun && !is_agreed).then_some(Way::Ask(own));
    ask.into_iter().chain([Way::Complete(own), Way::Start(own)]).collect()
}

fn of_choice(target: &Target) -> Option<Way> {
    match target {
        Target::Step(name) => Step::find_key(name.as_str()).map(Way::Start),
        Target::Finish => Some(Way::Finish),
    }
}

impl Way {
    /// Returns the command that the call is.
    fn command(self) -> Command {
        match self {
            Self::Start(step) | Self::Ask(step) => Command::StartStep(StartStep {
                step: step.key.to_owned(),
                part: None,
                details: Map::new(),
                again: true,
                asks: matches!(self, Self::Ask(_)),
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
