//! JSON with comments, edited so that comments, order, indentation, line ends and trailing commas
//! stay as they are.
//!
//! `jsonc-parser` reads and edits the text. This file adds what it leaves open: a byte order mark,
//! names that occur twice, and a style that differs within the text. It would spread an object on
//! one line over several, and indent a member by the depth instead of as the one before it.

use jsonc_parser::{
    ParseOptions,
    cst::{
        CstInputValue, CstLeafNode, CstNode, CstObject, CstObjectProp, CstRootNode,
        TrailingCommaMode,
    },
};
use serde_json::Value;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Comments and trailing commas, which clients' files have, and nothing else beyond JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Document {
    mark: &'static str,
    root: CstRootNode,
}

impl Document {
    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        let mark = if bare.is_some() { BYTE_ORDER_MARK } else { "" };
        let root = CstRootNode::parse(bare.unwrap_or(text), &OPTIONS).map_err(|it| {
            format!("line {}, column {}: {}", it.line_display(), it.column_display(), it.kind())
        })?;
        Ok(Self { mark, root })
    }

    /// Returns the value at the end of `path`, if there is one.
    pub(crate) fn find(&self, path: &[&str]) -> Option<CstNode> {
        let root = self.root.value()?;
        path.iter().try_fold(root, |node, name| member(&node.as_object()?, name)?.value())
    }

    /// Returns the members of the object at the end of `path`: none where it is not there.
    pub(crate) fn members(&self, path: &[&str]) -> Result<Vec<(String, Value)>, String> {
        for depth in 0..path.len() {
            let above = path.get(..depth).unwrap_or_default();
            if self.find(above).is_some_and(|it| it.as_object().is_none()) {
                return Err(not_an_object(above));
            }
        }
        let Some(node) = self.find(path) else { return Ok(Vec::new()) };
        let object = node.as_object().ok_or_else(|| not_an_object(path))?;
        let members = object.properties().into_iter();
        Ok(members.filter_map(|it| Some((it.decoded_name()?, meaning(&it)?))).collect())
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// Adds a member to an object that has none of that name.
    fn add(&self, object: &CstObject, name: &str, value: CstInputValue) {
        let Some(line) = self.on_one_line(object, name, &value) else {
            let indent = object.properties().last().and_then(CstObjectProp::indent_text);
            let added = object.append(name, value);
            if let (Some(indent), Some(CstNode::Leaf(CstLeafNode::Whitespace(blanks)))) =
                (indent, added.previous_sibling())
            {
                blanks.set_value(indent);
            }
            end_plainly(&added);
            return;
        };
        match object.parent().and_then(|it| it.as_object_prop()) {
            Some(member) => member.set_value(verbatim(line)),
            None => self.root.set_value(verbatim(line)),
        }
    }

    /// Returns the object with one more member, if it stands on one line and should stay there.
    fn on_one_line(&self, object: &CstObject, name: &str, value: &CstInputValue) -> Option<String> {
        let text = object.to_string();
        let last = object.properties().pop();
        let is_spread = |text: &str| text.contains('\n');
        // An empty object shows no style of its own, so it follows the whole text.
        let is_root = object.parent().is_some_and(|it| it.is_root());
        if is_spread(&text)
            || last.is_none() && (is_root || is_spread(&self.root.value()?.to_string()))
        {
            return None;
        }
        let inside = text.strip_suffix('}')?;
        let (before, blanks) = inside.split_at(inside.trim_end().len());
        let (lead, trail) = match last.map(|it| it.trailing_comma()) {
            None => ("", ""),
            Some(None) => (", ", ""),
            Some(Some(_)) => (" ", ","),
        };
        let (name, value) = (Value::from(name), rendered(value));
        Some(format!("{before}{lead}{name}: {value}{trail}{blanks}}}"))
    }
}

/// Returns a value that is written as it stood elsewhere. The library checks no number.
pub(crate) fn verbatim(text: String) -> CstInputValue {
    CstInputValue::Number(text)
}

/// Returns `text` with the value at the end of `path` set. What lies on the way is made.
pub(crate) fn set(text: &str, path: &[&str], value: CstInputValue) -> Result<String, String> {
    let is_blank = text.trim_start_matches(BYTE_ORDER_MARK).trim().is_empty();
    let document = Document::parse(if is_blank { text.trim() } else { text })?;
    let Some(root) = document.root.value() else {
        document.root.set_value(nested(path, value));
        return Ok(document.text());
    };
    let mut node = root;
    for (depth, name) in path.iter().enumerate() {
        let (above, below) = path.split_at(depth);
        let below = below.get(1..).unwrap_or_default();
        let object = node.as_object().ok_or_else(|| not_an_object(above))?;
        match member(&object, name) {
            None => {
                document.add(&object, name, nested(below, value));
                break;
            }
            Some(found) if below.is_empty() => {
                let meant = serde_json::from_str(&rendered(&value)).ok();
                if meant.is_none() || meant != meaning(&found) {
                    found.set_value(value);
                    end_plainly(&found);
                }
                break;
            }
            Some(found) => node = found.value().ok_or_else(|| not_an_object(above))?,
        }
    }
    Ok(document.text())
}

/// Returns `text` without the member at the end of `path`: as it was, if it has none.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let document = Document::parse(text)?;
    let Some((name, above)) = path.split_last() else { return Ok(text.to_owned()) };
    if let Some(object) = document.find(above).and_then(|it| it.as_object()) {
        called(&object, name).for_each(CstObjectProp::remove);
    }
    Ok(document.text())
}

fn called(object: &CstObject, name: &str) -> impl DoubleEndedIterator<Item = CstObjectProp> {
    object.properties().into_iter().filter(move |it| it.decoded_name().as_deref() == Some(name))
}

/// Returns the member of that name; of several the last, which is the one that counts.
fn member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    called(object, name).next_back()
}

/// Takes off the trailing commas that the library gives to new objects where the text has some.
fn end_plainly(member: &CstObjectProp) {
    if let Some(object) = member.object_value() {
        object.set_trailing_commas(TrailingCommaMode::Never);
    }
}

fn meaning(member: &CstObjectProp) -> Option<Value> {
    member.value()?.to_serde_value()
}

fn nested(path: &[&str], value: CstInputValue) -> CstInputValue {
    path.iter()
        .rev()
        .fold(value, |inner, name| CstInputValue::Object(vec![((*name).to_owned(), inner)]))
}

/// Returns a value on one line.
fn rendered(value: &CstInputValue) -> String {
    match value {
        CstInputValue::Null => "null".to_owned(),
        CstInputValue::Bool(it) => it.to_string(),
        CstInputValue::Number(it) => it.clone(),
        CstInputValue::String(it) => Value::from(it.as_str()).to_string(),
        CstInputValue::Array(items) => {
            let items: Vec<String> = items.iter().map(rendered).collect();
            format!("[{}]", items.join(", "))
        }
        CstInputValue::Object(members) => {
            let member = |(name, value): &(String, CstInputValue)| {
                format!("{}: {}", Value::from(name.as_str()), rendered(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn not_an_object(path: &[&str]) -> String {
    if path.is_empty() {
        return "the whole text is not an object".to_owned();
    }
    format!("`{}` is not an object", path.join("."))
}

#[cfg(test)]
mod tests;
