//! The five actions that move a session of the workflow `Classic` without a choice being named.

use serde_json::Value;

use super::{
    super::{
        answer::{Answer, Failure},
        change::{change, note},
        context::{Ask, Choice},
        session::Found,
        words,
    },
    choose, show,
};
use crate::tool::{Call, Done};

/// The workflow whose sessions take the actions.
const WORKFLOW: &str = "Classic";
/// The actions, in the order they are listed.
const ACTIONS: [&str; 5] = ["start", "plan", "build", "revise", "next"];
/// The largest that a text is in the log, in characters.
const LOGGED_CHARS_MAX: usize = 4_000;

/// Whether a session takes the actions.
pub(super) fn is_classic(found: &Found) -> bool {
    found.record.workflow_name == WORKFLOW
}

/// Does what an action means at the phase that the session is in.
pub(super) async fn act(
    call: &Call<'_>,
    found: Found,
    action: &str,
    (ask, context): (Ask, &str),
) -> Result<Done<Answer>, Failure> {
    let action = action.trim().to_lowercase();
    let (said, text) = match ask {
        // Anyone who names the way needs no action.
        Ask::Choose(choice) if choice.choose.is_some() => {
            return choose::choose(call, found, choice).await;
        }
        Ask::Choose(choice) => (choice, ""),
        Ask::View | Ask::Broken(_) => (Choice::default(), context.trim()),
    };
    let target = match action.as_str() {
        "start" => "ANALYZE",
        "plan" | "revise" if text.is_empty() && said.evidence.is_empty() => {
            return Err(context_missing(&found, &action));
        }
        "plan" | "revise" => "BLUEPRINT",
        "build" => "CONSTRUCT",
        "next" => match following(&found) {
            Some(target) => target,
            None => return choose::choose(call, found, said).await,
        },
        _ => return Err(unknown(&found, &action)),
    };
    let line = || format!("{action}: {}", words::cut(text, LOGGED_CHARS_MAX));
    let remark = (!text.is_empty()).then(line);
    if found.record.current_node.eq_ignore_ascii_case(target) {
        // It is there already; what was said is for the log.
        let found = match remark.filter(|_| found.is_active()) {
            Some(line) => change(call, &found, note(line)).await?.noticing(&found),
            None => found,
        };
        return Ok(show(call, &found).await);
    }
    let said = with_text(&found, said, text);
    let choice = Choice { choose: Some(target.to_owned()), remark, ..said };
    choose::choose(call, found, choice).await
}

/// What was said in plain words is the evidence for the only criterion, if there is only one.
fn with_text(found: &Found, mut said: Choice, text: &str) -> Choice {
    let criteria = found.session().node().map(|it| it.criteria.as_slice()).unwrap_or_default();
    if let ([only], false, true) = (criteria, text.is_empty(), said.evidence.is_empty()) {
        said.evidence.insert(only.key.clone(), Value::from(text));
    }
    said
}

/// Returns the phase that follows the one the session is in.
fn following(found: &Found) -> Option<&'static str> {
    match found.record.current_node.to_uppercase().as_str() {
        "INIT" => Some("ANALYZE"),
        "ANALYZE" => Some("BLUEPRINT"),
        "BLUEPRINT" => Some("CONSTRUCT"),
        "CONSTRUCT" => Some("VALIDATE"),
        _ => None,
    }
}

fn context_missing(found: &Found, action: &str) -> Failure {
    let what = if action == "plan" { "the requirements" } else { "what is to be changed" };
    Failure::new(
        "CONTEXT_REQUIRED",
        format!("❌ **Error:** `{action}` needs a `context`: {what}"),
        format!("call again with {what} as `context`"),
    )
    .about(found.id())
}

fn unknown(found: &Found, action: &str) -> Failure {
    let known = ACTIONS.join(", ");
    Failure::new(
        "INVALID_ACTION",
        format!("❌ **Invalid action:** {}. Use one of: {known}", words::cut(action, 60)),
        format!("use one of: {known}"),
    )
    .about(found.id())
}
