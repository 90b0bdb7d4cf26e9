//! What the run knows beside its steps: files, values, chores and what a model advised.

use alloc::string::{String, ToString as _};

use definition::Digest;
use serde_json::{Map, Value};

use crate::{Artifact, Event, ModelAsked, Recorded, RunState, Seen};

/// The server writes a file of the run, or removes it.
pub(super) fn leave_file(state: &mut RunState, path: &str, text: Option<&str>) {
    let Some(text) = text else {
        state.artifacts.remove_mut(path);
        return;
    };
    if let Some(step) = state.current.clone() {
        let (sha256, size) = (Digest::of(text.as_bytes()), text.len() as u64);
        let artifact = Artifact { path: path.to_string(), sha256, size };
        state.artifacts.insert_mut(path.to_string(), Seen { artifact, step });
    }
}

/// The files as they are now are those that the run continues with.
pub(super) fn accept_drift(state: &mut RunState, artifacts: &[Artifact], gone: &[String]) {
    for path in gone {
        state.artifacts.remove_mut(path);
    }
    for artifact in artifacts {
        if let Some(seen) = state.artifacts.get_mut(&artifact.path) {
            seen.artifact = artifact.clone();
        }
    }
}

pub(super) fn change_context(state: &mut RunState, set: &Map<String, Value>, removed: &[String]) {
    for key in removed {
        state.context.remove(key);
    }
    state.context.extend(set.clone());
}

/// A model was asked for the next step.
pub(super) fn ask_model(state: &mut RunState, recorded: &Recorded, asked: &ModelAsked) {
    state.reasoning.clone_from(&asked.reasoning);
    state.deferral = asked.failure.as_ref().map(|it| it.message.clone());
    state.advised = asked.next.clone().map(|it| (recorded.at, it));
}

/// A chore was done, or could not be.
pub(super) fn end_chore(state: &mut RunState, event: &Event) {
    if let Event::ChoreDone { name, deed, pushed, .. } = event {
        state.chores.remove(name);
        state.follow_chore(deed, pushed.as_ref());
    }
    if let Event::ChoreFailed { name, reason, is_passed, .. } = event {
        if *is_passed {
            state.chores.remove(name);
        } else {
            state.chores.insert(name.clone(), reason.clone());
        }
    }
}

/// An item of the run's list is done.
pub(super) fn close_item(state: &mut RunState, id: u64) {
    if let Some(open) = state.items.iter_mut().find(|it| it.id == id && !it.is_done) {
        open.is_done = true;
    }
}
