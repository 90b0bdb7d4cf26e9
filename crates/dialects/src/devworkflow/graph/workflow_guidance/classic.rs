//! The five actions that move a session of the workflow `Classic` without a choice being named.

use serde_json::Value;

use super::{
    super::{
        answer::Failure,
        change,
        context::{Choice, Request},
        session::Found,
        view, words,
    },
    choose, start,
};
use crate::kit::{Ask, Caller};

/// The workflow whose sessions take the actions.
const WORKFLOW: &str = "Classic";
/// The actions, in the order they are listed.
const ACTIONS: [&str; 5] = ["start", "plan", "build", "revise", "next"];
/// The largest that a text is in the log, in characters.
const LOGGED_CHARS_MAX: usize = 4_000;

/// Whether a session takes the actions.
pub(in super::super) fn is_classic(found: &Found) -> bool {
    found.record.workflow_name == WORKFLOW
}

/// Does what an action means at the phase that the session is in.
pub(super) fn act(
    caller: &Caller,
    found: Found,
    action: &str,
    (request, context): (Request, &str),
) -> Result<Ask, Failure> {
    let action = action.trim().to_lowercase();
    let (said, text) = match request {
        // Anyone who names the way needs no action.
        Request::Choose(choice) if choice.choose.is_some() => {
            return choose::choose(caller, found, choice);
        }
        Request::Choose(choice) => (choice, ""),
        Request::View | Request::Broken(_) => (Choice::default(), context.trim()),
    };
    let target = match action.as_str() {
        "start" => "ANALYZE".to_owned(),
        "plan" | "revise" if text.is_empty() && said.evidence.is_empty() => {
            return Err(context_missing(&found, &action));
        }
        "plan" | "revise" => "BLUEPRINT".to_owned(),
        "build" => "CONSTRUCT".to_owned(),
        "next" => match following(&found) {
            Some(target) => target,
            None => return choose::choose(caller, found, said),
        },
        _ => return Err(unknown(&found, &action)),
    };
    let line = || format!("{action}: {}", words::cut(text, LOGGED_CHARS_MAX));
    let remark = (!text.is_empty()).then(line);
    if found.record.current_node.eq_ignore_ascii_case(&target) {
        // It is there already; what was said is for the log.
        return Ok(match remark.filter(|_| found.is_active()) {
            Some(line) => {
                change::log(found, vec![line], |found| Ok(found.say(view::node(found.session()))))
            }
            None => start::show(caller, found),
        });
    }
    let said = with_text(&found, said, text);
    let choice = Choice { choose: Some(target), remark, ..said };
    choose::choose(caller, found, choice)
}

/// What was said in plain words is the evidence for the only criterion, if there is only one.
fn with_text(found: &Found, mut said: Choice, text: &str) -> Choice {
    let criteria = found.session().node().map(|it| it.criteria.as_slice()).unwrap_or_default();
    if let ([only], false, true) = (criteria, text.is_empty(), said.evidence.is_empty()) {
        said.evidence.insert(only.key.clone(), Value::from(text));
    }
    said
}

/// Returns the phase that comes next: of those that the current one leads to, the first that the
/// definition has after it.
fn following(found: &Found) -> Option<String> {
    let steps = &found.seen.view.workflow.steps;
    let step = found.session().node()?;
    let ways = words::next_nodes(step);
    let later = steps.iter().skip_while(|it| it.name != step.name).skip(1);
    later.map(|it| it.name.to_string()).find(|it| ways.contains(&it.as_str()))
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
