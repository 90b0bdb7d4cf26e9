//! Files, chores and the branch: what was seen of the world, and done in it.

use alloc::{
    format,
    string::{String, ToString as _},
};

use super::{listed, named, quoted};
use crate::{Artifact, Event};

pub(super) fn rotated(text: &str) -> String {
    format!("the journal ({} characters) was put into the archive", text.chars().count())
}

pub(super) fn replaced(path: &str, problem: &str, kept: Option<&str>) -> String {
    let rest = kept.map_or_else(
        || "there was nothing in it to keep".to_string(),
        |kept| format!("what was in it is kept in `{kept}`"),
    );
    format!("`{path}` was not taken in: {problem}; it was replaced from the log, and {rest}")
}

pub(super) fn accepted(artifacts: &[Artifact], gone: &[String]) -> String {
    format!("accepted as they are: {}", named(artifacts.iter().map(|it| &it.path).chain(gone)))
}

pub(super) fn chore(event: &Event) -> String {
    if let Event::ChoreDone { name, deed, detail, warnings, .. } = event {
        let done = if detail.is_empty() { deed.describe() } else { detail.clone() };
        return format!("chore `{name}`{}{}", quoted(&done), listed(warnings));
    }
    let Event::ChoreFailed { name, deed, reason, is_passed } = event else {
        return String::new();
    };
    let after = if *is_passed { "; the run goes on all the same" } else { "" };
    let what = deed.describe();
    format!("chore `{name}` ({what}) could not be done{}{after}", quoted(reason))
}

pub(super) fn branch(name: &str, base: Option<&str>) -> String {
    let base = base.map(|it| format!(", beginning at commit {it}")).unwrap_or_default();
    format!("the run works on branch `{name}`{base}")
}
