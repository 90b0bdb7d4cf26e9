//! Fenced code in Markdown: what stands in it is an example, and means nothing to us.

/// Returns the lines that are not in fenced code, without their ends, each with the byte that it
/// begins at.
pub(crate) fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<Fence> = None;
    lines(text).filter(move |(_, line)| {
        let mark = parse_fence(line);
        match (fence, mark) {
            (None, None) => return true,
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(mark)) if opened.is_closed_by(mark) => fence = None,
            (Some(_), _) => {}
        }
        false
    })
}

/// Returns the byte at which a fence is opened that is never closed.
pub(crate) fn find_open_fence(text: &str) -> Option<usize> {
    let mut open: Option<(Fence, usize)> = None;
    for (start, line) in lines(text) {
        open = match (open, parse_fence(line)) {
            (None, Some(mark)) => Some((mark, start)),
            (Some((fence, _)), Some(mark)) if fence.is_closed_by(mark) => None,
            (before, _) => before,
        };
    }
    open.map(|(_, start)| start)
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    /// Nothing follows the marks: only then can it close a block.
    is_bare: bool,
}

impl Fence {
    fn is_closed_by(self, other: Self) -> bool {
        other.is_bare && other.mark == self.mark && self.length <= other.length
    }
}

/// Reads a line as a fence. Any indentation will do: a fence may stand in a list.
fn parse_fence(line: &str) -> Option<Fence> {
    let line = line.trim();
    let mark = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    // A text such as ```` ```code``` ```` within a line is not a fence.
    let is_inline = mark == '`' && rest.contains('`');
    (3 <= length && !is_inline).then_some(Fence { mark, length, is_bare: rest.is_empty() })
}
