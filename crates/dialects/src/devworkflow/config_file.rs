//! A `project_config.md`: what a project says of itself, and the list of what was done.
//!
//! Only one thing is ever written: a line of the changelog. All else belongs to the project.

use super::{
    markdown::{self, Outline},
    state_file::is_named,
};

/// What a new file says.
pub(super) const TEMPLATE: &str = include_str!("config_file/template.md");

/// Returns a new file, with the day on which it was made.
pub(super) fn new(date: &str) -> String {
    TEMPLATE.replacen("YYYY-MM-DD", date, 1)
}

/// The sections that must be there.
const REQUIRED: [&str; 4] = ["Project Info", "Dependencies", "Test Commands", "Changelog"];

/// The heading under which the newest line comes first.
const CHANGELOG: &str = "## Changelog";

/// The words after a fence that mean commands. Often there is none.
const SHELLS: [&str; 6] = ["", "bash", "sh", "shell", "zsh", "console"];

/// What became of a changelog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inserted {
    pub text: String,
    pub is_changed: bool,
    /// What the caller should be told, where something was not as expected.
    pub warning: Option<String>,
}

/// Puts a line first in the changelog, with its day if it `is_dated`. A missing file is made.
pub(super) fn insert_changelog(
    text: Option<&str>,
    summary: &str,
    today: &str,
    is_dated: bool,
) -> Inserted {
    let made = text.is_none().then(|| new(today));
    let is_new = made.is_some();
    let text = text.or(made.as_deref()).unwrap_or_default();
    let Some(line) = changelog_line(summary, is_dated.then_some(today)) else {
        let warning =
            Some("the summary is empty, so nothing was added to the changelog".to_owned());
        return Inserted { text: text.to_owned(), is_changed: false, warning };
    };
    let end = markdown::line_end(text);
    let Some(heading) = Outline::of(text)
        .headings
        .into_iter()
        .find(|it| text.get(it.clone()).is_some_and(|it| it.trim_end_matches(BLANKS) == CHANGELOG))
    else {
        let warning = format!("there was no `{CHANGELOG}`, so it was added at the end");
        let text = with_changelog(text, &line, end);
        return Inserted { text, is_changed: true, warning: Some(warning) };
    };
    let (before, after) = text.split_at(heading.end);
    if first_line(after) == Some(line.as_str()) {
        return Inserted { text: text.to_owned(), is_changed: false, warning: None };
    }
    let is_whole = before.ends_with('\n');
    let text = if is_whole {
        format!("{before}{line}{end}{after}")
    } else {
        format!("{before}{end}{line}")
    };
    let warning = is_new.then(|| "there was no `project_config.md`, so it was made".to_owned());
    Inserted { text, is_changed: true, warning }
}

/// Returns what is wrong with the file; nothing, if all is well.
pub(super) fn issues(text: &str) -> Vec<String> {
    let headings = Outline::of(text).headings;
    let has = |name: &str| {
        headings.iter().filter_map(|it| text.get(it.clone())).any(|it| is_headed(it, name))
    };
    let missing = REQUIRED.iter().filter(|it| !has(it));
    missing.map(|it| format!("Missing required section: ## {it}")).collect()
}

/// Returns the commands that test the project.
pub(super) fn test_commands(text: &str) -> Vec<String> {
    commands(text, "Test Commands")
}

/// Returns the commands that build the project.
pub(super) fn build_commands(text: &str) -> Vec<String> {
    commands(text, "Build Commands")
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Returns the line that says it, if anything is said.
fn changelog_line(summary: &str, date: Option<&str>) -> Option<String> {
    let words: Vec<&str> =
        summary.split(['\n', '\r']).map(str::trim).filter(|it| !it.is_empty()).collect();
    let sentence = words.join(" ");
    let sentence = sentence.strip_prefix("- ").unwrap_or(&sentence).trim();
    let date = date.map(|it| format!("[{it}] ")).unwrap_or_default();
    let is_said = !sentence.is_empty() && sentence != "-";
    is_said.then(|| format!("- {date}{sentence}"))
}

/// Returns the first line that says something. Comments do not.
fn first_line(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches(BLANKS);
    while let Some((_, after)) = rest.strip_prefix("<!--").and_then(|it| it.split_once("-->")) {
        rest = after.trim_start_matches(BLANKS);
    }
    rest.lines().next().map(|it| it.trim_end_matches(BLANKS))
}

fn with_changelog(text: &str, line: &str, end: &str) -> String {
    let is_bare = text.trim_start_matches('\u{feff}').is_empty();
    let is_apart = text.ends_with("\n\n") || text.ends_with("\n\r\n");
    let (gap, tail) = match (is_bare, is_apart, text.ends_with('\n')) {
        (true, _, _) | (_, true, _) => (String::new(), end),
        (_, _, true) => (end.to_owned(), end),
        (_, _, false) => (end.repeat(2), ""),
    };
    format!("{text}{gap}{CHANGELOG}{end}{line}{tail}")
}

/// Returns the lines of the code blocks in a section that are commands.
fn commands(text: &str, section: &str) -> Vec<String> {
    let outline = Outline::of(text);
    let is_it = |it: &str| is_headed(it, section);
    let mut headings = outline.headings.iter();
    let found = headings.find(|it| text.get((*it).clone()).is_some_and(is_it));
    let Some(start) = found.map(|it| it.end) else { return Vec::new() };
    let end = headings.next().map_or(text.len(), |it| it.start);
    let blocks = outline.code.iter().filter(|it| start <= it.start && it.end <= end);
    blocks.filter_map(|it| text.get(it.clone())).flat_map(block_commands).collect()
}

fn block_commands(block: &str) -> Vec<String> {
    let mut lines: Vec<&str> = block.lines().collect();
    lines.pop();
    let mut lines = lines.into_iter();
    let language = lines.next().unwrap_or_default().trim().trim_start_matches(['`', '~']).trim();
    let language = language.split_whitespace().next().unwrap_or_default();
    if !SHELLS.iter().any(|it| it.eq_ignore_ascii_case(language)) {
        return Vec::new();
    }
    let mut commands: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in lines.map(str::trim).filter(|it| !it.is_empty()) {
        if open.is_empty() && line.starts_with('#') {
            continue;
        }
        // A command may go on in the next line.
        if let Some(start) = line.strip_suffix('\\') {
            open.push_str(start.trim_end());
            open.push(' ');
            continue;
        }
        commands.push(format!("{}{line}", std::mem::take(&mut open)));
    }
    let rest = open.trim_end();
    commands.extend((!rest.is_empty()).then(|| rest.to_owned()));
    commands
}

fn is_headed(heading: &str, name: &str) -> bool {
    is_named(markdown::trim(heading.trim_start_matches('#').trim_end_matches('\n')), name)
}

#[cfg(test)]
mod tests;
