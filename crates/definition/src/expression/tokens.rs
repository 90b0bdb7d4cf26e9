//! An expression cut into tokens, as minijinja cuts it.
//!
//! minijinja parses and evaluates. Tokens are read beside it for what it does not tell: which
//! names an expression uses, and where.

/// One token of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// In bytes, from the start of the expression.
    pub(super) start: usize,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A letter or `_`, then letters, digits and `_`.
    Name,
    /// A quoted text, quotes included.
    Text,
    Number,
    /// An operator or a bracket.
    Sign,
}

impl Token<'_> {
    /// The byte after the last.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

const SIGNS_OF_TWO: [&str; 6] = ["//", "**", "==", "!=", ">=", "<="];

/// Cuts an expression into tokens. What no token begins with becomes a sign of its own: the
/// parser proper refuses it.
pub(super) fn cut(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut is_after_dot = false;
    while let Some(rest) = source.get(start..).filter(|it| !it.is_empty()) {
        let (kind, length) = first(rest, is_after_dot);
        if let Some((kind, text)) = kind.zip(rest.get(..length)) {
            is_after_dot = text == ".";
            tokens.push(Token { kind, text, start });
        }
        start += length;
    }
    tokens
}

/// Returns the kind and the length of the first token; no kind for white space.
fn first(rest: &str, is_after_dot: bool) -> (Option<Kind>, usize) {
    let letter = rest.chars().next().unwrap_or(' ');
    if letter.is_whitespace() {
        return (None, letter.len_utf8());
    }
    if letter == '\'' || letter == '"' {
        return (Some(Kind::Text), quoted_length(rest, letter));
    }
    if letter.is_ascii_digit() {
        return (Some(Kind::Number), number_length(rest, is_after_dot));
    }
    let name = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    if name > 0 {
        return (Some(Kind::Name), name);
    }
    let is_of_two = SIGNS_OF_TWO.iter().any(|it| rest.starts_with(it));
    (Some(Kind::Sign), if is_of_two { 2 } else { letter.len_utf8() })
}

/// Returns how many bytes a quoted text takes, both quotes included.
pub(super) fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == quote {
            return at + 1;
        }
    }
    rest.len()
}

fn number_length(rest: &str, is_after_dot: bool) -> usize {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let next = bytes.get(length + 1);
        let before = length.checked_sub(1).and_then(|it| bytes.get(it));
        let is_part = byte.is_ascii_alphanumeric()
            || *byte == b'_'
            // `foo.1.0` is two subscripts, not a fraction.
            || (*byte == b'.' && !is_after_dot && next.is_some_and(u8::is_ascii_digit))
            || (matches!(byte, b'+' | b'-')
                && matches!(before, Some(b'e' | b'E'))
                && next.is_some_and(u8::is_ascii_digit));
        if !is_part {
            break;
        }
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[&str]) {
        let tokens: Vec<&str> = cut(source).iter().map(|it| it.text).collect();
        assert_eq!(tokens, expected, "{source}");
    }

    #[test]
    fn tokens_are_cut_where_the_parser_cuts_them() {
        check("a.b==1", &["a", ".", "b", "==", "1"]);
        check("not x<=-1.5e-3", &["not", "x", "<=", "-", "1.5e-3"]);
        check(r#"a['it\'s'] ~ "}}""#, &["a", "[", r"'it\'s'", "]", "~", "\"}}\""]);
        check("a.1.0", &["a", ".", "1", ".", "0"]);
        check("2**3//4", &["2", "**", "3", "//", "4"]);
        check("'open", &["'open"]);
        check("é & x", &["é", "&", "x"]);
        check("", &[]);
    }
}
