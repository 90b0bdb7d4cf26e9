//! What a newcomer needs to go on, with no other memory, in as few words as it is given.
//!
//! Sections are filled from the most needed to the least until the budget is spent; what did not
//! fit is counted, and the brief says how to get it.

mod sections;

use engine::{Known, View};

pub(crate) use self::sections::cut;
use self::sections::{
    CUT, about, action, answers, artifacts, context, done, errors, head, notes, sentence, warnings,
};
use super::Words;

/// How many bytes a token has, counted low so that the budget holds for any tokenizer in use.
const TOKEN_BYTES: usize = 3;
/// The smallest budget: with less, not even what to do now would fit.
const TOKENS_MIN: usize = 200;

/// A brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// Markdown.
    pub text: String,
    /// What was left out, in words.
    pub dropped: Vec<String>,
}

/// What is known of a run beside its log.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub known: &'a Known,
    /// What has changed since.
    pub drift: &'a [String],
    /// Where the run's files are, if not where it was started.
    pub folder: Option<&'a str>,
}

/// Returns the brief of a run that fits into about `tokens_max` tokens.
pub fn brief(words: &Words, view: &View, around: Around<'_>, tokens_max: usize) -> Brief {
    let Around { known, drift, folder } = around;
    let (workflow, state) = (&*view.workflow, &*view.state);
    let tokens_max = tokens_max.max(TOKENS_MIN);
    // In the order they are read; the number says how soon each is filled.
    let sections = [
        (0, Section::new("", head(workflow, state, folder))),
        (3, Section::new("", about(workflow, state))),
        (ACTION_RANK, Section::new("## Do this now", action(workflow, state, words))),
        (2, Section::new("## Beware", warnings(state, known, drift, words))),
        (4, Section::oldest_first("## Done already: do not do it again", done(workflow, state))),
        (5, Section::new("## Open errors", errors(state))),
        (6, Section::new("## What people answered", answers(state))),
        (7, Section::new("## Artifacts", artifacts(state))),
        (8, Section::new("## Context", context(state))),
        (9, Section::new("## Notes", notes(state))),
    ];
    let mut left = tokens_max.saturating_mul(TOKEN_BYTES).saturating_sub(CLOSING_BYTES);
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|index| sections.get(*index).map(|it| it.0));
    let mut filled: Vec<(usize, String)> = Vec::new();
    let mut dropped = Vec::new();
    for index in order {
        let Some((rank, section)) = sections.get(index) else { continue };
        let (text, missing) = section.fit(&mut left);
        if 0 < missing {
            // Nothing is told at the cost of what to do now.
            left = if *rank <= ACTION_RANK { 0 } else { left };
            let title = section.title.trim_start_matches(['#', ' ']);
            let title = if title.is_empty() { "What it is about" } else { title };
            dropped.push(format!("{missing} of {} under “{title}”", section.lines.len()));
        }
        filled.push((index, text));
    }
    filled.sort_by_key(|it| it.0);
    let mut text: Vec<String> =
        filled.into_iter().map(|it| it.1).filter(|it| !it.is_empty()).collect();
    if text.iter().any(|it| it.contains(CUT)) {
        dropped.push(format!("the rest of texts that end in `{CUT}`"));
    }
    if !dropped.is_empty() {
        let list = dropped.join(", ");
        text.push(format!("_Left out to fit: {list}. {}_", sentence(words.more, state)));
    }
    Brief { text: text.join("\n\n"), dropped }
}

/// Kept free for the line that says what was left out.
const CLOSING_BYTES: usize = 300;
/// How soon the next action is filled.
const ACTION_RANK: u32 = 1;
/// With less room than this a cut text is worth nothing.
const CUT_BYTES_MIN: usize = 120;
/// Kept free behind a cut text.
const CUT_MARK_BYTES: usize = 60;

struct Section {
    title: String,
    /// The most needed first.
    lines: Vec<String>,
    /// It is read the other way round.
    is_reversed: bool,
}

impl Section {
    fn new(title: &str, lines: Vec<String>) -> Self {
        Self { title: title.to_string(), lines, is_reversed: false }
    }

    /// A section whose last lines are needed most.
    fn oldest_first(title: &str, mut lines: Vec<String>) -> Self {
        lines.reverse();
        Self { title: title.to_string(), lines, is_reversed: true }
    }

    /// Takes lines while there is room, and returns them with the number of those left out. A line
    /// that is too long by itself is cut, so that instructions are never lost whole.
    fn fit(&self, left: &mut usize) -> (String, usize) {
        if self.lines.is_empty() {
            return (String::new(), 0);
        }
        let mut taken: Vec<String> = Vec::new();
        let mut missing = 0;
        *left = left.saturating_sub(self.title.len());
        for (index, line) in self.lines.iter().enumerate() {
            if *left <= line.len() {
                missing = self.lines.len() - index;
                if CUT_BYTES_MIN < *left {
                    let end = line.floor_char_boundary(*left - CUT_MARK_BYTES);
                    taken.push(format!("{} … (cut)", line.get(..end).unwrap_or_default()));
                    *left = 0;
                }
                break;
            }
            *left -= line.len() + 1;
            taken.push(line.clone());
        }
        if taken.is_empty() {
            return (String::new(), missing);
        }
        if self.is_reversed {
            taken.reverse();
        }
        let text = taken.join("\n");
        let is_bare = self.title.is_empty();
        (if is_bare { text } else { format!("{}\n{text}", self.title) }, missing)
    }
}
