//! Whether there is anything to show for the action that was handed out last.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use definition::Workflow;

use crate::{Action, Artifact, FileFact, Known, RunState, Stop, find_promised, next};

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
