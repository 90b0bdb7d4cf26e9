//! The journal of a run: what was noted since it was last put into the archive, as one text.
//!
//! An entry is a line `[time] text`, and the lines after it until the next such line. A text that
//! someone wrote by hand without times has an entry a line.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::Rotation;
use rpds::VectorSync;
use serde::{Deserialize, Serialize};

use crate::{Entry, Event, Recorded, Shared, Timestamp};

/// How many findings of a journal the archive gets.
const FINDINGS_MAX: usize = 5;
/// The most of one finding that it gets, in characters.
const FINDING_CHARS_MAX: usize = 300;

/// What was noted since it was last put into the archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal {
    /// What the run's file said of it when it was last taken in.
    placed: Shared<String>,
    /// What was noted since then, an entry each.
    pub entries: VectorSync<String>,
}

impl Journal {
    /// Returns all of it as one text.
    pub fn text(&self) -> String {
        let placed = Some(self.placed.as_str()).filter(|it| !it.is_empty());
        let entries = placed.into_iter().chain(self.entries.iter().map(String::as_str));
        entries.collect::<Vec<_>>().join("\n")
    }

    /// Starts with what a file says.
    pub(crate) fn of(placed: &str) -> Self {
        Self { placed: placed.to_string().into(), entries: VectorSync::default() }
    }

    /// Adds what an event says, if that is worth a line.
    pub(crate) fn add(&mut self, recorded: &Recorded) {
        if let Some(line) = journal_line(recorded) {
            self.entries.push_back_mut(line);
        }
    }
}

/// The journal was put into the archive, and starts over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRotated {
    /// What it said.
    pub text: String,
    /// What the archive gets of it.
    pub archived: String,
    /// What was put away with it, such as a plan that the next item does not need.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub with: String,
}

/// Returns what an event is in a journal: `[time] text`. `None` where it is worth no line.
pub fn journal_line(recorded: &Recorded) -> Option<String> {
    let text = if let Event::EntryRecorded { entry, .. } = &recorded.event {
        match entry {
            Entry::Note { text, .. } => text.clone(),
            Entry::Error { message, .. } => format!("ERROR: {message}"),
            Entry::Question { question, answer, .. } => format!("Q: {question}\nA: {answer}"),
            Entry::Metric { .. } | Entry::Usage { .. } => return None,
        }
    } else if let Event::GateAnswered { step, answer, by, feedback, .. } = &recorded.event {
        let said = if feedback.is_empty() { "" } else { ": " };
        format!("{step}: {answer}, says {by}{said}{feedback}")
    } else {
        return None;
    };
    Some(format!("[{}] {text}", recorded.at.to_seconds()))
}

/// Returns what the archive gets of a journal.
pub(crate) fn rotate(journal: &str, how: Rotation, now: Timestamp) -> JournalRotated {
    let entries = entries(journal);
    let chars = journal.chars().count();
    let (count, time) = (entries.len(), now.to_seconds());
    let mut archived = format!("--- LOG ROTATION {time} ({count} entries, {chars} chars) ---");
    match how {
        Rotation::Whole => {
            archived.push('\n');
            archived.push_str(journal);
        }
        Rotation::Findings => {
            for finding in findings(&entries) {
                archived.push_str("\n- ");
                archived.push_str(&finding);
            }
        }
    }
    JournalRotated { text: journal.to_string(), archived, with: String::new() }
}

/// Cuts a journal into its entries.
fn entries(journal: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut is_timed = false;
    for line in journal.lines() {
        let begins = is_stamped(line);
        match entries.last_mut() {
            Some(last) if is_timed && !begins => {
                last.push('\n');
                last.push_str(line);
            }
            Some(_) | None if line.trim().is_empty() => {}
            Some(_) | None => entries.push(line.to_string()),
        }
        is_timed |= begins;
    }
    entries
}

/// Whether a line begins with `[` and a time, long or short.
fn is_stamped(line: &str) -> bool {
    let Some((stamp, _)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) else {
        return false;
    };
    let is_sign = |it: char| it.is_ascii_digit() || matches!(it, ':' | '-' | 'T' | 'Z' | '.' | '+');
    stamp.starts_with(|it: char| it.is_ascii_digit())
        && stamp.contains(':')
        && stamp.chars().all(is_sign)
}

/// Returns the entries that matter most, in their order, each on one line that is not too long.
fn findings(entries: &[String]) -> Vec<String> {
    let mut ranked: Vec<(usize, u8)> = entries.iter().map(|it| weight(it)).enumerate().collect();
    // Later ones first among those that matter equally.
    ranked.sort_by(|one, two| two.1.cmp(&one.1).then(two.0.cmp(&one.0)));
    ranked.truncate(FINDINGS_MAX);
    ranked.sort_unstable_by_key(|it| it.0);
    let chosen = ranked.iter().filter_map(|(at, _)| entries.get(*at));
    chosen.map(|it| cut(it)).collect()
}

fn cut(entry: &str) -> String {
    let line = entry.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.strip_prefix("- ").unwrap_or(&line);
    line.chars().take(FINDING_CHARS_MAX).collect()
}

/// How much an entry matters, going by its words.
fn weight(entry: &str) -> u8 {
    /// What speaks of nothing having gone wrong.
    const FINE: [&str; 8] = [
        "0 failed",
        "0 failures",
        "0 errors",
        "0 warnings",
        "no failures",
        "no errors",
        "no warnings",
        "without errors",
    ];
    const WORDS: [(u8, &[&str]); 4] = [
        (4, &["error", "fail", "exception", "panic", "crash", "broken"]),
        (3, &["warn"]),
        (2, &["decision", "decide", "approv", "reject", "plan"]),
        (1, &["complete", "done", "test", "pass", "finish"]),
    ];
    let text = FINE.iter().fold(entry.to_lowercase(), |text, it| text.replace(it, ""));
    let found = WORDS.iter().find(|(_, words)| words.iter().any(|it| text.contains(it)));
    found.map_or(0, |(weight, _)| *weight)
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String, vec::Vec};

    use super::{entries, rotate};
    use crate::Timestamp;
    use definition::Rotation;

    #[test]
    fn an_entry_goes_on_until_the_next_time() {
        let journal = "[10:00:00] one\nmore of one\n[2026-01-02T03:04:05Z] two";
        assert_eq!(entries(journal), ["[10:00:00] one\nmore of one", "[2026-01-02T03:04:05Z] two"]);
    }

    #[test]
    fn without_times_each_line_is_an_entry() {
        assert_eq!(entries("**Found**\n\n- a\n- b"), ["**Found**", "- a", "- b"]);
    }

    #[test]
    fn what_matters_most_is_archived_in_its_order_and_later_ones_win_a_tie() {
        let words = ["plan made", "a", "tests pass", "build FAILED", "b", "warning: x", "c", "d"];
        let lines: Vec<String> =
            words.iter().enumerate().map(|(at, it)| format!("[10:00:0{at}] {it}")).collect();
        let rotated = rotate(&lines.join("\n"), Rotation::Findings, Timestamp(0));
        let expected = "--- LOG ROTATION 1970-01-01T00:00:00Z (8 entries, 140 chars) ---\n\
             - [10:00:00] plan made\n- [10:00:02] tests pass\n- [10:00:03] build FAILED\n\
             - [10:00:05] warning: x\n- [10:00:07] d";
        assert_eq!(rotated.archived, expected);
    }

    #[test]
    fn a_clean_result_is_no_failure_and_a_long_finding_is_cut() {
        let long = "x".repeat(400);
        let journal = format!("[10:00:00] 12 passed, 0 failed\n[10:00:01] error: {long}");
        let rotated = rotate(&journal, Rotation::Findings, Timestamp(0));
        let last = rotated.archived.lines().last().unwrap_or_default();
        assert_eq!(last.chars().count(), 302);
        assert_eq!(super::weight("12 passed, 0 failed"), 1);
    }
}
