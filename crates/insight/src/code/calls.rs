//! Whether a file calls something of a certain name.

use super::{Language, Source, Unparsed, excerpt::mentions, syntax::Syntax};

/// Returns whether a file calls something of this name, whatever it is called on.
pub fn calls(source: Source<'_>, name: &str) -> Result<bool, Unparsed> {
    if !may_call(source, name) {
        return Ok(false);
    }
    let syntax = Syntax::parse(source)?;
    let rules = source.language.rules();
    let mut parts = syntax.parts();
    while let Some((part, _)) = parts.next()? {
        if rules.is_call(part, name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether it is worth while to look closer: a name that is nowhere before a bracket is not
/// called.
pub(super) fn may_call(source: Source<'_>, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    mentions(source.text, name).any(|(before, after)| match source.language {
        Language::Bash => true,
        Language::Go | Language::Python | Language::Rust | Language::TypeScript => {
            let is_applied = after.trim_start().starts_with(['(', '<', '[', '!', ':', '`', '?']);
            is_applied || before.ends_with(['<', '@', '.']) || before.ends_with("new ")
        }
    })
}
