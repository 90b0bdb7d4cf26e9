//! The two ways in which clients write down their servers, behind one face: what an entry is, and
//! how it is found, set, removed and put back in a text.

use jsonc_parser::cst::CstInputValue;
use serde_json::{Value, json};

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
    Json {
        path: &'static [&'static str],
        shape: Shape,
    },
    Toml,
}

/// What an entry in JSON looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `command` is the program, and `args` are its arguments.
    Separate,
    /// `command` is a list of the program and its arguments, and `type` says that it runs here.
    Together,
}

impl Shape {
    /// Returns the members that are ours.
    fn ours(self, entry: &Entry) -> Vec<(&'static str, Value)> {
        match self {
            Self::Separate => {
                vec![("command", json!(entry.command)), ("args", json!(entry.args))]
            }
            Self::Together => {
                let words: Vec<&String> = [&entry.command].into_iter().chain(&entry.args).collect();
                vec![("type", json!("local")), ("command", json!(words))]
            }
        }
    }

    /// Returns the program and its arguments, as far as an entry names them.
    pub(super) fn words(self, value: &Value) -> Vec<String> {
        let texts = |value: &Value| match value {
            Value::String(word) => vec![word.clone()],
            Value::Array(items) => {
                items.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        match self {
            Self::Separate => {
                [&value["command"], &value["args"]].into_iter().flat_map(texts).collect()
            }
            Self::Together => texts(&value["command"]),
        }
    }
}

impl Notation {
    /// Returns the entries of a text, with what they mean.
    pub(super) fn entries(self, text: &str) -> Result<Vec<(String, Value)>, String> {
        match self {
            Self::Json { path, .. } => Document::parse(text)?.members(path),
            Self::Toml => toml_text::entries(text),
        }
    }

    /// Returns what the entry called `name` means, if there is one.
    pub(super) fn find(self, text: &str, name: &str) -> Result<Option<Value>, String> {
        Ok(self.entries(text)?.into_iter().rfind(|it| it.0 == name).map(|it| it.1))
    }

    /// Returns what an entry looks like.
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Json { shape, .. } => shape,
            Self::Toml => Shape::Separate,
        }
    }

    /// Returns the text with the entry called `name` set; what else that entry has stays.
    pub(super) fn set(self, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
        let existing = self.find(text, name)?;
        let ours = self.shape().ours(entry);
        let is_local = |it: &Value| it.is_object() && it.get("url").is_none();
        let is_meant = |it: &Value| ours.iter().all(|(name, value)| it.get(name) == Some(value));
        if existing.as_ref().is_some_and(|it| is_local(it) && is_meant(it)) {
            return Ok(text.to_owned());
        }
        let Self::Json { path, .. } = self else { return toml_text::set(text, name, entry) };
        let path = joined(path, name);
        let members = ours.into_iter().map(|(name, value)| (name, input(value)));
        if !existing.as_ref().is_some_and(is_local) {
            let members: Vec<_> = members.map(|(name, value)| (name.to_owned(), value)).collect();
            return jsonc::set(text, &path, members.into());
        }
        members.into_iter().try_fold(text.to_owned(), |text, (name, value)| {
            jsonc::set(&text, &joined(&path, name), value)
        })
    }

    /// Returns the text without the entry called `name`.
    pub(super) fn remove(self, text: &str, name: &str) -> Result<String, String> {
        match self {
            Self::Json { path, .. } => jsonc::remove(text, &joined(path, name)),
            Self::Toml => toml_text::remove(text, name),
        }
    }

    /// Returns `text` with the entry called `name` as `source` has it, or without it.
    pub(super) fn transplant(self, source: &str, text: &str, name: &str) -> Result<String, String> {
        let Self::Json { path, .. } = self else {
            return toml_text::transplant(source, text, name);
        };
        let path = joined(path, name);
        let source = Document::parse(source)?;
        let Some(found) = source.find(&path) else { return self.remove(text, name) };
        jsonc::set(text, &path, jsonc::verbatim(found.to_string()))
    }
}

fn joined<'a>(path: &[&'a str], name: &'a str) -> Vec<&'a str> {
    path.iter().copied().chain([name]).collect()
}

/// Returns a text or a list of texts as the library takes it.
fn input(value: Value) -> CstInputValue {
    match value {
        Value::String(text) => CstInputValue::String(text),
        Value::Array(items) => CstInputValue::Array(items.into_iter().map(input).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            jsonc::verbatim(value.to_string())
        }
    }
}
