//! Patterns and schemas: what a key, an artifact or a context must look like.
//!
//! Both are compiled once, and are cheap to clone.

use std::sync::{Arc, OnceLock};

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
    source: Arc<str>,
    compiled: Arc<OnceLock<Option<Compiled>>>,
}

#[derive(Debug)]
struct Compiled {
    search: Regex,
    full: Regex,
}

impl Pattern {
    /// Reads a pattern; the error says what is wrong with it.
    ///
    /// As with a schema, one that cannot be wrong is compiled when it is first needed.
    pub fn parse(source: &str) -> Result<Self, String> {
        let compiled = OnceLock::new();
        if !is_plain_pattern(source) {
            drop(compiled.set(Some(Compiled::of(source)?)));
        }
        Ok(Self { source: source.into(), compiled: Arc::new(compiled) })
    }

    /// Returns whether some part of the text fits.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|it| it.search.is_match(text))
    }

    /// Returns whether the text as a whole fits.
    pub fn is_full_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|it| it.full.is_match(text))
    }

    /// Returns what fits in the text, or the first group of it where the pattern has one, each
    /// once and in order.
    pub fn find_all<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let Some(compiled) = self.compiled() else { return Vec::new() };
        let found = compiled.search.captures_iter(text);
        let found = found.filter_map(|it| Some(it.get(1).or_else(|| it.get(0))?.as_str()));
        let mut all: Vec<&str> = Vec::new();
        for it in found.filter(|it| !it.is_empty()) {
            if !all.contains(&it) {
                all.push(it);
            }
        }
        all
    }

    /// Returns the pattern as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| Compiled::of(&self.source).ok()).as_ref()
    }
}

impl Compiled {
    fn of(source: &str) -> Result<Self, String> {
        let search = compile(source)?;
        // The second try is for a pattern that ends with a comment: `(?x) a # b`.
        let full = compile(&format!(r"\A(?:{source})\z"))
            .or_else(|_| compile(&format!("\\A(?:{source}\n)\\z")))?;
        Ok(Self { search, full })
    }
}

/// Returns whether a pattern is made of letters, digits, `-`, `_`, spaces, sets of these such as
/// `[0-9a-z]`, each with `+` or a small count at most: nothing that could be wrong or large.
fn is_plain_pattern(source: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | ' ');
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let after = if let Some(set) = rest.strip_prefix('[') {
            let Some((set, after)) = set.split_once(']') else { return false };
            if !matches!(set, "0-9" | "a-z" | "A-Z" | "a-z0-9" | "A-Z0-9" | "a-zA-Z0-9") {
                return false;
            }
            after
        } else if is_word(first) {
            rest.strip_prefix(first).unwrap_or_default()
        } else {
            return false;
        };
        rest = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some((count, after)) => {
                if count.len() != 1 || !count.bytes().all(|it| it.is_ascii_digit()) {
                    return false;
                }
                after
            }
            None => after.strip_prefix('+').unwrap_or(after),
        };
    }
    true
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
    validator: Arc<OnceLock<Result<jsonschema::Validator, String>>>,
}

impl Schema {
    /// Reads a schema; the error says what is wrong with it.
    ///
    /// Compiling costs megabytes, and few schemas of the many that are read are ever checked
    /// against. One that is plain cannot be wrong, and is compiled when it is first needed.
    pub fn parse(source: Value) -> Result<Self, String> {
        let validator = OnceLock::new();
        if !is_plain(&source) {
            drop(validator.set(Ok(compile_schema(&source)?)));
        }
        Ok(Self { source: Arc::new(source), validator: Arc::new(validator) })
    }

    /// Checks a value; the error lists where it does not fit, and why.
    pub fn check(&self, value: &Value) -> Result<(), Vec<String>> {
        let validator = self.validator.get_or_init(|| compile_schema(&self.source));
        let validator = validator.as_ref().map_err(|error| vec![error.clone()])?;
        let mismatches: Vec<String> = validator
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

fn compile_schema(source: &Value) -> Result<jsonschema::Validator, String> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    options.build(source).map_err(|error| {
        let text = describe(&error);
        if text.contains("Retrieval is disabled") {
            return "`$ref` must lead into the schema itself".to_owned();
        }
        text
    })
}

/// Returns whether a schema has only keywords that everyone uses, with values that they can have.
fn is_plain(schema: &Value) -> bool {
    const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
    let is_type = |it: &Value| it.as_str().is_some_and(|it| TYPES.contains(&it));
    let is_unique = |all: &[Value]| {
        all.iter().enumerate().all(|(at, one)| all.iter().skip(at + 1).all(|other| one != other))
    };
    let Some(keywords) = schema.as_object() else { return schema.is_boolean() };
    keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "title" | "description" => value.is_string(),
        "default" | "const" => true,
        "type" => match value.as_array() {
            Some(types) => !types.is_empty() && types.iter().all(is_type) && is_unique(types),
            None => is_type(value),
        },
        "enum" => value.as_array().is_some_and(|it| !it.is_empty() && is_unique(it)),
        "required" => {
            value.as_array().is_some_and(|it| it.iter().all(Value::is_string) && is_unique(it))
        }
        "properties" => value.as_object().is_some_and(|it| it.values().all(is_plain)),
        "items" | "additionalProperties" => is_plain(value),
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        _ => false,
    })
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

#[cfg(test)]
mod tests {
    use super::{Compiled, Pattern, compile_schema, is_plain, is_plain_pattern};
    use serde_json::json;

    #[test]
    fn a_pattern_that_is_called_plain_compiles_and_others_are_not_called_so() {
        for plain in ["[0-9]{4}", "[A-Z]+-[0-9]+", "scene 12", "", "[a-z0-9]+"] {
            assert!(is_plain_pattern(plain), "{plain}");
            assert!(Compiled::of(plain).is_ok(), "{plain}");
        }
        for doubtful in
            ["(", "[0-9", "[z-a]", "a{99}", "a{,}", "a++", "a**", "+a", "{4}", "a.b", "é"]
        {
            assert!(!is_plain_pattern(doubtful), "{doubtful}");
        }
        assert!(Pattern::parse("[0-9]{4}").unwrap().is_full_match("0204"));
        assert!(!Pattern::parse("[0-9]{4}").unwrap().is_full_match("02045"));
    }

    #[test]
    fn what_is_called_plain_compiles() {
        let plain = json!({
            "type": ["object", "null"], "title": "t", "description": "d", "required": ["a", "b"],
            "properties": {
                "a": { "type": "string", "enum": ["x", "y"], "minLength": 1, "maxLength": 9 },
                "b": { "type": "array", "items": { "type": "integer", "minimum": 0.5, "maximum": 9 },
                       "minItems": 0, "maxItems": 3 },
                "c": { "const": null, "default": [] }, "d": true,
            },
            "additionalProperties": false,
        });
        assert!(is_plain(&plain));
        assert!(compile_schema(&plain).is_ok());
    }

    #[test]
    fn what_may_be_wrong_is_not_called_plain() {
        for doubtful in [
            json!({ "type": "text" }),
            json!({ "type": [] }),
            json!({ "type": ["object", "object"] }),
            json!({ "required": "a" }),
            json!({ "properties": { "a": 7 } }),
            json!({ "pattern": "(" }),
            json!({ "$ref": "#/a" }),
            json!({ "minLength": -1 }),
            json!(7),
        ] {
            assert!(!is_plain(&doubtful), "{doubtful}");
        }
    }
}
