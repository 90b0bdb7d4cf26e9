//! What the tools that move a run answer: where it is now, and what the agent is to do.

use definition::{Answers, Effect, PartId, PartSpec, Step, Target};
use engine::{
    Action, Chore, Event, Offers, OpenGate, Recorded, Remedy, View, What, find_promised,
    find_required, next, target_name,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    WORDS, advice, cut,
    next_step::{NextStep, next_step},
    words::Status,
};
use crate::kit::{self, Done, Outcome, Person, Snapshot};

/// Where a run is, and what to do.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    instance_id: String,
    /// `null` while the agent must choose, or the run waits for a person.
    next_step: Option<NextStep>,
    current_context: Map<String, Value>,
    status: Status,
    /// Why the run is where it is.
    pub(super) reasoning: Option<String>,
    #[serde(flatten)]
    now: Now,
    run: String,
    seq: u64,
    /// What a newcomer needs to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) brief: Option<String>,
}

/// What of a run is there only at times.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Now {
    /// The steps to choose from: name one as `next_step_name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
    /// What the definition says on choosing, as far as it names none of the choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    guidance: Option<String>,
    /// The question that a person must answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Waiting>,
    /// The parts of the step that may be worked on now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    /// Why the run failed or was cancelled, or why a language model did not choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How a run that failed or was cancelled goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Choice {
    step_name: String,
    goal: String,
    /// What the definition says on when to choose it.
    #[serde(skip_serializing_if = "String::is_empty")]
    guidance: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Waiting {
    step: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    ask: String,
    options: Vec<GateAnswer>,
    /// `relayed`: the agent may pass the answer on. `verified`: only the person can give it.
    #[schemars(with = "String")]
    answers: Answers,
    hint: String,
    digest: String,
    artifacts: Vec<Shown>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GateAnswer {
    name: String,
    effect: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Shown {
    path: String,
    sha256: String,
    size: u64,
}

/// A part of a step to work on.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Part {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// The files that it must leave behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    produces: Vec<String>,
    /// What the server will look for in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
}

impl kit::Answer for Answer {}

/// Words what a command led to.
pub(super) fn of_outcome(outcome: &Outcome, person: Person) -> Done<Answer> {
    let mut done = of_view(&outcome.now, &outcome.events, person);
    done.warnings.extend(outcome.told());
    done.warnings.extend(outcome.file.iter().flat_map(|it| it.notices.iter().cloned()));
    done
}

/// Words a run as it is after `events`, which are empty where nothing was changed.
pub(super) fn of_view(now: &Snapshot, events: &[Recorded], person: Person) -> Done<Answer> {
    let view = &now.view;
    let state = &view.state;
    let (current_context, cut) = cut::context(&state.context, &state.run.short());
    let answer = Answer {
        instance_id: state.run.to_string(),
        next_step: next_step(view, events),
        current_context,
        status: Status::of(&state.standing),
        reasoning: reasoning(now, events),
        now: Now::of(now, person),
        run: state.run.short(),
        seq: state.length,
        brief: None,
    };
    let mut warnings = warnings(events);
    warnings.extend(cut);
    Done { answer, warnings, then: None }
}

impl Now {
    /// Returns what is there now.
    pub(super) fn of(now: &Snapshot, person: Person) -> Self {
        let view = &now.view;
        match next(&view.workflow, &view.state) {
            Action::Work { step, parts } => {
                let ready = |it| part(view, step, it, find_holder(now, step, it));
                Self { parts: parts.iter().map(ready).collect(), ..Self::default() }
            }
            Action::Choose { after, .. } => {
                let (choices, guidance) = choose(view, after, &advice::find(now));
                Self { choices, guidance, reason: view.state.deferral.clone(), ..Self::default() }
            }
            Action::Wait { gate } => {
                let waiting = waiting(&gate, &advice::find(now), person);
                Self { waiting: Some(waiting), ..Self::default() }
            }
            Action::Chore { chore } => Self { reason: Some(due(&chore)), ..Self::default() },
            Action::Done => Self::default(),
            Action::Stopped { reason } => {
                let reopens = !advice::find(now).open.is_empty();
                let hint = reopens.then(|| WORDS.reopen.to_owned());
                Self { reason: Some(reason), hint, ..Self::default() }
            }
        }
    }
}

/// What the server has to do before anything else, and why it has not.
fn due(chore: &Chore) -> String {
    let what = chore.deed.describe();
    let why = chore.failure.as_ref().map(|it| format!(", and could not: {it}"));
    format!("the server must {what} first{}; {}", why.unwrap_or_default(), Remedy::FixCause)
}

/// Why the run is where it is: what the decision says, else what the report led to.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else says why the run is where it is")]
fn reasoning(now: &Snapshot, events: &[Recorded]) -> Option<String> {
    let view = &now.view;
    let mut resumed = None;
    let mut moved = None;
    let mut advised = None;
    for recorded in events {
        match &recorded.event {
            Event::RunResumed { reasoning, .. } => resumed = Some(reasoning.clone()),
            Event::StepEntered { decision, .. } => {
                moved = decision.as_ref().and_then(|it| it.reasoning.clone());
            }
            Event::StepReported { report, .. } => {
                let status = &report.status;
                moved = Some(format!(
                    "status `{status}` neither completes nor fails the step, so it goes on"
                ));
            }
            Event::StepFailed { part, .. } => moved = tried(now, part.as_ref()),
            // What a model says to a report says more than the report alone.
            Event::ModelAsked(asked) => advised.clone_from(&asked.reasoning),
            _ => {}
        }
    }
    let chosen = match next(&view.workflow, &view.state) {
        Action::Choose { after, .. } => {
            let why = view.state.deferral.as_ref();
            let why = why.map(|it| format!("the language model did not choose ({it}); "));
            let why = why.unwrap_or_default();
            Some(format!(
                "{why}step `{}` is done; report it again with one of the choices as \
                 `next_step_name`",
                after.name
            ))
        }
        Action::Work { .. }
        | Action::Chore { .. }
        | Action::Wait { .. }
        | Action::Done
        | Action::Stopped { .. } => advised.or(moved),
    };
    match (resumed, chosen) {
        (Some(resumed), Some(chosen)) => Some(format!("{resumed}; {chosen}")),
        (resumed, chosen) => resumed.or(chosen),
    }
}

/// What a failed attempt leaves, while the run stays at the step.
fn tried(now: &Snapshot, part: Option<&PartId>) -> Option<String> {
    let view = &now.view;
    let Action::Work { step, .. } = next(&view.workflow, &view.state) else { return None };
    let attempts = view.state.effort(&step.name, part)?.attempts;
    let tried = match &step.attempts {
        Some(allowed) => format!("attempt {attempts} of {} failed; try again", allowed.max),
        None => format!("attempt {attempts} failed; try again"),
    };
    let offers = if part.is_none() { advice::find(now) } else { Offers::default() };
    let leave = |it: &What| {
        if let What::Leave { to, .. } = it { Some(format!("`{}`", target_name(to))) } else { None }
    };
    let ways: Vec<String> = offers.open.iter().filter_map(|it| leave(&it.what)).collect();
    Some(match ways.is_empty() {
        true => tried,
        false => format!(
            "{tried}, or report the failure with another step as `next_step_name`: {}",
            ways.join(", ")
        ),
    })
}

fn warnings(events: &[Recorded]) -> Vec<String> {
    let mut warnings = Vec::new();
    for recorded in events {
        if let Event::StepCompleted(completed) = &recorded.event {
            warnings.extend(completed.warnings.iter().cloned());
        }
        if let Event::ModelAsked(asked) = &recorded.event {
            warnings.extend(asked.warnings.iter().map(|it| format!("the language model: {it}")));
            let failure = asked.failure.iter();
            warnings.extend(failure.map(|it| {
                let (kind, why) = (it.kind.as_str(), &it.message);
                format!("the language model did not choose ({kind}): {why}")
            }));
        }
    }
    warnings
}

/// Returns the choices, each with the lines of the guidance that name it, and the other lines.
fn choose(view: &View, after: &Step, offers: &Offers) -> (Vec<Choice>, Option<String>) {
    let target = |it: &What| if let What::Choose { to, .. } = it { Some(to.clone()) } else { None };
    let targets: Vec<Target> = offers.open.iter().filter_map(|it| target(&it.what)).collect();
    let lines: Vec<&str> =
        after.guidance.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let choice = |target: &Target| {
        let name = target_name(target);
        let goal = match target {
            Target::Step(step) => {
                let goal = view.workflow.find_step(step).map(|it| it.goal.as_str());
                goal.map(|it| view.workflow.fill(it, &view.state.context).into_owned())
            }
            Target::Finish => Some("end the run".to_owned()),
        };
        let said: Vec<&str> = lines.iter().copied().filter(|it| it.contains(name)).collect();
        Choice {
            step_name: name.to_owned(),
            goal: goal.unwrap_or_default(),
            guidance: said.join("\n"),
        }
    };
    let names_none = |line: &&str| !targets.iter().any(|it| line.contains(target_name(it)));
    let rest: Vec<&str> = lines.iter().copied().filter(names_none).collect();
    let choices = targets.iter().map(choice).collect();
    (choices, (!rest.is_empty()).then(|| rest.join("\n")))
}

/// Words the question. What would be refused is not among the answers.
fn waiting(gate: &OpenGate, offers: &Offers, person: Person) -> Waiting {
    let is_closed = |it: &&definition::GateOption| {
        let is_it = |what: &What| matches!(what, What::Answer { option, .. } if *option == it.name);
        offers.closed.iter().any(|(what, _)| is_it(what))
    };
    let option = |it: &definition::GateOption| {
        let effect = match &it.effect {
            Effect::Approve => "go on".to_owned(),
            Effect::Back(step) => format!("work on `{step}` again"),
            Effect::Skip => "leave it out".to_owned(),
            Effect::Fail => "fail the run".to_owned(),
            Effect::Cancel => "cancel the run".to_owned(),
        };
        GateAnswer { name: it.name.clone(), effect }
    };
    let words = advice::words(person);
    let hint = match gate.answers {
        Answers::Relayed => format!("{}; never answer yourself", words.relay),
        Answers::Verified => words.wait.to_owned(),
    };
    let shown = |it: &engine::Artifact| Shown {
        path: it.path.clone(),
        sha256: it.sha256.to_string(),
        size: it.size,
    };
    Waiting {
        step: gate.step.to_string(),
        part: gate.part.as_ref().map(ToString::to_string),
        ask: gate.ask.clone(),
        options: gate.options.iter().filter(|it| !is_closed(it)).map(option).collect(),
        answers: gate.answers,
        hint,
        digest: gate.digest.to_string(),
        artifacts: gate.artifacts.iter().map(shown).collect(),
    }
}

/// Returns the part that a lease is about, if it is about one.
pub(super) fn find_part(view: &View, lease: &engine::Lease) -> Option<Part> {
    let step = view.workflow.find_step(&lease.step)?;
    let id = lease.part.as_ref()?;
    let found = view.state.parts_of(step).iter().find(|it| it.id == *id)?;
    Some(part(view, step, found, None))
}

/// Returns who works on a part.
fn find_holder(now: &Snapshot, step: &Step, part: &PartSpec) -> Option<String> {
    let is_its = |it: &&engine::Lease| it.step == step.name && it.part.as_ref() == Some(&part.id);
    let mut leases = now.view.leases.iter().filter(is_its);
    leases.find(|it| now.known.steady < it.until).map(|it| it.holder.clone())
}

fn part(view: &View, step: &Step, part: &PartSpec, held_by: Option<String>) -> Part {
    let effort = view.state.effort(&step.name, Some(&part.id));
    Part {
        id: part.id.to_string(),
        title: part.title.clone(),
        files: part.files.clone(),
        produces: find_promised(&view.workflow, &view.state, step, Some(part)),
        requires: find_required(&view.workflow, &view.state, step, Some(part)),
        feedback: effort.and_then(engine::Effort::sent_back).map(str::to_owned),
        held_by,
    }
}
