//! What a definition's Markdown says: links to steps, the two sections of a step, goals.
//!
//! Nothing else in it has a meaning, and fenced code has none.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::Document;
use crate::{
    StepName,
    text::{find_open_fence, outside_fences, parse_heading},
};

/// A link to a step: `1. [Name](steps/name.md)`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) title: String,
    pub(crate) path: String,
    /// The title, if it can be a name and no earlier link has it.
    pub(crate) name: Option<StepName>,
    /// Where the link begins, in bytes, and how many characters it has.
    pub(crate) start: usize,
    pub(crate) width: u32,
}

/// The two sections of a step, in bytes of its text; the last of each counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    pub(crate) guidance: Option<Range<usize>>,
    pub(crate) instructions: Option<Range<usize>>,
}

/// Finds the links to steps, in order.
pub(super) fn find_links(text: &str) -> Vec<Link> {
    outside_fences(text)
        .filter_map(|(start, line)| {
            let found = LINK.captures(line)?;
            let (link, title, path) = (found.get(1)?, found.get(2)?, found.get(3)?);
            Some(Link {
                title: title.as_str().trim().to_owned(),
                path: path.as_str().trim().to_owned(),
                name: None,
                start: start + link.start(),
                width: u32::try_from(link.as_str().chars().count()).unwrap_or(1),
            })
        })
        .collect()
}

/// Finds the two sections of a step. Each runs to the next heading of the two, or to the end.
pub(crate) fn find_sections(text: &str) -> Sections {
    let mut sections = Sections::default();
    let mut open: Option<(bool, usize)> = None;
    let mut close = |open: Option<(bool, usize)>, end: usize| match open {
        Some((true, start)) => sections.guidance = Some(start..end),
        Some((false, start)) => sections.instructions = Some(start..end),
        None => {}
    };
    for (start, line) in outside_fences(text) {
        let Some(heading) = section_heading(line) else { continue };
        close(open, start);
        open = Some((heading == GUIDANCE, (start + line.len()).min(text.len())));
    }
    close(open, text.len());
    sections
}

pub(super) const GUIDANCE: &str = "orchestrator guidance";
const INSTRUCTIONS: &str = "client instructions";

/// Reads a line that is exactly `# Orchestrator Guidance` or `# Client Instructions`, in any case.
fn section_heading(line: &str) -> Option<&'static str> {
    let words = line.trim_matches([' ', '\t']).strip_prefix("# ")?.to_lowercase();
    [GUIDANCE, INSTRUCTIONS].into_iter().find(|it| *it == words)
}

/// Returns the text under a heading `Goal` or `Overall Goal`, if there is one.
pub(super) fn find_goal(text: &str) -> Option<String> {
    let mut goal: Option<(usize, Range<usize>)> = None;
    for (start, line) in outside_fences(text) {
        let heading = parse_heading(line);
        let is_end = |level: usize| {
            let is_higher = heading.is_some_and(|it| it.level <= level);
            is_higher || section_heading(line).is_some() || LINK.is_match(line)
        };
        match (&mut goal, heading) {
            (Some((level, range)), _) if is_end(*level) => {
                range.end = start;
                break;
            }
            (None, Some(heading)) if is_goal(heading.text) => {
                goal = Some((heading.level, start + line.len()..text.len()));
            }
            (Some(_) | None, _) => {}
        }
    }
    let (_, range) = goal?;
    Some(text.get(range)?.trim().to_owned())
}

/// Returns the goal of a workflow: its section, else what stands between the first heading and
/// the first link.
pub(super) fn index_goal(text: &str) -> String {
    if let Some(goal) = find_goal(text) {
        return goal;
    }
    let lines = || outside_fences(text);
    let end = lines().find(|(_, line)| LINK.is_match(line)).map_or(text.len(), |(start, _)| start);
    let heading = lines().find(|(start, line)| *start < end && parse_heading(line).is_some());
    let start = heading.map_or(0, |(start, line)| start + line.len());
    let mut goal = text.get(start..end).unwrap_or_default().trim();
    // `## Steps` leads to the links, and is not a part of the goal.
    while let Some(last) = goal.lines().next_back().filter(|it| parse_heading(it).is_some()) {
        goal = goal.strip_suffix(last).unwrap_or_default().trim();
    }
    goal.to_owned()
}

fn is_goal(heading: &str) -> bool {
    let words = heading.trim_end_matches(':').trim().to_lowercase();
    words == "goal" || words == "overall goal"
}

/// Says where a fence was left open, for when something was not found.
pub(super) fn open_fence_help(document: &Document) -> Option<String> {
    let start = find_open_fence(&document.body.text)?;
    let label = document.body_label(start, 1);
    let line = label.line.unwrap_or_default();
    Some(format!("the fenced code that begins at {}:{line} is never closed", label.file))
}

static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[ \t]*(?:\d+\.|[-*+]) [ \t]*(\[([^\]]+)\]\(([^)]+\.md)\))")
        .expect("the pattern is fixed, and a test compiles it")
});
