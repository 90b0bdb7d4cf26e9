//! JSON with comments, edited as text: one member is set or removed, and every other byte stays.
//!
//! Clients' files are people's: they hold comments, trailing commas and an order of their own, which
//! reading into values and writing anew would lose. So the text is read into places (`parse.rs`),
//! and the change is cut into it (`edit.rs`).

mod edit;
mod parse;

use std::{fmt, ops::Range};

use serde_json::{Map, Value};

/// How many objects and lists may lie in each other.
const DEPTH_MAX: usize = 128;

/// A text, and where its values are.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    /// Nothing where the text holds only blanks and comments.
    root: Option<Node>,
}

/// Where a value is.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    span: Range<usize>,
    shape: Shape,
}

/// What a value is made of.
#[derive(Debug, Clone)]
enum Shape {
    Object(Vec<Member>),
    List(Vec<Node>),
    /// A string, a number or a word, as it is written.
    Plain,
}

/// A name and its value.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    start: usize,
    value: Node,
}

/// What is written into a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    Text(String),
    List(Vec<String>),
    Object(Vec<(String, Self)>),
    /// As it stood elsewhere.
    Verbatim(String),
}

/// Why a text cannot be read or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where in the text, if it is one place.
    at: Option<(usize, usize)>,
    what: String,
}

impl Written {
    /// Returns what it means, where it is ours to say.
    fn meaning(&self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.as_str().into()),
            Self::List(items) => Some(items.as_slice().into()),
            Self::Object(members) => {
                let pairs = members.iter().map(|(name, it)| Some((name.clone(), it.meaning()?)));
                Some(Value::Object(pairs.collect::<Option<_>>()?))
            }
            Self::Verbatim(_) => None,
        }
    }
}

impl Fault {
    fn new(what: impl Into<String>) -> Self {
        Self { at: None, what: what.into() }
    }

    fn at(text: &str, position: usize, what: impl Into<String>) -> Self {
        let before = text.get(..position).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { at: Some((line, column)), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(out, "line {line}, column {column}: ")?;
        }
        out.write_str(&self.what)
    }
}

impl<'a> Document<'a> {
    /// Reads a text.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Fault> {
        Ok(Self { text, root: parse::parse(text)? })
    }

    /// Returns the value at the end of `path`, if there is one.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, name| node.member(name))
    }

    /// Returns the members of the object at the end of `path`: none where it is not there.
    pub(crate) fn members(&self, path: &[&str]) -> Result<Vec<(String, Value)>, Fault> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let mut node = root;
        for (depth, name) in path.iter().enumerate() {
            node.as_object().ok_or_else(|| no_object(path.get(..depth).unwrap_or_default()))?;
            let Some(inner) = node.member(name) else { return Ok(Vec::new()) };
            node = inner;
        }
        let members = node.as_object().ok_or_else(|| no_object(path))?;
        Ok(members.iter().map(|it| (it.name.clone(), self.value(&it.value))).collect())
    }

    /// Returns a value as it is written.
    pub(crate) fn verbatim(&self, node: &Node) -> &'a str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    /// Returns what a value means.
    pub(crate) fn value(&self, node: &Node) -> Value {
        match &node.shape {
            Shape::Object(members) => {
                let pairs = members.iter().map(|it| (it.name.clone(), self.value(&it.value)));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
            Shape::List(items) => items.iter().map(|it| self.value(it)).collect(),
            Shape::Plain => serde_json::from_str(self.verbatim(node)).unwrap_or_default(),
        }
    }
}

impl Node {
    fn as_object(&self) -> Option<&[Member]> {
        match &self.shape {
            Shape::Object(members) => Some(members),
            Shape::List(_) | Shape::Plain => None,
        }
    }

    /// Returns the member of that name; of several the last, which is the one that counts.
    fn member(&self, name: &str) -> Option<&Self> {
        Some(&self.as_object()?.iter().rfind(|it| it.name == name)?.value)
    }
}

fn no_object(path: &[&str]) -> Fault {
    if path.is_empty() {
        return Fault::new("the whole is no object");
    }
    Fault::new(format!("`{}` is no object", path.join(".")))
}

/// Returns `text` with the value at the end of `path` set. What lies on the way is made.
pub(crate) fn set(text: &str, path: &[&str], value: &Written) -> Result<String, Fault> {
    edit::set(text, path, value)
}

/// Returns `text` without the member at the end of `path`: as it was, if it has none.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, Fault> {
    edit::remove(text, path)
}

#[cfg(test)]
mod tests;
