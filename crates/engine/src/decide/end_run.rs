//! A run is cancelled, fails, or goes on after all.

use alloc::{string::String, vec::Vec};

use definition::Decider;

use super::{Draft, check_size, parts};
use crate::{Artifact, Event, FileFact, Refusal, Standing, Stop};

pub(super) fn cancel(draft: &mut Draft<'_>, reason: &str) -> Result<(), Stop> {
    check_reason(draft, reason)?;
    match draft.state.standing {
        Standing::Running | Standing::Waiting(_) | Standing::Failed { .. } => {
            draft.push(Event::RunCancelled { reason: String::from(reason) });
            Ok(())
        }
        Standing::New | Standing::Completed | Standing::Cancelled { .. } => Err(ended(draft)),
    }
}

pub(super) fn fail(draft: &mut Draft<'_>, reason: &str) -> Result<(), Stop> {
    check_reason(draft, reason)?;
    match draft.state.standing {
        // A second word on why it failed is the better one.
        Standing::Running | Standing::Waiting(_) | Standing::Failed { .. } => {
            draft.push(Event::RunFailed { reason: String::from(reason) });
            Ok(())
        }
        Standing::New | Standing::Completed | Standing::Cancelled { .. } => Err(ended(draft)),
    }
}

pub(super) fn reopen(draft: &mut Draft<'_>, reason: &str, force: bool) -> Result<(), Stop> {
    check_reason(draft, reason)?;
    let gate = match &draft.state.standing {
        Standing::Failed { gate, .. } | Standing::Cancelled { gate, .. } => gate.clone(),
        Standing::Completed => return Err(ended(draft)),
        Standing::New | Standing::Running | Standing::Waiting(_) => {
            let status = draft.state.standing.as_str().into();
            return Err(Refusal::RunNotEnded { status }.into());
        }
    };
    accept_drift(draft, force)?;
    draft.push(Event::RunReopened { reason: String::from(reason) });
    if let Some(gate) = gate {
        draft.push(Event::GateOpened(gate));
        return Ok(());
    }
    // A step that was done when the run ended led nowhere; it is there to be done again.
    let step = draft.current()?;
    let is_stuck =
        draft.state.progress(&step.name).is_settled() && draft.state.decider() == Decider::Declared;
    if is_stuck {
        parts::reopen(draft, &step.name, None, "")?;
    }
    Ok(())
}

/// Refuses to go on while files are not what the server saw, or takes them as they are.
pub(super) fn accept_drift(draft: &mut Draft<'_>, force: bool) -> Result<(), Stop> {
    let paths: Vec<String> = draft.state.artifacts.keys().cloned().collect();
    draft.known.need_files(paths.iter().map(String::as_str))?;
    let mut drifted: Vec<String> = Vec::new();
    let mut now: Vec<Artifact> = Vec::new();
    let mut gone: Vec<String> = Vec::new();
    for path in paths {
        let Some(seen) = draft.state.artifacts.get(&path) else { continue };
        if !draft.state.progress(&seen.step).is_settled() {
            // It is being worked on, so it is meant to change.
            continue;
        }
        match draft.known.file(&path)? {
            FileFact::Present { sha256, .. } if *sha256 == seen.artifact.sha256 => {}
            FileFact::Present { sha256, size, .. } => {
                now.push(Artifact { path: path.clone(), sha256: sha256.clone(), size: *size });
                drifted.push(path);
            }
            FileFact::Missing | FileFact::Unreadable(_) => {
                gone.push(path.clone());
                drifted.push(path);
            }
        }
    }
    if !drifted.is_empty() && !force {
        return Err(Refusal::ArtifactsDrifted { paths: drifted }.into());
    }
    if !drifted.is_empty() {
        draft.push(Event::DriftAccepted { artifacts: now, gone });
    }
    Ok(())
}

fn check_reason(draft: &Draft<'_>, reason: &str) -> Result<(), Refusal> {
    draft.check_begun()?;
    check_size("the reason", reason.len(), draft.known.bounds.text_bytes_max)
}

fn ended(draft: &Draft<'_>) -> Stop {
    let status = draft.state.standing.as_str().into();
    Refusal::RunEnded { status }.into()
}
