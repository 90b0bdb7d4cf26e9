//! The parts of a run, as tasks.

use definition::{PartId, PartSpec, StepName};
use engine::{Effort, Progress};

use super::{
    super::{StateFile, tasks::listed},
    Base,
};
use crate::kit::json::{Json, Object};

/// The phase in which tasks are built.
pub(in super::super) const BUILDING: &str = "phase-5";
/// The phase in which they are judged.
pub(in super::super) const JUDGING: &str = "phase-6";
/// The set of parts that the tasks are.
pub const SET: &str = "tasks";

const PASSED: &str = "completed_pass";
const PASSED_WITH_NOTES: &str = "completed_pass_with_notes";
const REJECTED: &str = "completed_fail";
/// The verdict without reserve. A person's word lets a task pass, and does not make it flawless.
const FLAWLESS: &str = "PASS";

/// The work on a task and its review, since it was planned or someone wrote of it.
struct Work<'a> {
    built: &'a Effort,
    judged: &'a Effort,
    /// The event that it was planned or written of by.
    since: u64,
}

impl Base<'_> {
    pub(super) fn set_tasks(&self, file: &mut StateFile) {
        let parts = self.state.parts.get(SET).map(Vec::as_slice).unwrap_or_default();
        let written = file.object.get("tasks").and_then(Json::as_object);
        let written = written.cloned().unwrap_or_default();
        let place = |it: &&PartSpec| written.iter().position(|(key, _)| key == it.id.as_str());
        let mut parts: Vec<&PartSpec> = parts.iter().collect();
        // What someone wrote keeps its order.
        if parts.iter().all(|it| self.is_written(&it.id)) {
            parts.sort_by_key(place);
        }
        let task = |it: &PartSpec| (it.id.to_string(), self.task(it, written.get(it.id.as_str())));
        file.set("tasks", parts.into_iter().map(task).collect::<Object>());
    }

    /// Whether the text is what says that there is a part.
    fn is_written(&self, part: &PartId) -> bool {
        0 < self.seq && self.planned_by(part) <= self.seq
    }

    fn planned_by(&self, part: &PartId) -> u64 {
        let planned = self.history.passing.planned.get(SET).and_then(|it| it.get(part));
        planned.map_or(0, |it| it.mark.seq)
    }

    fn task(&self, part: &PartSpec, written: Option<&Json>) -> Object {
        let written = written.and_then(Json::as_object).filter(|_| self.is_written(&part.id));
        let mut task = written.cloned().unwrap_or_else(|| self.fresh(part));
        name(&mut task, part);
        let nothing = Effort::default();
        let effort = |step: &str| {
            let step = StepName::parse(step).ok()?;
            self.state.effort(&step, Some(&part.id))
        };
        let work = Work {
            built: effort(BUILDING).unwrap_or(&nothing),
            judged: effort(JUDGING).unwrap_or(&nothing),
            since: self.planned_by(&part.id).max(self.seq),
        };
        for (field, word) in [("implStatus", work.built()), ("reviewStatus", work.judged())] {
            if let Some(word) = word {
                task.set(field, word);
            }
        }
        for (field, effort) in [("implRetries", work.built), ("reviewRetries", work.judged)] {
            let revisions = u64::from(effort.revisions);
            if task.get(field).and_then(Json::as_count).unwrap_or_default() != revisions {
                task.set(field, revisions);
            }
        }
        task
    }

    /// Returns a task that nobody has worked on.
    fn fresh(&self, part: &PartSpec) -> Object {
        let planned = self.history.passing.planned.get(SET).and_then(|it| it.get(&part.id));
        let status = if planned.is_some_and(|it| it.by_hand) { "" } else { "pending" };
        let mut task = Object::new();
        for field in ["title", "executionMode", "depends_on", "files"] {
            task.set(field, Json::Null);
        }
        task.set("implStatus", status);
        task.set("reviewStatus", status);
        task.set("implRetries", 0_u64);
        task.set("reviewRetries", 0_u64);
        task
    }
}

impl Work<'_> {
    /// Returns how far the work is. `None`: as it was planned or written.
    fn built(&self) -> Option<&'static str> {
        let built = self.built;
        if built.progress == Progress::Active {
            return Some("in_progress");
        }
        if self.is_personal(self.judged) {
            return Some("completed");
        }
        if built.told_by <= self.since {
            return None;
        }
        Some(match built.progress {
            Progress::Done | Progress::Skipped => "completed",
            Progress::Ready if built.claimed == Some(Progress::Ready) => "pending",
            // Where it is to be built again for a review, the review says so.
            Progress::Ready if self.is_rejected() == Some(true) => "completed",
            Progress::Idle | Progress::Ready | Progress::Active | Progress::Rejected => "",
        })
    }

    /// Returns how far the review is. `None`: as it was planned or written.
    fn judged(&self) -> Option<&'static str> {
        let (built, judged) = (self.built, self.judged);
        // A person did a task that is theirs, or let it be: nobody reviews it.
        if self.is_personal(built) && judged.told_by < built.told_by {
            return Some(if built.progress == Progress::Done { PASSED } else { "" });
        }
        match self.is_rejected() {
            Some(true) => return Some(REJECTED),
            Some(false) => return Some(""),
            None => {}
        }
        if judged.told_by <= self.since {
            return None;
        }
        Some(match (judged.progress, &judged.judged) {
            (Progress::Done, Some(it)) if it.verdict != FLAWLESS => PASSED_WITH_NOTES,
            (Progress::Done, _) => PASSED,
            (Progress::Rejected, _) => REJECTED,
            (_, _) if judged.claimed == Some(Progress::Ready) => "pending",
            (Progress::Idle | Progress::Ready | Progress::Active | Progress::Skipped, _) => "",
        })
    }

    /// Whether a person settled it.
    fn is_personal(&self, effort: &Effort) -> bool {
        effort.answered.is_some() && effort.progress.is_settled() && self.since < effort.told_by
    }

    /// Returns whether a review that found it wanting still says so: not once it is built again.
    /// `None` where no review did.
    fn is_rejected(&self) -> Option<bool> {
        let judged = self.judged.judged.as_ref().filter(|it| !it.is_passed)?;
        Some(self.built.done_by < judged.by)
    }
}

/// Says what a task is, where that is not said already.
fn name(task: &mut Object, part: &PartSpec) {
    for (field, word) in [("title", &part.title), ("executionMode", &part.mode)] {
        if task.get(field).and_then(Json::as_text) != Some(word) {
            task.set(field, word.as_str());
        }
    }
    let after: Vec<String> = part.after.iter().map(ToString::to_string).collect();
    if listed(task.get("depends_on")) != Some(after) {
        let after = part.after.iter().map(|it| number(it.as_str()));
        task.set("depends_on", after.collect::<Vec<Json>>());
    }
    if listed(task.get("files")).as_ref() != Some(&part.files) {
        let files = part.files.iter().map(|it| Json::from(it.as_str()));
        task.set("files", files.collect::<Vec<Json>>());
    }
}

/// Returns a number where the text is one.
fn number(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| text.into(), Json::from)
}
