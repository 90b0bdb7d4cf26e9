//! Front matter: YAML between a first line `---` and the next line `---`.

use super::{Problems, node::Node};
use crate::{Diagnostic, Label};

/// How deep front matter may nest.
const DEPTH_MAX: usize = 32;
/// How many values front matter may have.
const NODES_MAX: usize = 20_000;

/// Cuts the front matter off a text, and returns it with the rest. The lines of the YAML keep their
/// numbers, because an empty one stands in for the opening `---`.
pub(super) fn split(text: &str) -> (Option<String>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|it| is_mark(it) && it.ends_with('\n')) else {
        return (None, text);
    };
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(first.len()..end).unwrap_or_default();
            let rest = text.get(end + line.len()..).unwrap_or_default();
            return (Some(format!("\n{yaml}")), rest);
        }
        end += line.len();
    }
    (None, text)
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Reads YAML as a tree. Front matter with nothing in it is no tree, and no mistake.
pub(super) fn parse(yaml: &str, file: &str, problems: &mut Problems) -> Option<Node> {
    let mut budget = serde_saphyr::Budget::default();
    // Nothing here needs them, and they can make much out of little.
    budget.max_aliases = 0;
    budget.max_anchors = 0;
    budget.max_merge_keys = 0;
    budget.max_documents = 1;
    budget.max_depth = DEPTH_MAX;
    budget.max_nodes = NODES_MAX;
    budget.max_events = 4 * NODES_MAX;
    let options = serde_saphyr::options! {
        budget: Some(budget),
        merge_keys: serde_saphyr::MergeKeyPolicy::Error,
        // `yes` and `off` are words.
        strict_booleans: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Node>(yaml, options) {
        Ok(node) if node.is_null() => None,
        Ok(node) => Some(node),
        Err(error) => {
            problems.push(refuse(&error, file));
            None
        }
    }
}

fn refuse(error: &serde_saphyr::Error, file: &str) -> Diagnostic {
    let place = error.location();
    let number = |it: u64| u32::try_from(it).ok().filter(|it| *it > 0);
    let label = Label {
        file: file.to_owned(),
        line: place.and_then(|it| number(it.line())),
        column: place.and_then(|it| number(it.column())),
        width: 1,
    };
    let whole = error.to_string();
    // The place is in the label.
    let text = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(text, _)| text);
    let (message, help) = explain(text);
    Diagnostic::error("front_matter_invalid", label, message).with_help(help.map(str::to_owned))
}

/// Says the library's words in ours, where they are about its own options.
fn explain(text: &str) -> (String, Option<&'static str>) {
    if let Some(key) = text.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return (format!("key `{key}` is written twice"), None);
    }
    if text.contains("Anchors") || text.contains("Aliases") || text.contains("merge key") {
        return ("anchors, aliases and merge keys are not understood here".to_owned(), None);
    }
    if text.starts_with("budget breached") {
        let limits = format!("{DEPTH_MAX} levels and {NODES_MAX} values");
        return (format!("front matter is one YAML document with at most {limits}"), None);
    }
    let is_key = text.starts_with("expected string scalar");
    let help = is_key.then_some("quote a text that begins with `{` or `[`");
    (format!("front matter is no YAML: {text}"), help)
}
