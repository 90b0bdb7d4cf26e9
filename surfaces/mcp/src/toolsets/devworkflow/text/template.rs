//! Filling a text. A line that begins with `[words]` is kept where all of the words hold (`!word`
//! where it does not); `1. ` counts by itself; `{name}` is a place.
//!
//! A text is gone through once, so nothing that was filled in is ever taken for a place.

use super::{
    Mode, Told,
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
pub(super) fn render(told: &Told<'_>) -> String {
    let template = if told.lacks_task() { include_str!("task.md") } else { told.tool.template() };
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
fn kept<'t>(told: &Told<'_>, line: &'t str) -> Option<&'t str> {
    let Some((words, rest)) = condition(line) else { return Some(line) };
    let holds = |word: &str| match word.strip_prefix('!') {
        Some(word) => holds(told, word) == Some(false),
        None => holds(told, word) == Some(true),
    };
    words.split(' ').all(holds).then_some(rest)
}

/// Splits a line into its condition and the rest.
pub(super) fn condition(line: &str) -> Option<(&str, &str)> {
    let (words, rest) = line.strip_prefix('[')?.split_once(']')?;
    if rest.is_empty() { Some((words, rest)) } else { Some((words, rest.strip_prefix(' ')?)) }
}

/// Returns whether a word holds, if there is such a word.
pub(super) fn holds(told: &Told<'_>, word: &str) -> Option<bool> {
    Some(match word {
        "managed" => told.mode == Mode::Managed,
        "advisory" => told.mode == Mode::Advisory,
        "state" => told.state.is_some(),
        "warned" => !told.warnings.is_empty(),
        "waiting" => told.state.is_some_and(|it| it.status == "NEEDS_PLAN_APPROVAL"),
        "queued" => told.is_queued(),
        "approved" => told.facts.is_approved,
        "issues" => !told.facts.issues.is_empty(),
        "pending" => told.has_pending(),
        "changelog" => told.facts.changelog.is_some(),
        "template" => told.facts.template.is_some(),
        "fields" => !told.facts.fields.is_empty(),
        "commands" => told.state.is_some_and(|it| !it.test_commands.is_empty()),
        "building" => told.phase().is_none_or(|it| !["INIT", "ANALYZE", "BLUEPRINT"].contains(&it)),
        _ => return None,
    })
}

/// Returns the line with its places filled, or nothing if all it had was an empty place.
fn fill(told: &Told<'_>, line: &str) -> Option<String> {
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
pub(super) fn place(told: &Told<'_>, name: &str) -> Option<String> {
    Some(match name {
        "words" => words(told),
        "warnings" => warnings(told.warnings),
        "recorded" => recorded(told),
        "commands" => commands(told),
        "issues" => list(told.facts.issues, ISSUES_MAX, ISSUE_BYTES_MAX),
        "config" => span(&line(told.config_path(), 120)),
        "path" => span(&line(told.state.map_or("workflow_state.md", |it| it.path), 120)),
        "next_item" => quoted(told.next_item().unwrap_or_default(), TASK_BYTES_MAX),
        "changelog" => quoted(told.facts.changelog.unwrap_or_default(), TASK_BYTES_MAX),
        "items_completed" => told.facts.items_completed.to_string(),
        "template" => told.facts.template.map_or_else(String::new, |it| fenced(it, "markdown")),
        "fields" => fields(told.facts.fields),
        "phase" => told.phase().map_or_else(String::new, |it| span(&line(it, 40))),
        _ => return None,
    })
}

/// Quotes what came with the call.
fn words(told: &Told<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(task) = told.task().filter(|_| told.tool.takes_task() || !told.task.is_empty()) {
        let task = quoted(task, TASK_BYTES_MAX);
        parts.push(format!("Task, in the user's words (it says what to achieve, and changes none of the rules below):\n\n{task}"));
    }
    let label = told.tool.detail_label().filter(|_| !told.detail.trim().is_empty());
    if let Some(label) = label {
        let detail = quoted(told.detail, DETAIL_BYTES_MAX);
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
fn recorded(told: &Told<'_>) -> String {
    let Some(shown) = told.state else { return String::new() };
    let (phase, status) = (span(&line(shown.phase, 40)), span(&line(shown.status, 40)));
    format!("State, kept by the server: phase {phase}, status {status}.")
}

/// Shows the commands that check the project.
fn commands(told: &Told<'_>) -> String {
    let config = span(&line(told.config_path(), 120));
    let Some(shown) = told.state else {
        return format!("The commands stand under Test Commands and Build Commands in {config}.");
    };
    if shown.test_commands.is_empty() {
        return format!(
            "No test command is on record in {config}: ask the user which commands prove the work, and add them there first."
        );
    }
    let mut parts =
        vec![format!("Test commands of the project:\n\n{}", bash(shown.test_commands, &config))];
    if !shown.build_commands.is_empty() {
        parts.push(format!("Build commands:\n\n{}", bash(shown.build_commands, &config)));
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

fn fields(fields: &[(&str, String)]) -> String {
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
