//! A language model is asked what comes next. Its word counts as an agent's does: it is read,
//! checked against the definition, and asked for once more where it is wrong. Where it cannot be
//! had the choice falls to the agent, so that a model that is away never fails or loses a run.

mod prompt;
mod reply;

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Decider, FINISH, Step, StepName, Target, Workflow};
use serde_json::Map;

use super::{Draft, EvalContext, change_context, mode::Mode, route, then::Then};
use crate::{
    ContextChange, Event, FailCause, ModelAsked, ModelFact, ModelFailure, ModelFailureKind, Report,
    Stop, Usage, invariant,
};
use prompt::Asking;
use reply::{Reply, Suggestion};

/// What a model answers to say that the run has failed.
const FAILED: &str = "FAILED";
/// How often a model is asked for one decision: once, and once more where its answer is wrong.
const ASKED_MAX: u32 = 2;
/// The most of a wrong name that is told, in characters.
const NAME_CHARS_MAX: usize = 100;

/// What a model said, checked.
#[derive(Debug, Clone)]
pub(super) struct Advice {
    pub(super) to: Way,
    reasoning: String,
    suggestion: Option<Suggestion>,
}

/// Where a model says to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    To(Target),
    /// The run has failed where it is.
    Fail,
    /// Its word could not be had: the agent chooses.
    Open,
}

impl Draft<'_> {
    /// Returns whether a language model chooses what comes next.
    pub(super) fn has_model(&self) -> bool {
        self.state.decider() == Decider::Ai && self.known.has_model
    }
}

impl Advice {
    /// Returns whether the model wants `step` left for another one, or the run completed.
    pub(super) fn leaves(&self, step: &Step) -> bool {
        match &self.to {
            Way::To(target) => *target != Target::Step(step.name.clone()),
            Way::Fail | Way::Open => false,
        }
    }

    /// Returns what ends the run, if the model wants that.
    fn end(self) -> Option<Event> {
        if self.to == Way::Fail || self.suggestion == Some(Suggestion::Failed) {
            let (reason, cause) = (self.reasoning, Some(FailCause::Model));
            return Some(Event::RunFailed { reason, step: None, cause });
        }
        let is_completed = self.suggestion == Some(Suggestion::Completed);
        is_completed.then(|| Event::RunCompleted { details: Map::new() })
    }
}

/// Stays at the step; the run may end there all the same.
pub(super) fn stay(draft: &mut Draft<'_>, advice: Advice) {
    if let Some(end) = advice.end() {
        draft.push(end);
    }
}

/// Goes where the model says.
pub(super) fn follow(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    advice: Advice,
    sight: EvalContext<'_>,
) -> Result<Then, Stop> {
    let Way::To(target) = &advice.to else {
        stay(draft, advice);
        return Ok(Then::Stay);
    };
    let chosen = (target.clone(), advice.reasoning.clone());
    match route::advised(draft, mode, step, chosen, sight)? {
        Then::Enter { step, choice, .. } => {
            Ok(Then::Enter { step, choice, end: advice.end().map(Box::new) })
        }
        Then::Stay => Ok(Then::Stay),
    }
}

/// Asks, once more if the answer is wrong, and notes what came of it.
pub(super) fn ask(
    draft: &mut Draft<'_>,
    step: &Step,
    report: &Report,
    assumed: Option<&str>,
) -> Result<Advice, Stop> {
    let allowed =
        route::allowed(draft.workflow, &draft.state, step, EvalContext::of_report(Some(report)));
    let asking = Asking {
        workflow: draft.workflow,
        state: &draft.state,
        step,
        report,
        assumed,
        allowed: &allowed,
        bytes_max: draft.known.bounds.prompt_bytes_max,
    };
    let mut usage = Usage::default();
    let mut heard: Option<(Reply, Way)> = None;
    let mut wrong: Option<ModelFailure> = None;
    for _ in 0..ASKED_MAX {
        match draft.known.model(asking.question(wrong.as_ref()))? {
            ModelFact::Failed { failure, usage: used } => {
                usage.add(used);
                wrong = Some(failure.clone());
                // Anyone who asks has tried again already where that could help.
                if failure.kind != ModelFailureKind::InvalidResponse {
                    break;
                }
            }
            ModelFact::Replied { text, usage: used } => {
                usage.add(used);
                match read(draft.workflow, step, &allowed, text) {
                    Ok(found) => {
                        heard = Some(found);
                        break;
                    }
                    Err(failure) => wrong = Some(failure),
                }
            }
        }
    }
    match (heard, wrong) {
        (Some((reply, to)), _) => Ok(take(draft, step, usage, reply, to)),
        (None, wrong) => Ok(defer(draft, step, usage, wrong)),
    }
}

/// Reads a reply, and finds out where it leads.
fn read(
    workflow: &Workflow,
    step: &Step,
    allowed: &[Target],
    text: &str,
) -> Result<(Reply, Way), ModelFailure> {
    let reply = reply::parse(text)?;
    let invalid = |message: String| ModelFailure { kind: ModelFailureKind::InvalidStep, message };
    let named = cut(&reply.next, NAME_CHARS_MAX).replace(char::is_control, " ");
    let to = match find_way(workflow, &reply.next) {
        Some(Way::To(target)) if !allowed.contains(&target) => {
            return Err(invalid(format!("step `{named}` may not follow step `{}`", step.name)));
        }
        Some(way) => way,
        None => return Err(invalid(format!("the workflow has no step `{named}`"))),
    };
    Ok((reply, to))
}

/// Returns what a name means: as it is written, else the one that it is loosely.
fn find_way(workflow: &Workflow, named: &str) -> Option<Way> {
    let step = |it: &Step| Way::To(Target::Step(it.name.clone()));
    if named == FAILED {
        return Some(Way::Fail);
    }
    if named != FINISH
        && let Some(exact) = workflow.work_steps().find(|it| it.name.as_str() == named)
    {
        return Some(step(exact));
    }
    let wanted = StepName::parse(named.trim()).ok()?.folded();
    let mut fitting: Vec<Way> =
        workflow.work_steps().filter(|it| it.name.folded() == wanted).map(step).collect();
    if wanted == FINISH.to_lowercase() {
        // The reserved word as it is written is not taken for a step that is only like it.
        if named == FINISH {
            return Some(Way::To(Target::Finish));
        }
        fitting.push(Way::To(Target::Finish));
    }
    if wanted == FAILED.to_lowercase() {
        fitting.push(Way::Fail);
    }
    if fitting.len() == 1 { fitting.pop() } else { None }
}

/// Notes what the model chose, and takes what it has for the context.
fn take(draft: &mut Draft<'_>, step: &Step, usage: Usage, reply: Reply, to: Way) -> Advice {
    let Reply { next: _, updates, mut suggestion, reasoning, mut warnings } = reply;
    let target = match &to {
        Way::To(Target::Step(name)) => draft.workflow.find_step(name),
        Way::To(Target::Finish) | Way::Fail | Way::Open => None,
    };
    if suggestion == Some(Suggestion::Suspended) {
        suggestion = None;
        warnings.push(String::from("it suggested SUSPENDED, but only a gate holds a run up"));
    }
    if suggestion == Some(Suggestion::Completed) && target.is_some_and(|it| !is_plain(it)) {
        suggestion = None;
        warnings.push(String::from("it suggested COMPLETED, but the step it names has rules"));
    }
    let is_owed = |it: &Step| {
        let gates = draft.known.gates;
        !invariant::owed_before_end(draft.workflow, &draft.state, &it.name, gates).is_empty()
    };
    if suggestion == Some(Suggestion::Completed) && target.is_some_and(is_owed) {
        suggestion = None;
        warnings.push(String::from("it suggested COMPLETED, but a gate before the end is open"));
    }
    let set = updates.into_iter().filter(|(key, value)| !prompt::is_masked(key, value)).collect();
    let change = ContextChange { set, remove: Vec::new() };
    let mut context = draft.state.context.clone();
    context.extend(change.set.clone());
    let refused = change_context::check_context(draft, &context).err();
    if let Some(refusal) = &refused {
        warnings.push(format!("what it had for the context was not taken: {refusal}"));
    }
    let next = match &to {
        Way::To(target) => route::target_name(target),
        Way::Fail | Way::Open => FAILED,
    };
    draft.push(Event::ModelAsked(
        ModelAsked {
            step: step.name.clone(),
            next: Some(next.to_string()),
            reasoning: Some(reasoning.clone()).filter(|it| !it.is_empty()),
            failure: None,
            usage,
            warnings,
        }
        .into(),
    ));
    if refused.is_none() {
        change_context::add(draft, &change);
    }
    let reasoning =
        if reasoning.is_empty() { String::from("the model chose it") } else { reasoning };
    Advice { to, reasoning, suggestion }
}

/// A step that a run may end at without having done it: no rule says otherwise.
fn is_plain(step: &Step) -> bool {
    let has_rules = step.gate.is_some()
        || step.review.is_some()
        || step.each.is_some()
        || !step.next.is_empty()
        || !step.produces.is_empty()
        || !step.checks.is_empty();
    !has_rules
}

/// Leaves the choice to the agent, or fails the run if that is wanted.
fn defer(draft: &mut Draft<'_>, step: &Step, usage: Usage, wrong: Option<ModelFailure>) -> Advice {
    let failure = wrong.unwrap_or_else(|| ModelFailure {
        kind: ModelFailureKind::Api,
        message: String::from("it gave no answer"),
    });
    let reasoning = format!("the language model did not choose: {}", failure.message);
    draft.push(Event::ModelAsked(
        ModelAsked {
            step: step.name.clone(),
            next: None,
            reasoning: None,
            failure: Some(failure),
            usage,
            warnings: Vec::new(),
        }
        .into(),
    ));
    let to = if draft.known.fail_on_model_error { Way::Fail } else { Way::Open };
    Advice { to, reasoning, suggestion: None }
}

fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
