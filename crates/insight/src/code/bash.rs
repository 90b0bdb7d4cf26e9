//! Bash. An import is the file that is sourced, as it is written.

use super::{
    Import,
    outline::Entry,
    resolve::{Files, folder_of, folders_above, follow},
    syntax::{Part, Rules},
    walk::Around,
};

pub(super) struct Bash;

impl Rules for Bash {
    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_bash::LANGUAGE.into()
    }

    fn outline<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Entry<'t>>) {
        if part.kind() == "function_definition" {
            found.push(Entry::function(part.before("body")));
        }
    }

    fn declared<'t>(&self, part: Part<'t>, _: Around<'_, 't>) -> Option<(&'t str, &'t str)> {
        let is_function = part.kind() == "function_definition";
        is_function.then(|| (part.field_text("name"), part.text()))
    }

    fn is_call(&self, part: Part<'_>, name: &str) -> bool {
        part.kind() == "command" && part.field_text("name") == name
    }

    /// Each line that may source something stands by itself: what is around it may be left out.
    fn excerpt(&self, text: &str) -> String {
        let is_candidate = |line: &str| {
            let words = line.split([' ', '\t', ';', '&', '|', '(', '{']);
            !line.starts_with('#') && words.into_iter().any(|it| matches!(it, "source" | "."))
        };
        let lines = text.lines().map(str::trim).filter(|it| is_candidate(it));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    fn imports<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Import>) {
        if part.kind() == "command" && matches!(part.field_text("name"), "source" | ".") {
            let target = part.field_text("argument").trim_matches(['"', '\'']);
            found.push(Import::of(target));
        }
    }

    /// A script sources a file beside it, also where the folder is in a variable.
    fn resolve(&self, from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
        let target = import.path.replace(['"', '\''], "");
        let here = folder_of(from);
        if !target.starts_with('$') {
            if target.starts_with('/') {
                return None;
            }
            let beside = follow(here, &target).and_then(|it| files.find(&it));
            return beside.or_else(|| files.find(&follow("", &target)?));
        }
        // A variable usually holds the folder of the script, or one above it.
        let path = after_expansion(&target)?;
        folders_above(here).find_map(|it| files.find(&follow(it, path)?))
    }
}

/// Returns the path behind `$folder/`, `${folder}/` or `$(command)/`.
fn after_expansion(target: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in target.char_indices() {
        match character {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => return target.get(at + 1..).filter(|it| !it.contains('$')),
            _ => {}
        }
    }
    None
}
