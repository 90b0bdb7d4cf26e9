//! The two ways in which clients write down their servers, behind one face: what an entry is, and
//! how it is found, set, removed and put back in a text.

use jsonc_parser::cst::CstInputValue;
use serde_json::Value;

use super::{
    jsonc::{self, Document},
    toml_text,
};

/// What starts our server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// JSON, maybe with comments; the servers lie at the end of this path.
    Json(&'static [&'static str]),
    Toml,
}

impl Entry {
    fn is_meant_by(&self, value: &Value) -> bool {
        value.get("url").is_none()
            && value.get("command").and_then(Value::as_str) == Some(self.command.as_str())
            && value.get("args") == Some(&self.args.as_slice().into())
    }
}

impl Notation {
    /// Returns the entries of a text, with what they mean.
    pub(super) fn entries(self, text: &str) -> Result<Vec<(String, Value)>, String> {
        match self {
            Self::Json(path) => Document::parse(text)?.members(path),
            Self::Toml => toml_text::entries(text),
        }
    }

    /// Returns the text with the entry called `name` set; what else that entry has stays.
    pub(super) fn set(self, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
        let entries = self.entries(text)?;
        let existing = entries.iter().rfind(|it| it.0 == name).map(|it| &it.1);
        if existing.is_some_and(|it| entry.is_meant_by(it)) {
            return Ok(text.to_owned());
        }
        let Self::Json(path) = self else { return toml_text::set(text, name, entry) };
        let path = joined(path, name);
        let command = CstInputValue::from(entry.command.as_str());
        let args = CstInputValue::from(entry.args.clone());
        let is_kept = existing.is_some_and(|it| it.is_object() && it.get("url").is_none());
        if !is_kept {
            let members = vec![("command".to_owned(), command), ("args".to_owned(), args)];
            return jsonc::set(text, &path, members.into());
        }
        let text = jsonc::set(text, &joined(&path, "command"), command)?;
        jsonc::set(&text, &joined(&path, "args"), args)
    }

    /// Returns the text without the entry called `name`.
    pub(super) fn remove(self, text: &str, name: &str) -> Result<String, String> {
        match self {
            Self::Json(path) => jsonc::remove(text, &joined(path, name)),
            Self::Toml => toml_text::remove(text, name),
        }
    }

    /// Returns `text` with the entry called `name` as `source` has it, or without it.
    pub(super) fn transplant(self, source: &str, text: &str, name: &str) -> Result<String, String> {
        let Self::Json(path) = self else { return toml_text::transplant(source, text, name) };
        let path = joined(path, name);
        let source = Document::parse(source)?;
        let Some(found) = source.find(&path) else { return self.remove(text, name) };
        jsonc::set(text, &path, jsonc::verbatim(found.to_string()))
    }
}

fn joined<'a>(path: &[&'a str], name: &'a str) -> Vec<&'a str> {
    path.iter().copied().chain([name]).collect()
}
