//! What one file declares: as a summary for reading, and the text of what has a certain name.

use super::{Source, Unparsed, syntax::Syntax};

/// Something for a summary.
pub(super) struct Entry<'t> {
    pub(super) section: Section,
    pub(super) signature: Signature<'t>,
}

/// Where in a summary it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Functions,
    Types,
    Constants,
}

/// What is shown of a declaration.
pub(super) struct Signature<'t> {
    /// Put before the text, where the text is only a share of a declaration.
    pub(super) keyword: &'static str,
    pub(super) text: &'t str,
}

impl<'t> Entry<'t> {
    pub(super) fn function(text: &'t str) -> Self {
        Self { section: Section::Functions, signature: Signature { keyword: "", text } }
    }

    pub(super) fn kind(text: &'t str) -> Self {
        Self { section: Section::Types, signature: Signature { keyword: "", text } }
    }

    pub(super) fn constant(keyword: &'static str, text: &'t str) -> Self {
        Self { section: Section::Constants, signature: Signature { keyword, text } }
    }
}

/// Returns what a file offers, as Markdown: functions, types and constants, in the order they stand.
///
/// At most `bytes_max` bytes or so are returned; a last line says what was left out.
pub fn summary(source: Source<'_>, bytes_max: usize) -> Result<String, Unparsed> {
    let syntax = Syntax::parse(source)?;
    let rules = source.language.rules();
    let mut entries = Vec::new();
    syntax.parts().for_each(|part| rules.outline(part, &mut entries));
    let mut text = String::new();
    let mut left_out = 0_usize;
    for (section, title) in [
        (Section::Functions, "Functions"),
        (Section::Types, "Types"),
        (Section::Constants, "Constants"),
    ] {
        let mut entries = entries.iter().filter(|it| it.section == section).peekable();
        if entries.peek().is_none() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("## {title}\n\n"));
        for Entry { signature: Signature { keyword, text: shown }, .. } in entries {
            if bytes_max < text.len() + keyword.len() + shown.len() {
                left_out += 1;
                continue;
            }
            text.push_str(&format!("- {}\n", as_code(&format!("{keyword}{shown}"))));
        }
    }
    if 0 < left_out {
        text.push_str(&format!("\n(cut: {left_out} more, for which there is no room here)\n"));
    }
    Ok(text)
}

/// Returns the text of every declaration with exactly this name; nothing where there is none.
///
/// At most `bytes_max` bytes or so are returned; a last line says what was left out.
pub fn definitions(source: Source<'_>, name: &str, bytes_max: usize) -> Result<String, Unparsed> {
    let syntax = Syntax::parse(source)?;
    let rules = source.language.rules();
    let declared = syntax.parts().filter_map(|part| rules.declared(part));
    let found: Vec<&str> = declared.filter(|(it, _)| *it == name).map(|(_, text)| text).collect();
    let mut text = match found.as_slice() {
        [] | [_] => found.concat(),
        _ => format!("{} matches found\n\n{}", found.len(), found.join("\n\n")),
    };
    if bytes_max < text.len() {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str(&format!("\n\n(cut: {} more bytes)", whole - text.len()));
    }
    Ok(text)
}

/// Returns a text as code in a line of Markdown, also if it has backticks itself.
fn as_code(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let room = if 0 < longest { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}
