//! A run is cancelled, fails, or goes on after all.

use alloc::{string::String, vec::Vec};

use super::{Draft, check_size};
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
    }
    Ok(())
}

/// Refuses to go on while files are not what the server saw, or takes them as they are.
pub(super) fn accept_drift(draft: &mut Draft<'_>, force: bool) -> Result<(), Stop> {
    let paths: Vec<String> = draft.state.artifacts.keys().cloned().collect();
    draft.known.need_files(paths.iter().map(String::as_str))?;
    let mut drifted: Vec<String> = Vec::new();
    let mut now: Vec<Artifact> = Vec::new();
    for path in paths {
        let Some(seen) = draft.state.artifacts.get(&path) else { continue };
        match draft.known.file(&path)? {
            FileFact::Present { sha256, .. } if *sha256 == seen.artifact.sha256 => {}
            FileFact::Present { sha256, size, .. } => {
                now.push(Artifact { path: path.clone(), sha256: sha256.clone(), size: *size });
                drifted.push(path);
            }
            FileFact::Missing | FileFact::Unreadable(_) => drifted.push(path),
        }
    }
    if !drifted.is_empty() && !force {
        return Err(Refusal::ArtifactsDrifted { paths: drifted }.into());
    }
    if !now.is_empty() {
        draft.push(Event::DriftAccepted { artifacts: now });
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
