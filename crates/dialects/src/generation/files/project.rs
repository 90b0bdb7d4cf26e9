//! A scene's state file, rendered from the state of its run.
//!
//! What someone wrote into the file is where it starts from: unknown keys, their order and values
//! that nobody can read stay as they are until the run says something else. A run whose file nobody
//! ever wrote starts from a template.

mod attempts;
mod lists;
mod revision;
mod steps;

use std::cmp::Ordering;

use definition::{StepName, Workflow};
use engine::Basis;
use engine::{
    AttemptOutcome, Ended, Ending, History, Mark, Reopening, RunState, Standing, Timestamp,
};
use serde_json::Value;

use super::{
    super::{
        document::Document,
        words::{STEPS, Status, Step, session_id},
    },
    split,
};
use crate::kit::json::{Json, Object};

/// What is known of a finished scene.
const METRICS: [&str; 5] = [
    "final_scene_path",
    "validation_report_path",
    "word_count",
    "total_duration_seconds",
    "retry_count",
];
/// What is said of a run that stopped, until it goes on.
const STOPPED: [&str; 5] =
    ["failed_at_step", "failure_reason", "cancellation_reason", "cancelled_at", "cancelled_from"];

/// Returns what the file of a run says.
pub(super) fn render(workflow: &Workflow, state: &RunState) -> String {
    let base = Base::of(workflow, state);
    match &state.history.placed {
        Some(placed) if base.count() == 0 => placed.text.clone(),
        Some(_) | None => base.project().render(),
    }
}

/// Returns the state of a scene as answers speak of it.
pub(in super::super) fn project(workflow: &Workflow, state: &RunState) -> Document {
    let base = Base::of(workflow, state);
    if state.history.placed.is_some() && base.count() == 0 {
        return base.document;
    }
    base.project()
}

/// Returns what a text was made from, going by what the file of the run says.
pub(super) fn basis(own: &str, text: &str) -> Basis {
    let [own, document] = [own, text].map(|it| Document::parse(it).unwrap_or_default());
    // A session is named by the second in which it began, and two can begin in one.
    for key in ["session_id", "started_at"] {
        let (said, own) = (document.find_text(key), own.find_text(key));
        if said != own {
            let (said, own) = (said.unwrap_or("missing"), own.unwrap_or("missing"));
            return Basis::Other(format!(
                "it is of another generation: its `{key}` is {said}, and not {own}"
            ));
        }
    }
    let own = revision::of(&own);
    let said = document.object().get("revision").and_then(Json::as_count);
    match said.map(|it| (it, it.cmp(&own))) {
        None | Some((_, Ordering::Equal)) => Basis::Current,
        Some((_, Ordering::Greater)) => Basis::Newer,
        Some((said, Ordering::Less)) => {
            Basis::Older(format!("its `revision` is {said}, and the scene's is {own}"))
        }
    }
}

/// Returns what another text must say to count as made from this one.
pub(super) fn stamp(own: &Document) -> String {
    format!("`revision` to {}", revision::of(own))
}

/// What a file starts from, and the run that goes on from there.
struct Base<'a> {
    workflow: &'a Workflow,
    state: &'a RunState,
    history: &'a History,
    /// The event by which the text was taken in; 0 for the template.
    seq: u64,
    document: Document,
}

impl<'a> Base<'a> {
    fn of(workflow: &'a Workflow, state: &'a RunState) -> Self {
        let history = &state.history;
        let document = match &history.placed {
            Some(placed) => Document::parse(&placed.text).unwrap_or_default(),
            None => template(workflow, state),
        };
        Self { workflow, state, history, seq: history.placed_by(), document }
    }

    /// Whether the text does not know of it.
    fn is_new(&self, mark: Mark) -> bool {
        self.seq < mark.seq
    }

    /// Lays what the run says over the text.
    fn project(&self) -> Document {
        let mut document = self.document.clone();
        document.set(&["updated_at"], self.changed_at().to_string());
        self.set_place(&mut document);
        self.set_status(&mut document);
        for step in &STEPS {
            self.set_step(&mut document, step);
        }
        self.set_attempts(&mut document);
        self.set_artifacts(&mut document);
        self.add_interactions(&mut document);
        self.add_questions(&mut document);
        self.add_errors(&mut document);
        self.set_metadata(&mut document);
        document.set(&["revision"], revision::of(&self.document) + self.count());
        self.set_completion(&mut document);
        self.add_resumes(&mut document);
        self.set_stopped(&mut document);
        document
    }

    /// Says where the run is: a step that nobody has taken up is not where it is.
    fn set_place(&self, document: &mut Document) {
        if let Some(phase) = self.find_phase() {
            document.set(&["current_phase"], phase);
        }
        if self.state.standing == Standing::Completed && self.completion().is_some() {
            document.set(&["current_step"], STEPS.len() as u64);
        } else if self.moved_by().is_some() {
            let place = self.find_failure().and_then(|it| it.step.as_ref());
            if let Some(step) = place.or(self.state.current.as_ref()).and_then(find) {
                document.set(&["current_step"], step.number);
            }
        }
    }

    /// Returns the first event since the text by which the run came to be at a step.
    fn moved_by(&self) -> Option<u64> {
        let begun = self.begun_by();
        let said = self.document.object().get("current_step");
        if said.is_none_or(Json::is_null) {
            return begun;
        }
        let entered = self.history.visits.iter().map(|it| it.mark).find(|it| self.is_new(*it));
        begun.into_iter().chain(entered.map(|it| it.seq)).min()
    }

    /// Returns the first event since the text by which a step was taken up.
    fn begun_by(&self) -> Option<u64> {
        let attempts = || self.history.attempts.values().flatten();
        let starts = attempts().flat_map(|it| it.starts.iter().map(|it| it.mark));
        let ends = attempts().filter_map(|it| it.end.as_ref());
        let done = ends.filter(|it| it.how == AttemptOutcome::Done);
        let is_failure = |it: &&Ended| it.is_first_failure() && it.step.is_some();
        let ends = self.history.ends.iter().filter(is_failure).map(|it| it.mark);
        let reopenings = self.history.reopenings.iter().filter(|it| it.step.is_some());
        let marks = starts.chain(done.map(|it| it.mark)).chain(ends);
        let marks = marks.chain(reopenings.map(|it| it.mark));
        marks.filter(|it| self.is_new(*it)).map(|it| it.seq).min()
    }

    /// Returns what is worked on, as it was last said since the text.
    fn find_phase(&self) -> Option<String> {
        if self.completion().is_some() {
            return Some(Status::Completed.word().to_owned());
        }
        let starts = self.starts().into_iter().map(|it| (it.1.mark.seq, it.0.phase(it.1)));
        let resumes = self.reopenings().filter_map(|it| {
            let step = find(it.step.as_ref()?)?;
            Some((it.mark.seq, step.title.to_owned()))
        });
        starts.chain(resumes).max_by_key(|it| it.0).map(|it| it.1)
    }

    /// Says how the run stands, unless the text says that in words of its own.
    fn set_status(&self, document: &mut Document) {
        let status = status(&self.state.standing);
        if self.told_by().is_some() || super::stood(&self.document) != status {
            document.set(&["workflow_status"], status.word());
        }
    }

    fn set_metadata(&self, document: &mut Document) {
        let done = self.completions().last().map(|it| it.mark.at);
        if let Some((at, since)) = done.zip(document.started_at()) {
            let total = at.since(since).as_secs_f64();
            document.set(&["metadata", "total_duration_seconds"], total);
        }
        for (key, value) in self.figures() {
            match key {
                "final_scene_path" | "validation_report_path" => {}
                "word_count" => document.set(&["metadata", "final_word_count"], value),
                "total_duration_seconds" => document.set(&["metadata", key], value),
                _ => document.set(&["metadata", "generation_retries"], value),
            }
        }
    }

    fn set_completion(&self, document: &mut Document) {
        let Some((at, _)) = self.completion() else { return };
        document.set(&["completed_at"], at.to_string());
        for (key, value) in self.figures() {
            document.set(&["completion_metrics", key], value);
        }
    }

    fn set_stopped(&self, document: &mut Document) {
        if self.reopenings().next().is_some() {
            for key in STOPPED {
                document.remove(key);
            }
        }
        if let Some(reason) = self.failures_of_run().last().map(|it| it.1) {
            document.set(&["failure_reason"], reason);
        }
        if let Some(step) = self.find_failure().and_then(|it| find(it.step.as_ref()?)) {
            document.set(&["failed_at_step"], step.number);
        }
        for ended in self.ends().filter(|it| self.resumed_by() < it.mark.seq) {
            let Ending::Cancelled { reason } = &ended.how else { continue };
            document.set(&["cancellation_reason"], reason.as_str());
            document.set(&["cancelled_at"], ended.mark.at.to_string());
            document.set(&["cancelled_from"], self.word_before(ended.mark, ended.from));
        }
    }

    /// Returns how the run stood before something happened, in the text's own word if that still held.
    fn word_before(&self, mark: Mark, from: &str) -> String {
        let status = Status::of_standing(from).unwrap_or(Status::InProgress);
        let is_said = self.told_by().is_none_or(|it| mark <= it);
        if is_said && super::stood(&self.document) == status {
            return self.document.shown("workflow_status").to_owned();
        }
        status.word().to_owned()
    }

    /// Returns the first event since the text that changed how the run stands.
    fn told_by(&self) -> Option<Mark> {
        let opened = self.history.asked.iter().map(|it| it.opened);
        let opened = opened.filter(|it| self.is_new(*it)).skip(self.asks_as_placed().into());
        let closed = self.history.asked.iter().filter_map(|it| Some(it.closed.as_ref()?.mark));
        let ends = self.ends().map(|it| it.mark);
        let marks = opened.chain(closed).chain(ends).chain(self.reopenings().map(|it| it.mark));
        marks.filter(|it| self.is_new(*it)).min()
    }

    /// Returns the failures of the run since the text, and since it was last reopened.
    fn failures_of_run(&self) -> impl Iterator<Item = (&'a Ended, &'a str)> {
        let resumed = self.resumed_by();
        self.ends().filter_map(move |it| match &it.how {
            Ending::Failed { reason } if resumed < it.mark.seq => Some((it, reason.as_str())),
            Ending::Failed { .. } | Ending::Completed { .. } | Ending::Cancelled { .. } => None,
        })
    }

    /// Returns by what the run failed since the text, and since it was last reopened. What is said
    /// later of a run that failed does not move it.
    fn find_failure(&self) -> Option<&'a Ended> {
        self.failures_of_run().map(|it| it.0).find(|it| it.is_first_failure())
    }

    /// Returns the event by which the run was last reopened since the text.
    fn resumed_by(&self) -> u64 {
        self.reopenings().last().map_or(self.seq, |it| it.mark.seq)
    }

    fn reopenings(&self) -> impl Iterator<Item = &'a Reopening> {
        let seq = self.seq;
        self.history.reopenings.iter().filter(move |it| seq < it.mark.seq)
    }

    fn ends(&self) -> impl Iterator<Item = &'a Ended> {
        let seq = self.seq;
        self.history.ends.iter().filter(move |it| seq < it.mark.seq)
    }

    /// Returns when the run was completed since the text, and what was said with it.
    fn completion(&self) -> Option<(Timestamp, &'a serde_json::Map<String, Value>)> {
        self.ends().find_map(|it| match &it.how {
            Ending::Completed { details } => Some((it.mark.at, &**details)),
            Ending::Failed { .. } | Ending::Cancelled { .. } => None,
        })
    }

    /// Returns what is known of a scene that was completed.
    fn figures(&self) -> impl Iterator<Item = (&'static str, &'a Value)> {
        let details = self.completion().map(|it| it.1);
        let value = move |key| details?.get(key).filter(|it| !it.is_null());
        METRICS.into_iter().filter_map(move |key| Some((key, value(key)?)))
    }
}

/// Returns what a file says of a run that has just begun.
fn template(workflow: &Workflow, state: &RunState) -> Document {
    let at = state.started_at;
    let scene = split(state.key().unwrap_or_default()).0;
    let context = state.origin.as_ref().map(|it| &it.context);
    let given = |key: &str| context.and_then(|it| it.get(key));
    let by = given("initiated_by").and_then(Value::as_str).unwrap_or("generation-coordinator");
    let mut metadata: Object = [("initiated_by", by)].into_iter().collect();
    metadata.set("total_duration_seconds", 0_u64);
    for (key, value) in given("metadata").and_then(Value::as_object).into_iter().flatten() {
        if metadata.get(key).is_none() {
            metadata.set(key, value);
        }
    }
    let mut document = Document::default();
    document.set(&["scene_id"], scene);
    document.set(&["session_id"], session_id(at, scene));
    document.set(&["started_at"], at.to_string());
    document.set(&["updated_at"], at.to_string());
    document.set(&["current_phase"], "INITIALIZED");
    document.set(&["current_step"], Json::Null);
    document.set(&["workflow_status"], Status::InProgress.word());
    document.set(&["steps"], Object::new());
    document.set(&["generation_attempts", "current_attempt"], 0_u64);
    document.set(&["generation_attempts", "max_attempts"], attempts::max(workflow));
    document.set(&["generation_attempts", "attempts_history"], Vec::new());
    document.set(&["artifacts"], Object::new());
    for (key, path) in context.into_iter().flatten() {
        if key.ends_with("_path") && path.is_string() {
            document.set(&["artifacts", key], path);
        }
    }
    document.set(&["user_interactions"], Vec::new());
    document.set(&["user_questions"], Vec::new());
    document.set(&["errors"], Vec::new());
    document.set(&["metadata"], metadata);
    document
}

fn status(standing: &Standing) -> Status {
    Status::of_standing(standing.as_str()).unwrap_or(Status::InProgress)
}

/// Returns the step that the definition calls so.
fn find(name: &StepName) -> Option<&'static Step> {
    STEPS.iter().find(|it| it.key == name.as_str())
}
