//! The parts of a plan: sections `## Task 3: title`, with lines on mode, files and order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::{Captures, Regex};

use super::visible;
use crate::{PartId, PartSpec};

mod unread;

/// How many parts a plan may have.
const PARTS_MAX: usize = 1_000;
/// Whatever a reader may take for the end of a line.
const LINE_ENDS: [char; 6] = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Reads the parts of a plan, in the order of their ids.
///
/// A part begins with a heading `## WORD ID: title`; after a number, a dash or a full stop does as
/// well. The word is the same for all of them, so that `## Open questions: …` is not a part of a plan
/// of tasks. Under the heading, `mode:` is
/// `sequential`, `parallel` or `human_gate`; `files:` opens a list of `- path` lines; `depends_on:`
/// names ids. Of two parts with one id the last counts. A part that is for a person in any of its
/// lines stays so. A text without any part is an error, and so is one with a heading that is meant as
/// a part and is not read as one: the work under it would be left out.
pub fn parse_parts(text: &str) -> Result<Vec<PartSpec>, String> {
    Ok(Plan::read(text)?.parts.into_values().collect())
}

/// Returns what is wrong with a plan, if anything: it must be readable, each id must be given once,
/// and its parts must fit together.
pub(crate) fn find_flaw(text: &str, max: usize) -> Option<String> {
    let Plan { word, parts, again } = match Plan::read(text) {
        Ok(plan) => plan,
        Err(problem) => return Some(problem),
    };
    if let Some(id) = again {
        return Some(format!("there are two sections `{word} {id}`; give each an id of its own"));
    }
    check_parts(&parts.into_values().collect::<Vec<_>>(), max).err()
}

/// What a plan says.
struct Plan {
    /// The word that its parts are headed with.
    word: String,
    parts: BTreeMap<PartId, PartSpec>,
    /// The first id that is given twice.
    again: Option<PartId>,
}

impl Plan {
    fn read(text: &str) -> Result<Self, String> {
        let text = &text.replace("\r\n", "\n").replace(LINE_ENDS, "\n");
        let word = find_word(text).ok_or("there is no section such as `## Task 1: title`")?;
        let mut plan = Self { word, parts: BTreeMap::new(), again: None };
        let mut open: Option<(PartSpec, bool)> = None;
        for line in text.lines() {
            if let Some(heading) = parse_heading(line).filter(|it| it.word == plan.word) {
                let id = &heading.id;
                let id = PartId::parse(id).map_err(|error| format!("part `{id}`: {error}"))?;
                plan.add(open.take());
                open = Some((start(id, heading.title), false));
            } else if let Some((part, is_in_files)) = &mut open {
                *is_in_files = read_line(part, line, *is_in_files);
            }
        }
        plan.add(open);
        if plan.parts.len() > PARTS_MAX {
            return Err(format!("there are more than {PARTS_MAX} parts"));
        }
        unread::check(text, &plan.word, &plan.parts)?;
        Ok(plan)
    }

    /// Adds a part that was read to its end.
    fn add(&mut self, read: Option<(PartSpec, bool)>) {
        let Some((mut part, _)) = read else { return };
        if let Some(before) = self.parts.get(&part.id) {
            self.again.get_or_insert_with(|| part.id.clone());
            if before.mode == PartSpec::HUMAN_GATE {
                PartSpec::HUMAN_GATE.clone_into(&mut part.mode);
            }
        }
        self.parts.insert(part.id.clone(), part);
    }
}

/// Checks that parts fit together: not too many, none twice, none that waits for itself.
pub fn check_parts(parts: &[PartSpec], max: usize) -> Result<(), String> {
    if max < parts.len() {
        return Err(format!("there are {}, and at most {max} are taken", parts.len()));
    }
    let ids: BTreeSet<&PartId> = parts.iter().map(|it| &it.id).collect();
    if ids.len() < parts.len() {
        return Err("two have the same id".to_owned());
    }
    let mut settled: BTreeSet<&PartId> = BTreeSet::new();
    for _ in parts {
        for part in parts {
            let is_free = part.after.iter().all(|it| settled.contains(it) || !ids.contains(it));
            if is_free {
                settled.insert(&part.id);
            }
        }
    }
    match parts.iter().find(|it| !settled.contains(&it.id)) {
        Some(part) => Err(format!("`{}` depends on itself, by a cycle of dependencies", part.id)),
        None => Ok(()),
    }
}

/// A heading that begins a part.
struct Heading {
    word: String,
    id: String,
    title: String,
    mark: Mark,
}

/// What follows the id of a part. The plainest says most surely that a part is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Colon,
    /// `1 - title`, `1. title`, `1) title`
    Other,
    /// Nothing follows the id.
    Nothing,
}

/// Returns the word that parts are headed with: `Task` before a number if there is one, else the
/// first before a number, else the first.
fn find_word(text: &str) -> Option<String> {
    let headings: Vec<Heading> = text.lines().filter_map(parse_heading).collect();
    let with = |mark: Mark| headings.iter().filter(move |it| it.mark == mark && is_number(&it.id));
    let numbered = || [Mark::Colon, Mark::Other, Mark::Nothing].into_iter().flat_map(with);
    let task = numbered().find(|it| unread::is_task(&it.word));
    let found = task.or_else(|| numbered().next()).or_else(|| headings.first());
    found.map(|it| it.word.clone())
}

/// Reads the heading of a part. Characters that cannot be seen do not hide it.
fn parse_heading(line: &str) -> Option<Heading> {
    if !line.contains('#') {
        return None;
    }
    let is_visible = |it: &Captures<'_>| {
        let before = it.name("title").and_then(|it| line.get(..it.start()));
        before.is_some_and(|it| visible(it) == it)
    };
    let shown = visible(line);
    let heading = HEADING.captures(line).filter(is_visible).or_else(|| HEADING.captures(&shown))?;
    let part = |name: &str| heading.name(name).map(|it| it.as_str().trim().to_owned());
    let mark = match part("mark").as_deref() {
        _ if part("id").is_some() => Mark::Colon,
        None | Some("") => Mark::Nothing,
        Some(_) => Mark::Other,
    };
    let id = part("id").or_else(|| part("number"))?;
    Some(Heading { word: part("word")?, id, title: part("title").unwrap_or_default(), mark })
}

fn is_number(id: &str) -> bool {
    id.bytes().all(|it| it.is_ascii_digit())
}

fn start(id: PartId, title: String) -> PartSpec {
    let mode = "sequential".to_owned();
    PartSpec { id, title, mode, files: Vec::new(), after: Vec::new() }
}

/// Reads one line of a part, and returns whether the list of files is open after it.
fn read_line(part: &mut PartSpec, line: &str, is_in_files: bool) -> bool {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return is_in_files;
    }
    if part.mode != PartSpec::HUMAN_GATE && is_for_person(trimmed) {
        PartSpec::HUMAN_GATE.clone_into(&mut part.mode);
    }
    if let Some(path) = line.strip_prefix("- ").or_else(|| line.strip_prefix("  - "))
        && is_in_files
    {
        let path = path.trim();
        part.files.extend((!path.is_empty()).then(|| path.to_owned()));
        return true;
    }
    if let Some(mode) = after_key(trimmed, "mode:").filter(|_| part.mode != PartSpec::HUMAN_GATE) {
        let is_parallel = mode.trim().eq_ignore_ascii_case("parallel");
        part.mode = if is_parallel { "parallel" } else { "sequential" }.to_owned();
    } else if let Some(paths) = after_key(trimmed, "files:").filter(|it| !it.trim().is_empty()) {
        part.files.extend(items(paths).map(|it| it.trim_matches('`').to_owned()));
    } else if let Some(ids) = after_key(trimmed, "depends_on:") {
        part.after = parse_ids(ids);
        // `depends_on: none` and the like name nothing where parts are numbered.
        let is_numbered = is_number(part.id.as_str());
        part.after.retain(|it| !is_numbered || is_number(it.as_str()));
    }
    trimmed.eq_ignore_ascii_case("files:")
}

/// Whether a line says that a part is for a person, however it is marked up: a quote or a dash must
/// not hide that.
fn is_for_person(line: &str) -> bool {
    let plain = line.trim_start_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    let Some(value) = plain.strip_prefix("mode").map(str::trim_start) else { return false };
    let value = value.trim_start_matches(|it: char| !it.is_alphanumeric() && it != ':');
    let Some(value) = value.strip_prefix(':') else { return false };
    let words: String =
        value.chars().map(|it| if it.is_alphanumeric() { it } else { ' ' }).collect();
    let mut words = words.split_whitespace();
    words.next() == Some("human") && words.next() == Some("gate")
}

fn after_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (start, rest) = line.split_at_checked(key.len())?;
    start.eq_ignore_ascii_case(key).then_some(rest)
}

/// Reads `[1, 2]` or `1, 2`. What cannot be an id is left out.
fn parse_ids(text: &str) -> Vec<PartId> {
    // `Task 1` names the same as `1`.
    let ids = items(text).map(|it| it.rsplit_once(' ').map_or(it, |(_, id)| id));
    ids.filter_map(|it| PartId::parse(it).ok()).collect()
}

/// Returns what a list in one line names: `[a, b]` or `a, b`.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inner = text.strip_prefix('[').unwrap_or(text);
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    inner.split(',').map(|it| it.trim().trim_matches(['"', '\''])).filter(|it| !it.is_empty())
}

static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^##[ \t]+(?<word>\w+)[ \t]+(?:(?<id>[^\s:]+)[ \t]*:|(?<number>[0-9]+)(?<mark>[ \t]*[.)](?:[ \t]|$)|[ \t]+[–—-](?:[ \t]|$)|[ \t]*$))(?<title>.*)$",
    )
    .expect("the pattern is fixed, and a test compiles it")
});
