//! A text as a tree, and what the languages say of its parts.

use std::{
    fmt,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::{
    Import, Language,
    outline::Entry,
    resolve::Files,
    walk::{Around, Parts},
};

/// A text with what must be known to read it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub language: Language,
    /// Where it is: some languages have a flavour by the ending.
    pub path: &'a str,
    pub text: &'a str,
    /// Set by anyone who has waited long enough: a text can be made to keep a parser busy.
    pub stop: &'a AtomicBool,
}

/// Why a text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unparsed {
    /// The parser or the walk was told to stop.
    Stopped,
    /// The parser does not take the grammar, so this program was put together wrongly.
    GrammarMismatch,
}

impl fmt::Display for Unparsed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Stopped => "its syntax takes too long to read",
            Self::GrammarMismatch => "the grammar and the parser do not fit each other",
        })
    }
}

impl std::error::Error for Unparsed {}

/// What a language says of the parts of a text.
pub(super) trait Rules: Sync {
    /// Returns the grammar for a file.
    fn grammar(&self, path: &str) -> tree_sitter::Language;

    /// Adds what a part contributes to a summary.
    fn outline<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Entry<'t>>);

    /// Returns the name that a part declares, and the text of the declaration.
    fn declared<'t>(&self, part: Part<'t>, around: Around<'_, 't>) -> Option<(&'t str, &'t str)>;

    /// Returns whether a part calls something of this name, whatever it is called on.
    fn is_call(&self, part: Part<'_>, name: &str) -> bool;

    /// Returns the pieces of a text that import something, as a text that can be parsed.
    fn excerpt(&self, text: &str) -> String;

    /// Adds what a part of an excerpt imports.
    fn imports<'t>(&self, part: Part<'t>, around: Around<'_, 't>, found: &mut Vec<Import>);

    /// Finds the file that is imported.
    fn resolve(&self, from: &str, import: &Import, files: &Files<'_>) -> Option<u32>;
}

/// A parsed text.
pub(super) struct Syntax<'a> {
    tree: Tree,
    text: &'a str,
    stop: &'a AtomicBool,
}

impl<'a> Syntax<'a> {
    /// Parses a text, as far as it can be understood.
    pub(super) fn parse(source: Source<'a>) -> Result<Self, Unparsed> {
        let mut parser = Parser::new();
        let grammar = source.language.rules().grammar(source.path);
        parser.set_language(&grammar).map_err(|_| Unparsed::GrammarMismatch)?;
        let (text, bytes) = (source.text, source.text.as_bytes());
        let mut report = |_: &ParseState| {
            if source.stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let options = ParseOptions::new().progress_callback(&mut report);
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        Ok(Self { tree: tree.ok_or(Unparsed::Stopped)?, text, stop: source.stop })
    }

    /// Returns a walk over every part, each before what is in it.
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts::new(self.tree.walk(), self.text, self.stop)
    }
}

/// A part of a text: a declaration, an expression, a name.
#[derive(Clone, Copy)]
pub(super) struct Part<'t> {
    node: Node<'t>,
    text: &'t str,
}

impl<'t> Part<'t> {
    /// How deep a name may be in what is called.
    const NAME_DEPTH_MAX: usize = 8;

    pub(super) fn new(node: Node<'t>, text: &'t str) -> Self {
        Self { node, text }
    }

    /// Returns whether it has a meaning of its own, unlike a bracket or a comma.
    pub(super) fn is_named(self) -> bool {
        self.node.is_named()
    }

    /// Returns what the grammar calls it.
    pub(super) fn kind(self) -> &'t str {
        self.node.kind()
    }

    /// Returns its text.
    pub(super) fn text(self) -> &'t str {
        self.text.get(self.node.byte_range()).unwrap_or_default()
    }

    /// Returns its first line.
    pub(super) fn first_line(self) -> &'t str {
        self.text().lines().next().unwrap_or_default().trim_end()
    }

    /// Returns its text without what begins at a field.
    pub(super) fn before(self, field: &str) -> &'t str {
        let end = self.field(field).map_or(self.node.end_byte(), |it| it.node.start_byte());
        self.text.get(self.node.start_byte()..end).unwrap_or_default().trim_end()
    }

    /// Returns its text up to the end of one of its parts.
    pub(super) fn through(self, last: Self) -> &'t str {
        self.text.get(self.node.start_byte()..last.node.end_byte()).unwrap_or_default()
    }

    /// Finds the part that the grammar has a name for.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| self.other(node))
    }

    /// Returns the text of a field, or nothing.
    pub(super) fn field_text(self, name: &str) -> &'t str {
        self.field(name).map(Self::text).unwrap_or_default()
    }

    /// Returns the parts right in it that have a meaning of their own.
    pub(super) fn children(self) -> Vec<Self> {
        let mut cursor = self.node.walk();
        self.node.named_children(&mut cursor).map(|node| self.other(node)).collect()
    }

    /// Returns the last name of a path such as `a.b.c` or `a::b::<T>`.
    pub(super) fn last_name(self) -> &'t str {
        const FIELDS: [&str; 7] =
            ["field", "property", "attribute", "name", "function", "type", "operand"];
        let mut part = self;
        for _ in 0..Self::NAME_DEPTH_MAX {
            match FIELDS.iter().find_map(|it| part.field(it)) {
                Some(inner) => part = inner,
                None => break,
            }
        }
        part.text()
    }

    fn other(self, node: Node<'t>) -> Self {
        Self { node, text: self.text }
    }
}
