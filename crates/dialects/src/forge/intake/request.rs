//! `request.md`: what is to be done, and where that comes from.

use super::source::{Source, TEXT};

/// The file with what is to be done.
pub const REQUEST_FILE: &str = "request.md";

/// The line before and after the front matter.
const FENCE: &str = "---";

/// What a request says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestFile {
    pub source_type: String,
    pub source_url: String,
    pub source_id: String,
    pub body: String,
}

impl RequestFile {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = format!("{FENCE}\nsource_type: {}\n", self.source_type);
        for (name, value) in [("source_url", &self.source_url), ("source_id", &self.source_id)] {
            if !value.is_empty() {
                text.extend([name, ": ", value, "\n"]);
            }
        }
        text.extend([FENCE, "\n\n", &self.body, "\n"]);
        text
    }

    /// Reads the text of the file. What has no front matter is all body.
    pub fn parse(text: &str) -> Self {
        let mut read = Self { source_type: TEXT.to_owned(), ..Self::default() };
        let Some((matter, body)) = split(text) else {
            text.trim().clone_into(&mut read.body);
            return read;
        };
        body.trim().clone_into(&mut read.body);
        for (name, value) in matter.lines().filter_map(|it| it.split_once(':')) {
            let field = match name.trim() {
                "source_type" => &mut read.source_type,
                "source_url" => &mut read.source_url,
                "source_id" => &mut read.source_id,
                _ => continue,
            };
            value.trim().clone_into(field);
        }
        read
    }

    /// Returns the issue that it comes from, if it does, and if that has a URL to go by.
    pub fn source(&self) -> Option<Source> {
        let source = Source::parse(&self.source_url).ok()?;
        (source.tracker.source_type() == self.source_type).then_some(source)
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_start().strip_prefix(FENCE)?;
    let inside = inside.strip_prefix('\r').unwrap_or(inside).strip_prefix('\n')?;
    let mut end = 0;
    for line in inside.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((inside.get(..end)?, inside.get(end + line.len()..)?));
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::RequestFile;

    fn linear() -> RequestFile {
        RequestFile {
            source_type: "linear_issue".to_owned(),
            source_url: "https://linear.app/a/issue/ENG-7".to_owned(),
            source_id: "ENG-7".to_owned(),
            body: "Broken page!\n\ndesc".to_owned(),
        }
    }

    #[test]
    fn a_request_is_written_and_read_back() {
        let text = "---\nsource_type: linear_issue\nsource_url: https://linear.app/a/issue/ENG-7\nsource_id: ENG-7\n---\n\nBroken page!\n\ndesc\n";
        assert_eq!(linear().text(), text);
        assert_eq!(RequestFile::parse(text), linear());
        assert_eq!(linear().source().unwrap().id, "ENG-7");
        let plain = RequestFile {
            source_type: "text".to_owned(),
            body: "x".to_owned(),
            ..RequestFile::default()
        };
        assert_eq!(plain.text(), "---\nsource_type: text\n---\n\nx\n");
        assert_eq!(plain.source(), None);
    }

    #[test]
    fn what_others_wrote_is_read_too() {
        let read = RequestFile::parse("# Do\n\n---\nsource_type: jira_issue\n---\n");
        assert_eq!(read.source_type, "text");
        assert!(read.body.starts_with("# Do"));
        let read = RequestFile::parse("---\r\nsource_type: jira_issue\r\nmore: x\r\n---\r\nDo\r\n");
        assert_eq!((read.source_type.as_str(), read.body.as_str()), ("jira_issue", "Do"));
        assert_eq!(RequestFile::parse("---\nsource_type: x").body, "---\nsource_type: x");
        let moved = RequestFile { source_url: "https://evil/; rm".to_owned(), ..linear() };
        assert_eq!(moved.source(), None);
    }
}
