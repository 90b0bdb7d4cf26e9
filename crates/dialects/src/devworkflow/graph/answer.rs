//! What the tools of graph mode answer: a text, the session it is about, and whether it went well.

use engine::Refusal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{super::words::RETRY_MS, workflow_guidance::WorkflowGuidance};
use crate::{
    devworkflow::advice::ON_GRAPH,
    kit::{self, Ask, Done, Failing, InvalidArguments, Refused, Stopped, Tell, Tool as _, Unasked},
};

/// What a tool that answers with a text says.
pub(super) type Told = Result<Done<Answer>, Failure>;

/// Answers with a text.
pub(super) fn tell(told: Told) -> Tell {
    WorkflowGuidance::tell(told)
}

/// Asks, or says why there is nothing to ask for.
pub(super) fn ask(asked: Result<Ask, Failure>) -> Ask {
    asked.unwrap_or_else(|failure| tell(Err(failure)).into())
}

/// What a call that did something is answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The answer as Markdown.
    pub(super) content: String,
    pub(super) session_id: Option<String>,
    pub(super) ok: bool,
    /// Keys of the request that mean nothing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ignored: Vec<String>,
    /// The sessions of a list, or what a search found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    pub(super) results: Option<Vec<Value>>,
}

/// What a call that led to nothing is answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct Failure {
    content: String,
    session_id: Option<String>,
    ok: bool,
    error_code: String,
    refusal: Box<Refused>,
    #[serde(flatten)]
    more: Box<More>,
}

/// What else there is to say of a failure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
struct More {
    /// Keys of the request that mean nothing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// The sessions that may be meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    results: Option<Vec<Value>>,
}

impl kit::Answer for Answer {}

impl kit::Answer for Failure {}

impl Failing for Failure {}

impl Answer {
    /// Answers with a text.
    pub(super) fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ok: true, ..Self::default() }
    }

    /// Answers with a text about a session.
    pub(super) fn of(session: &str, content: impl Into<String>) -> Self {
        Self { session_id: Some(session.to_owned()), ..Self::new(content) }
    }
}

impl Failure {
    /// Words a failure: its code, what is said to anyone who reads it, and the way out.
    pub(super) fn new(code: &str, content: impl Into<String>, hint: impl Into<String>) -> Self {
        let (content, hint) = (content.into(), hint.into());
        let refusal = Refused {
            code: code.to_ascii_lowercase(),
            message: message_in(&content),
            hint,
            retry_after_ms: None,
        };
        Self {
            content,
            session_id: None,
            ok: false,
            error_code: code.to_owned(),
            refusal: Box::new(refusal),
            more: Box::default(),
        }
    }

    /// Names keys of the request that mean nothing here.
    #[must_use]
    pub(super) fn ignoring(mut self, keys: Vec<String>) -> Self {
        self.more.ignored = keys;
        self
    }

    /// Lists the sessions that may be meant.
    #[must_use]
    pub(super) fn among(mut self, sessions: Vec<Value>) -> Self {
        self.more.results = Some(sessions);
        self
    }

    /// Says which session it is about.
    #[must_use]
    pub(super) fn about(mut self, session: &str) -> Self {
        self.session_id = Some(session.to_owned());
        self
    }

    /// Gives the engine's own words for why.
    #[must_use]
    pub(super) fn because(mut self, refusal: &Refusal) -> Self {
        refusal.code().clone_into(&mut self.refusal.code);
        self.refusal.message = refusal.to_string();
        self
    }

    /// Words what was refused or went wrong without any words of the dialect for it.
    pub(super) fn of(stopped: &Stopped) -> Self {
        let (hint, passes) = match stopped {
            Stopped::Refused(refusal) => (ON_GRAPH.hint(refusal), false),
            Stopped::Failed(fault) => (fault.hint.clone(), fault.passes),
        };
        let code = stopped.code().to_ascii_uppercase();
        let mut failure = Self::new(&code, format!("❌ **Error:** {stopped}"), hint);
        failure.refusal.retry_after_ms = passes.then_some(RETRY_MS);
        failure
    }
}

/// Refuses a text that is larger than is taken.
pub(super) fn check_size(what: &str, text: &str, bytes_max: usize) -> Result<(), Failure> {
    let bytes = text.len();
    if bytes <= bytes_max {
        return Ok(());
    }
    let content =
        format!("❌ **Too Large:** {what} has {bytes} bytes, and at most {bytes_max} are taken");
    Err(Failure::new("TOO_LARGE", content, "shorten it, or write it to a file and name that"))
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::of(&stopped)
    }
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Self::of(&unasked.stopped)
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let content = format!("❌ **Error:** {}: {invalid_arguments}", invalid_arguments.tool);
        Self::new("INVALID_INPUT", content, "fix what is named, then call again")
    }
}

/// Returns the first line without what announces it.
fn message_in(content: &str) -> String {
    let line = content.lines().next().unwrap_or_default();
    let line = line.trim_start_matches(|it: char| !it.is_alphanumeric()).replace("**", "");
    line.strip_prefix("Error: ").unwrap_or(&line).trim().to_owned()
}
