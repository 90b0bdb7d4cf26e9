//! A `workflow_state.md`: where the work stands, as people and agents read and write it.
//!
//! The file is theirs. So reading never fails: what is missing has its default, and what nobody
//! here knows is kept. Writing changes what is asked for and no other byte, in the style in which
//! the file was found. `part.rs` knows the sections, `escape.rs` how text is kept from passing for
//! structure, `rebase.rs` what becomes of two changes to one file.

mod check;
mod escape;
mod fields;
mod part;
mod place;
mod rebase;
mod table;

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{
    markdown::{self, Outline},
    words::{PENDING, PHASES},
};
use escape::Fences;
use part::Part;

pub(super) use part::is_named;

/// What a new file says.
const TEMPLATE: &str = include_str!("state_file/template.md");

/// A state file: its text, and where its sections are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StateFile {
    text: String,
    sections: Vec<Section>,
}

/// A row of the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub id: u64,
    pub description: String,
    pub status: String,
}

/// A section, from its heading to the next.
#[derive(Debug, Clone, PartialEq)]
struct Section {
    /// `None` of a section that means nothing here, or that is there a second time.
    part: Option<Part>,
    heading: Range<usize>,
    body: Range<usize>,
}

impl StateFile {
    /// Reads a text. Any text is a state file, if perhaps one with issues.
    pub(super) fn parse(text: &str) -> Self {
        Self::from(text.to_owned())
    }

    /// Returns a new file. Its date is still to be set.
    pub(super) fn blank() -> Self {
        Self::parse(TEMPLATE)
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the phase, also one that nobody knows; `INIT` where there is none.
    pub(super) fn phase(&self) -> &str {
        self.field(fields::PHASE).filter(|it| !it.is_empty()).unwrap_or(PHASES[0])
    }

    /// Returns the status, also one that nobody knows; `READY` where there is none.
    pub(super) fn status(&self) -> &str {
        match self.field(fields::STATUS).filter(|it| !it.is_empty()) {
            // An older word for the same.
            Some("NEEDS_FIXES") => "ERROR",
            Some(status) => status,
            None => "READY",
        }
    }

    /// Returns the description of the item that is being worked on.
    pub(super) fn current_item(&self) -> Option<String> {
        fields::read_item(self.field(fields::CURRENT_ITEM)?)
    }

    /// Returns the plan.
    pub(super) fn plan(&self) -> String {
        self.free(Part::Plan)
    }

    /// Returns the rules, as they are written.
    pub(super) fn rules(&self) -> String {
        markdown::normal(self.content(Part::Rules))
    }

    /// Returns the items, in their order.
    pub(super) fn items(&self) -> Vec<Row> {
        table::rows(self.body(Part::Items))
    }

    /// Returns the log.
    pub(super) fn log(&self) -> String {
        self.free(Part::Log)
    }

    /// Returns what is left of older logs.
    pub(super) fn archive_log(&self) -> String {
        self.free(Part::ArchiveLog)
    }

    /// Returns the day of the last change, as it is written, if the file has one.
    pub(super) fn date(&self) -> Option<&str> {
        self.text.get(self.date_range()?)
    }

    /// Sets the phase.
    pub(super) fn set_phase(&mut self, phase: &str) {
        if self.phase() != phase {
            self.set_field(fields::PHASE, &escape::write_line(phase, escape::Pipes::Plain));
        }
    }

    /// Sets the status.
    pub(super) fn set_status(&mut self, status: &str) {
        if self.status() != status {
            self.set_field(fields::STATUS, &escape::write_line(status, escape::Pipes::Plain));
        }
    }

    /// Sets the description of the item that is being worked on, or that there is none.
    pub(super) fn set_current_item(&mut self, item: Option<&str>) {
        let written = fields::write_item(item);
        if self.current_item() != fields::read_item(&written) {
            self.set_field(fields::CURRENT_ITEM, &written);
        }
    }

    /// Sets the plan.
    pub(super) fn set_plan(&mut self, plan: &str) {
        self.set_free(Part::Plan, plan);
    }

    /// Sets the rules, which are written as they are given.
    pub(super) fn set_rules(&mut self, rules: &str) {
        let rules = markdown::normal(rules);
        if self.rules() != rules {
            let is_empty = rules.is_empty();
            self.write(Part::Rules, if is_empty { Part::Rules.empty() } else { &rules });
        }
    }

    /// Sets the items. Rows that stay as they are keep their lines.
    pub(super) fn set_items(&mut self, items: &[Row]) {
        let items: Vec<Row> = items.iter().map(Row::normal).collect();
        if self.items() == items {
            return;
        }
        let section = self.section_or_new(Part::Items);
        let body = self.text.get(section.clone()).unwrap_or_default();
        let end = markdown::line_end(&self.text);
        let changed = table::with_rows(body, &items, end);
        let lead = self.missing_line_end(section.start);
        let is_tight = body.is_empty() && section.end < self.text.len();
        // A file that ended with the heading still ends without a line end.
        let shown = if lead.is_empty() { &changed } else { markdown::without_line_end(&changed) };
        let gap = if is_tight { end } else { "" };
        self.replace(section, &format!("{lead}{shown}{gap}"));
    }

    /// Sets the log.
    pub(super) fn set_log(&mut self, log: &str) {
        self.set_free(Part::Log, log);
    }

    /// Adds entries at the end of the log.
    pub(super) fn append_log<'a>(&mut self, entries: impl IntoIterator<Item = &'a str>) {
        self.append_free(Part::Log, entries);
    }

    /// Sets what is left of older logs.
    pub(super) fn set_archive_log(&mut self, log: &str) {
        self.set_free(Part::ArchiveLog, log);
    }

    /// Adds what is left of logs at the end of the others.
    pub(super) fn append_archive_log<'a>(&mut self, entries: impl IntoIterator<Item = &'a str>) {
        self.append_free(Part::ArchiveLog, entries);
    }

    /// Sets the day of the last change, where the file has a line for it.
    pub(super) fn set_date(&mut self, date: &str) {
        if let Some(range) = self.date_range() {
            self.replace(range, date);
        }
    }

    fn free(&self, part: Part) -> String {
        escape::read_text(self.content(part))
    }

    fn set_free(&mut self, part: Part, text: &str) {
        let text = markdown::normal(text);
        if markdown::normal(&self.free(part)) == text {
            return;
        }
        if text.is_empty() {
            self.write(part, part.empty());
            return;
        }
        self.section_or_new(part);
        let before = self.clone();
        self.write(part, &escape::write_text(&text, Fences::Kept));
        if !self.has_sections_of(&before) || self.free(part) != text {
            *self = before;
            self.write(part, &escape::write_text(&text, Fences::Escaped));
        }
    }

    fn append_free<'a>(&mut self, part: Part, entries: impl IntoIterator<Item = &'a str>) {
        let entries = entries.into_iter().map(markdown::normal).filter(|it| !it.is_empty());
        let entries: Vec<String> = entries.collect();
        let mut entries = entries.as_slice();
        if let ([first, rest @ ..], true) = (entries, self.free(part).is_empty()) {
            self.set_free(part, first);
            entries = rest;
        }
        if entries.is_empty() {
            return;
        }
        let before = self.clone();
        let whole = format!("{}\n{}", self.free(part), entries.join("\n"));
        let end = self.content_range(part).end;
        let written = entries.iter().map(|it| escape::write_text(it, Fences::Kept));
        let written: String = written.map(|it| format!("\n{it}")).collect();
        self.replace(end..end, &self.in_style(&written));
        if self.has_sections_of(&before) && self.free(part) == whole {
            return;
        }
        // An open fence in what was there changes what an entry means. Then all is written again.
        *self = before;
        match entries {
            [_] => self.set_free(part, &whole),
            _ => entries.iter().for_each(|it| self.append_free(part, [it.as_str()])),
        }
    }

    /// Whether the sections are those of the other file, whatever is in them.
    fn has_sections_of(&self, other: &Self) -> bool {
        let parts = self.sections.iter().map(|it| it.part);
        parts.eq(other.sections.iter().map(|it| it.part))
    }

    fn date_range(&self) -> Option<Range<usize>> {
        let end = self.sections.first().map_or(self.text.len(), |it| it.heading.start);
        let preamble = self.text.get(..end)?;
        let line = markdown::lines(preamble).find(|it| fields::date(it.text).is_some())?;
        let date = fields::date(line.text)?;
        Some(line.start + date.start..line.start + date.end)
    }
}

impl From<String> for StateFile {
    fn from(text: String) -> Self {
        let mut file = Self { text, sections: Vec::new() };
        file.find_sections();
        file
    }
}

impl StateFile {
    fn find_sections(&mut self) {
        let headings = Outline::of(&self.text).headings;
        let ends = headings.iter().skip(1).map(|it| it.start).chain([self.text.len()]);
        let mut seen: Vec<Part> = Vec::new();
        let mut sections = Vec::with_capacity(headings.len());
        for (heading, end) in headings.iter().zip(ends) {
            let part = self.text.get(heading.clone()).and_then(Part::of);
            let part = part.filter(|it| !seen.contains(it));
            seen.extend(part);
            sections.push(Section { part, heading: heading.clone(), body: heading.end..end });
        }
        self.sections = sections;
    }

    /// Puts a text in the place of another. All that is changed is changed here.
    fn replace(&mut self, range: Range<usize>, with: &str) {
        if self.text.get(range.clone()).is_some_and(|it| it != with) {
            self.text.replace_range(range, with);
            self.find_sections();
        }
    }
}

impl Row {
    /// Returns the row as it would be read after it was written.
    fn normal(&self) -> Self {
        let read = |text: &str| {
            let written = escape::write_line(text, escape::Pipes::Separate);
            escape::read_line(&written, escape::Pipes::Separate)
        };
        let status = Some(read(&self.status)).filter(|it| !it.is_empty());
        Self {
            id: self.id,
            description: read(&self.description),
            status: status.unwrap_or_else(|| PENDING.to_owned()),
        }
    }
}
