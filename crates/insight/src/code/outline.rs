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
    syntax.parts().each(|part, around| rules.outline(part, around, &mut entries))?;
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
    let mut found = Vec::new();
    syntax.parts().each(|part, around| {
        let declared = rules.declared(part, around).filter(|(it, _)| *it == name);
        found.extend(declared.map(|(_, text)| text));
    })?;
    let title = match found.as_slice() {
        [] | [_] => String::new(),
        _ => format!("{} matches found", found.len()),
    };
    let title = Some(title.as_str()).filter(|it| !it.is_empty());
    let pieces: Vec<&str> = title.into_iter().chain(found).collect();
    Ok(joined(&pieces, bytes_max))
}

/// Joins texts with a blank line between them, and cuts the whole at `bytes_max`. Declarations may be
/// inside each other, so all of them may be far longer than the file that they are in.
fn joined(pieces: &[&str], bytes_max: usize) -> String {
    const GAP: &str = "\n\n";
    let whole = pieces.iter().map(|it| it.len() + GAP.len()).sum::<usize>();
    let whole = whole.saturating_sub(GAP.len());
    let mut text = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if bytes_max < text.len() {
            break;
        }
        if 0 < number {
            text.push_str(GAP);
        }
        // One character more is enough to see that there is more.
        let room = (bytes_max + 1).saturating_sub(text.len());
        text.push_str(piece.get(..piece.ceil_char_boundary(room)).unwrap_or_default());
    }
    if bytes_max < whole {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str(&format!("\n\n(cut: {} more bytes)", whole - text.len()));
    }
    text
}

/// Returns a text as code in a line of Markdown, also if it has backticks itself.
fn as_code(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let room = if 0 < longest { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}
