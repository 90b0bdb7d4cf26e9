//! Comparisons that cannot be intended: of a number with a text, or of a variable with a value that it
//! cannot have.

use std::collections::BTreeMap;

use super::{
    names::after_name,
    tokens::{Kind, Token, cut},
};

/// The type of a value, as far as it is known before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    Boolean,
    Number,
    Text,
    List,
    Object,
}

impl ValueType {
    /// With its article, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Boolean => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

/// What is known of names: `vars.rounds` is a number.
pub(crate) type NamedTypes = BTreeMap<String, ValueType>;

/// A comparison that cannot be intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) message: String,
    /// In bytes, from the start of the expression.
    pub(crate) start: usize,
    pub(crate) width: usize,
}

/// A comparison of a name with a literal text, such as `vars.effort == 'M'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextComparison<'a> {
    pub(crate) name: &'a str,
    /// Without its quotes.
    pub(crate) text: &'a str,
    /// In bytes, from the start of the expression.
    pub(crate) start: usize,
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Finds the comparisons of unlike types in an expression.
pub(crate) fn find_mismatches(source: &str, types: &NamedTypes) -> Vec<Mismatch> {
    comparisons(source)
        .filter_map(|(left, sign, right)| {
            let (one, two) = (left.value_type(types)?, right.value_type(types)?);
            let is_order = sign.len() == 1 || sign.starts_with(['<', '>']);
            let has_no_order = is_order && !matches!(one, ValueType::Number | ValueType::Text);
            let message = if one != two {
                format!(
                    "`{}` is {}, and `{}` is {}",
                    left.text,
                    one.describe(),
                    right.text,
                    two.describe()
                )
            } else if has_no_order {
                format!("`{}` is {}, which `{sign}` does not order", left.text, one.describe())
            } else {
                return None;
            };
            let width = right.start + right.text.len() - left.start;
            Some(Mismatch { message, start: left.start, width })
        })
        .collect()
}

/// Returns the type of an expression that is a single literal or a single name.
pub(crate) fn literal_type(source: &str, types: &NamedTypes) -> Option<ValueType> {
    let tokens = cut(source);
    let (side, end) = side_at(source, &tokens, 0)?;
    if end == tokens.len() { side.value_type(types) } else { None }
}

/// Finds where an expression asks whether a name is (or is not) some text.
pub(crate) fn find_text_comparisons(source: &str) -> Vec<TextComparison<'_>> {
    let equal = comparisons(source).filter(|(_, sign, _)| matches!(*sign, "==" | "!=")).filter_map(
        |(left, _, right)| {
            let (name, literal) = if right.is_text() { (left, right) } else { (right, left) };
            let text = literal.text.get(1..literal.text.len().checked_sub(1)?)?;
            let is_pair = literal.is_text() && name.kind == Operand::Name && !text.contains('\\');
            is_pair.then_some(TextComparison { name: name.text, text, start: literal.start })
        },
    );
    equal.chain(find_listed(source)).collect()
}

/// Finds the texts of lists that a name is looked for in: `step in ['A', 'B']`.
fn find_listed(source: &str) -> Vec<TextComparison<'_>> {
    let tokens = cut(source);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, it)| it.is("in")) {
        let is_negated =
            at.checked_sub(1).and_then(|it| tokens.get(it)).is_some_and(|it| it.is("not"));
        let sign = if is_negated { at.saturating_sub(1) } else { at };
        let name = side_before(source, &tokens, sign).filter(|it| it.kind == Operand::Name);
        let is_list = tokens.get(at + 1).is_some_and(|it| it.is("["));
        let Some(name) = name.filter(|_| is_list && token.kind == Kind::Name) else { continue };
        let listed = tokens.iter().skip(at + 2).take_while(|it| !it.is("]"));
        for it in listed.filter(|it| it.kind == Kind::Text && !it.text.contains('\\')) {
            let text = it.text.get(1..it.text.len().saturating_sub(1)).unwrap_or_default();
            found.push(TextComparison { name: name.text, text, start: it.start });
        }
    }
    found
}

#[derive(Clone, Copy)]
struct Side<'a> {
    kind: Operand,
    text: &'a str,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Name,
    Literal(ValueType),
}

impl Side<'_> {
    fn is_text(&self) -> bool {
        self.kind == Operand::Literal(ValueType::Text)
    }

    fn value_type(&self, types: &NamedTypes) -> Option<ValueType> {
        match self.kind {
            Operand::Literal(it) => Some(it),
            Operand::Name => types.get(self.text).copied(),
        }
    }
}

/// Returns the comparisons whose both sides are a single name or a single literal.
fn comparisons(source: &str) -> impl Iterator<Item = (Side<'_>, &str, Side<'_>)> {
    let tokens = cut(source);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !COMPARISONS.iter().any(|it| token.is(it)) {
            continue;
        }
        let left = side_before(source, &tokens, at);
        let right = side_after(source, &tokens, at + 1);
        if let Some((left, right)) = left.zip(right) {
            found.push((left, token.text, right));
        }
    }
    found.into_iter()
}

/// What may stand before a side, so that the side is all there is to it.
fn is_opening(token: Option<&Token<'_>>) -> bool {
    token.is_none_or(|it| {
        ["(", "[", "{", ",", ":", "and", "or", "not", "if", "else"].iter().any(|open| it.is(open))
    })
}

fn is_closing(token: Option<&Token<'_>>) -> bool {
    token.is_none_or(|it| {
        [")", "]", "}", ",", "and", "or", "if", "else"].iter().any(|close| it.is(close))
    })
}

fn side_before<'a>(source: &'a str, tokens: &[Token<'a>], sign: usize) -> Option<Side<'a>> {
    (0..sign).rev().find_map(|first| {
        let before = first.checked_sub(1).and_then(|it| tokens.get(it));
        let (side, end) = side_at(source, tokens, first)?;
        (end == sign && is_opening(before)).then_some(side)
    })
}

fn side_after<'a>(source: &'a str, tokens: &[Token<'a>], first: usize) -> Option<Side<'a>> {
    let (side, end) = side_at(source, tokens, first)?;
    is_closing(tokens.get(end)).then_some(side)
}

/// Reads a name or a literal, and returns the token after it.
fn side_at<'a>(source: &'a str, tokens: &[Token<'a>], first: usize) -> Option<(Side<'a>, usize)> {
    let token = tokens.get(first)?;
    let literal = |it| Some((Operand::Literal(it), first + 1));
    let (kind, end) = match token.kind {
        Kind::Text => literal(ValueType::Text),
        Kind::Number => literal(ValueType::Number),
        Kind::Sign if token.is("-") => {
            let is_number = tokens.get(first + 1).is_some_and(|it| it.kind == Kind::Number);
            is_number.then_some((Operand::Literal(ValueType::Number), first + 2))
        }
        Kind::Sign => None,
        Kind::Name => match token.text {
            "true" | "True" | "false" | "False" => literal(ValueType::Boolean),
            "none" | "None" | "and" | "or" | "not" | "in" | "is" | "if" | "else" => None,
            _ => Some((Operand::Name, after_name(tokens, first))),
        },
    }?;
    let last = end.checked_sub(1).and_then(|it| tokens.get(it))?;
    let text = source.get(token.start..last.end())?;
    Some((Side { kind, text, start: token.start }, end))
}
