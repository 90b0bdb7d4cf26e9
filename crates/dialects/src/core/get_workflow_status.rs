//! `get_workflow_status`: the whole record of a run, now or as it was; and a way to wait for news.

use core::{iter, time::Duration};

use definition::StepName;
use engine::{Entry, Outcome, Recorded, Report, RunId, Timestamp, View, summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    answer::Now,
    claim_step::LeaseAnswer,
    cut, history,
    list_runs::{Progress, title_beside},
    next_step::{NextStep, next_step},
    run,
    words::{Failure, Status, Tried},
};
use crate::kit::{self, Ask, Caller, Done, Hints, Look, Person, Reply, Snapshot, Tell, Then, Tool};

/// How many rows of history are shown unless the reader says so.
const HISTORY_LIMIT: u32 = 20;
/// The most rows of history that one answer carries.
const HISTORY_LIMIT_MAX: u32 = 200;
/// The longest wait as a task: a week.
const TASK_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;
/// How many of the newest errors are shown.
const ERRORS_MAX: usize = 5;
/// How many of the newest reports are shown, …
const REPORTS_MAX: usize = 10;
/// … and how much of each, in characters.
const REPORT_CHARS_MAX: usize = 400;

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetWorkflowStatus {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// Add newest events
    #[serde(default)]
    include_history: bool,
    /// Default 20
    history_limit: Option<u32>,
    /// Wait up to 50 s for a change
    wait_seconds: Option<u64>,
    /// Wait for news after this seq
    after_seq: Option<u64>,
    /// Show it as it was after this seq
    at: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    instance_id: String,
    workflow_name: String,
    current_step_name: String,
    /// `null` while the agent must choose, or the run waits for a person.
    next_step: Option<NextStep>,
    status: Status,
    context: Map<String, Value>,
    created_at: String,
    updated_at: String,
    completed_at: Option<String>,
    run: String,
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    progress: Progress,
    #[serde(flatten)]
    now: Now,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leases: Vec<LeaseAnswer>,
    /// What was last reported on each step or part, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reports: Vec<ReportItem>,
    /// The newest errors, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorItem>,
    /// The newest events, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<history::Row>>,
}

impl kit::Answer for Answer {}

#[derive(Serialize, JsonSchema)]
struct ReportItem {
    step_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    status: String,
    said: String,
}

#[derive(Serialize, JsonSchema)]
struct ErrorItem {
    at: String,
    step_name: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<String>,
}

impl Tool for GetWorkflowStatus {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "get_workflow_status";
    const TITLE: &'static str = "Look at a run";
    const DESCRIPTION: &'static str =
        "Where a run is, without changing it. wait_seconds waits for news, such as an answer.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let takes_tasks = caller.takes_tasks;
        let tried = Tried::status(caller.person, &self.instance_id);
        let instance = self.instance_id.clone();
        Ok(run::find::<Self>(instance, tried.clone(), move |run| {
            let at = self.at;
            let failed = tried.clone();
            let wait = move |now| self.wait(run, &now, takes_tasks, tried);
            Tell::Look(Look::View(run, at, failed.or_fail::<Self, _, _>(wait))).into()
        }))
    }
}

impl GetWorkflowStatus {
    /// Waits for news, if the caller does.
    fn wait(self, run: RunId, now: &Snapshot, takes_tasks: bool, tried: Tried) -> Tell {
        let Some(seconds) = self.wait_seconds.filter(|it| self.at.is_none() && 0 < *it) else {
            return self.add_history(run, now, tried);
        };
        let state = &now.view.state;
        let seen = self.after_seq.unwrap_or(state.length);
        if !state.standing.is_live() || seen < state.length {
            return self.add_history(run, now, tried);
        }
        // What a task answers in the end is the plain record.
        if takes_tasks && !self.include_history {
            let seconds = i64::try_from(seconds.min(TASK_SECONDS_MAX)).unwrap_or_default();
            let until = Timestamp(now.known.steady.0.saturating_add(seconds * 1_000_000));
            let then = Some(Then::Wait(run, seen, until));
            return Self::say(Done { then, ..answer(now, tried.person) });
        }
        let duration = Duration::from_secs(seconds);
        let failed = tried.clone();
        let come = failed.or_fail::<Self, _, _>(move |now| self.add_history(run, &now, tried));
        Tell::Look(Look::Wait(run, seen, duration, come))
    }

    /// Answers, with the newest events if they are wanted.
    fn add_history(self, run: RunId, now: &Snapshot, tried: Tried) -> Tell {
        let mut done = answer(now, tried.person);
        if !self.include_history {
            return Self::say(done);
        }
        let limit = self.history_limit.unwrap_or(HISTORY_LIMIT).min(HISTORY_LIMIT_MAX);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let before = self.at.map(|at| at.saturating_add(1));
        let come = tried.or_fail::<Self, _, _>(move |events: Vec<Recorded>| {
            done.answer.history = Some(history::rows(&events));
            Self::say(done)
        });
        Tell::Look(Look::History(run, before, limit, come))
    }
}

/// Returns the whole record of a run, as the tool answers it.
pub(super) fn record(now: &Snapshot) -> Value {
    let Done { answer, warnings, .. } = answer(now, Person::OutOfReach);
    Reply::worded(None, answer, Some(warnings).filter(|it| !it.is_empty()), false).body
}

fn answer(now: &Snapshot, person: Person) -> Done<Answer> {
    let view = &now.view;
    let state = &view.state;
    let row = summary(&view.workflow, state);
    let (context, cut) = cut::context(&state.context, &state.run.short());
    let is_held = |it: &&engine::Lease| state.lease(&it.step, it.part.as_ref()).is_some();
    let progress = Progress::of(&row);
    let answer = Answer {
        instance_id: state.run.to_string(),
        workflow_name: row.workflow,
        current_step_name: row.step,
        next_step: next_step(view, &[]),
        status: Status::of(&state.standing),
        context,
        created_at: state.started_at.to_string(),
        updated_at: state.updated_at.to_string(),
        completed_at: state.ended_at.map(|it| it.to_string()),
        run: state.run.short(),
        seq: state.length,
        title: title_beside(row.title, row.key.as_deref()),
        key: row.key,
        progress,
        now: Now::of(now, person),
        leases: view
            .leases
            .iter()
            .filter(is_held)
            .map(|it| LeaseAnswer::from(&view.shown(it)))
            .collect(),
        reports: reports(view),
        errors: errors(view),
        history: None,
    };
    Done { answer, warnings: cut.into_iter().collect(), then: None }
}

fn reports(view: &View) -> Vec<ReportItem> {
    let mut told: Vec<(u64, ReportItem)> = Vec::new();
    for (step, known) in view.state.steps.iter() {
        let parts = known.parts.iter().map(|(id, effort)| (Some(id.to_string()), effort));
        for (part, effort) in iter::once((None, &known.effort)).chain(parts) {
            // A failure is told with the errors.
            let is_told = |it: &&Report| !it.by_server && it.outcome() != Outcome::Failure;
            let report = effort.report.as_ref().filter(is_told);
            let Some((report, said)) = report.and_then(|it| Some((it, it.said()?))) else {
                continue;
            };
            // What is under way was reported on last.
            let told_by = if effort.progress.is_settled() { effort.told_by } else { u64::MAX };
            let (step_name, status) = (step.to_string(), report.status.clone());
            let said = kit::cut(&said, REPORT_CHARS_MAX);
            told.push((told_by, ReportItem { step_name, part, status, said }));
        }
    }
    told.sort_by_key(|it| it.0);
    let surplus = told.len().saturating_sub(REPORTS_MAX);
    told.into_iter().skip(surplus).map(|it| it.1).collect()
}

fn errors(view: &View) -> Vec<ErrorItem> {
    let state = &view.state;
    let mut errors: Vec<(Timestamp, ErrorItem)> = Vec::new();
    let mut add = |at: Timestamp, step: &StepName, message: &str, severity: Option<String>| {
        let (step_name, message) = (step.to_string(), message.to_owned());
        errors.push((at, ErrorItem { at: at.to_string(), step_name, message, severity }));
    };
    for failure in state.open_failures() {
        add(failure.mark.at, &failure.step, &failure.reason, None);
    }
    for noted in state.errors() {
        if let Entry::Error { message, severity, .. } = &noted.entry {
            add(noted.at, &noted.step, message, severity.clone());
        }
    }
    errors.sort_by_key(|it| it.0);
    let surplus = errors.len().saturating_sub(ERRORS_MAX);
    errors.into_iter().skip(surplus).map(|it| it.1).collect()
}
