//! `patterns.json`: what reviews find again and again.

use definition::Finding;
use insight::past::Patterns;

use super::{
    super::place,
    files::{self, PATTERNS},
};
use crate::kit::{Caller, Folder, Seeing, Text, Write};

/// Reads the patterns; none where there is no file.
pub(super) fn load(specs: &Folder) -> Seeing<Patterns> {
    specs.large(PATTERNS).map(|it| it.as_deref().map(Patterns::parse).unwrap_or_default())
}

/// Returns how the findings of one review are taken in, also where it has none.
pub fn accumulate(caller: &Caller, findings: Vec<Finding>, agent: String) -> Write {
    let now = caller.at.to_seconds();
    let change = move |text: Option<&str>| {
        let mut patterns = text.map(Patterns::parse).unwrap_or_default();
        patterns.accumulate(&findings, &agent, &now);
        Some(files::pretty(&patterns))
    };
    let (path, text) = (PATTERNS.to_owned(), Text::Amended(Box::new(change)));
    Write { folder: place::specs(caller), path, text, is_private: false }
}
