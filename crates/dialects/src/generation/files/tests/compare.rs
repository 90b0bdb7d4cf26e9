//! Which differences between the two texts are wanted.

use std::collections::BTreeSet;

use definition::StepName;
use engine::Basis;
use engine::{Ending, Event, Progress, Recorded};
use serde_json::{Map, Value};

use super::{super::project::basis, play::Player};

/// A difference that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// D1: new keys stand in one order, not in that of the events.
    Order,
    /// D2: a file that said WAITING where nobody can be asked said so for good.
    Waiting,
    /// D3: a run that was resumed while it waited at a done step, or with a gap before its place, was
    /// said to go on at the first step that is not done.
    Gate,
    /// D5: an attempt that was open when the run was resumed stayed open for good.
    Interrupted,
    /// D7: a step that was entered again was said to be as it had been left.
    Entered,
    /// D8: a step was said to have failed, or begun as a whole, when a part of it did.
    Part,
    /// D10: an empty list or object was made where the text had none, or something else.
    Hollow,
    /// D11: a run that failed where nobody said failed where it is, also if its text did not say
    /// where that is.
    Place,
    /// D12: a run whose text has a status that nobody knows counts as failed: a second failure does
    /// not move it.
    Unknown,
    /// D15: an attempt that only the text says to be under way, and not its step, is not ended.
    Listed,
    /// D13: a copy of a run that was found waiting asks again, and its file did not say so.
    Copied,
}

impl Difference {
    pub(super) const ALL: &[Self] = &[
        Self::Order,
        Self::Waiting,
        Self::Gate,
        Self::Interrupted,
        Self::Entered,
        Self::Part,
        Self::Hollow,
        Self::Place,
        Self::Unknown,
        Self::Listed,
        Self::Copied,
    ];
}

/// Where two texts differ.
struct Found {
    path: String,
    before: Option<Value>,
    after: Option<Value>,
}

/// Returns the differences between the two texts that are wanted, or where they differ else.
/// What was met before in a run lasts.
pub(super) fn check(
    player: &Player,
    known: &BTreeSet<Difference>,
) -> Result<Vec<Difference>, String> {
    let (written, rendered) = (player.written(), player.rendered());
    if written == rendered {
        return Ok(Vec::new());
    }
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut found = Vec::new();
    compare("", &read(&written), &read(&rendered), &mut found);
    if found.is_empty() {
        return Ok(vec![Difference::Order]);
    }
    let mut wanted = Vec::new();
    let mut wrong = Vec::new();
    for it in found {
        match name(player, known, &it) {
            Some(difference) => wanted.push(difference),
            None => wrong.push(format!("{}: {:?} -> {:?}", it.path, it.before, it.after)),
        }
    }
    // Someone may edit what the earlier release left: that must not look like an older state.
    let is_older = !matches!(basis(&rendered, &written), Basis::Current | Basis::Newer);
    if is_older && !wanted.contains(&Difference::Copied) && !known.contains(&Difference::Copied) {
        wrong.push("an edit of the earlier release's file is refused".to_owned());
    }
    if wrong.is_empty() { Ok(wanted) } else { Err(wrong.join("\n")) }
}

/// Returns why a value differs, if it may.
fn name(player: &Player, known: &BTreeSet<Difference>, found: &Found) -> Option<Difference> {
    let history = &player.state.history;
    let base = history.placed.as_ref().map(|it| it.text.as_str()).unwrap_or_default();
    let base = serde_json::from_str::<Value>(base).unwrap_or_default();
    let failed = history.ends.iter().rfind(|it| matches!(it.how, Ending::Failed { .. }));
    let failed_at = failed.and_then(|it| it.step.as_ref()).map(ToString::to_string);
    let is_of_failure = ["/current_step", "/failed_at_step"].contains(&found.path.as_str())
        || found.path == "/steps"
        || failed_at.is_some_and(|it| found.path.starts_with(&format!("/steps/{it}")));
    if is_of_failure && base["workflow_status"] == "PAUSED" {
        return Some(Difference::Unknown);
    }
    let unsaid = |it: &Recorded| matches!(it.event, Event::RunFailed { step: None, .. });
    let is_of_failure = is_of_failure || found.path.starts_with("/steps/");
    if is_of_failure && player.log().iter().any(unsaid) {
        return Some(Difference::Place);
    }
    let text = |it: &Option<Value>| it.as_ref().and_then(Value::as_str).map(ToOwned::to_owned);
    let words = (text(&found.before), text(&found.after));
    if found.path == "/workflow_status" && words.0.as_deref() == Some("WAITING_USER_APPROVAL") {
        return Some(Difference::Waiting);
    }
    let told = ["/cancelled_from", "/user_interactions", "/resume_history"];
    let is_waiting = base["workflow_status"] == "WAITING_USER_APPROVAL";
    if (is_waiting || known.contains(&Difference::Waiting)) && told.contains(&found.path.as_str()) {
        return Some(Difference::Waiting);
    }
    let is_at_gate = |pair: &[Recorded]| {
        let [first, second] = pair else { return false };
        matches!(first.event, Event::RunReopened { .. })
            && matches!(second.event, Event::StepReopened { .. } | Event::GateOpened(_))
    };
    let place = ["/current_phase", "/current_step", "/resume_history", "/failed_at_step"];
    let is_place = place.contains(&found.path.as_str()) || found.path.starts_with("/steps/");
    // A text that has gaps said that it goes on at the first.
    let has_waited = history.placed.is_some() && !history.reopenings.is_empty()
        || history.reopenings.iter().any(|it| it.from == "waiting");
    let is_place = is_place || found.path == "/user_interactions";
    if is_place && (has_waited || player.log().windows(2).any(is_at_gate)) {
        return Some(Difference::Gate);
    }
    let is_entered = |path: &str| {
        let step = path.strip_prefix("/steps/")?.strip_suffix("/status")?;
        let step = StepName::parse(step).ok()?;
        Some(player.state.progress(&step) == Progress::Ready)
    };
    if words.1.as_deref() == Some("PENDING") && is_entered(&found.path) == Some(true) {
        return Some(Difference::Entered);
    }
    // A step that was said to be under way still was interrupted when the run was cancelled.
    let is_interrupted = found.path.ends_with("/interrupted_at") && found.after.is_none();
    if is_interrupted && known.contains(&Difference::Entered) {
        return Some(Difference::Entered);
    }
    let counted = ["/revision", "/updated_at", "/user_interactions"];
    let is_copy = |it: &Recorded| matches!(it.event, Event::RunForked { .. });
    if is_waiting && counted.contains(&found.path.as_str()) && player.log().iter().any(is_copy) {
        return Some(Difference::Copied);
    }
    if found.path.starts_with("/generation_attempts") && !history.reopenings.is_empty() {
        return Some(Difference::Interrupted);
    }
    let of_part = |it: &Recorded| {
        matches!(
            it.event,
            Event::StepStarted { part: Some(_), .. } | Event::StepFailed { part: Some(_), .. }
        )
    };
    let is_place = ["/current_phase", "/current_step"].contains(&found.path.as_str());
    let is_part = is_place || found.path.starts_with("/steps/step_6");
    if is_part && player.log().iter().any(of_part) {
        return Some(Difference::Part);
    }
    let attempts = &base["generation_attempts"]["attempts_history"];
    let listed = attempts.as_array().and_then(|it| it.last()).map(|it| &it["status"]);
    if found.path.starts_with("/generation_attempts")
        && listed.is_some_and(|it| it == "IN_PROGRESS" || it == "SUCCESS")
    {
        return Some(Difference::Listed);
    }
    if found.before.as_ref().is_some_and(is_hollow) {
        return Some(Difference::Hollow);
    }
    None
}

fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().all(is_hollow),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<Found>) {
    if let (Value::Object(before), Value::Object(after)) = (before, after) {
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            let path = format!("{path}/{key}");
            let value = |it: &Map<String, Value>| it.get(key).cloned();
            match (value(before), value(after)) {
                (Some(before), Some(after)) => compare(&path, &before, &after, found),
                (before, after) => found.push(Found { path, before, after }),
            }
        }
    } else if before != after {
        let (before, after) = (Some(before.clone()), Some(after.clone()));
        found.push(Found { path: path.to_owned(), before, after });
    }
}
