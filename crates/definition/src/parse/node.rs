//! YAML as a tree in which each value knows its place.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Spanned};

use super::load::Document;
use crate::Label;

/// A value, and where it is written.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    place: Location,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Content {
    Null,
    Boolean(bool),
    Integer(Number),
    Float(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order it is written.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Returns a value that stands where this one is written.
    pub(super) fn beside(&self, content: Content) -> Self {
        Self { content, place: self.place }
    }

    /// Returns a value as a key, which is always a text.
    pub(super) fn into_key(self) -> Self {
        let text = match &self.content {
            Content::Text(_) => return self,
            Content::Integer(it) | Content::Float(it) => it.to_string(),
            Content::Boolean(it) => it.to_string(),
            Content::Null | Content::List(_) | Content::Map(_) => String::new(),
        };
        self.beside(Content::Text(text))
    }

    /// Takes a field out of a map. One that is null counts as not written.
    pub(super) fn take(&mut self, key: &str) -> Option<Self> {
        let Content::Map(fields) = &mut self.content else { return None };
        let at = fields.iter().position(|(it, _)| it.key() == key)?;
        Some(fields.remove(at).1).filter(|it| !it.is_null())
    }

    /// Takes all fields out of a map that has no others than these.
    pub(super) fn take_all<const N: usize>(&mut self, keys: [&str; N]) -> [Option<Self>; N] {
        let is_fitting = matches!(&self.content, Content::Map(fields)
            if fields.iter().all(|(it, _)| keys.contains(&it.key())));
        keys.map(|key| if is_fitting { self.take(key) } else { None })
    }

    /// Adds a field to a map.
    pub(super) fn put(&mut self, key: &str, value: Self) {
        if let Content::Map(fields) = &mut self.content {
            fields.push((value.beside(Content::Text(key.to_owned())), value));
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// The kind of value, with its article, for messages.
    pub(super) fn describe(&self) -> &'static str {
        match self.content {
            Content::Null => "nothing",
            Content::Boolean(_) => "true or false",
            Content::Integer(_) => "a number",
            Content::Float(_) => "a fraction",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
        }
    }

    /// Returns the value as JSON.
    pub(super) fn to_json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Boolean(it) => Value::Bool(*it),
            Content::Integer(it) | Content::Float(it) => Value::Number(it.clone()),
            Content::Text(it) => Value::String(it.clone()),
            Content::List(items) => items.iter().map(Self::to_json).collect(),
            Content::Map(fields) => {
                let pairs = fields.iter().map(|(key, value)| (key.key().to_owned(), value));
                Value::Object(
                    pairs.map(|(key, value)| (key, value.to_json())).collect::<Map<_, _>>(),
                )
            }
        }
    }

    /// Returns the text of a key of a map.
    pub(super) fn key(&self) -> &str {
        if let Content::Text(it) = &self.content { it } else { "" }
    }

    pub(super) fn child(&self, step: &str) -> Option<&Self> {
        match &self.content {
            Content::List(items) => items.get(step.parse::<usize>().ok()?),
            Content::Map(fields) => {
                fields.iter().find(|(key, _)| key.key() == step).map(|(_, value)| value)
            }
            Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Float(_)
            | Content::Text(_) => None,
        }
    }
}

impl Document {
    /// Returns where the front matter says what `path` leads to (`["next", "0", "when"]`), or
    /// whatever is nearest to it on the way; the whole file if there is no such key.
    pub(crate) fn front_label(&self, path: &[&str]) -> Label {
        self.find_node(path).map_or_else(|| Label::whole(&self.file), |it| self.label(it))
    }

    /// As [`Self::front_label`], but narrowed to a piece of the text that stands there.
    pub(crate) fn front_label_within(&self, path: &[&str], start: usize, width: usize) -> Label {
        let node = self.find_node(path);
        node.map_or_else(|| Label::whole(&self.file), |it| self.label_within(it, start, width))
    }

    fn find_node(&self, path: &[&str]) -> Option<&Node> {
        let mut found = None;
        let mut node = self.front.as_ref()?;
        for step in path {
            // A list of one may be written without the list, and one action without `do`.
            let is_list = *step == "0" && !matches!(node.content, Content::List(_));
            if is_list || (*step == "do" && node.child("do").is_none()) {
                continue;
            }
            let Some(child) = node.child(step) else { break };
            found = Some(child);
            node = child;
        }
        found
    }

    pub(super) fn label(&self, node: &Node) -> Label {
        let number = |it: u64| u32::try_from(it).ok().filter(|it| *it > 0);
        let written = self.written(node).lines().next().unwrap_or_default().trim_end();
        Label {
            file: self.file.clone(),
            line: number(node.place.line()),
            column: number(node.place.column()),
            width: u32::try_from(written.chars().count()).unwrap_or(1).max(1),
        }
    }

    /// Narrows a text's label to `width` of its bytes from `start`, where the text is written
    /// as it is.
    pub(super) fn label_within(&self, node: &Node, start: usize, width: usize) -> Label {
        let whole = self.label(node);
        let written = self.written(node);
        let Content::Text(text) = &node.content else { return whole };
        let is_quoted = written.starts_with(['"', '\'']);
        let inner = if is_quoted { written.get(1..written.len() - 1) } else { Some(written) };
        let piece = text.get(..start).zip(text.get(start..start + width));
        let (Some((before, piece)), true) = (piece, inner == Some(text)) else { return whole };
        let count = |it: &str| u32::try_from(it.chars().count()).unwrap_or(u32::MAX);
        let shift = count(before).saturating_add(u32::from(is_quoted));
        Label {
            column: whole.column.map(|it| it.saturating_add(shift)),
            width: count(piece).max(1),
            ..whole
        }
    }

    /// Returns a value as the author wrote it.
    pub(super) fn written(&self, node: &Node) -> &str {
        let span = node.place.span();
        let bytes = span.byte_offset().zip(span.byte_len()).and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            Some(start..start.checked_add(usize::try_from(length).ok()?)?)
        });
        bytes.and_then(|it| self.yaml.get(it)).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = Spanned::<Content>::deserialize(deserializer)?;
        Ok(Self { content: it.value, place: it.referenced })
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// A key: always a text, whatever it looks like.
struct Key(Node);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let it = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self(Node { content: Content::Text(it.value), place: it.referenced }))
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Content, E> {
        Ok(Content::Boolean(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Content, E> {
        Ok(Content::Integer(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Content, E> {
        Ok(Content::Integer(it.into()))
    }

    fn visit_f64<E>(self, it: f64) -> Result<Content, E> {
        Ok(Number::from_f64(it).map_or(Content::Null, Content::Float))
    }

    fn visit_str<E>(self, it: &str) -> Result<Content, E> {
        Ok(Content::Text(it.to_owned()))
    }

    fn visit_string<E>(self, it: String) -> Result<Content, E> {
        Ok(Content::Text(it))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut fields = Vec::new();
        while let Some((Key(key), value)) = access.next_entry()? {
            fields.push((key, value));
        }
        Ok(Content::Map(fields))
    }
}
