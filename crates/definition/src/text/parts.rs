//! The parts of a plan: sections `## Task 3: title`, with lines on mode, files and order.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use crate::{PartId, PartSpec};

/// How many parts a plan may have.
const PARTS_MAX: usize = 1_000;

/// Reads the parts of a plan, in the order of their ids.
///
/// A part begins with a heading `## WORD ID: title`. The word is the same for all of them, so that
/// `## Open questions: …` is no part of a plan of tasks. Under the heading, `mode:` is
/// `sequential`, `parallel` or `human_gate`; `files:` opens a list of `- path` lines; `depends_on:`
/// names ids. Of two parts with one id the last counts. A text without any part is an error.
pub fn parse_parts(text: &str) -> Result<Vec<PartSpec>, String> {
    let word = find_word(text).ok_or("there is no section such as `## Task 1: title`")?;
    let mut parts: BTreeMap<PartId, PartSpec> = BTreeMap::new();
    let mut open: Option<(PartSpec, bool)> = None;
    for line in text.lines() {
        if let Some((_, id, title)) = parse_heading(line).filter(|it| it.0 == word) {
            let id = PartId::parse(id).map_err(|error| format!("part `{id}`: {error}"))?;
            parts.extend(open.take().map(|(it, _)| (it.id.clone(), it)));
            open = Some((start(id, title), false));
        } else if let Some((part, is_in_files)) = &mut open {
            *is_in_files = read_line(part, line, *is_in_files);
        }
    }
    parts.extend(open.map(|(it, _)| (it.id.clone(), it)));
    if parts.len() > PARTS_MAX {
        return Err(format!("there are more than {PARTS_MAX} parts"));
    }
    Ok(parts.into_values().collect())
}

/// Returns the word that parts are headed with: the first before a number, else the first.
fn find_word(text: &str) -> Option<&str> {
    let headings = || text.lines().filter_map(parse_heading);
    let numbered = headings().find(|(_, id, _)| is_number(id));
    numbered.or_else(|| headings().next()).map(|(word, _, _)| word)
}

/// Reads `## WORD ID: title`.
fn parse_heading(line: &str) -> Option<(&str, &str, &str)> {
    let heading = HEADING.captures(line)?;
    let part = |at: usize| heading.get(at).map_or("", |it| it.as_str().trim());
    Some((part(1), part(2), part(3)))
}

fn is_number(id: &str) -> bool {
    id.bytes().all(|it| it.is_ascii_digit())
}

fn start(id: PartId, title: &str) -> PartSpec {
    let mode = "sequential".to_owned();
    PartSpec { id, title: title.to_owned(), mode, files: Vec::new(), after: Vec::new() }
}

/// Reads one line of a part, and returns whether the list of files is open after it.
fn read_line(part: &mut PartSpec, line: &str, is_in_files: bool) -> bool {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return is_in_files;
    }
    if let Some(path) = line.strip_prefix("- ").or_else(|| line.strip_prefix("  - "))
        && is_in_files
    {
        let path = path.trim();
        part.files.extend((!path.is_empty()).then(|| path.to_owned()));
        return true;
    }
    if let Some(mode) = after_key(trimmed, "mode:") {
        let mode = mode.trim().to_lowercase();
        let known = ["parallel", "human_gate"].into_iter().find(|it| *it == mode);
        part.mode = known.unwrap_or("sequential").to_owned();
    } else if let Some(ids) = after_key(trimmed, "depends_on:") {
        part.after = parse_ids(ids);
        // `depends_on: none` and the like name nothing where parts are numbered.
        let is_numbered = is_number(part.id.as_str());
        part.after.retain(|it| !is_numbered || is_number(it.as_str()));
    }
    trimmed.eq_ignore_ascii_case("files:")
}

fn after_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (start, rest) = line.split_at_checked(key.len())?;
    start.eq_ignore_ascii_case(key).then_some(rest)
}

/// Reads `[1, 2]` or `1, 2`. What cannot be an id is left out.
fn parse_ids(text: &str) -> Vec<PartId> {
    let text = text.trim();
    let inner = text.strip_prefix('[').unwrap_or(text);
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    let ids = inner.split(',').map(|it| it.trim().trim_matches(['"', '\'']));
    ids.filter_map(|it| PartId::parse(it).ok()).collect()
}

static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^##[ \t]+(\w+)[ \t]+([^\s:]+)[ \t]*:(.*)$")
        .expect("the pattern is fixed, and a test compiles it")
});
