//! What a tool of a dialect said, as it came over the wire: one text, and what stands beside it.
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
}

impl Said {
    /// Calls a tool, unless the server is gone before it answers.
    pub(crate) fn hear(server: &Server, tool: &str, arguments: Value) -> Result<Self, Gone> {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let message = server.request("tools/call", params)?;
        let result = &message["result"];
        let [content] = result["content"].as_array().map(Vec::as_slice).unwrap_or_default() else {
            panic!("`{tool}` must answer with one block: {message}")
        };
        let text = content["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
        let value = result["structuredContent"].clone();
        Ok(Self { text, value, is_error: result["isError"] == true })
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
