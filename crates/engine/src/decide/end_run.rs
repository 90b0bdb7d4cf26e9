//! A run is cancelled, fails, or goes on after all.

use alloc::{string::String, vec::Vec};

use definition::{Decider, StepName};
use serde_json::{Map, Value};

use super::{
    Draft, change_context, check_depth, check_size, gate, mode::Mode, parts, record_entry,
    waive_gate,
};
use crate::{
    Artifact, ContextChange, Entry, Event, FailCause, FileFact, GateReason, Refusal, ReopenCause,
    Standing, Stop, guard,
};

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

/// Ends the run well, before its last step only where the definition lets it.
pub(super) fn complete(
    draft: &mut Draft<'_>,
    details: &Map<String, Value>,
    context: &ContextChange,
    early: bool,
) -> Result<(), Stop> {
    draft.check_begun()?;
    if !draft.state.standing.is_live() {
        return Err(ended(draft));
    }
    check_depth("the details", details.values())?;
    let bytes = serde_json::to_string(details).map_or(0, |it| it.len());
    check_size("the details", bytes, draft.known.bounds.report_bytes_max)?;
    let open =
        draft.workflow.work_steps().filter(|it| !draft.state.progress(&it.name).is_settled());
    let open: Vec<StepName> = open.map(|it| it.name.clone()).collect();
    let may_be_early = early && draft.workflow.ends.early;
    if !open.is_empty() && !may_be_early {
        return Err(Refusal::StepsOpen { open }.into());
    }
    if let Standing::Waiting(gate) = &draft.state.standing {
        if gate.is_personal() {
            return Err(gate::refusal(gate).into());
        }
        let step = gate.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
    change_context::apply(draft, context)?;
    if may_be_early {
        guard::check_unreported(draft.known, &draft.state, draft.current()?)?;
        waive_gate::before_end(draft)?;
    }
    draft.push(Event::RunCompleted { details: details.clone() });
    Ok(())
}

pub(super) fn fail(
    draft: &mut Draft<'_>,
    reason: &str,
    step: Option<&str>,
    errors: &[(Option<String>, Entry)],
) -> Result<(), Stop> {
    check_reason(draft, reason)?;
    let step = match step {
        Some(named) => {
            let found = draft.workflow.find_step_loosely(named);
            Some(found.ok_or_else(|| draft.step_unknown(named))?.name.clone())
        }
        None => None,
    };
    match draft.state.standing {
        // A second word on why it failed is the better one.
        Standing::Running | Standing::Waiting(_) | Standing::Failed { .. } => {}
        Standing::New | Standing::Completed | Standing::Cancelled { .. } => {
            return Err(ended(draft));
        }
    }
    for (of, entry) in errors {
        let at = of.as_deref().or(step.as_ref().map(StepName::as_str));
        record_entry::keep(draft, at, entry)?;
    }
    let (reason, cause) = (String::from(reason), Some(FailCause::Caller));
    draft.push(Event::RunFailed { reason, step, cause });
    Ok(())
}

pub(super) fn reopen(
    draft: &mut Draft<'_>,
    mode: Mode,
    reason: &str,
    force: bool,
) -> Result<(), Stop> {
    check_reason(draft, reason)?;
    let gate = match &draft.state.standing {
        Standing::Failed { gate, .. } | Standing::Cancelled { gate, .. } => gate.clone(),
        Standing::Completed => return Err(ended(draft)),
        Standing::Waiting(_) if force => None,
        Standing::New | Standing::Running | Standing::Waiting(_) => {
            let status = draft.state.standing.status();
            return Err(Refusal::RunNotEnded { status }.into());
        }
    };
    gate::check_dismissible(draft, true)?;
    accept_drift(draft, force)?;
    draft.push(Event::RunReopened { reason: String::from(reason), forced: force });
    // What was asked while the work went on is asked again when it is done again.
    if let Some(gate) = gate.filter(|it| it.why != GateReason::Early) {
        return Ok(gate::ask_again(draft, *gate)?);
    }
    // What a person approved is not for an agent to accept in another form.
    if gate::ask_changed(draft, gate::Among::Personal)? || gate::ask_owed(draft)? {
        return Ok(());
    }
    // A run that ended elsewhere may have left the parts of a person behind.
    parts::restore_personal(draft)?;
    parts::take_up_owed(draft);
    parts::ask_owed(draft, mode)?;
    if draft.state.standing != Standing::Running {
        return Ok(());
    }
    // A step that was done when the run ended led nowhere; it is there to be done again.
    let step = draft.current()?;
    let is_stuck = draft.state.progress(&step.name).is_settled()
        && draft.state.decider() == Decider::Declared
        && !draft.state.is_work_done;
    if is_stuck {
        parts::reopen(draft, &step.name, None, ("", ReopenCause::Again))?;
    }
    Ok(())
}

/// Gives the key of a run that is over to the run that begins with it next.
pub(super) fn give_up_key(draft: &mut Draft<'_>) -> Result<(), Stop> {
    draft.check_begun()?;
    if draft.state.standing.is_live() {
        let status = draft.state.standing.status();
        return Err(Refusal::RunNotEnded { status }.into());
    }
    if !draft.state.gave_up_key {
        draft.push(Event::KeyGivenUp);
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
        match draft.file(&path)? {
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
    let status = draft.state.standing.status();
    Refusal::RunEnded { status }.into()
}
