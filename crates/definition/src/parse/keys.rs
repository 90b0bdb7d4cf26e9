//! The keys of the language, by the map that they stand in. `docs/reference/workflow-keys.md` says
//! what each is for, and a test holds the page against these lists.

/// The keys of one map.
pub(super) struct Keys {
    pub(super) known: &'static [&'static str],
    /// Keys that the page has no longer, since something else says the same. Texts that have them
    /// are read as ever.
    pub(super) former: &'static [&'static str],
    /// Keys of language 1 alone, and what is written in language 2.
    pub(super) retired: &'static [(&'static str, &'static str)],
}

const fn keys(known: &'static [&'static str]) -> Keys {
    Keys { known, former: &[], retired: &[] }
}

impl Keys {
    pub(super) fn has(&self, key: &str) -> bool {
        self.is_read(key) || self.replacement(key).is_some()
    }

    /// Whether a text in the newest language can have this key.
    pub(super) fn is_read(&self, key: &str) -> bool {
        self.known.contains(&key) || self.former.contains(&key)
    }

    /// Returns what is written in place of a key of language 1.
    pub(super) fn replacement(&self, key: &str) -> Option<&'static str> {
        self.retired.iter().find(|(it, _)| *it == key).map(|(_, instead)| *instead)
    }
}

pub(super) const INDEX: Keys = Keys {
    known: &[
        "language", "title", "version", "decider", "key", "params", "vars", "settings", "flows",
        "from", "until", "limits", "gates", "ends", "args", "on",
    ],
    former: &[],
    retired: &[
        ("name", "leave it out: the folder's name counts"),
        ("flow", "call the flow `default`"),
        ("journal", "leave it out: a workflow with `rotate` has a journal"),
        ("budget", "write `limits: {tokens: …}`"),
        ("moves", "write `on: {call: {NAME: …}}`"),
        ("rules", "write `on: {change: {NAME: …}}`"),
        ("chores", "write `on: {while: {NAME: …}}`"),
        ("adopt", "write `on: {adopt: …}`"),
    ],
};
pub(super) const VAR: Keys = Keys {
    known: &["one_of"],
    former: &["type"],
    retired: &[("default", "write the value itself, or first in `one_of`")],
};
pub(super) const LIMITS: Keys = keys(&["visits", "tokens", "cost", "prices", "ask"]);
pub(super) const ENDS: Keys = keys(&["early", "keep_key"]);
pub(super) const ON_INDEX: Keys = keys(&["call", "change", "while", "adopt"]);
pub(super) const REACTION: Keys = keys(&["when", "do", "else", "needs", "consent"]);
pub(super) const ACTION: Keys = Keys {
    known: &[
        "when",
        "set",
        "merge",
        "goto",
        "note",
        "error",
        "add_item",
        "close_item",
        "find_item",
        "rotate",
        "insert",
        "remove",
        "complete",
        "rename_branch",
        "commit",
        "push",
        "publish",
        "checkout",
    ],
    former: &[],
    retired: &[("take_item", "write `set: {VARIABLE: items.next}`")],
};
pub(super) const COMMIT: Keys = keys(&["paths", "message", "else"]);
pub(super) const PUBLISH: Keys = Keys {
    known: &["files", "closes"],
    former: &[],
    retired: &[("body", "leave it out: the first `.md` file counts")],
};
pub(super) const STEP: Keys = Keys {
    known: &[
        "title",
        "agent",
        "work",
        "needs",
        "produces",
        "criteria",
        "evidence",
        "checks",
        "gate",
        "review",
        "attempts",
        "next",
        "on",
        "each",
        "skip_when",
        "lease",
        "timeout",
    ],
    former: &[],
    retired: &[
        ("drops", "write `on: {done: {remove: PATH}}`"),
        ("enter", "write `on: {enter: {set: …}}`"),
        ("rules", "write `rules` in the `review` of this step"),
    ],
};
pub(super) const ON_STEP: Keys = keys(&["enter", "done", "back"]);
pub(super) const NEED: Keys = keys(&["path", "when", "optional"]);
pub(super) const PRODUCT: Keys = Keys {
    known: &["path", "when", "words", "headings", "matches", "schema", "covers", "rejects"],
    former: &[],
    retired: &[
        ("not_empty", "write `words: 1`"),
        ("parts", "leave it out: the file that `each.from` names is checked as a plan"),
    ],
};
pub(super) const CHECK: Keys = Keys {
    known: &[],
    former: &[],
    retired: &[
        ("run", "write the command itself: `[cargo, test]`"),
        ("timeout", "the step's `timeout` counts"),
    ],
};
pub(super) const GATE: Keys = Keys {
    known: &[
        "ask", "show", "options", "answers", "during", "unless", "holds", "about", "rounds",
        "ahead",
    ],
    former: &[],
    retired: &[
        ("drops", "write `on: {back: {remove: PATH}}`"),
        ("reviewed", "leave it out: the review of the step that an option goes back to counts"),
    ],
};
pub(super) const REVIEW: Keys = Keys {
    known: &["of", "count", "verdicts", "limits", "rules"],
    former: &["unknown"],
    retired: &[
        ("read", "leave it out: the first file that the step produces counts"),
        ("judges", "leave it out: the first file that the judged step produces counts"),
        ("approve", "write `verdicts: {WORD: approve}`"),
        ("revise", "write `verdicts: {WORD: revise}`"),
    ],
};
pub(super) const NEXT: Keys = Keys {
    known: &["to", "when", "do"],
    former: &[],
    retired: &[
        ("set", "write `do: {set: …}`"),
        ("merge", "write `do: {merge: …}`"),
        ("fails", "write `to: FAILED`"),
    ],
};
pub(super) const EACH: Keys = Keys {
    known: &["parts", "from", "otherwise", "otherwise_when", "list", "order", "only", "whole"],
    former: &[],
    retired: &[
        ("context", "write `list: EXPRESSION`"),
        ("keep", "leave it out: parts stay until a step writes the file again"),
        ("set", "write `on: {done: {set: …}}`"),
    ],
};
pub(super) const PART: Keys = Keys {
    known: &["id", "title", "mode", "after"],
    former: &[],
    retired: &[("files", "leave it out")],
};
/// The parts of a step's rules in language 1.
pub(super) const RULES: Keys = keys(&["beside", "parts", "note", "count", "after"]);

#[cfg(test)]
mod tests;
