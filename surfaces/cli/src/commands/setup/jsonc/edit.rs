//! Cuts one change into the text, in the style that it has: its line ends, its indentation, its
//! trailing commas.

use std::ops::Range;

use super::{Document, Fault, Member, Node, Written, no_object, parse::trivia_end};

/// One step of indentation where the text shows none.
const STEP: &str = "  ";

/// Returns the text with the value at the end of `path` set.
pub(super) fn set(text: &str, path: &[&str], value: &Written) -> Result<String, Fault> {
    let document = Document::parse(text)?;
    let style = Style::of(&document);
    let Some(root) = &document.root else {
        let whole = style.render(&nested(path, value), "");
        let end = style.line_end;
        let before = text.trim_end();
        let gap = if before.trim_matches('\u{feff}').is_empty() { "" } else { end };
        return Ok(format!("{before}{gap}{whole}{end}"));
    };
    let mut node = root;
    for (depth, name) in path.iter().enumerate() {
        let Some(members) = node.as_object() else {
            return Err(no_object(path.get(..depth).unwrap_or_default()));
        };
        let Some(inner) = node.member(name) else {
            let value = nested(path.get(depth + 1..).unwrap_or_default(), value);
            let insertion = Insertion { text, style: &style, object: node, members };
            return Ok(insertion.make(name, &value));
        };
        node = inner;
    }
    if value.meaning().is_some_and(|it| it == document.value(node)) {
        return Ok(text.to_owned());
    }
    let indent = indent_of(text, node.span.start);
    Ok(splice(text, node.span.clone(), &style.render(value, indent)))
}

/// Returns the text without the member at the end of `path`.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, Fault> {
    let Some((name, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut text = text.to_owned();
    // A name may stand there more than once; each turn takes one away.
    for _ in 0..text.len() {
        let document = Document::parse(&text)?;
        let found = document.find(above).and_then(|object| {
            let members = object.as_object()?;
            let at = members.iter().rposition(|it| it.name == *name)?;
            Some(without(&text, object, members, at))
        });
        match found {
            Some(shorter) => text = shorter,
            None => break,
        }
    }
    Ok(text)
}

fn nested(path: &[&str], value: &Written) -> Written {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, name| Written::Object(vec![((*name).to_owned(), inner)]))
}

/// How the text is written.
struct Style<'a> {
    line_end: &'static str,
    /// One step of indentation.
    step: &'a str,
    /// Whether everything stands on one line.
    is_dense: bool,
}

impl<'a> Style<'a> {
    fn of(document: &Document<'a>) -> Self {
        let text = document.text;
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let members = document.root.as_ref().and_then(Node::as_object).unwrap_or_default();
        let whole = document.root.as_ref().map_or("", |it| document.verbatim(it));
        let is_dense = !members.is_empty() && !whole.contains('\n');
        let first = members.iter().find(|it| is_first_in_line(text, it.start));
        let step = first.map(|it| indent_of(text, it.start)).filter(|it| !it.is_empty());
        Self { line_end, step: step.unwrap_or(STEP), is_dense }
    }

    /// Returns a value as it is written after `indent`.
    fn render(&self, value: &Written, indent: &str) -> String {
        match value {
            Written::Text(text) => quoted(text),
            Written::List(items) => {
                let items: Vec<String> = items.iter().map(|it| quoted(it)).collect();
                format!("[{}]", items.join(", "))
            }
            Written::Verbatim(text) => text.clone(),
            Written::Object(members) if members.is_empty() => "{}".to_owned(),
            Written::Object(members) => {
                let inner = format!("{indent}{}", self.step);
                let (open, between, close) = self.marks(indent, &inner);
                let members: Vec<String> =
                    members.iter().map(|(name, value)| self.member(name, value, &inner)).collect();
                format!("{{{open}{}{close}}}", members.join(&between))
            }
        }
    }

    fn member(&self, name: &str, value: &Written, indent: &str) -> String {
        format!("{}: {}", quoted(name), self.render(value, indent))
    }

    /// Returns what stands before, between and after the members of an object.
    fn marks(&self, indent: &str, inner: &str) -> (String, String, String) {
        if self.is_dense {
            return (String::new(), ", ".to_owned(), String::new());
        }
        let end = self.line_end;
        (format!("{end}{inner}"), format!(",{end}{inner}"), format!("{end}{indent}"))
    }
}

/// A member that an object does not have yet.
struct Insertion<'a> {
    text: &'a str,
    style: &'a Style<'a>,
    object: &'a Node,
    members: &'a [Member],
}

impl Insertion<'_> {
    fn make(&self, name: &str, value: &Written) -> String {
        match self.members.last() {
            Some(last) => self.after(last, name, value),
            None => self.as_only(name, value),
        }
    }

    fn as_only(&self, name: &str, value: &Written) -> String {
        let Self { text, style, object, .. } = self;
        let indent = indent_of(text, object.span.start);
        let inner = format!("{indent}{}", style.step);
        let member = style.member(name, value, &inner);
        let (open, _, close) = style.marks(indent, &inner);
        // Whatever is between the braces are blanks and comments; they come first.
        let inside = object.span.start + 1..object.span.end - 1;
        let comments = text.get(inside.clone()).unwrap_or_default().trim_end();
        // A comment to the end of the line would swallow what follows it there.
        let open = if !comments.is_empty() && open.is_empty() { style.line_end } else { &open };
        splice(text, inside, &format!("{comments}{open}{member}{close}"))
    }

    fn after(&self, last: &Member, name: &str, value: &Written) -> String {
        let Self { text, style, object, .. } = self;
        let value_end = last.value.span.end;
        let comma = find_comma(text, value_end);
        let tail = comma.map_or(value_end, |it| it + 1);
        let first = self.members.first().map_or(last.start, |it| it.start);
        let is_spread = text.get(object.span.start..first).is_some_and(|it| it.contains('\n'));
        let trailing = if comma.is_some() { "," } else { "" };
        let (at, lead, member) = if is_spread {
            let indent = indent_of(text, last.start);
            // A comment in the line of the last member belongs to it.
            let end = trivia_end(text, tail, true);
            let length = text.get(tail..end).unwrap_or_default().trim_end().len();
            let member = style.member(name, value, indent);
            (tail + length, format!("{}{indent}", style.line_end), member)
        } else {
            let dense = Style { is_dense: true, ..**style };
            let indent = indent_of(text, last.start);
            (tail, " ".to_owned(), dense.member(name, value, indent))
        };
        let with_member = splice(text, at..at, &format!("{lead}{member}{trailing}"));
        if comma.is_some() {
            return with_member;
        }
        splice(&with_member, value_end..value_end, ",")
    }
}

/// Returns the text without one member of an object.
fn without(text: &str, object: &Node, members: &[Member], at: usize) -> String {
    let Some(member) = members.get(at) else { return text.to_owned() };
    let value_end = member.value.span.end;
    let comma = find_comma(text, value_end);
    let tail = comma.map_or(value_end, |it| it + 1);
    let line_rest = trivia_end(text, tail, true);
    let line_break = line_break_at(text, line_rest);
    let range = if is_first_in_line(text, member.start) && 0 < line_break {
        let indent = indent_of(text, member.start).len();
        member.start - indent..line_rest + line_break
    } else if is_blank(text, tail..line_rest) {
        member.start..line_rest
    } else {
        member.start..tail
    };
    let before = at.checked_sub(1).and_then(|it| members.get(it));
    let is_last = at + 1 == members.len();
    let mut shorter = splice(text, range.clone(), "");
    let mut end = object.span.end - range.len();
    // The comma before the last member goes with it, unless the style is to have one there.
    let idle = before.filter(|_| is_last && comma.is_none());
    if let Some(idle) = idle.and_then(|it| find_comma(text, it.value.span.end)) {
        let blanks =
            if is_first_in_line(text, member.start) { 0 } else { blanks_at(text, idle + 1) };
        shorter = splice(&shorter, idle..idle + 1 + blanks.min(range.start - idle - 1), "");
        end -= 1 + blanks.min(range.start - idle - 1);
    }
    let inside = object.span.start + 1..end - 1;
    if is_blank(&shorter, inside.clone()) { splice(&shorter, inside, "") } else { shorter }
}

/// Returns where the comma behind a value is.
fn find_comma(text: &str, value_end: usize) -> Option<usize> {
    let at = trivia_end(text, value_end, false);
    (text.as_bytes().get(at) == Some(&b',')).then_some(at)
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

/// Returns the blanks that the line of a place begins with.
fn indent_of(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blanks).unwrap_or_default()
}

fn is_first_in_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.ends_with('\n')
}

fn line_break_at(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    ["\r\n", "\n"].iter().find(|it| rest.starts_with(**it)).map_or(0, |it| it.len())
}

fn blanks_at(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

fn is_blank(text: &str, range: Range<usize>) -> bool {
    text.get(range).is_some_and(|it| it.trim().is_empty())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
