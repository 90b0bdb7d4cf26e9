//! Where the work is, as a `state.json` says that someone wrote.

use std::collections::BTreeMap;

use definition::{PartId, PartSpec, StepName};
use engine::{ClaimedPart, ClaimedProgress, ClaimedStatus, Progress, Reading};
use serde_json::Map;

use super::{
    COMPLETED, PHASES, SETUP, StateFile, Status, Task,
    of::{BUILDING, JUDGING, SET},
    tasks::{REVIEWS, WORK},
    vars,
};
use crate::kit::json::Json;

/// The phases that are nothing but a question.
const QUESTIONS: [&str; 3] = ["checkpoint-a", "checkpoint-b", "post-to-source"];

impl StateFile {
    /// Returns where it says that the work is; the error says what makes no sense in it.
    pub fn claim(&self) -> Result<Reading, String> {
        let (stood, reason) = stood(self);
        let phase = self.phase();
        // A run that is at no phase can never be left.
        if !["", SETUP, COMPLETED].contains(&phase) && !PHASES.contains(&phase) {
            let phases = PHASES.join(", ");
            let known = format!("one of {phases}, {COMPLETED}");
            return Err(format!("its `currentPhase` is {phase}, and must be {known}"));
        }
        let at = PHASES.contains(&phase).then_some(phase);
        let at = at.and_then(|it| StepName::parse(it).ok());
        let planned = self.tasks().into_iter().map(plan).collect::<Result<Vec<_>, _>>()?;
        let parts = BTreeMap::from([(SET.to_owned(), planned)]);
        Ok(Reading {
            stood,
            reason,
            stated: at.clone(),
            at,
            steps: stages(self),
            started_at: self.moment("timestamps", "created"),
            updated_at: self.moment("timestamps", "lastUpdated"),
            context: Map::new(),
            vars: vars::read(self),
            items: None,
            journal: None,
            parts,
            doubt: doubt(self),
        })
    }
}

/// Returns what nobody can follow: a word for how the phase or a task stands that is none.
fn doubt(document: &StateFile) -> Option<String> {
    let word = document.text("currentPhaseStatus");
    if !word.is_empty() && Status::find(word).is_none() {
        let known = Status::listed();
        return Some(format!("its `currentPhaseStatus` is {word}, and must be one of {known}"));
    }
    let unknown = |task: Task<'_>| {
        let fields = [("implStatus", WORK.as_slice()), ("reviewStatus", REVIEWS.as_slice())];
        let (field, known) = fields.into_iter().find(|it| !it.1.contains(&task.text(it.0)))?;
        let known: Vec<&str> = known.iter().copied().filter(|it| !it.is_empty()).collect();
        let (key, word, known) = (task.key, task.text(field), known.join(", "));
        Some(format!("the `{field}` of task {key} is {word}, and must be one of {known}"))
    };
    document.tasks().into_iter().find_map(unknown)
}

fn stood(document: &StateFile) -> (ClaimedStatus, String) {
    if document.phase() == COMPLETED {
        return (ClaimedStatus::Completed, String::new());
    }
    match document.status() {
        Status::Pending | Status::InProgress | Status::Completed => {
            (ClaimedStatus::Running, String::new())
        }
        Status::AwaitingHuman => (ClaimedStatus::Waiting, String::new()),
        Status::Failed => {
            let message = document.inside("error", "message").and_then(Json::as_text);
            (ClaimedStatus::Failed, message.unwrap_or_default().to_owned())
        }
        Status::Abandoned => (ClaimedStatus::Cancelled, "it was abandoned".to_owned()),
    }
}

fn stages(document: &StateFile) -> BTreeMap<StepName, ClaimedProgress> {
    let tasks = document.tasks();
    let mut stages = BTreeMap::new();
    for phase in PHASES {
        let parts: BTreeMap<PartId, ClaimedPart> = match phase {
            BUILDING => tasks.iter().filter_map(built).collect(),
            JUDGING => tasks.iter().filter_map(judged).collect(),
            _ => BTreeMap::new(),
        };
        let stage = stage(document, phase);
        let stage = stage.or_else(|| (!parts.is_empty()).then(ClaimedProgress::default));
        if let (Some(stage), Ok(name)) = (stage, StepName::parse(phase)) {
            stages.insert(name, ClaimedProgress { parts, ..stage });
        }
    }
    stages
}

/// Returns how far a phase is; `None` where it was not come to.
fn stage(document: &StateFile, phase: &str) -> Option<ClaimedProgress> {
    if document.phase() == phase {
        return Some(current(document, phase));
    }
    let is_skipped = document.texts("skippedPhases").any(|it| it == phase);
    let is_done = document.is_completed(phase);
    let progress = match (is_skipped && (is_done || document.has_passed(phase)), is_done) {
        (true, _) => Progress::Skipped,
        (false, true) => Progress::Done,
        (false, false) => return None,
    };
    Some(ClaimedProgress { progress, ..ClaimedProgress::default() })
}

fn current(document: &StateFile, phase: &str) -> ClaimedProgress {
    let progress = match document.status() {
        Status::InProgress => Progress::Active,
        // Nothing is left of it but the answer.
        Status::AwaitingHuman if QUESTIONS.contains(&phase) => Progress::Done,
        Status::Pending
        | Status::AwaitingHuman
        | Status::Completed
        | Status::Failed
        | Status::Abandoned => Progress::Ready,
    };
    ClaimedProgress {
        progress,
        attempts: u32::from(progress == Progress::Active),
        started_at: document.moment("timestamps", "phaseStarted"),
        ..ClaimedProgress::default()
    }
}

fn plan(task: Task<'_>) -> Result<PartSpec, String> {
    let id = |key: &str| PartId::parse(key).map_err(|error| format!("task `{key}`: {error}"));
    Ok(PartSpec {
        id: id(task.key)?,
        title: task.text("title").to_owned(),
        mode: task.text("executionMode").to_owned(),
        files: task.list("files"),
        after: task.list("depends_on").iter().map(|it| id(it)).collect::<Result<_, _>>()?,
    })
}

fn built(task: &Task<'_>) -> Option<(PartId, ClaimedPart)> {
    let progress = match task.text("implStatus") {
        "in_progress" => Progress::Active,
        "completed" => Progress::Done,
        _ => Progress::Idle,
    };
    Some((PartId::parse(task.key).ok()?, part(progress, task.count("implRetries"))))
}

fn judged(task: &Task<'_>) -> Option<(PartId, ClaimedPart)> {
    let progress = match (task.is_passed(), task.is_rejected()) {
        (true, _) => Progress::Done,
        (false, true) => Progress::Rejected,
        (false, false) => Progress::Idle,
    };
    Some((PartId::parse(task.key).ok()?, part(progress, task.count("reviewRetries"))))
}

fn part(progress: Progress, revisions: u64) -> ClaimedPart {
    ClaimedPart { progress, revisions: u32::try_from(revisions).unwrap_or(u32::MAX) }
}
