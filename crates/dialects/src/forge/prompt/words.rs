//! The words of a text that tell what it is about, and texts in one line.

use std::collections::BTreeSet;

/// How short a word may be that says what a task is about.
const TOKEN_CHARS_MIN: usize = 3;

/// Words that hold a sentence together.
const GLUE: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "both", "but", "by", "can", "could", "did", "do", "does", "each",
    "else", "every", "for", "from", "had", "has", "have", "he", "her", "here", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "may", "might", "more", "most", "must", "my", "no",
    "nor", "not", "of", "off", "on", "only", "or", "other", "our", "out", "over", "shall", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "would", "you", "your",
];

/// Words that every task and every finding may have.
const EVERYDAY: &[&str] = &[
    "add",
    "added",
    "adds",
    "change",
    "changes",
    "check",
    "class",
    "code",
    "create",
    "error",
    "errors",
    "file",
    "files",
    "fix",
    "function",
    "implement",
    "implementation",
    "index",
    "lib",
    "main",
    "make",
    "method",
    "missing",
    "module",
    "new",
    "remove",
    "src",
    "task",
    "tasks",
    "test",
    "tests",
    "update",
    "use",
    "used",
    "uses",
    "using",
];

/// Returns the words of a text that say what it is about.
pub(super) fn tokens(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric());
    let telling = words.filter(|it| {
        TOKEN_CHARS_MIN <= it.chars().count() && !GLUE.contains(it) && !EVERYDAY.contains(it)
    });
    telling.map(str::to_owned).collect()
}

/// Returns a text in one line: what was written elsewhere must not make headings of its own.
pub(super) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
