//! An open gate as a form that a client can put to the person before it.

use definition::Digest;
use engine::{Action, Entry, OpenGate, next};
use runtime::{ExecuteError, Runtime, View};
use serde_json::{Value, json};

use crate::{
    server::PersonsDoor,
    tool::{GateReply, Person},
};

/// The field of the form for the answer, and the one for what should change.
const ANSWER: &str = "answer";
const FEEDBACK: &str = "feedback";
/// Marks a note that says that nobody answered.
pub(crate) const UNANSWERED: &str = "unanswered";

/// A question to the person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    /// What sets this question apart from every other that was asked of the run.
    pub(crate) marks: String,
    pub(crate) message: String,
    /// A flat JSON Schema, as forms have them.
    pub(crate) schema: Value,
    /// Of what is shown.
    pub(crate) digest: Digest,
}

/// Returns the open gate of a run as a form, if one is open.
pub(crate) async fn form(runtime: &Runtime, view: &View) -> Result<Option<Form>, ExecuteError> {
    let Action::Wait { gate } = next(&view.workflow, &view.state) else { return Ok(None) };
    let Some(shown) = runtime.find_shown(view).await? else { return Ok(None) };
    let mut message = format!("{}\n\n{}", headline(view, &gate), gate.ask);
    if !shown.artifacts.is_empty() {
        message.push_str("\n\nIt is about:");
        for artifact in &shown.artifacts {
            let hash: String = artifact.sha256.as_str().chars().take(12).collect();
            message.push_str(&format!("\n- {} ({} bytes, {hash})", artifact.path, artifact.size));
        }
    }
    let names: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            ANSWER: { "type": "string", "title": "Answer", "enum": names },
            FEEDBACK: {
                "type": "string",
                "title": "Feedback",
                "description": "What should be changed, if anything",
            },
        },
        "required": [ANSWER],
    });
    let marks = format!(
        "{} {:x} {} {}",
        view.state.run,
        gate.opened_at.0,
        shown.digest,
        count_unanswered(view)
    );
    Ok(Some(Form { marks, message, schema, digest: shown.digest }))
}

/// Returns how often the person was asked and gave no answer.
fn count_unanswered(view: &View) -> usize {
    let is_unanswered = |it: &&engine::Noted| matches!(&it.entry, Entry::Note { tags, .. } if tags.iter().any(|it| it == UNANSWERED));
    view.state.entries.iter().filter(is_unanswered).count()
}

fn headline(view: &View, gate: &OpenGate) -> String {
    let workflow = view.state.workflow().map_or("", |it| it.as_str());
    let run = view.state.key().map_or_else(|| view.state.run.short(), ToOwned::to_owned);
    let part = gate.part.as_ref().map_or(String::new(), |it| format!(", part {it}"));
    format!("{workflow}, run {run}: step {}{part}", gate.step)
}

/// Reads what came back: a person accepted the form, declined it, or dismissed it.
/// `door` is the one that it came through, where that is a person's own.
pub(crate) fn read(
    reply: &Value,
    (digest, request_id): (Digest, Option<String>),
    door: Option<PersonsDoor>,
) -> Person {
    match reply.get("action").and_then(Value::as_str) {
        Some("accept") => {}
        Some("decline") => return Person::Silent("the person declined to answer"),
        _ => return Person::Silent("the person dismissed the question"),
    }
    let field = |name: &str| {
        let value = reply.get("content").and_then(|it| it.get(name)).and_then(Value::as_str);
        value.unwrap_or_default().trim().to_owned()
    };
    let answer = field(ANSWER);
    if answer.is_empty() {
        return Person::Silent("the answer was empty");
    }
    Person::Answered(GateReply { answer, feedback: field(FEEDBACK), digest, request_id, door })
}
