//! Reads a tree of front matter key by key, and says what does not fit, where, and why.

use serde_json::Value;

use super::{
    Document, Problems,
    keys::Keys,
    node::{Content, Node},
    path, values,
};
use crate::{
    Condition, Diagnostic, Expression, ExpressionError, FAILED, FINISH, Label, Pattern, Schema,
    StepName, Target, Template, suggest,
};

/// Reads one document's front matter.
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    /// The names of all steps of the workflow.
    pub(super) steps: &'a [StepName],
    /// Which version of the language the document is written in.
    pub(super) language: u32,
    pub(super) problems: &'a mut Problems,
}

/// The fields of a map whose keys are known to be allowed.
#[derive(Clone, Copy)]
pub(super) struct Fields<'n> {
    pairs: &'n [(Node, Node)],
    keys: &'n [&'n Keys],
    /// What the map itself is called in messages. Empty: it is the whole front matter.
    pub(super) name: &'n str,
}

impl<'n> Fields<'n> {
    /// No fields of something that is called `name`.
    pub(super) fn none(name: &'n str) -> Self {
        Self { pairs: &[], keys: &[], name }
    }

    /// Returns a field. One that is null counts as not written.
    pub(super) fn find(&self, key: &str) -> Option<&'n Node> {
        let is_listed = self.keys.is_empty() || self.keys.iter().any(|it| it.has(key));
        debug_assert!(is_listed, "`{key}` is not in the table of keys");
        let field = self.pairs.iter().find(|(it, _)| it.key() == key);
        field.map(|(_, value)| value).filter(|it| !it.is_null())
    }

    /// Reads a field that is written: `read` gets its value, and its name for messages.
    pub(super) fn read<'a, T>(
        &self,
        reader: &mut Reader<'a>,
        key: &str,
        read: impl FnOnce(&mut Reader<'a>, &'n Node, &str) -> Option<T>,
    ) -> Option<T> {
        let value = self.find(key)?;
        let name = if self.name.is_empty() { key } else { &format!("{}.{key}", self.name) };
        read(reader, value, name)
    }

    /// Reads a field that is one of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        reader: &mut Reader<'_>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        self.read(reader, key, |reader, it, name| reader.choice(it, name, choices))
    }

    /// Reads a list field item by item. Without the field, nothing is read.
    pub(super) fn items<'a, T>(
        &self,
        reader: &mut Reader<'a>,
        key: &str,
        read: impl Fn(&mut Reader<'a>, &'n Node, &str) -> Option<T>,
    ) -> Vec<T> {
        let items = self.read(reader, key, |reader, it, name| {
            let items = reader.list(it, name)?.iter();
            Some(items.filter_map(|it| read(reader, it, name)).collect())
        });
        items.unwrap_or_default()
    }

    /// Returns a field that must be written; `at` is blamed where it is not.
    pub(super) fn require(
        &self,
        reader: &mut Reader<'_>,
        at: &Node,
        key: &str,
    ) -> Option<&'n Node> {
        let field = self.find(key);
        if field.is_none() {
            reader.refuse("key_missing", at, format!("`{}` lacks `{key}`", self.name), None);
        }
        field
    }

    /// Returns a key itself, whatever its value is.
    pub(super) fn find_key(&self, key: &str) -> Option<&'n Node> {
        self.pairs.iter().map(|(it, _)| it).find(|it| it.key() == key)
    }
}

/// Each reading method returns `None` after it has said what is wrong.
impl Reader<'_> {
    pub(super) fn refuse(
        &mut self,
        code: &'static str,
        node: &Node,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        let label = self.document.label(node);
        self.problems.push(Diagnostic::error(code, label, message).with_help(help));
    }

    /// Says that something is doubtful.
    pub(super) fn warn(
        &mut self,
        code: &'static str,
        node: &Node,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        let label = self.document.label(node);
        self.problems.push(Diagnostic::warning(code, label, message).with_help(help));
    }

    /// Says that a value is of the wrong kind.
    pub(super) fn refuse_kind(&mut self, node: &Node, key: &str, expected: &str) {
        let message = format!("`{key}` must be {expected}, not {}", node.describe());
        self.refuse("value_invalid", node, message, None);
    }

    /// Says that a value is of the right kind, but will not do.
    pub(super) fn refuse_value(&mut self, node: &Node, message: impl Into<String>) {
        self.refuse("value_invalid", node, message, None);
    }

    /// Reads a map that may have these keys and no others.
    pub(super) fn fields<'n>(
        &mut self,
        node: &'n Node,
        key: &'n str,
        keys: &'n [&'n Keys],
    ) -> Option<Fields<'n>> {
        let pairs = self.pairs(node, key)?;
        for (at, (name, _)) in pairs.iter().enumerate() {
            // Only a key of language 1 beside the one that replaces it.
            if pairs.iter().take(at).any(|(it, _)| it.key() == name.key()) {
                self.refuse_value(name, format!("`{}` is said twice", name.key()));
            }
            let instead = keys.iter().find_map(|it| it.replacement(name.key()));
            let is_known = keys.iter().any(|it| it.is_read(name.key()));
            if is_known || (instead.is_some() && self.language == 1) {
                continue;
            }
            let message = match key {
                "" => format!("there is no key `{}`", name.key()),
                key => format!("`{key}` has no key `{}`", name.key()),
            };
            let mut known: Vec<&str> = Vec::new();
            for it in keys.iter().flat_map(|it| it.known) {
                known.extend((!known.contains(it)).then_some(*it));
            }
            let help = instead
                .map(str::to_owned)
                .or_else(|| suggest::help(name.key(), known.iter().copied()));
            self.refuse("key_unknown", name, message, help);
        }
        Some(Fields { pairs, keys, name: key })
    }

    /// Reads a map in which unknown keys are left out of account, with a warning.
    pub(super) fn lenient_fields<'n>(
        &mut self,
        node: &'n Node,
        key: &'n str,
        known: &[&str],
    ) -> Option<Fields<'n>> {
        let pairs = self.pairs(node, key)?;
        for (name, _) in pairs.iter().filter(|(it, _)| !known.contains(&it.key())) {
            let message = match key {
                "" => format!("key `{}` is unknown and has no effect", name.key()),
                key => format!("`{key}` has no key `{}`: it has no effect", name.key()),
            };
            let help = suggest::help(name.key(), known.iter().copied());
            self.warn("key_unknown", name, message, help);
        }
        Some(Fields { pairs, keys: &[], name: key })
    }

    /// Reads a map with keys of the author's choice, in the order they are written.
    pub(super) fn pairs<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n [(Node, Node)]> {
        if let Content::Map(pairs) = &node.content {
            return Some(pairs);
        }
        if key.is_empty() {
            let message = format!("front matter must be a map, not {}", node.describe());
            self.refuse_value(node, message);
        } else {
            self.refuse_kind(node, key, "a map");
        }
        None
    }

    pub(super) fn list<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n [Node]> {
        if let Content::List(items) = &node.content {
            return Some(items);
        }
        self.refuse_kind(node, key, "a list");
        None
    }

    /// Reads a text that is not empty. Numbers and the like are taken as they are written.
    pub(super) fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        let text = match &node.content {
            Content::Text(it) => it.clone(),
            Content::Boolean(_) | Content::Integer(_) | Content::Float(_) => {
                self.document.written(node).to_owned()
            }
            Content::Null | Content::List(_) | Content::Map(_) => {
                self.refuse_kind(node, key, "a text");
                return None;
            }
        };
        if text.trim().is_empty() {
            self.refuse_value(node, format!("`{key}` must not be empty"));
            return None;
        }
        Some(text)
    }

    /// Reads a list of texts.
    pub(super) fn texts(&mut self, node: &Node, key: &str) -> Option<Vec<String>> {
        let items = self.list(node, key)?;
        Some(items.iter().filter_map(|it| self.text(it, key)).collect())
    }

    pub(super) fn boolean(&mut self, node: &Node, key: &str) -> Option<bool> {
        if let Content::Boolean(it) = node.content {
            return Some(it);
        }
        self.refuse_kind(node, key, "true or false");
        None
    }

    /// Reads a whole number of at least 1.
    pub(super) fn count(&mut self, node: &Node, key: &str) -> Option<u32> {
        let Content::Integer(number) = &node.content else {
            self.refuse_kind(node, key, "a whole number");
            return None;
        };
        let count = number.as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0);
        if count.is_none() {
            let is_large = number.as_u64().is_some_and(|it| it > 0);
            let wrong = if is_large { "is too large" } else { "must be at least 1" };
            self.refuse_value(node, format!("`{key}` {wrong}"));
        }
        count
    }

    /// Reads one of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        node: &Node,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(node, key)?;
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let words = choices.iter().map(|(word, _)| *word);
            let message = format!("`{key}` cannot be `{text}`");
            let help = suggest::help(&text, words);
            self.refuse("value_invalid", node, message, help);
        }
        found
    }

    pub(super) fn duration(&mut self, node: &Node, key: &str) -> Option<std::time::Duration> {
        let text = self.text(node, key)?;
        let duration = values::parse_duration(&text);
        if duration.is_none() {
            let message = format!("`{key}` is not a duration: `{text}`");
            let help = "write `90s`, `15m`, `2h`, `1h 30m` or `1d`; at most a year".to_owned();
            self.refuse("value_invalid", node, message, help);
        }
        duration
    }

    /// Reads the name of a step of this workflow.
    pub(super) fn step(&mut self, node: &Node, key: &str) -> Option<StepName> {
        let text = self.text(node, key)?;
        self.find_step(node, &text)
    }

    /// Finds the step of this name, which `node` says.
    pub(super) fn find_step(&mut self, node: &Node, text: &str) -> Option<StepName> {
        let found = self.steps.iter().find(|it| it.as_str() == text).cloned();
        if found.is_none() {
            let help = suggest::help(text, self.steps.iter().map(StepName::as_str));
            self.refuse("step_unknown", node, format!("there is no step `{text}`"), help);
        }
        found
    }

    /// Reads the name of a step, `FINISH` or `FAILED`. Returns whether the run fails there.
    pub(super) fn target(&mut self, node: &Node, key: &str) -> Option<(Target, bool)> {
        match self.text(node, key)?.as_str() {
            FINISH => Some((Target::Finish, false)),
            FAILED => Some((Target::Finish, true)),
            step => Some((Target::Step(self.find_step(node, step)?), false)),
        }
    }

    pub(super) fn condition(&mut self, node: &Node, key: &str) -> Option<Condition> {
        let text = self.text(node, key)?;
        Condition::parse(&text).map_err(|it| self.refuse_expression(node, key, it)).ok()
    }

    pub(super) fn expression(&mut self, node: &Node, key: &str) -> Option<Expression> {
        let text = self.text(node, key)?;
        Expression::parse(&text).map_err(|it| self.refuse_expression(node, key, it)).ok()
    }

    pub(super) fn template(&mut self, node: &Node, key: &str) -> Option<Template> {
        let text = self.text(node, key)?;
        Template::parse(&text).map_err(|it| self.refuse_expression(node, key, it)).ok()
    }

    /// Reads the path of an artifact, which may have expressions in it.
    pub(super) fn path(&mut self, node: &Node, key: &str) -> Option<Template> {
        let template = self.template(node, key)?;
        if let Err(error) = path::check_artifact(template.source()) {
            let message = format!("`{}` {}", template.source(), error.of_artifact());
            self.refuse("path_outside", node, message, None);
            return None;
        }
        Some(template)
    }

    pub(super) fn pattern(&mut self, node: &Node, key: &str) -> Option<Pattern> {
        let text = self.text(node, key)?;
        Pattern::parse(&text)
            .map_err(|error| {
                let message = format!("`{key}` is not a pattern: {error}");
                self.refuse("pattern_invalid", node, message, None);
            })
            .ok()
    }

    pub(super) fn schema(&mut self, node: &Node, key: &str) -> Option<Schema> {
        let json = node.to_json();
        if !matches!(json, Value::Object(_) | Value::Bool(_)) {
            self.refuse_kind(node, key, "a JSON Schema");
            return None;
        }
        Schema::parse(json)
            .map_err(|error| {
                let message = format!("`{key}` is not JSON Schema: {error}");
                self.refuse("schema_invalid", node, message, None);
            })
            .ok()
    }

    fn refuse_expression(&mut self, node: &Node, key: &str, error: ExpressionError) {
        let label: Label = self.document.label_within(node, error.start, error.width);
        let message = format!("`{key}`: {}", error.message);
        let diagnostic = Diagnostic::error("expression_invalid", label, message);
        self.problems.push(diagnostic.with_help(error.help));
    }
}
