//! List items of the index that look like steps and are none, and files of steps that no item links to.

use std::sync::LazyLock;

use regex::Regex;

use super::Places;
use crate::{Diagnostic, Files, Label, Workflow, text::outside_fences};

/// Finds items in the list of steps that do not start with the link to a step. A run would pass them
/// over.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let index = &places.layout.index;
    let text = &index.body.text;
    let is_step = |start: usize, line: &str| {
        places.layout.links.iter().any(|it| (start..start + line.len()).contains(&it.start))
    };
    let mut found = Vec::new();
    for list in lists(text) {
        let first = list.iter().find(|(start, line)| is_step(*start, line));
        let depth = first.map(|(_, line)| indent(line));
        for (start, line) in list {
            let is_beside = depth == Some(indent(line));
            if is_step(start, line) || (!is_beside && !OTHER_LINK.is_match(line)) {
                continue;
            }
            let words = line.trim();
            let width = u32::try_from(words.chars().count()).unwrap_or(1);
            let label = index.body_label(start + indent(line), width);
            let message = "this list item is not a step: the run never comes to it";
            let help = "a step starts with its link, without `**`: `1. [Plan](steps/01-plan.md)`";
            let told = Diagnostic::warning("item_no_step", label, message);
            found.push(told.with_help(help.to_owned()));
        }
    }
    found
}

/// Finds files in the folder of steps that the definition does not use.
pub fn find_unlinked(workflow: &Workflow, files: &dyn Files) -> Vec<Diagnostic> {
    let folder = format!("{}/steps", workflow.name);
    let names = files.list(&folder).into_iter().filter(|it| it.ends_with(".md"));
    let paths = names.map(|it| format!("{folder}/{it}"));
    paths
        .filter(|it| !workflow.source.files.contains_key(it))
        .map(|path| {
            let help = "link it in `index.md`, such as `1. [Name](steps/name.md)`, or remove it";
            let message = "no step links to this file, so no run uses it";
            let told = Diagnostic::warning("file_unlinked", Label::whole(path), message);
            told.with_help(help.to_owned())
        })
        .collect()
}

/// Returns the lists of a text: runs of items, with what is indented or blank between them.
fn lists(text: &str) -> Vec<Vec<(usize, &str)>> {
    let mut lists = vec![Vec::new()];
    for (start, line) in outside_fences(text) {
        if ITEM.is_match(line) {
            lists.last_mut().into_iter().for_each(|it| it.push((start, line)));
        } else if !line.trim().is_empty() && indent(line) == 0 {
            lists.push(Vec::new());
        }
    }
    lists
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[ \t]*(?:\d+[.)]|[-*+])[ \t]")
        .expect("the pattern is fixed, and a test compiles it")
});
/// A link to the file of a step, wherever it stands.
static OTHER_LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\]\((?:\./)?steps/[^)]*\.md[^)]*\)")
        .expect("the pattern is fixed, and a test compiles it")
});
