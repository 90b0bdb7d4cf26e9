//! Reads JSON with comments and trailing commas into the places of its values.

use super::{DEPTH_MAX, Fault, Member, Node, Shape};

/// Returns the value that the text holds; nothing where it holds only blanks and comments.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip_trivia()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let root = reader.value(0)?;
    reader.skip_trivia()?;
    match reader.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(reader.fault("there is something behind the end")),
    }
}

/// Returns where the blanks and comments that begin at `at` end; at a line's end if `is_line`.
pub(super) fn trivia_end(text: &str, at: usize, is_line: bool) -> usize {
    let mut reader = Reader { text, at };
    while let Some(byte) = reader.peek() {
        match byte {
            b'\n' | b'\r' if is_line => break,
            b' ' | b'\t' | b'\n' | b'\r' => reader.at += 1,
            b'/' if reader.comment().is_ok() => {}
            _ => break,
        }
    }
    reader.at
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, what: &str) -> Fault {
        Fault::at(self.text, self.at, what)
    }

    fn skip_trivia(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' => self.comment()?,
                _ => break,
            }
        }
        Ok(())
    }

    /// Skips a comment. The end of its line does not belong to it.
    fn comment(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        if rest.starts_with("//") {
            self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            return Ok(());
        }
        let Some(inner) = rest.strip_prefix("/*") else {
            return Err(self.fault("`/` begins no comment"));
        };
        let Some(length) = inner.find("*/") else {
            return Err(self.fault("this comment has no end"));
        };
        self.at += "/*".len() + length + "*/".len();
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        if DEPTH_MAX <= depth {
            return Err(self.fault("too much lies in each other here"));
        }
        let start = self.at;
        let shape = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => {
                self.string()?;
                Shape::Plain
            }
            Some(_) => self.word()?,
            None => return Err(self.fault("a value is missing at the end")),
        };
        Ok(Node { span: start..self.at, shape })
    }

    fn object(&mut self, depth: usize) -> Result<Shape, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => members.push(self.member(depth)?),
                Some(_) => return Err(self.fault("a name in quotes or `}` must stand here")),
                None => return Err(self.fault("a `}` is missing at the end")),
            }
            self.skip_trivia()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b',') => self.at += 1,
                Some(_) => return Err(self.fault("`,` or `}` must stand here")),
                None => return Err(self.fault("a `}` is missing at the end")),
            }
        }
        self.at += 1;
        Ok(Shape::Object(members))
    }

    fn member(&mut self, depth: usize) -> Result<Member, Fault> {
        let start = self.at;
        let name = self.string()?;
        self.skip_trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.fault("`:` must stand here"));
        }
        self.at += 1;
        self.skip_trivia()?;
        Ok(Member { name, start, value: self.value(depth + 1)? })
    }

    fn list(&mut self, depth: usize) -> Result<Shape, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(b']') => break,
                Some(_) => items.push(self.value(depth + 1)?),
                None => return Err(self.fault("a `]` is missing at the end")),
            }
            self.skip_trivia()?;
            match self.peek() {
                Some(b']') => break,
                Some(b',') => self.at += 1,
                Some(_) => return Err(self.fault("`,` or `]` must stand here")),
                None => return Err(self.fault("a `]` is missing at the end")),
            }
        }
        self.at += 1;
        Ok(Shape::List(items))
    }

    /// Reads a string, and returns what it means.
    fn string(&mut self) -> Result<String, Fault> {
        let rest = self.rest();
        let mut is_escaped = false;
        let end = rest.bytes().enumerate().skip(1).find_map(|(at, byte)| match byte {
            _ if is_escaped => {
                is_escaped = false;
                None
            }
            b'\\' => {
                is_escaped = true;
                None
            }
            b'"' => Some(at + 1),
            _ => None,
        });
        let Some(end) = end else { return Err(self.fault("this string has no end")) };
        let written = rest.get(..end).unwrap_or_default();
        let Ok(meant) = serde_json::from_str(written) else {
            return Err(self.fault("this is no valid string"));
        };
        self.at += end;
        Ok(meant)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Shape, Fault> {
        let rest = self.rest();
        let is_end = |it: char| !(it.is_ascii_alphanumeric() || "+-.".contains(it));
        let word = rest.get(..rest.find(is_end).unwrap_or(rest.len())).unwrap_or_default();
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.fault("a value must stand here"));
        }
        self.at += word.len();
        Ok(Shape::Plain)
    }
}
