//! What a tool of the dialect answers: one text, compact JSON or a plain word, and beside it the
//! same as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::way_out;
use crate::kit::{self, Failing, InvalidArguments, Leniency, ProblemKind, Stopped, Unasked};

/// What a call that did something is answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    #[serde(skip)]
    text: String,
    #[serde(flatten)]
    body: Map<String, Value>,
}

impl Answer {
    /// Says that all is done.
    pub fn ok() -> Self {
        Self::text("ok")
    }

    /// Says that all is done, and what to mind.
    pub fn ok_with(warnings: &[String]) -> Self {
        #[derive(Serialize)]
        struct Warned {
            result: &'static str,
            warning: String,
        }
        if warnings.is_empty() {
            return Self::ok();
        }
        Self::json(&Warned { result: "ok", warning: warnings.join("; ") })
    }

    /// Answers with a text as it is. One that is JSON is the same as data.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let value = serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.clone()));
        Self { body: data(value), text }
    }

    /// Answers with JSON, its members in the order of the type's fields.
    pub fn json<T: Serialize>(value: &T) -> Self {
        let why = "an answer has only text keys and numbers that JSON has";
        let text = serde_json::to_string(value).expect(why);
        Self { text, body: data(serde_json::to_value(value).expect(why)) }
    }
}

impl kit::Answer for Answer {
    // The contract answers with one text, and has more tools than any other.
    const IS_DESCRIBED: bool = false;

    fn text(&self) -> Option<&str> {
        Some(&self.text)
    }
}

/// Only an object is data to a client; anything else is put into one.
fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(body) => body,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => Map::from_iter([("result".to_owned(), other)]),
    }
}

/// What a call that led to nothing is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    #[serde(rename = "result")]
    #[schemars(with = "Value")]
    text: String,
    // The members are the same for every tool of every toolset, and cost bytes in each list.
    #[schemars(with = "Map<String, Value>")]
    refusal: Box<Refused>,
}

/// Why, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Refused {
    code: String,
    message: String,
    hint: String,
}

impl Failure {
    /// Words a failure: its code, what is wrong, and the way out.
    pub fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        let text = if hint.is_empty() { message.clone() } else { format!("{message}; {hint}") };
        Self { text, refusal: Box::new(Refused { code: code.to_owned(), message, hint }) }
    }

    /// Tells besides what was found on the way, such as that a file was put aside.
    pub fn noting(self, notices: &[String]) -> Self {
        let is_told = |it: &&String| self.refusal.message.contains(it.as_str());
        let news: Vec<&str> =
            notices.iter().filter(|it| !is_told(it)).map(String::as_str).collect();
        if news.is_empty() {
            return self;
        }
        let Refused { code, message, hint } = &*self.refusal;
        let hint =
            if hint.is_empty() { news.join("; ") } else { format!("{hint}; {}", news.join("; ")) };
        Self::new(code, message, hint)
    }

    /// Words why what was asked for led to nothing.
    pub fn of(what: &str, stopped: &Stopped) -> Self {
        let hint = match stopped {
            Stopped::Refused(refusal) => way_out::hint(refusal),
            Stopped::Failed(fault) => fault.hint.clone(),
        };
        Self::new(stopped.code(), format!("{what}: {stopped}"), hint)
    }
}

impl kit::Answer for Failure {
    fn text(&self) -> Option<&str> {
        Some(&self.text)
    }
}

impl Failing for Failure {
    const LENIENCY: Leniency = Leniency::Coercing;
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Self::of(unasked.tool, &unasked.stopped)
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let problems: Vec<String> = invalid_arguments
            .problems
            .iter()
            .map(|it| {
                let path = &it.path;
                match it.kind {
                    ProblemKind::Missing => format!("argument `{path}` not found"),
                    ProblemKind::NotString => format!("argument `{path}` is not a string"),
                    ProblemKind::WrongType | ProblemKind::WrongValue | ProblemKind::Unknown => {
                        format!("argument `{path}` {}", it.text)
                    }
                }
            })
            .collect();
        let hint = "fix what is named, then call again";
        Self::new("argument_invalid", problems.join("; "), hint)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::kit::{Answer as _, read_as};

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Parameters {
        /// Where
        workspace: String,
        /// How many
        limit: Option<i64>,
        /// Whether it was checked
        validated: bool,
        /// What
        note: Option<String>,
        /// More
        extra: Option<Map<String, Value>>,
    }

    #[track_caller]
    fn check(arguments: Value, expected: Result<Parameters, &str>) {
        let read = read_as::<Parameters>(Leniency::Coercing, arguments).map_err(Failure::from);
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(read, expected),
            (Err(failure), Err(expected)) => assert_eq!(failure.refusal.message, expected),
            (read, expected) => panic!("{read:?} is not {expected:?}"),
        }
    }

    #[test]
    fn arguments_are_taken_as_they_are_meant() {
        let plain = |limit, validated| Parameters {
            workspace: "w".to_owned(),
            limit,
            validated,
            note: None,
            extra: None,
        };
        check(
            json!({ "workspace": "w", "limit": "3", "validated": "true" }),
            Ok(plain(Some(3), true)),
        );
        check(json!({ "workspace": "w", "limit": "x", "validated": [] }), Ok(plain(None, false)));
        check(
            json!({ "workspace": "w", "limit": null, "note": 5, "z": 1 }),
            Ok(plain(None, false)),
        );
        check(json!({ "limit": 3 }), Err("argument `workspace` not found"));
        check(json!({ "workspace": 3 }), Err("argument `workspace` is not a string"));
        check(json!({ "workspace": null }), Err("argument `workspace` is not a string"));
        check(
            json!({ "workspace": "w", "extra": "x" }),
            Err("argument `extra` must be an object, not a string"),
        );
    }

    #[test]
    fn an_answer_is_one_text_and_the_same_as_data() {
        assert_eq!(Answer::ok().text(), Some("ok"));
        let warned = Answer::ok_with(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(warned.text(), Some(r#"{"result":"ok","warning":"a; b"}"#));
        let list = Answer::json(&[1, 2]);
        assert_eq!(list.text(), Some("[1,2]"));
        assert_eq!(serde_json::to_value(&list).unwrap(), json!({ "result": [1, 2] }));
        let failure = Failure::new("code", "what is wrong", "the way out");
        assert_eq!(failure.text(), Some("what is wrong; the way out"));
    }
}
