//! What is wrong with a definition, and where: for people with a caret, for agents as JSON.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong, or doubtful, in a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// A stable name, such as `step_unreachable`.
    pub code: &'static str,
    /// A fragment: lower case, no full stop.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
    /// Where. The file alone where no line is to blame.
    pub label: Label,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Warning,
    /// The workflow cannot be run.
    Error,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Relative to the definitions folder.
    pub file: String,
    /// From 1. `None`: the file as a whole.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
    /// How many characters the caret covers; at least 1.
    pub width: u32,
}

impl Diagnostic {
    pub(crate) fn error(code: &'static str, label: Label, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), help: None, label }
    }

    pub(crate) fn warning(code: &'static str, label: Label, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, label, message) }
    }

    #[must_use]
    pub(crate) fn with_help(self, help: impl Into<Option<String>>) -> Self {
        Self { help: help.into(), ..self }
    }
}

impl Label {
    /// A file as a whole.
    pub(crate) fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None, width: 1 }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.label.file)?;
        if let Some(line) = self.label.line {
            write!(out, ":{line}")?;
        }
        if let Some(column) = self.label.column {
            write!(out, ":{column}")?;
        }
        write!(out, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(out, " ({help})")?;
        }
        Ok(())
    }
}
