//! Patterns and schemas: what a key, an artifact or a context must look like.
//!
//! Both are compiled once, when a definition is parsed, and are cheap to clone.

use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// How large a compiled pattern may be, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// How many mismatches [`Schema::check`] tells of.
const MISMATCHES_MAX: usize = 10;
/// How many characters it tells of each: the library quotes whole values.
const REASON_CHARS_MAX: usize = 300;

/// A regular expression. Matching takes time linear in the text.
#[derive(Debug, Clone)]
pub struct Pattern {
    search: Regex,
    full: Regex,
}

impl Pattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub fn parse(source: &str) -> Result<Self, String> {
        let search = compile(source)?;
        // The second try is for a pattern that ends with a comment: `(?x) a # b`.
        let full = compile(&format!(r"\A(?:{source})\z"))
            .or_else(|_| compile(&format!("\\A(?:{source}\n)\\z")))?;
        Ok(Self { search, full })
    }

    /// Returns whether some part of the text fits.
    pub fn is_match(&self, text: &str) -> bool {
        self.search.is_match(text)
    }

    /// Returns whether the text as a whole fits.
    pub fn is_full_match(&self, text: &str) -> bool {
        self.full.is_match(text)
    }

    /// Returns the pattern as it was written.
    pub fn source(&self) -> &str {
        self.search.as_str()
    }
}

fn compile(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(source).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
        if let regex::Error::CompiledTooBig(max) = error {
            return format!("compiled, it has more than {max} bytes");
        }
        let text = error.to_string();
        // The first lines draw the pattern and a caret; the last one says what is wrong.
        let last = text.lines().next_back().unwrap_or_default();
        last.trim_start_matches("error: ").trim_end_matches('.').to_owned()
    })
}

/// A JSON Schema. References lead only into the schema itself, and patterns are as
/// [`Pattern`] has them, so that checking takes time linear in the value.
#[derive(Debug, Clone)]
pub struct Schema {
    source: Arc<Value>,
    validator: Arc<jsonschema::Validator>,
}

impl Schema {
    /// Compiles a schema; the error says what is wrong with it.
    pub fn parse(source: Value) -> Result<Self, String> {
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let validator = options.build(&source).map_err(|error| {
            let text = describe(&error);
            if text.contains("Retrieval is disabled") {
                return "`$ref` must lead into the schema itself".to_owned();
            }
            text
        })?;
        Ok(Self { source: Arc::new(source), validator: Arc::new(validator) })
    }

    /// Checks a value; the error lists where it does not fit, and why.
    pub fn check(&self, value: &Value) -> Result<(), Vec<String>> {
        let mismatches: Vec<String> = self
            .validator
            .iter_errors(value)
            .take(MISMATCHES_MAX)
            .map(|error| describe(&error))
            .collect();
        if mismatches.is_empty() { Ok(()) } else { Err(mismatches) }
    }

    /// Returns the schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }
}

/// Says where a value does not fit, as a JSON pointer, and why.
fn describe(error: &ValidationError<'_>) -> String {
    let mut reason: String = error.to_string().chars().take(REASON_CHARS_MAX + 1).collect();
    if reason.chars().count() > REASON_CHARS_MAX {
        reason.pop();
        reason.push('…');
    }
    match error.instance_path().as_str() {
        "" => reason,
        path => format!("{path}: {reason}"),
    }
}
