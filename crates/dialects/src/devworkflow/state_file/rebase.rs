//! Two changes to one file: what a person did to an older version is laid over what was written
//! since.
//!
//! The result is the person's text with our changes in it, so their style stays. Nothing that
//! either side added may get lost; where that cannot be promised, there is no result.

mod values;

use std::{borrow::Cow, collections::HashMap};

use super::{
    super::markdown,
    StateFile, fields,
    part::{Part, title},
    table,
};

/// What is the same section in each version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// All before the first heading.
    Preamble,
    Part(&'static str),
    /// Its title, and how many of that title came before it.
    Other(&'a str, usize),
}

/// A section with its heading, or the preamble.
struct Block<'a> {
    key: Key<'a>,
    part: Option<Part>,
    text: &'a str,
}

/// A section of the result.
struct Piece<'a> {
    part: Option<Part>,
    text: Cow<'a, str>,
    /// Whether it comes from our side alone, and stands where theirs has nothing.
    is_added: bool,
}

/// Lines, and how often each is there.
type Lines<'a> = HashMap<Cow<'a, str>, usize>;

impl StateFile {
    /// Returns in how many lines two texts differ. It tells from which version an edit was made.
    pub(in super::super) fn distance(one: &str, two: &str) -> usize {
        let mut balance: HashMap<&str, isize> = HashMap::new();
        for line in one.split('\n') {
            *balance.entry(line.trim_end_matches('\r')).or_default() += 1;
        }
        for line in two.split('\n') {
            *balance.entry(line.trim_end_matches('\r')).or_default() -= 1;
        }
        let lines: usize = balance.values().map(|it| it.unsigned_abs()).sum();
        lines.max(usize::from(one != two))
    }

    /// Joins the edit of `base` that led to `theirs` with the one that led to `ours`.
    ///
    /// `None` where both changed the same thing, each in its own way.
    pub(in super::super) fn rebase(base: &str, theirs: &str, ours: &str) -> Option<String> {
        if base == ours || theirs == ours {
            return Some(theirs.to_owned());
        }
        if base == theirs {
            return Some(ours.to_owned());
        }
        let (base, theirs, ours) = (Self::parse(base), Self::parse(theirs), Self::parse(ours));
        let end = markdown::line_end(&theirs.text);
        let pieces = joined(&base, &theirs, &ours)?;
        let file = Self::from(assembled(&pieces, end));
        let parts = file.sections.iter().map(|it| it.part);
        // The parts may fit together in another way than they were taken apart: a fence that one
        // side left open can be closed by the other.
        let is_whole = parts.eq(pieces.iter().skip(1).map(|it| it.part));
        let (kept, base) = (file.loose_lines(), base.loose_lines());
        let is_kept = [&theirs, &ours].iter().all(|it| keeps(&kept, &base, &it.loose_lines()));
        (is_whole && is_kept).then(|| file.text().to_owned())
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let end = self.sections.first().map_or(self.text.len(), |it| it.heading.start);
        let text = self.text.get(..end).unwrap_or_default();
        let mut blocks = vec![Block { key: Key::Preamble, part: None, text }];
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for section in &self.sections {
            let title = self.text.get(section.heading.clone()).map(title).unwrap_or_default();
            let text = self.text.get(section.heading.start..section.body.end);
            let key = section.part.map_or_else(
                || {
                    let count = seen.entry(title).or_default();
                    *count += 1;
                    Key::Other(title, *count)
                },
                |it| Key::Part(it.name()),
            );
            blocks.push(Block { key, part: section.part, text: text.unwrap_or_default() });
        }
        blocks
    }

    /// Returns every line that stands for itself: what is not a field, no row and no date.
    fn loose_lines(&self) -> Lines<'_> {
        let mut counts = Lines::new();
        let mut count = |line| *counts.entry(line).or_default() += 1;
        for block in self.blocks() {
            let mut lines = block.text.lines().filter(|it| !markdown::is_blank(it));
            match block.part {
                None if block.key == Key::Preamble => {
                    let lines = lines.filter(|it| fields::date(it).is_none());
                    lines.for_each(|it| count(Cow::Borrowed(it)));
                }
                None | Some(Part::Rules) => lines.for_each(|it| count(Cow::Borrowed(it))),
                Some(Part::State) => {
                    let lines = lines.filter(|it| !fields::is_field(it));
                    lines.for_each(|it| count(Cow::Borrowed(it)));
                }
                Some(Part::Items) => {
                    let lines = markdown::lines(block.text).filter(|it| !table::is_row(*it));
                    let lines = lines.filter(|it| !markdown::is_blank(it.text));
                    lines.for_each(|it| count(Cow::Borrowed(it.text)));
                }
                Some(part @ (Part::Plan | Part::Log | Part::ArchiveLog)) => {
                    lines.next().into_iter().for_each(|it| count(Cow::Borrowed(it)));
                    let text = self.free(part);
                    let lines = text.split('\n').filter(|it| !markdown::is_blank(it));
                    lines.for_each(|it| count(Cow::Owned(it.to_owned())));
                }
            }
        }
        counts
    }
}

/// Returns the sections of the result, in the order that the person has.
fn joined<'a>(
    base: &'a StateFile,
    theirs: &'a StateFile,
    ours: &'a StateFile,
) -> Option<Vec<Piece<'a>>> {
    let (base, theirs, ours) = (base.blocks(), theirs.blocks(), ours.blocks());
    let (bases, others) = (by_key(&base), by_key(&ours));
    let mut added = added(&bases, &by_key(&theirs), &ours)?;
    let mut pieces = Vec::with_capacity(theirs.len());
    for block in &theirs {
        let (base, ours) = (bases.get(&block.key).copied(), others.get(&block.key).copied());
        let text = match (base, ours) {
            (None, None) => Some(Cow::Borrowed(block.text)),
            (_, Some(ours)) => Some(join(block, base.unwrap_or_default(), ours)?),
            (Some(base), None) if is_same(base, block.text) => None,
            (Some(_), None) => return None,
        };
        pieces.extend(text.map(|text| Piece { part: block.part, text, is_added: false }));
        pieces.extend(added.remove(&block.key).unwrap_or_default());
    }
    Some(pieces)
}

/// Returns the sections that only our side has, by the one of theirs that they come after.
fn added<'a>(
    bases: &HashMap<Key<'_>, &str>,
    theirs: &HashMap<Key<'_>, &str>,
    ours: &[Block<'a>],
) -> Option<HashMap<Key<'a>, Vec<Piece<'a>>>> {
    let mut added: HashMap<Key<'_>, Vec<Piece<'_>>> = HashMap::new();
    let mut last = Key::Preamble;
    for block in ours {
        if theirs.contains_key(&block.key) {
            last = block.key;
            continue;
        }
        match bases.get(&block.key) {
            Some(base) if is_same(base, block.text) => continue,
            Some(_) => return None,
            None => {}
        }
        let text = Cow::Owned(markdown::normal(block.text));
        added.entry(last).or_default().push(Piece { part: block.part, text, is_added: true });
    }
    Some(added)
}

/// Joins what each side made of a section.
fn join<'a>(theirs: &Block<'a>, base: &str, ours: &str) -> Option<Cow<'a, str>> {
    let end = markdown::line_end(theirs.text);
    if is_same(base, ours) || is_same(theirs.text, ours) {
        return Some(Cow::Borrowed(theirs.text));
    }
    if is_same(base, theirs.text) {
        let text = ours.get(..markdown::inside(ours).end)?.replace("\r\n", "\n");
        let tail = theirs.text.get(markdown::inside(theirs.text).end..)?;
        return Some(Cow::Owned(format!("{}{tail}", text.replace('\n', end))));
    }
    let files = values::Sides {
        base: StateFile::parse(base),
        theirs: StateFile::parse(theirs.text),
        ours: StateFile::parse(ours),
    };
    let file = match theirs.part {
        None if theirs.key == Key::Preamble => files.join_preamble(),
        None | Some(Part::Rules) => None,
        Some(Part::State) => files.join_state(),
        Some(Part::Items) => files.join_items(),
        Some(Part::Plan) => files.join_plan(),
        Some(part @ (Part::Log | Part::ArchiveLog)) => files.join_log(part),
    };
    file.map(|it| Cow::Owned(it.text))
}

fn by_key<'a>(blocks: &[Block<'a>]) -> HashMap<Key<'a>, &'a str> {
    blocks.iter().map(|it| (it.key, it.text)).collect()
}

/// Whether two sections say the same, whatever line ends they have.
fn is_same(one: &str, two: &str) -> bool {
    one == two || markdown::normal(one) == markdown::normal(two)
}

fn assembled(pieces: &[Piece<'_>], line_end: &str) -> String {
    let mut text = String::new();
    let mut is_after_added = false;
    for piece in pieces.iter().filter(|it| !it.text.is_empty()) {
        let is_first = text.trim_start_matches('\u{feff}').is_empty();
        if !is_first && !text.ends_with('\n') {
            text.push_str(line_end);
        }
        let is_apart = text.ends_with("\n\n") || text.ends_with("\n\r\n");
        if !is_first && !is_apart && (piece.is_added || is_after_added) {
            text.push_str(line_end);
        }
        is_after_added = piece.is_added;
        if piece.is_added {
            text.push_str(&piece.text.replace('\n', line_end));
            text.push_str(line_end);
        } else {
            text.push_str(&piece.text);
        }
    }
    text
}

/// Whether each line that was added to the base is there.
fn keeps(kept: &Lines<'_>, base: &Lines<'_>, added: &Lines<'_>) -> bool {
    let count = |lines: &Lines<'_>, line: &str| lines.get(line).copied().unwrap_or(0);
    added.iter().all(|(line, many)| many.saturating_sub(count(base, line)) <= count(kept, line))
}
