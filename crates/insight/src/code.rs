//! Source code read by its syntax: what a file declares, what it imports, who calls what.
//!
//! Texts are given one at a time and no syntax tree outlives its text, so a large project costs little
//! memory. What a project imports is read from excerpts: parsing every file whole would take minutes.

mod bash;
mod calls;
mod excerpt;
mod go;
mod graph;
mod language;
mod outline;
mod project;
mod python;
mod resolve;
mod rust;
mod syntax;
mod typescript;
mod walk;

pub use calls::calls;
pub use graph::{Edge, Graph, Shown};
pub use language::{Language, LanguageUnknown};
pub use outline::{definitions, summary};
pub use project::Project;
pub use syntax::{Source, Unparsed};

/// What a file says it needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    /// As the language writes it; see the language's own module.
    path: String,
    /// The name that is taken from there, where the language has one and it may be a file itself.
    item: Option<String>,
}

impl Import {
    fn of(path: impl Into<String>) -> Self {
        Self { path: path.into(), item: None }
    }
}
