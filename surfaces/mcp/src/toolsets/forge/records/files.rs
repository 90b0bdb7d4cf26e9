//! The files among the specs that are made of them, and how they are written.

use std::sync::Arc;

use runtime::Wanted;
use serde::Serialize;

use super::super::{answer::Failure, place::Folder};
use crate::tool::Call;

pub(super) use dialects::forge::STATE_FILE as STATE;
pub(super) use dialects::forge::intake::request::REQUEST_FILE as REQUEST;
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

/// Writes a file that is made of others. One that cannot be written is made again when it is
/// needed, so anyone who only asked is not told.
pub(super) async fn keep(call: &Call<'_>, specs: &Folder, file: &str, text: String) {
    if !specs.exists(call).await {
        return;
    }
    if let Err(problem) = specs.write_privately(call, file, text).await {
        tracing::debug!("`{file}` cannot be written in `{}`: {problem}", specs.as_str());
    }
}

/// Returns the texts of the wanted files of a folder with their names, in order.
pub(super) async fn read_wanted(
    call: &Call<'_>,
    folder: &Folder,
    wanted: fn(&str) -> bool,
) -> Result<Vec<(String, String)>, String> {
    let wanted: Wanted = Arc::new(wanted);
    let names = folder.list_all(call, vec![".".to_owned()], wanted).await?;
    let names: Vec<String> = names.into_iter().flatten().collect();
    let texts = folder.read_all(call, names.clone()).await?;
    Ok(names.into_iter().zip(texts).filter_map(|(name, text)| Some((name, text?))).collect())
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
