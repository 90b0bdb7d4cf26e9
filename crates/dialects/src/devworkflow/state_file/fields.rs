//! The lines of the section `State`, and the line with the date.

use std::ops::Range;

use super::{super::markdown, StateFile, escape, part::Part};

pub(super) const PHASE: &str = "Phase";
pub(super) const STATUS: &str = "Status";
pub(super) const CURRENT_ITEM: &str = "CurrentItem";

/// All of them, in the order in which a file has them.
pub(super) const FIELDS: [&str; 3] = [PHASE, STATUS, CURRENT_ITEM];

/// What stands for no item.
const NOTHING: &str = "null";

/// An item whose description is that very word.
const NOTHING_ESCAPED: &str = r"\null";

/// What stands around the date.
const DATE: (&str, &str) = ("_Last updated:", "_");

impl StateFile {
    /// Returns the value of a field, as it is written.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.text.get(self.field_range(name)?.1)
    }

    /// Writes the value of a field.
    pub(super) fn set_field(&mut self, name: &str, value: &str) {
        self.section_or_new(Part::State);
        let Some((line, range)) = self.field_range(name) else {
            self.add_field(name, value);
            return;
        };
        let before = self.text.get(line.start..range.start).unwrap_or_default();
        let gap = if before.ends_with([' ', '\t']) { "" } else { " " };
        self.replace(range, &format!("{gap}{value}"));
    }

    /// Returns where the line of a field stands, and its value.
    fn field_range(&self, name: &str) -> Option<(Range<usize>, Range<usize>)> {
        let start = self.section(Part::State)?.body.start;
        let lines = markdown::lines(self.body(Part::State));
        let mut found = lines.filter_map(|line| {
            let at = start + line.start;
            let value = value_range(line.text, name)?;
            Some((at..at + line.whole.len(), at + value.start..at + value.end))
        });
        found.next()
    }

    /// Adds the line of a field, in the style of the lines beside it.
    fn add_field(&mut self, name: &str, value: &str) {
        let end = markdown::line_end(&self.text);
        let lines = FIELDS.map(|it| self.field_range(it).map(|it| it.0));
        let style = lines.iter().flatten().next().and_then(|it| self.text.get(it.clone()));
        let is_broken = style.is_none_or(|it| markdown::without_line_end(it).ends_with("  "));
        let line = format!("{name}: {value}{}", if is_broken { "  " } else { "" });
        let order = FIELDS.iter().position(|it| *it == name).unwrap_or_default();
        let earlier = lines.iter().take(order).rev().flatten().next();
        let later = lines.iter().skip(order).flatten().next();
        match (earlier, later) {
            (Some(earlier), _) => {
                let written = self.text.get(earlier.clone()).unwrap_or_default();
                let at = earlier.start + markdown::without_line_end(written).len();
                self.replace(at..at, &format!("{end}{line}"));
            }
            (None, Some(later)) => self.replace(later.start..later.start, &format!("{line}{end}")),
            (None, None) => {
                let content = markdown::normal(self.content(Part::State));
                let gap = if content.is_empty() { "" } else { "\n" };
                self.write(Part::State, &format!("{line}{gap}{content}"));
            }
        }
    }
}

/// Whether a line has a field.
pub(super) fn is_field(line: &str) -> bool {
    FIELDS.iter().any(|it| value_range(line, it).is_some())
}

/// Returns the description that is written, if an item is.
pub(super) fn read_item(written: &str) -> Option<String> {
    let written = markdown::trim(written);
    if written.is_empty() || written.eq_ignore_ascii_case(NOTHING) {
        return None;
    }
    if written == NOTHING_ESCAPED {
        return Some(NOTHING.to_owned());
    }
    Some(escape::read_line(written, escape::Pipes::Plain))
}

/// Writes the description of an item.
pub(super) fn write_item(item: Option<&str>) -> String {
    let written = escape::write_line(item.unwrap_or_default(), escape::Pipes::Plain);
    if written.is_empty() {
        return NOTHING.to_owned();
    }
    if written.eq_ignore_ascii_case(NOTHING) {
        return NOTHING_ESCAPED.to_owned();
    }
    written
}

/// Returns where the date stands in a line that has one.
pub(super) fn date(line: &str) -> Option<Range<usize>> {
    let shown = line.trim_start_matches(['\u{feff}', ' ', '\t']);
    let date = shown.strip_prefix(DATE.0)?;
    let date = date.trim_end().strip_suffix(DATE.1)?;
    let start = line.len() - shown.len() + DATE.0.len();
    let lead = date.len() - date.trim_start().len();
    Some(start + lead..start + lead + date.trim().len())
}

/// Returns where the value stands in the line of a field: `Phase: INIT`, `- **Phase:** INIT`.
fn value_range(line: &str, name: &str) -> Option<Range<usize>> {
    let rest = line.trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")).unwrap_or(rest);
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let (key, rest) = rest.split_at_checked(name.len())?;
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let rest = rest.strip_prefix(':').filter(|_| key.eq_ignore_ascii_case(name))?;
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let value = rest.trim_start_matches(markdown::AROUND);
    let start = line.len() - value.len();
    let length = markdown::trim(value).len();
    // Blanks after a field without a value are the end of its line, not of its value.
    let start = if length == 0 { line.len() - rest.len() } else { start };
    Some(start..start + length)
}
