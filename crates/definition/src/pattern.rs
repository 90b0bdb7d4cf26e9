//! Patterns and schemas: what a key, an artifact or a context must look like.
//!
//! Both are compiled once, when a definition is parsed, and are cheap to clone.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// How large a compiled pattern may be, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// How many mismatches [`Schema::check`] tells of.
const MISMATCHES_MAX: usize = 10;

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
        let full = compile(&format!(r"\A(?:{source})\z"))?;
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
    RegexBuilder::new(source)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| error.to_string())
}

/// A JSON Schema.
#[derive(Debug, Clone)]
pub struct Schema {
    source: Arc<Value>,
    validator: Arc<jsonschema::Validator>,
}

impl Schema {
    /// Compiles a schema; the error says what is wrong with it.
    pub fn parse(source: Value) -> Result<Self, String> {
        let validator =
            jsonschema::options().offline().build(&source).map_err(|error| error.to_string())?;
        Ok(Self { source: Arc::new(source), validator: Arc::new(validator) })
    }

    /// Checks a value; the error lists where it does not fit, and why.
    pub fn check(&self, value: &Value) -> Result<(), Vec<String>> {
        let mismatches: Vec<String> = self
            .validator
            .iter_errors(value)
            .take(MISMATCHES_MAX)
            .map(|error| error.to_string())
            .collect();
        if mismatches.is_empty() { Ok(()) } else { Err(mismatches) }
    }

    /// Returns the schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }
}
