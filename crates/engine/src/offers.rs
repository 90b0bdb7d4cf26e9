//! What can be done with a run now: the probe over the engine's own candidates. Whoever gives advice
//! words these, so that nothing is advised that the engine would refuse.

use alloc::{boxed::Box, string::String, vec::Vec};

use definition::{Answers, Decider, GateOption, Step, StepName, Target, Workflow};
use serde_json::Map;

use crate::{
    Action, Answer, AnswerGate, AttemptStatus, Command, ContextChange, How, Known, Outcome, Probe,
    Progress, Refusal, Report, ReportOptions, ReportStep, RunState, StartStep,
    decide::{EvalContext, route},
    find_promised, next, probe, probe_approval, target_name,
};

/// Why a run is given up, as far as a probe is concerned.
const GIVEN_UP: &str = "it is given up";
/// How many answers of persons are looked past.
const ANSWERS_MAX: usize = 3;

/// Something that may be done with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Start an attempt at a step, or start it over.
    Begin(StepName),
    /// Have a person asked about the work on a step before it is reported.
    Ask(StepName),
    /// Report that a step is done.
    Report(StepName),
    /// Name what comes after a step that is done.
    Choose {
        after: StepName,
        to: Target,
    },
    /// Report the failure of a step again, and name what comes in place of another attempt.
    Leave {
        step: StepName,
        to: Target,
    },
    /// Make a step ready whose last attempt failed.
    Retry(StepName),
    /// Give an answer at the open gate.
    Answer {
        option: String,
        how: How,
    },
    /// Continue with a run that failed or was cancelled.
    Reopen,
    /// Give the run up.
    Fail,
    Cancel,
}

/// A command that the engine would accept now.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub what: What,
    pub command: Command,
    pub needs: Needs,
}

/// What must be there for a report to be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// The files that the step must leave behind, as far as is known now.
    pub files: Vec<String>,
    /// The keys of the criteria that need evidence.
    pub evidence: Vec<String>,
}

/// What can be done with a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// What leads on, the best first.
    pub open: Vec<Offer>,
    /// What a caller may think of that the engine would refuse, and why.
    pub closed: Vec<(What, Refusal)>,
    /// How the run can be given up.
    pub ends: Vec<Offer>,
    /// Whether `open` is only so after a person has answered.
    pub needs_person: bool,
}

impl What {
    /// Returns the plainest command for it.
    pub fn command(&self) -> Command {
        let report = |step: &StepName, status: &str, next: Option<&Target>| {
            let (step_id, status) = (String::from(step.as_str()), String::from(status));
            Command::ReportStep(Box::new(ReportStep {
                part: None,
                report: Report { step_id, status, ..Report::default() },
                context: ContextChange::default(),
                next: next.map(|it| String::from(target_name(it))),
                holder: None,
                terms: ReportOptions::default(),
            }))
        };
        match self {
            Self::Begin(step) | Self::Ask(step) => Command::StartStep(StartStep {
                step: String::from(step.as_str()),
                part: None,
                details: Map::new(),
                again: true,
                asks: matches!(self, Self::Ask(_)),
            }),
            Self::Report(step) => report(step, "success", None),
            Self::Choose { after, to } => report(after, "success", Some(to)),
            Self::Leave { step, to } => report(step, "failure", Some(to)),
            Self::Retry(step) => {
                Command::RetryStep { step: String::from(step.as_str()), details: Map::new() }
            }
            Self::Answer { option, how } => Command::AnswerGate(Box::new(AnswerGate {
                answer: Answer::Named(option.clone()),
                feedback: String::new(),
                by: String::new(),
                how: *how,
                digest: None,
            })),
            Self::Reopen => Command::ReopenRun { reason: String::new(), force: false },
            Self::Fail => {
                Command::FailRun { reason: GIVEN_UP.into(), step: None, errors: Vec::new() }
            }
            Self::Cancel => Command::CancelRun { reason: GIVEN_UP.into() },
        }
    }
}

/// Returns what can be done with a run. `command` turns each candidate into the command that the
/// caller's tools would send; `None` where they cannot.
pub fn offers(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
    command: impl Fn(&What) -> Option<Command>,
) -> Offers {
    let sort = |state: &RunState, candidates: Vec<What>| {
        let mut found = Offers::default();
        for what in candidates {
            let Some(command) = command(&what) else { continue };
            match probe(workflow, state, known, &command) {
                Probe::Closed(refusal) => found.closed.push((what, refusal)),
                Probe::Open(_) | Probe::Needs(_) => {
                    let needs = find_needs(workflow, state, &what);
                    found.open.push(Offer { what, command, needs });
                }
            }
        }
        found
    };
    let ends = sort(state, Vec::from([What::Fail, What::Cancel])).open;
    let mut found = sort(state, candidates(workflow, state));
    let mut after = state.clone();
    for _ in 0..ANSWERS_MAX {
        if !found.open.is_empty() {
            break;
        }
        // Only a person leads on; what comes then is told too.
        let Some(answered) = probe_approval(workflow, &after, known).state().cloned() else {
            break;
        };
        let open = sort(&answered, candidates(workflow, &answered)).open;
        (after, found.open, found.needs_person) = (answered, open, true);
    }
    let needs_person =
        found.needs_person || found.open.is_empty() && after.standing.open_gate().is_some();
    Offers { ends, needs_person, ..found }
}

fn candidates(workflow: &Workflow, state: &RunState) -> Vec<What> {
    match next(workflow, state) {
        Action::Work { step, .. } => at_work(workflow, state, step),
        Action::Choose { after, choices } => {
            let choose = |to| What::Choose { after: after.name.clone(), to };
            choices.into_iter().map(choose).collect()
        }
        Action::Wait { gate } => {
            let how = match gate.answers {
                Answers::Relayed => How::Relayed,
                Answers::Verified => How::Verified,
            };
            let answer = |it: &GateOption| What::Answer { option: it.name.clone(), how };
            // To begin the step again would take the question back.
            let report = What::Report(gate.step.clone());
            [report].into_iter().chain(gate.options.iter().map(answer)).collect()
        }
        Action::Stopped { .. } => Vec::from([What::Reopen]),
        Action::Chore { .. } | Action::Done => Vec::new(),
    }
}

/// What may come while a step is worked on. After a failure or an error it is done again, or the
/// work goes back.
fn at_work(workflow: &Workflow, state: &RunState, step: &Step) -> Vec<What> {
    let own = &step.name;
    let effort = state.effort(own, None);
    let is_begun = effort.is_some_and(|it| it.progress == Progress::Active);
    let is_agreed = state.step(own).is_some_and(|it| it.agreed.is_some());
    let trouble = effort.map(|it| it.trouble).unwrap_or_default();
    let earlier = workflow.steps.iter().take_while(|it| it.name != *own).map(|it| it.name.clone());
    let back = earlier.map(What::Begin);
    let report = What::Report(own.clone());
    let begin = What::Begin(own.clone());
    let ways = ways_from_failure(workflow, state, step)
        .into_iter()
        .map(|to| What::Leave { step: own.clone(), to });
    match trouble {
        AttemptStatus::None | AttemptStatus::Retried => {
            let asks = step.gate.is_some() && is_begun && !is_agreed;
            let ask = asks.then(|| What::Ask(own.clone()));
            ask.into_iter().chain([report, begin]).collect()
        }
        AttemptStatus::Failed => {
            back.chain([What::Retry(own.clone()), report, begin]).chain(ways).collect()
        }
        AttemptStatus::Faulty => back.chain([begin, report]).collect(),
    }
}

/// Returns the steps ahead that an agent may name in place of another attempt at `step`, which
/// failed.
fn ways_from_failure(workflow: &Workflow, state: &RunState, step: &Step) -> Vec<Target> {
    let report = state.step(&step.name).and_then(|it| it.effort.report.as_ref());
    let has_failed = report.is_some_and(|it| it.outcome() == Outcome::Failure);
    if state.decider() == Decider::Declared || !has_failed {
        return Vec::new();
    }
    let mut ways = route::allowed(workflow, state, step, EvalContext::of_report(report));
    let place = |name: &StepName| workflow.steps.iter().position(|it| it.name == *name);
    ways.retain(|it| match it {
        Target::Step(to) => place(&step.name) < place(to),
        Target::Finish => true,
    });
    ways
}

fn find_needs(workflow: &Workflow, state: &RunState, what: &What) -> Needs {
    let What::Report(name) = what else { return Needs::default() };
    let Some(step) = workflow.find_step(name) else { return Needs::default() };
    let files = match step.each {
        Some(_) => Vec::new(),
        None => find_promised(workflow, state, step, None),
    };
    Needs { files, evidence: step.criteria.iter().map(|it| it.key.clone()).collect() }
}
