//! What a tool answers: the same facts as text and as data.

use engine::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a program reads of an answer, or of a failure.
pub trait Answer: Serialize + JsonSchema {
    /// Whether it is described in the list of tools, at the price of its length.
    const IS_DESCRIBED: bool = true;

    /// Returns the text of an answer that has one of its own; without one the text is its JSON.
    fn text(&self) -> Option<&str> {
        None
    }
}

/// What a tool did, and what its caller should know besides.
#[derive(Debug)]
pub struct Done<T> {
    pub answer: T,
    pub warnings: Vec<String>,
    pub then: Option<Then>,
}

impl<T> From<T> for Done<T> {
    fn from(answer: T) -> Self {
        Self { answer, warnings: Vec::new(), then: None }
    }
}

/// What the caller's program is to do before the call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Put the open gate of this run to the person.
    Ask(RunId),
    /// Look after this run until it has more than so many events, or this time has come.
    Wait(RunId, u64, Timestamp),
}

/// Why a call led to nothing, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    pub code: String,
    pub message: String,
    pub hint: String,
    /// Present where the same call may work later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer's own text; else JSON with two spaces of indentation, in the order that reads
    /// best.
    pub text: String,
    pub body: Value,
    pub is_error: bool,
    pub then: Option<Then>,
    /// What was noticed of runs' files that the text does not tell.
    pub notices: Vec<String>,
}

/// An answer with what its caller should know besides.
#[derive(Serialize, JsonSchema)]
pub(super) struct Whole<T> {
    #[serde(flatten)]
    answer: T,
    /// What was ignored, and what to mind.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

impl Reply {
    /// Answers with a text of its own, if there is one.
    pub fn worded<T: Serialize>(
        text: Option<String>,
        answer: T,
        warnings: Option<Vec<String>>,
        is_error: bool,
    ) -> Self {
        let whole = Whole { answer, warnings };
        let why = "an answer has only text keys and numbers that JSON has";
        let json = || serde_json::to_string(&whole).expect(why);
        let text = text.unwrap_or_else(json);
        let body = serde_json::to_value(&whole).expect(why);
        Self { text, body, is_error, then: None, notices: Vec::new() }
    }

    /// Returns whether a person's answer is refused because the gate has changed since.
    pub fn is_gate_stale(&self) -> bool {
        let code = self.body.pointer("/refusal/code").and_then(Value::as_str);
        self.is_error && code == Some("gate_stale")
    }

    /// Returns whether the text says this, be it as JSON.
    pub fn tells(&self, notice: &str) -> bool {
        let quoted = Value::from(notice).to_string();
        self.text.contains(notice) || self.text.contains(quoted.trim_matches('"'))
    }

    /// Tells what was noticed besides.
    #[must_use]
    pub fn noticing(mut self, notices: Vec<String>) -> Self {
        if let Some(body) = self.body.as_object_mut().filter(|_| !notices.is_empty()) {
            let warnings = body.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
            if let Some(warnings) = warnings.as_array_mut() {
                let news = notices.iter().map(|it| Value::from(it.as_str()));
                let news: Vec<Value> = news.filter(|it| !warnings.contains(it)).collect();
                warnings.extend(news);
            }
        }
        self.notices = notices;
        self
    }

    /// Returns what stands after the text.
    pub fn postscript(&self) -> Option<String> {
        let list: String = self.notices.iter().map(|it| format!("\n- {it}")).collect();
        (!list.is_empty()).then(|| format!("Noticed:\n{list}"))
    }
}

/// An answer that only lacks what there was to say of the arguments.
pub struct Said(Box<dyn FnOnce(Vec<String>) -> Reply + Send>);

impl Said {
    /// Answers. The list of warnings is there even where it is empty if `lists_warnings`.
    pub(super) fn done<A: Answer + Send + 'static>(done: Done<A>, lists_warnings: bool) -> Self {
        Self(Box::new(move |mut warnings| {
            let Done { answer, warnings: own, then } = done;
            warnings.extend(own);
            let warnings = Some(warnings).filter(|it| lists_warnings || !it.is_empty());
            let text = answer.text().map(ToOwned::to_owned);
            Reply { then, ..Reply::worded(text, answer, warnings, false) }
        }))
    }

    /// Says no.
    pub(super) fn failed<F: Answer + Send + 'static>(failure: F) -> Self {
        Self(Box::new(move |warnings| {
            let text = failure.text().map(ToOwned::to_owned);
            Reply::worded(text, failure, Some(warnings).filter(|it| !it.is_empty()), true)
        }))
    }

    /// Returns the answer, with what there is to say of the arguments.
    pub fn reply(self, warnings: Vec<String>) -> Reply {
        (self.0)(warnings)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Reply;

    #[test]
    fn an_answer_without_a_text_of_its_own_is_its_json() {
        let answer = || json!({ "ok": true });
        let worded = Reply::worded(Some("# Done".to_owned()), answer(), None, false);
        assert_eq!((worded.text.as_str(), worded.body), ("# Done", answer()));
        let plain = Reply::worded(None, answer(), None, false);
        assert_eq!(plain.text, r#"{"ok":true}"#);
    }

    #[test]
    fn what_an_answer_does_not_tell_stands_after_it() {
        let warnings = Some(vec!["`a\\b` was kept".to_owned()]);
        let reply = Reply::worded(None, json!({ "ok": true }), warnings, false);
        assert!(reply.tells("`a\\b` was kept") && !reply.tells("`c` was kept"));
        assert_eq!(reply.postscript(), None);
        let reply = reply.noticing(vec!["`c` was kept".to_owned()]);
        assert_eq!(reply.postscript().unwrap(), "Noticed:\n\n- `c` was kept");
        assert_eq!(reply.body["warnings"], json!(["`a\\b` was kept", "`c` was kept"]));
    }
}
