//! Reading files: each once, with limits, and with what they include put in its place.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::{
    Problems, front_matter,
    node::Node,
    path,
    yaml::{self, Kind},
};
use crate::{Diagnostic, FileError, Files, Label};

/// How large a file may be, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// How large all files of a definition may be, in bytes.
const SOURCE_BYTES_MAX: usize = 8 << 20;
/// How large all text may be once it is included everywhere, in bytes.
const TEXT_BYTES_MAX: usize = 32 << 20;
/// How deep includes may nest.
const DEPTH_MAX: usize = 10;
/// How many includes a definition may have, nested ones counted each time.
const INCLUDES_MAX: usize = 10_000;

/// A file, read: its front matter, and its text with all includes resolved.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) file: String,
    /// As YAML, with line numbers as in the file.
    pub(super) yaml: String,
    pub(super) front: Option<Node>,
    pub(crate) body: Body,
}

/// A text, and where each piece of it came from.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) text: String,
    pieces: Vec<Piece>,
}

/// A run of text that stands in one file as it stands here.
#[derive(Debug)]
struct Piece {
    /// In bytes, in the resolved text.
    start: usize,
    file: String,
    /// From 1: where in the file it begins.
    line: u32,
    column: u32,
}

impl Document {
    /// Returns where in which file `width` characters of the text, from byte `start`, are written.
    pub(crate) fn body_label(&self, start: usize, width: u32) -> Label {
        let after = self.body.pieces.partition_point(|it| it.start <= start);
        let Some(piece) = after.checked_sub(1).and_then(|it| self.body.pieces.get(it)) else {
            return Label::whole(&self.file);
        };
        let between = self.body.text.get(piece.start..start).unwrap_or_default();
        let (line, column) = advance((piece.line, piece.column), between);
        let (line, column) = (Some(line), Some(column));
        Label { file: piece.file.clone(), line, column, width: width.max(1) }
    }
}

/// Returns the place after a text that begins at `from`.
fn advance((line, column): (u32, u32), text: &str) -> (u32, u32) {
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    match text.rsplit_once('\n') {
        None => (line, column.saturating_add(count(text.chars().count()))),
        Some((before, last)) => {
            let lines = count(before.matches('\n').count() + 1);
            (line.saturating_add(lines), count(last.chars().count() + 1))
        }
    }
}

/// Why there is no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is no such file: the caller knows how to say it.
    File,
    /// The problem has been told already.
    Told,
}

/// Reads files, and remembers what was read.
pub(super) struct Loader<'a> {
    pub(super) problems: Problems,
    /// Front matter that was read as prose.
    pub(super) lost: Vec<Diagnostic>,
    files: &'a dyn Files,
    /// As they are stored: unchanged.
    read: BTreeMap<String, String>,
    text_bytes: usize,
    includes: usize,
}

impl<'a> Loader<'a> {
    pub(super) fn new(files: &'a dyn Files) -> Self {
        Self {
            problems: Problems::default(),
            lost: Vec::new(),
            files,
            read: BTreeMap::new(),
            text_bytes: 0,
            includes: 0,
        }
    }

    /// Reads a file with its front matter and its includes.
    pub(super) fn load(&mut self, file: &str) -> Result<Document, Missing> {
        let text = match self.read(file) {
            Ok(text) => text,
            Err(FileError::Missing) => return Err(Missing::File),
            Err(error) => {
                self.problems.push(unreadable(Label::whole(file), file, &error));
                return Err(Missing::Told);
            }
        };
        let lost = front_matter::find_lost(&text, file);
        // Two links can lead to one file.
        self.lost.extend(lost.into_iter().filter(|it| !self.lost.contains(it)).collect::<Vec<_>>());
        let (yaml, rest) = front_matter::split(&text);
        let mut document = Document { file: file.to_owned(), ..Document::default() };
        if let Some(yaml) = yaml {
            document.front = yaml::parse(&yaml, file, Kind::FrontMatter, &mut self.problems);
            document.yaml = yaml;
        }
        let skipped = text.get(..text.len() - rest.len()).unwrap_or_default();
        let place = advance((1, 1), skipped);
        let mut chain = vec![file.to_owned()];
        self.resolve(rest, place, &mut chain, &mut document.body);
        Ok(document)
    }

    pub(super) fn into_files(self) -> BTreeMap<String, String> {
        self.read
    }

    /// Reads a file, and returns its text without a byte order mark and with `\n` alone.
    fn read(&mut self, file: &str) -> Result<String, FileError> {
        if !self.read.contains_key(file) {
            let text = self.files.read(file)?;
            if text.len() > FILE_BYTES_MAX {
                return Err(FileError::TooLarge { max: FILE_BYTES_MAX as u64 });
            }
            let so_far: usize = self.read.values().map(String::len).sum();
            if so_far + text.len() > SOURCE_BYTES_MAX {
                let reason = format!("the definition has more than {SOURCE_BYTES_MAX} bytes");
                return Err(FileError::Unreadable(reason));
            }
            self.read.insert(file.to_owned(), text);
        }
        let text = self.read.get(file).map_or("", String::as_str);
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n"))
    }

    /// Appends a file's text to `body`, with each include replaced by the included text.
    fn resolve(&mut self, text: &str, place: (u32, u32), chain: &mut Vec<String>, body: &mut Body) {
        let file = chain.last().cloned().unwrap_or_default();
        let mut done = 0;
        for token in INCLUDE.captures_iter(text) {
            let Some((whole, wanted)) = token.get(0).zip(token.get(1)) else { continue };
            let wanted = wanted.as_str().trim();
            if wanted.is_empty() {
                continue;
            }
            let at = advance(place, text.get(..whole.start()).unwrap_or_default());
            let label = Label {
                file: file.clone(),
                line: Some(at.0),
                column: Some(at.1),
                width: u32::try_from(whole.as_str().chars().count()).unwrap_or(1),
            };
            let included = match self.include(wanted, chain, label) {
                Ok(included) => included,
                Err(diagnostic) => {
                    self.problems.push(diagnostic);
                    continue;
                }
            };
            let before = text.get(done..whole.start()).unwrap_or_default();
            self.append(before, &file, advance(place, text.get(..done).unwrap_or_default()), body);
            chain.push(included.0);
            self.resolve(&included.1, (1, 1), chain, body);
            chain.pop();
            done = whole.end();
        }
        let rest = text.get(done..).unwrap_or_default();
        self.append(rest, &file, advance(place, text.get(..done).unwrap_or_default()), body);
    }

    fn append(&mut self, text: &str, file: &str, (line, column): (u32, u32), body: &mut Body) {
        if text.is_empty() {
            return;
        }
        let start = body.text.len();
        body.pieces.push(Piece { start, file: file.to_owned(), line, column });
        body.text.push_str(text);
        self.text_bytes += text.len();
    }

    /// Reads an included file, and returns its path and text.
    fn include(
        &mut self,
        wanted: &str,
        chain: &[String],
        label: Label,
    ) -> Result<(String, String), Diagnostic> {
        let from = chain.last().map_or("", String::as_str);
        let file = path::resolve(path::folder(from), wanted).map_err(|error| {
            let message = format!("included file `{wanted}` {error}");
            Diagnostic::error("path_outside", label.clone(), message)
        })?;
        if let Some(first) = chain.iter().position(|it| *it == file) {
            let round = chain.get(first..).unwrap_or_default().join(" -> ");
            let message = format!("Circular include detected: {round} -> {file}");
            return Err(Diagnostic::error("include_circular", label, message));
        }
        if chain.len() > DEPTH_MAX {
            let message = format!("Maximum include depth ({DEPTH_MAX}) exceeded.");
            return Err(Diagnostic::error("include_too_deep", label, message));
        }
        self.includes += 1;
        if self.includes > INCLUDES_MAX || self.text_bytes > TEXT_BYTES_MAX {
            let message = format!(
                "a definition has at most {INCLUDES_MAX} includes and {TEXT_BYTES_MAX} bytes of text"
            );
            return Err(Diagnostic::error("includes_too_many", label, message));
        }
        match self.read(&file) {
            Ok(text) => Ok((file, text)),
            Err(FileError::Missing) => {
                let message = format!("Included file not found: {file} (referenced in {from})");
                Err(Diagnostic::error("include_missing", label, message))
            }
            Err(error) => Err(unreadable(label, &file, &error)),
        }
    }
}

/// Says why a file's text could not be had.
pub(super) fn unreadable(label: Label, file: &str, error: &FileError) -> Diagnostic {
    let code = match error {
        FileError::Missing => "file_missing",
        FileError::Outside => "path_outside",
        FileError::TooLarge { .. } => "file_too_large",
        FileError::NotText | FileError::Unreadable(_) => "file_unreadable",
    };
    Diagnostic::error(code, label, format!("`{file}` cannot be used: {error}"))
}

static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{file:([^}]+)\}\}").expect("the pattern is fixed, and a test compiles it")
});
