//! As much of Markdown as is needed to find the sections of a file: lines, level-2 headings and
//! fenced code.
//!
//! A fence that is never closed is not a fence. Otherwise one forgotten line of a plan would hide
//! every section that comes after it.

use std::ops::Range;

/// What some editors put before the first character.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The fewest characters that make a fence.
const FENCE_LENGTH_MIN: usize = 3;

/// The most spaces that may stand before a fence.
const FENCE_INDENT_MAX: usize = 3;

/// Where the sections begin, and which lines are code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outline {
    /// The level-2 heading lines outside code, with their line ends.
    pub headings: Vec<Range<usize>>,
    /// Fenced code, from its opening line to the end of its closing line.
    pub code: Vec<Range<usize>>,
}

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins in its text.
    pub start: usize,
    /// With its line end.
    pub whole: &'a str,
    /// Without it.
    pub text: &'a str,
    /// Whether it belongs to fenced code, the fences included.
    pub is_code: bool,
}

/// A line that may open or close code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    /// Nothing follows on its line. Only such a fence can close.
    is_bare: bool,
}

/// A line that may matter to the outline, and the fence that it is; else it is a heading.
struct Mark {
    line: Range<usize>,
    fence: Option<Fence>,
}

impl Outline {
    /// Finds the headings and the code of a text.
    pub(super) fn of(text: &str) -> Self {
        let marks = marks(text);
        let closers = longest_closers(&marks);
        let mut outline = Self::default();
        let mut rest = marks.iter().zip(&closers);
        while let Some((mark, closer)) = rest.next() {
            let Some(fence) = mark.fence else {
                outline.headings.push(mark.line.clone());
                continue;
            };
            // Looked up beforehand: to search for what is not there would take as long as the file
            // is, for each fence again.
            if *closer < fence.length {
                continue;
            }
            let end = rest.find(|(it, _)| it.fence.is_some_and(|it| it.closes(fence)));
            if let Some((end, _)) = end {
                outline.code.push(mark.line.start..end.line.end);
            }
        }
        outline
    }
}

impl Fence {
    fn closes(self, opening: Self) -> bool {
        self.is_bare && self.mark == opening.mark && opening.length <= self.length
    }
}

/// Returns the lines of a text, in order.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut code = Outline::of(text).code.into_iter().peekable();
    let mut at = 0;
    text.split_inclusive('\n').map(move |whole| {
        let start = at;
        at += whole.len();
        while code.next_if(|it| it.end <= start).is_some() {}
        let is_code = code.peek().is_some_and(|it| it.start <= start);
        Line { start, whole, text: without_line_end(whole), is_code }
    })
}

/// Whether a line, standing alone, would open fenced code.
pub(super) fn is_fence(line: &str) -> bool {
    fence(line).is_some()
}

/// Returns the line end that a text uses.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n').and_then(|at| text.get(..at)) {
        Some(first) if first.ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Returns a line without its line end.
pub(super) fn without_line_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Whether a line shows nothing.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|it| matches!(it, b' ' | b'\t' | b'\r' | b'\n'))
}

/// What may surround a value on its line.
pub(super) const AROUND: [char; 3] = [' ', '\t', '\r'];

/// Trims what surrounds a value on its line.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(AROUND)
}

/// Returns where the text lies without the blank lines around it and without its last line end.
///
/// Where all is blank, it is an empty range at the beginning.
pub(super) fn inside(text: &str) -> Range<usize> {
    let leading = text.split_inclusive('\n').take_while(|it| is_blank(it));
    let start: usize = leading.map(str::len).sum();
    if start == text.len() {
        return 0..0;
    }
    let visible = text.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let tail = text.get(visible..).unwrap_or_default();
    let last = tail.find('\n').map_or(text.len(), |at| visible + at);
    let is_return = text.get(..last).is_some_and(|it| last < text.len() && it.ends_with('\r'));
    start..if is_return { last - 1 } else { last }
}

/// Brings every line end into one form, and drops the blank lines around the text.
pub(super) fn normal(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.get(inside(&text)).unwrap_or_default().to_owned()
}

/// Returns how many bytes of a text are no line of it.
fn mark_length(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

fn marks(text: &str) -> Vec<Mark> {
    let mut at = mark_length(text);
    let mut marks = Vec::new();
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        match line.bytes().next() {
            Some(b'#') if line.starts_with("## ") => marks.push(Mark { line: range, fence: None }),
            Some(b' ' | b'`' | b'~') => {
                let fence = fence(without_line_end(line));
                marks.extend(fence.map(|it| Mark { line: range, fence: Some(it) }));
            }
            Some(_) | None => {}
        }
    }
    marks
}

/// Returns for each mark the length of the longest fence after it that could close it.
fn longest_closers(marks: &[Mark]) -> Vec<usize> {
    let (mut backticks, mut tildes) = (0, 0);
    let mut longest: Vec<usize> = marks
        .iter()
        .rev()
        .map(|it| {
            let Some(fence) = it.fence else { return 0 };
            let seen = if fence.mark == b'`' { &mut backticks } else { &mut tildes };
            let after = *seen;
            if fence.is_bare {
                *seen = after.max(fence.length);
            }
            after
        })
        .collect();
    longest.reverse();
    longest
}

fn fence(line: &str) -> Option<Fence> {
    let marked = line.trim_start_matches(' ');
    let mark = marked.bytes().next().filter(|it| matches!(it, b'`' | b'~'))?;
    let follows = marked.trim_start_matches(char::from(mark));
    let length = marked.len() - follows.len();
    let is_indented = FENCE_INDENT_MAX < line.len() - marked.len();
    // What has a backtick after the backticks is code inside a line.
    let is_inline = mark == b'`' && follows.contains('`');
    let is_fence = FENCE_LENGTH_MIN <= length && !is_indented && !is_inline;
    is_fence.then(|| Fence { mark, length, is_bare: is_blank(follows) })
}
