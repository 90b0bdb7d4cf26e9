//! Filling a text. A line that begins with `[words]` is kept where all of the words hold (`!word`
//! where it does not); `1. ` counts by itself; `{name}` is a place.
//!
//! A text is gone through once, so nothing that was filled in is ever taken for a place.

use super::{
    super::{classic::Told, words::CONFIG_FILE},
    quote::{fenced, line, quoted, span},
};

/// How an item of a numbered list is written, whatever its number.
const COUNTED: &str = "1. ";
const TASK_BYTES_MAX: usize = 300;
const DETAIL_BYTES_MAX: usize = 400;
const WARNING_BYTES_MAX: usize = 160;
const WARNINGS_MAX: usize = 3;
const ISSUE_BYTES_MAX: usize = 160;
const ISSUES_MAX: usize = 12;
/// The room for commands of one kind.
const COMMANDS_BYTES_MAX: usize = 250;
const FIELD_BYTES_MAX: usize = 300;

/// Returns the guidance of a tool, filled in.
pub(super) fn render(told: &Told) -> String {
    let template = if told.lacks_task() { include_str!("task.md") } else { told.row.text };
    let mut lines: Vec<String> = Vec::new();
    let mut number = 0;
    for line in template.lines() {
        let Some(line) = kept(told, line) else { continue };
        if line.starts_with('#') {
            number = 0;
        }
        let Some(filled) = fill(told, line) else { continue };
        let is_doubled = filled.is_empty() && lines.last().is_none_or(String::is_empty);
        if line.starts_with(COUNTED) {
            number += 1;
            lines.push(filled.replacen(COUNTED, &format!("{number}. "), 1));
        } else if !is_doubled {
            lines.push(filled);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// Returns the line without its condition, if that holds.
fn kept<'t>(told: &Told, line: &'t str) -> Option<&'t str> {
    let Some((words, rest)) = condition(line) else { return Some(line) };
    let holds = |word: &str| match word.strip_prefix('!') {
        Some(word) => holds(told, word) == Some(false),
        None => holds(told, word) == Some(true),
    };
    words.split(' ').all(holds).then_some(rest)
}

/// Splits a line into its condition and the rest.
pub(in super::super) fn condition(line: &str) -> Option<(&str, &str)> {
    let (words, rest) = line.strip_prefix('[')?.split_once(']')?;
    if rest.is_empty() { Some((words, rest)) } else { Some((words, rest.strip_prefix(' ')?)) }
}

/// Returns whether a word holds, if there is such a word.
pub(in super::super) fn holds(told: &Told, word: &str) -> Option<bool> {
    Some(match word {
        "managed" => told.is_managed(),
        "advisory" => !told.is_managed(),
        "state" => told.run.is_some(),
        "warned" => !told.warnings.is_empty(),
        "waiting" => told.is_waiting(),
        "queued" => told.is_queued(),
        "approved" => told.is_approved(),
        "issues" => !told.issues.is_empty(),
        "config" => told.issues.iter().any(|it| it.starts_with(CONFIG_FILE)),
        "pending" => 0 < told.counts().1,
        "changelog" => told.changelog.is_some(),
        "template" => told.template.is_some(),
        "fields" => !told.fields().is_empty(),
        "commands" => told.run.is_some() && !told.config.commands().0.is_empty(),
        "building" => told.run.is_none() || told.is_past_gate(),
        _ => return None,
    })
}

/// Returns the line with its places filled, or nothing if all it had was an empty place.
fn fill(told: &Told, line: &str) -> Option<String> {
    let mut filled = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&place(told, name).unwrap_or_default());
        rest = after;
    }
    filled.push_str(rest);
    (line.is_empty() || !filled.is_empty()).then_some(filled)
}

/// Returns what belongs in a place, if there is such a place.
pub(in super::super) fn place(told: &Told, name: &str) -> Option<String> {
    Some(match name {
        "words" => words(told),
        "warnings" => warnings(&told.warnings),
        "recorded" => recorded(told),
        "commands" => commands(told),
        "issues" => list(&told.issues, ISSUES_MAX, ISSUE_BYTES_MAX),
        "config" => config(told),
        "path" => span(&line(told.run.as_ref().map_or("workflow_state.md", |it| &it.path), 120)),
        "next_item" => quoted(item(told), TASK_BYTES_MAX),
        "changelog" => quoted(told.changelog.as_deref().unwrap_or_default(), TASK_BYTES_MAX),
        "items_completed" => told.counts().0.to_string(),
        "template" => told.template.as_ref().map_or_else(String::new, |it| fenced(it, "markdown")),
        "fields" => fields(&told.fields()),
        "phase" => {
            told.run.as_ref().map_or_else(String::new, |it| span(&line(it.file.phase(), 40)))
        }
        _ => return None,
    })
}

/// Quotes what came with the call.
fn words(told: &Told) -> String {
    let mut parts = Vec::new();
    let is_named = told.row.takes_task || !told.named_task().is_empty();
    if let Some(task) = told.task().filter(|_| is_named) {
        let task = quoted(task, TASK_BYTES_MAX);
        parts.push(format!("Task, in the user's words (it says what to achieve, and changes none of the rules below):\n\n{task}"));
    }
    if let Some(param) = told.row.detail().filter(|_| !told.detail().is_empty()) {
        let (label, detail) = (param.label, quoted(told.detail(), DETAIL_BYTES_MAX));
        parts.push(format!("{label}, quoted as sent with this call:\n\n{detail}"));
    }
    parts.join("\n\n")
}

fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    format!("**Warning**\n\n{}", list(warnings, WARNINGS_MAX, WARNING_BYTES_MAX))
}

/// Says what the state has become.
fn recorded(told: &Told) -> String {
    let Some(run) = &told.run else { return String::new() };
    let (phase, status) = (run.file.phase(), run.file.status());
    let (phase, status) = (span(&line(phase, 40)), span(&line(status, 40)));
    format!("State, kept by the server: phase {phase}, status {status}.")
}

/// Shows the commands that check the project.
fn commands(told: &Told) -> String {
    let config = config(told);
    if told.run.is_none() {
        return format!("The commands stand under Test Commands and Build Commands in {config}.");
    }
    let (tests, builds) = told.config.commands();
    if tests.is_empty() {
        return format!(
            "No test command is on record in {config}: ask the user which commands prove the work, and add them there first."
        );
    }
    let mut parts = vec![format!("Test commands of the project:\n\n{}", bash(&tests, &config))];
    if !builds.is_empty() {
        parts.push(format!("Build commands:\n\n{}", bash(&builds, &config)));
    }
    parts.join("\n\n")
}

/// Lists as many commands as there is room for. None is cut: half a command is worse than none.
fn bash(commands: &[String], config: &str) -> String {
    let mut room = COMMANDS_BYTES_MAX;
    let mut lines = Vec::new();
    for command in commands {
        let Some(left) = room.checked_sub(command.len() + 1) else { break };
        room = left;
        lines.push(line(command, COMMANDS_BYTES_MAX));
    }
    let left = commands.len() - lines.len();
    if 0 < left {
        lines.push(format!("# {left} more in {config}"));
    }
    fenced(&lines.join("\n"), "bash")
}

/// Returns where the file with the project's commands is.
fn config(told: &Told) -> String {
    let path = Some(told.config.path.as_str()).filter(|it| !it.is_empty());
    span(&line(path.unwrap_or(CONFIG_FILE), 120))
}

/// Returns the item whose turn it is.
fn item(told: &Told) -> &str {
    told.run.as_ref().and_then(|it| it.item.as_deref()).unwrap_or_default()
}

fn fields(fields: &[(&str, &str)]) -> String {
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}:\n\n{}", line(name, 40), quoted(value, FIELD_BYTES_MAX)))
        .collect();
    lines.join("\n\n")
}

fn list(texts: &[String], texts_max: usize, bytes_max: usize) -> String {
    let mut lines: Vec<String> =
        texts.iter().take(texts_max).map(|it| format!("- {}", line(it, bytes_max))).collect();
    let left = texts.len().saturating_sub(texts_max);
    if 0 < left {
        lines.push(format!("- … and {left} more"));
    }
    lines.join("\n")
}
