//! The files among the specs that are made of them.

use serde::Serialize;

use super::super::answer::Failure;
use crate::kit::{Folder, Seeing};

pub(super) use super::super::STATE_FILE as STATE;
pub(super) const SUMMARY: &str = "summary.md";
pub(super) const DESIGN: &str = "design.md";
pub(super) const HISTORY_INDEX: &str = "history-index.json";
pub(super) const INDEX: &str = "index.json";
pub(super) const PATTERNS: &str = "patterns.json";
pub(super) const FRICTION: &str = "friction.json";
pub(super) const PROFILE: &str = "repo-profile.json";

/// Returns a value as a file has it.
pub(super) fn pretty<T: Serialize>(value: &T) -> String {
    let why = "a file has only text keys and numbers that JSON has";
    let mut text = serde_json::to_string_pretty(value).expect(why);
    text.push('\n');
    text
}

/// Returns the text of the file with this name.
pub(super) fn find<'a>(texts: &'a [(String, String)], name: &str) -> Option<&'a str> {
    texts.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
}

/// Reads the wanted files of a folder, with their names and in order.
pub(super) fn read_wanted(
    folder: &Folder,
    wanted: fn(&str) -> bool,
) -> Seeing<Result<Vec<(String, String)>, String>> {
    let inner = folder.clone();
    folder.names(vec![".".to_owned()], std::sync::Arc::new(wanted)).and_then(move |names| {
        let names: Vec<String> = names.into_iter().flatten().collect();
        inner.texts(names.clone()).map(move |texts| {
            let named = names.into_iter().zip(texts?);
            Ok(named.filter_map(|(name, text)| Some((name, text?))).collect())
        })
    })
}

/// Says that a folder or a file cannot be read.
pub(super) fn unreadable(what: &str, problem: &str) -> Failure {
    let message = format!("`{what}` cannot be read: {problem}");
    Failure::new("file_unreadable", message, "fix that, then call again")
}

/// Says that the folder of the specs is not there.
pub(super) fn no_specs(specs: &Folder) -> Failure {
    let message = format!("there is no folder `{}`", specs.as_str());
    let hint = "start a pipeline, or set `forge.specs` to where the specs are";
    Failure::new("specs_not_found", message, hint)
}
