//! Where a rendered state file is to differ from what release 0.1 wrote.

use std::collections::BTreeSet;

use definition::{PartId, StepName};
use engine::{Closing, Effort, Progress, ReopenCause, Ruling, RunState};
use serde_json::Value;

use super::super::super::state_file::StateFile;

/// Takes out of both texts what is to differ.
pub(super) fn settle(state: &RunState, before: &mut Value, after: &mut Value) {
    waited(state, before, after);
    created(state, before, after);
    interrupted(state, before, after);
    reopened(state, before, after);
    asked(state, before, after);
    failed(state, before, after);
    taken_up(state, before, after);
    sent_back(state, before, after);
    counted(state, before, after);
    approved(state, before, after);
    ordered(state, before, after);
}

/// A file that says that a person is asked stays as it is only until one is.
fn waited(state: &RunState, before: &mut Value, after: &Value) {
    let Some(placed) = &state.history.placed else { return };
    let asked = state.history.asked.last().map(|it| it.opened);
    let is_later = asked.is_some_and(|it| placed.mark.seq < it.seq && placed.mark.at < it.at);
    if is_later && serde_json::from_str::<Value>(&placed.text).ok().as_ref() == Some(before) {
        *before = after.clone();
    }
}

/// A file that does not say when the work began says when it was taken in, and not when something
/// happened next.
fn created(state: &RunState, before: &mut Value, after: &mut Value) {
    let placed = state.history.placed.as_ref();
    let placed = placed.and_then(|it| StateFile::read(&it.text).ok());
    if placed.is_some_and(|it| it.moment("timestamps", "created").is_none()) {
        before["timestamps"]["created"] = after["timestamps"]["created"].clone();
    }
}

/// An attempt at a task that the end of the run cut off is not under way any more.
fn interrupted(state: &RunState, before: &mut Value, after: &Value) {
    let building = StepName::parse("phase-5").unwrap();
    let is_ready = |part: &str| {
        let part = PartId::parse(part).unwrap();
        state.part_progress(&building, &part) == Progress::Ready
    };
    for (key, task) in before["tasks"].as_object_mut().into_iter().flatten() {
        if task["implStatus"] == "in_progress" && is_ready(key) {
            task["implStatus"] = after["tasks"][key]["implStatus"].clone();
        }
    }
}

/// A run that is reopened after a review sent it back is at the phase that it goes on with; the
/// review is under way until then.
fn reopened(state: &RunState, before: &mut Value, after: &Value) {
    let entered =
        state.current.as_ref().and_then(|it| state.step(it)).map_or(0, |it| it.entered_by);
    let reopened = state.history.reopenings.last().map_or(0, |it| it.mark.seq);
    let is_rejected =
        state.current.as_ref().is_some_and(|it| state.progress(it) == Progress::Rejected);
    let is_elsewhere = before["currentPhase"] != after["currentPhase"];
    if entered < reopened && (is_elsewhere || is_rejected) {
        for key in ["currentPhase", "currentPhaseStatus", "phases"] {
            before[key] = after[key].clone();
        }
    }
}

/// Nobody is asked any more once the run is reopened.
fn asked(state: &RunState, before: &mut Value, after: &Value) {
    let closed = state.history.asked.last().and_then(|it| it.closed.as_ref());
    if closed.is_some_and(|it| it.how == Closing::Reopened) && after["pendingHumanGate"].is_null() {
        before.as_object_mut().unwrap().remove("pendingHumanGate");
    }
}

/// A failure of which nobody said where is where the run is, although another phase is shown.
fn failed(state: &RunState, before: &mut Value, after: &Value) {
    let ended = state.history.ends.last().and_then(|it| it.step.as_ref());
    if before["error"]["phase"] == before["currentPhase"]
        && ended.is_some_and(|it| after["error"]["phase"] == it.as_str())
    {
        before["error"]["phase"] = after["error"]["phase"].clone();
    }
}

/// A person's task that is to be done again has not passed.
fn taken_up(state: &RunState, before: &mut Value, after: &Value) {
    let [building, judging] = ["phase-5", "phase-6"].map(|it| StepName::parse(it).unwrap());
    for (key, task) in before["tasks"].as_object_mut().into_iter().flatten() {
        let part = PartId::parse(key).unwrap();
        let [built, judged] = [&building, &judging].map(|it| state.effort(it, Some(&part)));
        let is_again = built.is_some_and(|it| !it.progress.is_settled() || 0 < it.done_by);
        let is_judged = judged.is_some_and(|it| it.judged.is_some());
        if task["reviewStatus"] == "completed_pass" && is_again && !is_judged {
            task["reviewStatus"] = after["tasks"][key]["reviewStatus"].clone();
        }
    }
}

/// A task that a review sent back is to be built, although someone wrote that it passed while a person
/// was asked, when no file says how far a task is.
fn sent_back(state: &RunState, before: &mut Value, after: &Value) {
    let building = StepName::parse("phase-5").unwrap();
    for (key, task) in before["tasks"].as_object_mut().into_iter().flatten() {
        let effort = state.effort(&building, Some(&PartId::parse(key).unwrap()));
        let is_back = |it: &Effort| {
            it.reopened == Some(ReopenCause::Review) && it.progress == Progress::Ready
        };
        let is_passed = task["reviewStatus"] == "completed_pass";
        if task["implStatus"] == "completed" && is_passed && effort.is_some_and(is_back) {
            task["implStatus"] = after["tasks"][key]["implStatus"].clone();
        }
    }
}

/// A verdict counts also where someone had said before that the task failed.
fn counted(state: &RunState, before: &mut Value, after: &Value) {
    let judging = StepName::parse("phase-6").unwrap();
    for (key, task) in before["tasks"].as_object_mut().into_iter().flatten() {
        let effort = state.effort(&judging, Some(&PartId::parse(key).unwrap()));
        let is_judged = effort.is_some_and(|it| it.judged.is_some());
        let now = &after["tasks"][key]["implRetries"];
        if is_judged && task["implRetries"].as_u64() < now.as_u64() {
            task["implRetries"] = now.clone();
        }
    }
}

/// A person's approval completes a phase that was passed automatically before.
fn approved(state: &RunState, before: &mut Value, after: &Value) {
    let phases = before["phases"].as_array_mut().into_iter().flatten();
    for (before, after) in phases.zip(after["phases"].as_array().into_iter().flatten()) {
        let is_answer = |at: &str| state.answers.iter().any(|it| it.at.to_string() == at);
        if before["completed"].is_string() && after["completed"].as_str().is_some_and(is_answer) {
            before["completed"] = after["completed"].clone();
        }
    }
}

/// Phases that are left out after a review sent the run back are done in that order.
fn ordered(state: &RunState, before: &mut Value, after: &Value) {
    let names = |it: &Value| {
        let names = it["completedPhases"].as_array().into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let is_back = state.steps.values().any(|it| it.ruling == Some(Ruling::Revised));
    if is_back && names(before) == names(after) {
        before["completedPhases"] = after["completedPhases"].clone();
    }
}
