//! Where a section's text stands, and where it goes when there was none.

use std::ops::Range;

use super::{
    super::markdown,
    Section, StateFile,
    part::{PARTS, Part, title},
};

impl StateFile {
    /// Returns the section, if the file has it. Of two, the first counts.
    pub(super) fn section(&self, part: Part) -> Option<&Section> {
        self.sections.iter().find(|it| it.part == Some(part))
    }

    /// Returns all that is under the section's heading.
    pub(super) fn body(&self, part: Part) -> &str {
        self.section(part).and_then(|it| self.text.get(it.body.clone())).unwrap_or_default()
    }

    /// Returns what is under the section's heading, without the blank lines around it.
    pub(super) fn content(&self, part: Part) -> &str {
        let body = self.body(part);
        body.get(markdown::inside(body)).unwrap_or_default()
    }

    /// Returns where that stands.
    pub(super) fn content_range(&self, part: Part) -> Range<usize> {
        let start = self.section(part).map_or(self.text.len(), |it| it.body.start);
        let inside = markdown::inside(self.body(part));
        start + inside.start..start + inside.end
    }

    /// Returns where the body of a section is, which is made if it is not there.
    pub(super) fn section_or_new(&mut self, part: Part) -> Range<usize> {
        if self.section(part).is_none() {
            self.add(part);
        }
        self.section(part).map_or(0..0, |it| it.body.clone())
    }

    /// Writes what is under a heading. It has plain line ends.
    pub(super) fn write(&mut self, part: Part, content: &str) {
        let body = self.section_or_new(part);
        let content = self.in_style(content);
        let range = self.content_range(part);
        if !range.is_empty() {
            self.replace(range, &content);
            return;
        }
        let end = markdown::line_end(&self.text);
        let lead = self.missing_line_end(body.start);
        let is_last = body.end == self.text.len();
        let mut blanks = self.body(part).split_inclusive('\n');
        let first = blanks.next().map_or(0, str::len);
        let (at, tail) = match (first, blanks.next()) {
            // The file ended with the heading, without a line end.
            (0, _) if !lead.is_empty() => (body.start, String::new()),
            (0, _) if is_last => (body.start, end.to_owned()),
            (0, _) => (body.start, end.repeat(2)),
            // One blank line stays behind the text; of more, the first stays before it.
            (_, None) => (body.start, end.to_owned()),
            (_, Some(_)) => (body.start + first, end.to_owned()),
        };
        self.replace(at..at, &format!("{lead}{content}{tail}"));
    }

    /// Returns the text with the line ends of the file.
    pub(super) fn in_style(&self, text: &str) -> String {
        match markdown::line_end(&self.text) {
            "\n" => text.to_owned(),
            end => text.replace('\n', end),
        }
    }

    /// Returns the line end that must come before what is written here.
    pub(super) fn missing_line_end(&self, at: usize) -> &'static str {
        let before = self.text.get(..at).unwrap_or_default();
        let is_whole = before.is_empty() || before.ends_with('\n') || before == "\u{feff}";
        if is_whole { "" } else { markdown::line_end(&self.text) }
    }

    /// Adds a section where the template has it.
    fn add(&mut self, part: Part) {
        let at = self.place_of(part);
        let end = markdown::line_end(&self.text);
        let before = self.text.get(..at).unwrap_or_default();
        let lead = self.missing_line_end(at);
        let is_apart = before.trim_matches(['\u{feff}', '\r', '\n']).is_empty()
            || before.ends_with("\n\n")
            || before.ends_with("\n\r\n");
        let gap = if is_apart { "" } else { end };
        let heading = format!("## {}{end}", part.name());
        let content = self.in_style(part.empty());
        let is_last = at == self.text.len();
        // A file that ended without a line end still does.
        let tail = match (is_last, lead.is_empty()) {
            (true, true) => end.to_owned(),
            (true, false) => String::new(),
            (false, _) => end.repeat(2),
        };
        self.replace(at..at, &format!("{lead}{gap}{heading}{content}{tail}"));
    }

    /// Adds the sections that are missing, empty.
    pub(in super::super) fn complete(&mut self) {
        for part in PARTS {
            if self.section(part).is_none() {
                self.add(part);
            }
        }
    }

    /// Returns the title and the text of each section that means nothing here.
    pub(in super::super) fn own_sections(&self) -> Vec<(String, String)> {
        let own = self.sections.iter().filter(|it| it.part.is_none());
        let read = |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
        own.map(|it| (title(read(&it.heading)).to_owned(), markdown::normal(read(&it.body))))
            .collect()
    }

    /// Adds such a section at the end.
    pub(in super::super) fn add_own_section(&mut self, title: &str, text: &str) {
        let at = self.text.len();
        let (lead, title) = (self.missing_line_end(at), title.replace(['\r', '\n'], " "));
        let text = markdown::normal(text);
        let gap = if text.is_empty() { "" } else { "\n" };
        let section = self.in_style(&format!("\n## {title}\n{text}{gap}"));
        self.replace(at..at, &format!("{lead}{section}"));
    }

    fn place_of(&self, part: Part) -> usize {
        let earlier = PARTS.into_iter().rev().filter(|it| *it < part);
        let after = earlier.filter_map(|it| self.section(it)).map(|it| it.body.end).next();
        let later = PARTS.into_iter().filter(|it| part < *it);
        let before = later.filter_map(|it| self.section(it)).map(|it| it.heading.start).next();
        after.or(before).unwrap_or(self.text.len())
    }
}
