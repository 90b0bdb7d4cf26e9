//! YAML as a tree, with bounds: front matter is small and plain, a graph may repeat itself a little.

use serde::de::DeserializeOwned;
use serde_saphyr::{MergeKeyPolicy, options::AliasLimits};

use super::{Problems, node::Node};
use crate::{Diagnostic, Label};

/// How deep YAML may nest.
const DEPTH_MAX: usize = 32;
/// How many values YAML may have, repeated ones counted each time.
const NODES_MAX: usize = 20_000;
/// How often a graph may name, and repeat, a value of its own.
const ALIASES_MAX: usize = 1_000;
/// How long all texts may be together, repeated ones counted each time, in bytes.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// What the YAML is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    FrontMatter,
    Graph,
}

impl Kind {
    fn subject(self) -> &'static str {
        match self {
            Self::FrontMatter => "front matter",
            Self::Graph => "a graph",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::FrontMatter => "front_matter_invalid",
            Self::Graph => "yaml_invalid",
        }
    }

    fn options(self) -> serde_saphyr::Options {
        let aliases_max = match self {
            // Nothing here needs them, and they can make much out of little.
            Self::FrontMatter => 0,
            Self::Graph => ALIASES_MAX,
        };
        let mut budget = serde_saphyr::Budget::default();
        budget.max_aliases = aliases_max;
        budget.max_anchors = aliases_max;
        budget.max_merge_keys = aliases_max;
        budget.max_documents = 1;
        budget.max_depth = DEPTH_MAX;
        budget.max_nodes = NODES_MAX;
        budget.max_events = 4 * NODES_MAX;
        budget.max_total_scalar_bytes = TEXT_BYTES_MAX;
        let mut alias_limits = AliasLimits::default();
        alias_limits.max_total_replayed_events = NODES_MAX;
        alias_limits.max_replay_stack_depth = DEPTH_MAX;
        serde_saphyr::options! {
            budget: Some(budget),
            merge_keys: match self {
                Self::FrontMatter => MergeKeyPolicy::Error,
                Self::Graph => MergeKeyPolicy::Merge,
            },
            alias_limits: alias_limits,
            reject_unsupported_tags: self == Self::Graph,
            // `yes` and `off` are words.
            strict_booleans: true,
            with_snippet: false,
        }
    }
}

/// Reads YAML as a tree. One with nothing in it is not a tree, and no mistake.
pub(super) fn parse(yaml: &str, file: &str, kind: Kind, problems: &mut Problems) -> Option<Node> {
    match serde_saphyr::from_str_with_options::<Node>(yaml, kind.options()) {
        Ok(node) if node.is_null() => None,
        Ok(node) => Some(node),
        Err(error) => {
            problems.push(refuse(&error, file, kind));
            None
        }
    }
}

/// Reads front matter into a type; the error says what is wrong with it.
pub(crate) fn read_front_matter<T: DeserializeOwned>(yaml: &str) -> Result<T, String> {
    let read = serde_saphyr::from_str_with_options(yaml, Kind::FrontMatter.options());
    read.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}

fn refuse(error: &serde_saphyr::Error, file: &str, kind: Kind) -> Diagnostic {
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
    let (message, help) = explain(text, kind);
    Diagnostic::error(kind.code(), label, message).with_help(help.map(str::to_owned))
}

/// Says the library's words in ours, where they are about its own options.
fn explain(text: &str, kind: Kind) -> (String, Option<&'static str>) {
    let subject = kind.subject();
    if let Some(key) = text.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return (format!("key `{key}` is written twice"), None);
    }
    let is_alias = text.contains("Anchors")
        || text.contains("Aliases")
        || text.contains("AliasAnchor")
        || text.starts_with("alias ");
    if kind == Kind::Graph && is_alias {
        let help = "write the repeated values out";
        return ("anchors and aliases make too much out of too little".to_owned(), Some(help));
    }
    if is_alias || text.contains("merge key") {
        return ("anchors, aliases and merge keys are not understood here".to_owned(), None);
    }
    if text.starts_with("recursive references") {
        return ("a value cannot be a part of itself".to_owned(), None);
    }
    if let Some(tag) = text.strip_prefix("unsupported tag ") {
        return (format!("{subject} is plain data, without tags such as {tag}"), None);
    }
    if text.starts_with("budget breached") || text.starts_with("recursion limit") {
        let texts = match kind {
            Kind::FrontMatter => String::new(),
            Kind::Graph => format!(", with {TEXT_BYTES_MAX} bytes of text in all"),
        };
        let limits = format!("{DEPTH_MAX} levels and {NODES_MAX} values{texts}");
        return (format!("{subject} is one YAML document with at most {limits}"), None);
    }
    let is_key = text.starts_with("expected string scalar");
    let help = is_key.then_some("quote a text that begins with `{` or `[`");
    (format!("{subject} is not YAML: {text}"), help)
}
