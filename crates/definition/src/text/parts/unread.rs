//! Headings of a plan that are meant as parts and are not read as parts.
//!
//! The work under such a heading would be left out, and no one would notice. So the plan is refused.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::{is_number, parse_heading};
use crate::{
    PartId, PartSpec,
    text::{find_open_fence, outside_fences, visible},
};

/// Refuses a plan with a heading that is meant as a part and is not read. What stands in fenced code
/// is an example.
pub(super) fn check(
    text: &str,
    word: &str,
    parts: &BTreeMap<PartId, PartSpec>,
) -> Result<(), String> {
    // A fence that is never closed hides nothing.
    let (fenced, open) = text.split_at(find_open_fence(text).unwrap_or(text.len()));
    let lines = outside_fences(fenced).map(|(_, line)| line).chain(open.lines());
    let lines: Vec<_> = lines.map(visible).collect();
    let below = lines.iter().skip(1).map(|it| is_underline(it)).chain([false]);
    let unread = |(line, is_underlined): (&_, bool)| {
        find_like(line, word, is_underlined, parts).or_else(|| find_other(line, word, parts))
    };
    match lines.iter().map(|it| it.trim()).zip(below).find_map(|it| Some((it.0, unread(it)?))) {
        None => Ok(()),
        Some((line, advised)) => Err(format!(
            "`{line}` is not read as a part; write `{advised}` if it is one, else word it \
             otherwise"
        )),
    }
}

/// Whether a word heads parts in any plan, whatever its other headings are.
pub(super) fn is_task(word: &str) -> bool {
    word.eq_ignore_ascii_case("task")
}

/// Reads a line as a heading of any form that names a part which is not read, and returns how to
/// write it.
fn find_like(
    line: &str,
    word: &str,
    is_underlined: bool,
    parts: &BTreeMap<PartId, PartSpec>,
) -> Option<String> {
    let like = LIKE.captures(line)?;
    let found = |name: &str| like.name(name).map_or("", |it| it.as_str());
    let said = found("word");
    let is_same = said.to_lowercase() == word.to_lowercase();
    if !is_same && !is_task(said) {
        return None;
    }
    let (number, name) = (found("number"), found("name"));
    let is_heading = found("mark").starts_with(['#', '<']) || is_underlined;
    let is_meant = match (number, name) {
        // `## Task: title`
        ("", "") => found("mark") == "##" && line.contains(':'),
        // In a plan of numbers, `### Task notes: …` is a note.
        ("", _) => is_heading && (found("mark") == "##" || !parts.keys().all(is_numbered)),
        (_, _) => is_heading || (!found("mark").is_empty() && like.name("end").is_some()),
    };
    let digits = number.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
    let id = [number, name].concat();
    let is_read = is_same && [digits, id.trim_end_matches('.')].iter().any(|it| has(parts, it));
    let word = if is_same { word } else { "Task" };
    let id = if id.is_empty() { "ID" } else { id.trim_end_matches('.') };
    (is_meant && !is_read).then(|| format!("## {word} {id}: title"))
}

/// Reads a line as the heading of a numbered part by another word, where no part has the number.
fn find_other(line: &str, word: &str, parts: &BTreeMap<PartId, PartSpec>) -> Option<String> {
    let heading = parse_heading(line)?;
    let is_other = heading.word != word && is_number(&heading.id) && !has(parts, &heading.id);
    is_other.then(|| format!("## {word} {}: title", heading.id))
}

fn is_numbered(id: &PartId) -> bool {
    is_number(id.as_str())
}

fn has(parts: &BTreeMap<PartId, PartSpec>, id: &str) -> bool {
    parts.keys().any(|it| it.as_str() == id)
}

/// Whether a line makes a heading of the line above.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && (line.chars().all(|it| it == '=') || line.chars().all(|it| it == '-'))
}

/// A word and an id, marked up as a heading or in bold, be it in a quote or a list.
static LIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        ^[\s>]* (?:[-*+]\s+|[0-9]+[.)]\s+)?
        (?<mark>\#+|\*\*|__|<(?:h[1-6]|b|strong)\b[^>]*>)? [\s*_`\[\#]*
        (?<word>[\p{L}\p{M}]+) [\s*_`\#\[(–—-]*
        (?: (?<number>[0-9][\w.]*) (?<end>[\s*_`\])]*(?:[:：.)–—-]|<|$))?
          | (?<name>[\w-]+)[\s*_`]*(?:[:：]|\s[–—-]\s)
          | [\s*_`]*[:：] )",
    )
    .expect("the pattern is fixed, and a test compiles it")
});
