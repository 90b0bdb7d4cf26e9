//! What a tool of a dialect said, as it came over the wire: one text, what stands beside it, and what
//! was noticed that the text does not tell.
//!
//! What a text and its structured content must be is each dialect's own matter.

use serde_json::{Value, json};

use crate::server::{Gone, Server};

/// What a tool said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) is_error: bool,
    pub(crate) noticed: Option<String>,
}

impl Said {
    /// Calls a tool, unless the server is gone before it answers.
    pub(crate) fn hear(server: &Server, tool: &str, arguments: Value) -> Result<Self, Gone> {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let message = server.request("tools/call", params)?;
        let result = &message["result"];
        let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |it: &Value| it["text"].as_str().map(str::to_owned);
        let (text, noticed) = match blocks {
            [content] => (text(content), None),
            [content, postscript] => (text(content), text(postscript)),
            _ => panic!("`{tool}` must answer with a text and at most one more: {message}"),
        };
        let text = text.unwrap_or_else(|| panic!("{message}"));
        let value = result["structuredContent"].clone();
        Ok(Self { text, value, is_error: result["isError"] == true, noticed })
    }

    /// Checks that the text has each of `parts`.
    #[track_caller]
    pub(crate) fn has(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.text.contains(part), "no `{part}` in:\n{}", self.text);
        }
        self
    }

    /// Checks that the text has none of `parts`.
    #[track_caller]
    pub(crate) fn lacks(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(!self.text.contains(part), "`{part}` is in:\n{}", self.text);
        }
        self
    }
}
