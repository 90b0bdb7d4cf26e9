//! What has changed behind the run's back: files and version control, compared with what the
//! server saw when steps were completed.

use alloc::{format, string::String, vec::Vec};

use definition::{Digest, Workflow};

use crate::{
    Artifact, FileFact, GateReason, Known, OpenGate, Question, RunState, Stop, decide::gate,
};

/// What an open gate shows now, which an answer is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub digest: Digest,
    pub artifacts: Vec<Artifact>,
    /// What the agent said when it reported the work that is asked about.
    pub said: Option<String>,
}

/// Returns what differs from what was seen, as warnings; or what must be looked at first.
pub fn find_drift(state: &RunState, known: &Known) -> Result<Vec<String>, Stop> {
    known.need_files(state.artifacts.keys().map(String::as_str))?;
    let mut warnings = Vec::new();
    for (path, seen) in &state.artifacts {
        if !state.progress(&seen.step).is_settled() {
            // It is being worked on, so it is meant to change.
            continue;
        }
        match known.file(path)? {
            FileFact::Present { sha256, .. } if *sha256 == seen.artifact.sha256 => {}
            FileFact::Present { .. } => {
                warnings.push(format!("`{path}` was changed since step `{}` left it", seen.step));
            }
            FileFact::Missing => {
                warnings.push(format!("`{path}` is gone, which step `{}` left", seen.step));
            }
            FileFact::Unreadable(problem) => {
                warnings.push(format!("`{path}` cannot be read any more: {problem}"));
            }
        }
    }
    if let Some(warning) = git_drift(state, known)? {
        warnings.push(warning);
    }
    Ok(warnings)
}

/// Returns what the open gate shows now, if one is open; or what must be looked at first.
pub fn find_shown(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
) -> Result<Option<Shown>, Stop> {
    let Some(open) = state.standing.open_gate() else { return Ok(None) };
    let Some(step) = workflow.find_step(&open.step) else { return Ok(None) };
    let paths = gate::paths_shown(workflow, state, step, open)?;
    let paths = || paths.iter().map(String::as_str);
    known.need_files(paths())?;
    let artifacts = known.artifacts(paths())?;
    let digest = gate::digest(state, step, open.part.as_ref(), &open.ask, &artifacts);
    let said = find_said(state, open);
    Ok(Some(Shown { digest, artifacts, said }))
}

/// Returns what the agent said of the work that an open gate asks about: in this visit of the step,
/// and not what the server noted in its place.
fn find_said(state: &RunState, open: &OpenGate) -> Option<String> {
    let effort = state.effort(&open.step, open.part.as_ref())?;
    let is_reported = open.why != GateReason::Gate || effort.progress.is_settled();
    let report = effort.report.as_ref().filter(|it| is_reported && !it.by_server)?;
    report.said()
}

/// The branch is compared, not the head: work that was committed is not a surprise.
fn git_drift(state: &RunState, known: &Known) -> Result<Option<String>, Stop> {
    let efforts = state.steps.values().map(|it| &it.effort);
    let newest = efforts.filter(|it| it.git.is_some()).max_by_key(|it| it.ended_at);
    let Some(seen) = newest.and_then(|it| it.git.as_ref()) else { return Ok(None) };
    if !known.facts.contains_key(&Question::Git) {
        return Err(Stop::Ask(Vec::from([Question::Git])));
    }
    let Some(now) = known.git()? else {
        return Ok(Some(String::from("the folder is no longer under version control")));
    };
    let is_same = now.branch == seen.branch;
    Ok((!is_same).then(|| format!("branch `{}` was left for `{}`", seen.branch, now.branch)))
}
