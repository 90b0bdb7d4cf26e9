//! The table of the section `Items`.

use std::{collections::HashMap, ops::Range};

use super::{
    super::{
        markdown::{self, Line},
        words::PENDING,
    },
    Row,
    escape::{self, Pipes},
    part::Part,
};

/// A row, and where it stands.
struct Placed<'a> {
    row: Row,
    line: Line<'a>,
    cells: Vec<Range<usize>>,
}

/// Returns the rows under the heading.
pub(super) fn rows(body: &str) -> Vec<Row> {
    markdown::lines(body).filter_map(placed).map(|it| it.row).collect()
}

/// Whether a line is a row.
pub(super) fn is_row(line: Line<'_>) -> bool {
    placed(line).is_some()
}

/// Whether the table has its header.
pub(super) fn has_header(body: &str) -> bool {
    markdown::lines(body).any(is_header)
}

/// Returns the body with these rows. What is not a row stays, and so do rows that did not change.
pub(super) fn with_rows(body: &str, rows: &[Row], line_end: &str) -> String {
    let old: Vec<Placed<'_>> = markdown::lines(body).filter_map(placed).collect();
    let Some(first) = old.first() else { return with_table(body, rows, line_end) };
    let matches = matches(&old, rows);
    // What comes after the old row of each index; what comes before all of them is apart.
    let mut before = String::new();
    let mut after: Vec<String> = vec![String::new(); old.len()];
    let mut kept: Vec<Option<String>> = vec![None; old.len()];
    let mut last: Option<usize> = None;
    for (row, found) in rows.iter().zip(matches) {
        let written = found.and_then(|it| old.get(it)).map_or_else(|| line(row), |it| it.with(row));
        // A row that went ahead of another one leaves its place.
        let in_place = found.filter(|it| last.is_none_or(|last| last < *it));
        if let Some(slot) = in_place.and_then(|it| kept.get_mut(it)) {
            *slot = Some(written);
            last = in_place;
            continue;
        }
        let end = last.and_then(|it| after.get_mut(it)).unwrap_or(&mut before);
        end.push_str(&written);
        end.push_str(line_end);
    }
    let mut changed = body.get(..first.line.start).unwrap_or_default().to_owned();
    changed.push_str(&before);
    let starts = old.iter().skip(1).map(|it| it.line.start).chain([body.len()]);
    for (((row, kept), after), next) in old.iter().zip(kept).zip(after).zip(starts) {
        let end = row.line.start + row.line.whole.len();
        if let Some(kept) = kept {
            changed.push_str(&kept);
            changed.push_str(row.line.whole.get(row.line.text.len()..).unwrap_or_default());
        }
        push_lines(&mut changed, &after, line_end);
        push_lines(&mut changed, body.get(end..next).unwrap_or_default(), line_end);
    }
    like_before(body, changed)
}

impl Placed<'_> {
    /// Returns the line with the values of another row, in the cells where they differ.
    fn with(&self, row: &Row) -> String {
        if self.row == *row {
            return self.line.text.to_owned();
        }
        let [_, description, status, ..] = self.cells.as_slice() else { return line(row) };
        let mut text = self.line.text.to_owned();
        // From the right, so that what is still to be changed stays in its place.
        if self.row.status != row.status {
            put(&mut text, status, &row.status);
        }
        if self.row.description != row.description {
            put(&mut text, description, &row.description);
        }
        text
    }
}

/// Returns for each new row the old one that it comes from. Each old one is used once.
fn matches(old: &[Placed<'_>], rows: &[Row]) -> Vec<Option<usize>> {
    let mut by_id: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, it) in old.iter().enumerate().rev() {
        by_id.entry(it.row.id).or_default().push(index);
    }
    rows.iter().map(|it| by_id.get_mut(&it.id).and_then(Vec::pop)).collect()
}

/// Returns the body with rows where it had none.
fn with_table(body: &str, rows: &[Row], line_end: &str) -> String {
    let mut written = String::new();
    for row in rows {
        written.push_str(&line(row));
        written.push_str(line_end);
    }
    let lines: Vec<Line<'_>> = markdown::lines(body).collect();
    let header = lines.iter().position(|it| is_header(*it));
    let rule = header.and_then(|at| lines.get(at + 1)).filter(|it| is_rule(it.text));
    if let Some(rule) = rule {
        let (head, tail) = body.split_at(rule.start + rule.whole.len());
        let mut changed = head.to_owned();
        push_lines(&mut changed, &written, line_end);
        push_lines(&mut changed, tail, line_end);
        return like_before(body, changed);
    }
    let table = format!("{}\n", Part::Items.empty()).replace('\n', line_end);
    let inside = markdown::inside(body);
    let content = body.get(inside.clone()).unwrap_or_default();
    let is_placeholder = escape::placeholder_length(content) == content.len();
    let start = if is_placeholder { inside.start } else { inside.end };
    let mut changed = body.get(..start).unwrap_or_default().to_owned();
    if !is_placeholder {
        changed.push_str(&line_end.repeat(2));
    }
    changed.push_str(&table);
    changed.push_str(&written);
    let tail = body.get(inside.end..).unwrap_or_default();
    let tail = tail.strip_prefix('\r').unwrap_or(tail);
    let tail = tail.strip_prefix('\n').unwrap_or(tail);
    changed.push_str(tail);
    like_before(body, changed)
}

fn push_lines(text: &mut String, lines: &str, line_end: &str) {
    if !lines.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(line_end);
    }
    text.push_str(lines);
}

/// Leaves the last line without a line end where it had none.
fn like_before(body: &str, mut changed: String) -> String {
    if !body.is_empty() && !body.ends_with('\n') {
        changed.truncate(markdown::without_line_end(&changed).len());
    }
    changed
}

fn line(row: &Row) -> String {
    let written = |text| escape::write_line(text, Pipes::Separate);
    format!("| {} | {} | {} |", row.id, written(&row.description), written(&row.status))
}

fn put(text: &mut String, cell: &Range<usize>, value: &str) {
    let written = escape::write_line(value, Pipes::Separate);
    if text.get(cell.clone()).is_some() {
        text.replace_range(cell.clone(), &written);
    }
}

fn placed(line: Line<'_>) -> Option<Placed<'_>> {
    if line.is_code {
        return None;
    }
    let cells = cells(line.text);
    let [first, others @ ..] = cells.as_slice() else { return None };
    let read = |cell: &Range<usize>| {
        let written = line.text.get(cell.clone()).unwrap_or_default();
        escape::read_line(written, Pipes::Separate)
    };
    let id = line.text.get(first.clone())?.parse().ok()?;
    let status = others.get(1).map(read).filter(|it| !it.is_empty());
    let description = others.first().map(read).unwrap_or_default();
    let status = status.unwrap_or_else(|| PENDING.to_owned());
    Some(Placed { row: Row { id, description, status }, line, cells })
}

fn is_header(line: Line<'_>) -> bool {
    let cells = cells(line.text);
    let names = cells.iter().filter_map(|it| line.text.get(it.clone()));
    let named = names.zip(["id", "description", "status"]);
    !line.is_code && named.filter(|(cell, name)| cell.eq_ignore_ascii_case(name)).count() == 3
}

fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|it| matches!(it, '|' | '-' | ':' | ' ' | '\t'))
}

/// Returns where the cells of a line stand, without the blanks around them. A line that has no
/// pipe has none.
fn cells(line: &str) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = Vec::new();
    let mut bytes = line.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\\' {
            bytes.next_if(|(_, it)| matches!(it, b'\\' | b'|'));
        } else if byte == b'|' {
            ends.push(at);
        }
    }
    if ends.is_empty() {
        return Vec::new();
    }
    let starts = [0].into_iter().chain(ends.iter().map(|it| it + 1));
    let mut spans: Vec<Range<usize>> =
        starts.zip(ends.iter().copied().chain([line.len()])).map(|(a, b)| a..b).collect();
    let is_empty = |it: &Range<usize>| line.get(it.clone()).is_none_or(markdown::is_blank);
    spans.pop_if(|it| is_empty(it));
    if spans.first().is_some_and(is_empty) {
        spans.remove(0);
    }
    spans.into_iter().map(|it| trimmed(line, it)).collect()
}

fn trimmed(line: &str, span: Range<usize>) -> Range<usize> {
    let text = line.get(span.clone()).unwrap_or_default();
    let cell = text.trim_start_matches(markdown::AROUND);
    let start = span.start + text.len() - cell.len();
    // An empty cell keeps a blank on either side.
    let start = if cell.is_empty() { span.start + text.len().min(1) } else { start };
    start..start + markdown::trim(cell).len()
}
