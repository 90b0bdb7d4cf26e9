//! The names that an expression uses: known roots, filters and tests only, and no calls.
//!
//! A name that is not set must not count as false or as unequal: the agent would never learn what
//! to put into the context. So each use of a name is guarded (see [`guard`]), unless the
//! expression itself says what to do without it: `is defined`, `default`.

use super::{
    ExpressionError,
    builtins::{FACTOR_FILTER, FILTERS, SET_FILTER, TESTS},
    tokens::{Kind, Token},
};
use crate::suggest;

/// What conditions, expressions and templates may name.
pub(crate) const ROOTS: [&str; 18] = [
    "context",
    "settings",
    "vars",
    "flow",
    "key",
    "report",
    "artifacts",
    "steps",
    "part",
    "parts",
    "verdict",
    "run",
    "args",
    "step",
    "items",
    "journal",
    "gate",
    "usage",
];

const WORDS: [&str; 7] = ["and", "or", "not", "in", "is", "if", "else"];
const LITERALS: [&str; 6] = ["true", "True", "false", "False", "none", "None"];

/// A use of a name, with all that is taken from it: `context.files[0].path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// As it is written.
    pub(crate) text: String,
    /// In bytes, from the start of the expression.
    pub(crate) start: usize,
    /// The expression says itself what to do when it is not set.
    pub(crate) is_optional: bool,
    /// It is an operand of `*`.
    is_factor: bool,
}

impl NameUse {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Finds each use of a name, and refuses what is not known.
pub(super) fn find_names(
    source: &str,
    tokens: &[Token<'_>],
) -> Result<Vec<NameUse>, ExpressionError> {
    let mut uses = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        check_factor(tokens, at)?;
        if token.kind != Kind::Name {
            continue;
        }
        match role(tokens, at) {
            Role::Other => {}
            Role::Filter => check_known(token, "filter", FILTERS)?,
            Role::Test => check_known(token, "test", TESTS)?,
            Role::Root => {
                check_known(token, "name", &ROOTS)?;
                uses.push(follow(source, tokens, at)?);
            }
        }
    }
    Ok(uses)
}

/// Says what a sign of other languages is here.
pub(super) fn foreign_sign(tokens: &[Token<'_>]) -> Option<String> {
    let has = |sign: &str| tokens.iter().any(|it| it.is(sign));
    let has_bars = tokens.windows(2).any(|pair| pair.iter().all(|it| it.is("|")));
    if has("&") || has("!") || has_bars {
        return Some("write `and`, `or` and `not`".to_owned());
    }
    has("=").then(|| "compare with `==`".to_owned())
}

/// Returns the expression with a filter after each name that must be set.
pub(super) fn guard(source: &str, uses: &[NameUse]) -> String {
    let mut inserts: Vec<(usize, String)> = Vec::new();
    for name in uses.iter().filter(|it| !it.is_optional) {
        let quoted = name.text.replace('\\', r"\\").replace('"', "\\\"");
        let filter = if name.is_factor { FACTOR_FILTER } else { SET_FILTER };
        inserts.push((name.start, "(".to_owned()));
        inserts.push((name.end(), format!("|{filter}(\"{quoted}\"))")));
    }
    // The sort is stable, and no two uses begin or end at one place.
    inserts.sort_by_key(|(at, _)| *at);
    let mut guarded = String::with_capacity(source.len() * 2);
    let mut done = 0;
    for (at, text) in inserts {
        guarded.push_str(source.get(done..at).unwrap_or_default());
        guarded.push_str(&text);
        done = at;
    }
    guarded.push_str(source.get(done..).unwrap_or_default());
    guarded
}

enum Role {
    Root,
    Filter,
    Test,
    /// An attribute, a keyword, a literal or the name of an argument.
    Other,
}

fn role(tokens: &[Token<'_>], at: usize) -> Role {
    let is = |offset: usize, text: &str| tokens.get(offset).is_some_and(|it| it.is(text));
    let before = |count: usize, text: &str| at.checked_sub(count).is_some_and(|it| is(it, text));
    let is_attribute = before(1, ".");
    let is_argument = is(at + 1, "=");
    if is_attribute || is_argument {
        return Role::Other;
    }
    if before(1, "|") {
        return Role::Filter;
    }
    let is_word = |words: &[&str]| tokens.get(at).is_some_and(|it| words.contains(&it.text));
    let is_after_is =
        is_operator(tokens, at, 1, "is") || (before(1, "not") && is_operator(tokens, at, 2, "is"));
    if is_after_is && !is_word(&["not"]) {
        return Role::Test;
    }
    if is_word(&WORDS) || is_word(&LITERALS) { Role::Other } else { Role::Root }
}

/// Whether the token `count` before `at` is this word, and no attribute of that name.
fn is_operator(tokens: &[Token<'_>], at: usize, count: usize, word: &str) -> bool {
    let Some(it) = at.checked_sub(count) else { return false };
    let is_attribute = it.checked_sub(1).and_then(|it| tokens.get(it)).is_some_and(|it| it.is("."));
    !is_attribute && tokens.get(it).is_some_and(|it| it.is(word))
}

fn check_known(token: &Token<'_>, what: &str, known: &[&str]) -> Result<(), ExpressionError> {
    if known.contains(&token.text) {
        return Ok(());
    }
    Err(ExpressionError {
        message: format!("there is no {what} `{}`", token.text),
        help: suggest::help(token.text, known.iter().copied()),
        start: token.start,
        width: token.text.len(),
    })
}

/// Follows a name through `.attribute` and `[subscript]`.
fn follow(source: &str, tokens: &[Token<'_>], root: usize) -> Result<NameUse, ExpressionError> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|it| it.is(text));
    let at = after_name(tokens, root);
    let start = tokens.get(root).map_or(0, |it| it.start);
    let end = at.checked_sub(1).and_then(|it| tokens.get(it)).map_or(source.len(), Token::end);
    let text = source.get(start..end).unwrap_or_default().to_owned();
    if is(at, "(") {
        return Err(ExpressionError {
            message: format!("`{text}` cannot be called"),
            help: Some("filters are written with a bar: `context.name|lower`".to_owned()),
            start,
            width: text.len(),
        });
    }
    let is_defaulted = is(at, "|") && (is(at + 1, "default") || is(at + 1, "d"));
    let test = if is(at + 1, "not") { at + 2 } else { at + 1 };
    let is_asked = is(at, "is") && (is(test, "defined") || is(test, "undefined"));
    let is_after_star = root.checked_sub(1).is_some_and(|it| is(it, "*"));
    if is_after_star && is(at, "|") {
        return Err(factor_error(start));
    }
    let is_factor = is_after_star || is(at, "*");
    let is_optional = !is_factor && (is_defaulted || is_asked);
    Ok(NameUse { text, start, is_optional, is_factor })
}

/// Returns the token after a name and all that is taken from it.
pub(super) fn after_name(tokens: &[Token<'_>], root: usize) -> usize {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|it| it.is(text));
    let mut at = root + 1;
    loop {
        if is(at, ".") {
            at += 2;
        } else if is(at, "[") {
            at = after_bracket(tokens, at);
        } else {
            return at;
        }
    }
}

fn after_bracket(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("[") {
            depth += 1;
        } else if token.is("]") {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// `*` also repeats texts and lists, which makes much out of little. So only numbers and names
/// may stand beside it; names are then held to be numbers.
fn check_factor(tokens: &[Token<'_>], at: usize) -> Result<(), ExpressionError> {
    let Some(star) = tokens.get(at).filter(|it| it.is("*")) else { return Ok(()) };
    let is_fine = |it: &&Token<'_>| it.kind == Kind::Number || it.kind == Kind::Name;
    let before = at.checked_sub(1).and_then(|it| tokens.get(it));
    let is_filter = at.checked_sub(2).and_then(|it| tokens.get(it)).is_some_and(|it| it.is("|"));
    // What ends with `]` is fine only as part of a name, which `follow` guards.
    let is_subscript = before.is_some_and(|it| it.is("]")) && is_after_name(tokens, at);
    let is_left_fine = is_subscript || (before.filter(is_fine).is_some() && !is_filter);
    if is_left_fine && tokens.get(at + 1).filter(is_fine).is_some() {
        return Ok(());
    }
    Err(factor_error(star.start))
}

fn factor_error(start: usize) -> ExpressionError {
    ExpressionError {
        message: "`*` can only stand between names and numbers".to_owned(),
        help: None,
        start,
        width: 1,
    }
}

/// Whether the subscript that ends before `at` belongs to a name.
fn is_after_name(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.iter().enumerate().take(at).any(|(root, token)| {
        let is_root = token.kind == Kind::Name && matches!(role(tokens, root), Role::Root);
        is_root && after_name(tokens, root) == at
    })
}
