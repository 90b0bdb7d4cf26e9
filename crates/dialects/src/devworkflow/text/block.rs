//! The two blocks below the guidance: the calls that may come next, and the state.

use serde_json::Value;

use super::{
    super::{
        classic::{Guidance, Next, Run, Told},
        state_file::Row,
        words::is_pending,
    },
    quote::{cell, fenced, line, span, tail},
};

/// The longest argument that is spelled out in the text. The structured answer has all of it.
const ARGUMENT_BYTES_MAX: usize = 160;
/// The largest file that is shown whole.
const WHOLE_BYTES_MAX: usize = 8 * 1024;
/// The arguments that are shown before all others.
const FIRST: &[&str] = &["task_description", "phase", "status"];
const ROWS_MAX: usize = 20;
/// How many of the rows shown stand before the current one.
const ROWS_BEFORE: usize = 5;
const CELL_BYTES_MAX: usize = 120;
const TAIL_BYTES_MAX: usize = 1_500;

/// Lists the calls that may come next, if there are any.
pub(super) fn calls(next: &[Next]) -> Option<String> {
    let list = lines(next);
    (!next.is_empty()).then(|| format!("## Next call\n\n{list}").trim_end().to_owned())
}

/// Lists calls, a line each.
pub(super) fn lines(next: &[Next]) -> String {
    let lines: Vec<String> = next.iter().map(call).collect();
    let note = "Fill in what stands in `<angle brackets>`; pass the rest as it is.";
    let note = if lines.iter().any(|it| it.contains("\"<")) { note } else { "" };
    format!("{}\n\n{note}", lines.join("\n")).trim_end().to_owned()
}

fn call(next: &Next) -> String {
    // What a call is about comes first; what is to be written for it, last.
    let rank = |key: &str| FIRST.iter().position(|it| *it == key).unwrap_or(FIRST.len());
    let mut params: Vec<(&String, Value)> =
        next.params.iter().map(|(key, value)| (key, shortened(value))).collect();
    params.sort_by_key(|(key, _)| rank(key));
    let params: Vec<String> =
        params.iter().map(|(key, value)| format!("\"{key}\": {}", in_line(value))).collect();
    let params = span(&format!("{{{}}}", params.join(", ")));
    format!("- {}: `{}` {params}", next.when, next.tool)
}

/// Returns a value as JSON without any line break, of whatever kind.
fn in_line(value: &Value) -> String {
    let json = value.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    json.replace('\u{85}', "\\u0085")
}

/// Returns an argument as it is shown. A shortened text must not look as if it could be passed on.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if ARGUMENT_BYTES_MAX < value.to_string().len() => {
            let start = line(text, 40);
            Value::String(format!("<word for word, the text that begins: {start}>"))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => value.clone(),
    }
}

/// Shows the state: the file if it is small, else what matters of it.
pub(super) fn state(told: &Told, run: &Run) -> String {
    let Run { path, file, item, .. } = run;
    let title = format!("## State now, in {}", span(&line(path, 200)));
    if told.row.tool == Guidance::CreateState && file.text().len() < WHOLE_BYTES_MAX {
        let whole = fenced(file.text(), "markdown");
        return format!("{title}\n\nThe whole file, as data:\n\n{whole}");
    }
    let item = item.as_ref().map_or_else(|| "null".to_owned(), |it| line(it, 200));
    let fields = format!(
        "- Phase: {}\n- Status: {}\n- CurrentItem: {item}",
        line(file.phase(), 40),
        line(file.status(), 40)
    );
    let log = file.log();
    let log = tail(&log, TAIL_BYTES_MAX);
    let mut log = if log.is_empty() {
        "The Log is empty.".to_owned()
    } else {
        format!("The end of the Log, as data:\n\n{}", fenced(log, "text"))
    };
    if let Some(path) = &told.rotated {
        let path = span(&line(path, 200));
        let moved = "The server moved the Log to the archive: `## ArchiveLog` has what matters \
                     most, and";
        log = format!("{moved} {path} has all of it.\n\n{log}");
    }
    format!("{title}\n\n{fields}\n\n{}\n\n{log}", items(run))
}

/// Draws the rows around the current one.
fn items(run: &Run) -> String {
    let rows = run.file.items();
    if rows.is_empty() {
        return "There are no items.".to_owned();
    }
    let is_current = |it: &Row| Some(&it.description) == run.item.as_ref();
    let is_pending = |it: &Row| is_pending(&it.status);
    let at = rows.iter().position(|it| is_current(it) && is_pending(it));
    let at = at.or_else(|| rows.iter().position(is_current));
    let at = at.or_else(|| rows.iter().position(is_pending)).unwrap_or(rows.len());
    let from = at.saturating_sub(ROWS_BEFORE).min(rows.len().saturating_sub(ROWS_MAX));
    let mut lines = vec!["| id | description | status |".to_owned(), "|---|---|---|".to_owned()];
    lines.extend(rows.iter().skip(from).take(ROWS_MAX).map(|it| {
        let (description, status) = (cell(&it.description, CELL_BYTES_MAX), cell(&it.status, 40));
        format!("| {} | {description} | {status} |", it.id)
    }));
    if ROWS_MAX < rows.len() {
        let pending = rows.iter().filter(|it| is_pending(it)).count();
        let (all, last) = (rows.len(), from + ROWS_MAX);
        lines.push(format!("\nRows {} to {last} of {all}; {pending} are pending.", from + 1));
    }
    lines.join("\n")
}
