//! Whether there is anything to show for the action that was handed out last, and what people said
//! for the one who is to do it.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use definition::{Work, Workflow};

use crate::{
    Action, Artifact, CompletedBy, Effort, Entry, FileFact, Known, Noted, Progress, RunState, Stop,
    Timestamp, find_promised, next,
};

/// Marks what a person left in a file for the next agent.
pub(crate) const FEEDBACK: &str = "feedback";

/// How much earlier than it happened a file system may say that a file was written.
const TICK: Duration = Duration::from_millis(10);

/// Returns whether there is anything to show for the current work, or what must be looked at first.
///
/// A file that the work is to leave shows it if it differs from what the server last saw at its
/// path, or was written since the work was handed out.
pub fn find_worked(workflow: &Workflow, state: &RunState, known: &Known) -> Result<bool, Stop> {
    let Action::Work { step, parts } = next(workflow, state) else { return Ok(false) };
    let mut promised: Vec<String> = find_promised(workflow, state, step, None);
    for part in &parts {
        promised.extend(find_promised(workflow, state, step, Some(part)));
    }
    known.need_files(promised.iter().map(String::as_str))?;
    let found = known.artifacts(promised.iter().map(String::as_str))?;
    let is_new = |it: &Artifact| {
        state.artifacts.get(&it.path).is_none_or(|seen| seen.artifact.sha256 != it.sha256)
    };
    let is_written = |it: &Artifact| {
        let fact = known.file(&it.path);
        let Ok(FileFact::Present { modified: Some(at), .. }) = fact else { return false };
        state.handed.at <= at.after(TICK)
    };
    Ok(found.iter().any(|it| is_new(it) || is_written(it)))
}

/// Returns what a person said since an agent last did anything, for the next one to know: in a file,
/// else with their answers.
pub fn find_said(workflow: &Workflow, state: &RunState) -> Option<String> {
    let is_work = |it: &&Effort| {
        let is_passed = it.completed_by == Some(CompletedBy::NothingLeft);
        it.progress == Progress::Done && 0 < it.attempts && !is_passed
    };
    let steps = workflow.steps.iter().filter(|it| it.work == Work::Agent);
    let steps = steps.filter_map(|it| state.step(&it.name));
    let efforts = steps.flat_map(|it| it.parts.values().chain([&it.effort]));
    let done = efforts.filter(is_work).filter_map(|it| it.ended_at).max();
    let is_new = |at: Timestamp| done.is_none_or(|done| done <= at);
    let left = state.entries.iter().filter(|it| is_new(it.at)).filter_map(left_in_file);
    let left: Vec<&str> = left.collect();
    let answers = state.answers.iter().filter(|it| is_new(it.at));
    let said: Vec<&str> =
        answers.map(|it| it.feedback.as_str()).filter(|it| !it.is_empty()).collect();
    let said = if left.is_empty() { said } else { left };
    (!said.is_empty()).then(|| said.join("\n\n"))
}

fn left_in_file(noted: &Noted) -> Option<&str> {
    let Entry::Note { text, tags } = &noted.entry else { return None };
    tags.iter().any(|it| it == FEEDBACK).then_some(text.as_str())
}
