//! Reads the arguments of a call: leniently, and naming everything that is wrong at once.
//!
//! What is published is strict. What is taken is what agents really send: the arguments inside
//! another one, `2.0` for `2`, `null` for nothing, an object written as text, fields that nobody
//! asked for. What was ignored is named. How lenient that is a toolset says: its [`Leniency`].

mod coerced;
mod limits;
mod plain;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use coerced::Coerced;

use super::schema::{JSON, NAMES, NULL_COUNTS, NULLABLE, RULE};

/// How a toolset takes what does not quite fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leniency {
    /// What nobody asked for is ignored, and named. All arguments may be inside `input_data`.
    Lenient,
    /// What nobody asked for is refused. Texts are trimmed, and read as the number or the yes or
    /// no that they are. All arguments may be inside `params`, and what is beside it is ignored.
    Closed,
    /// What nobody asked for is ignored, and so is a number, a yes or no or a text that need not be
    /// there and cannot be read. Numbers and yes or no that must be there are zero and no if they
    /// are not.
    Coercing,
}

impl Leniency {
    /// Returns the one argument that may hold all others.
    fn wrapper(self) -> &'static str {
        match self {
            Self::Lenient | Self::Coercing => "input_data",
            Self::Closed => "params",
        }
    }

    /// Whether something may be beside the arguments that are inside another one.
    fn has_company(self) -> bool {
        match self {
            Self::Lenient | Self::Coercing => false,
            Self::Closed => true,
        }
    }
}

/// What was read.
pub struct Input<P> {
    pub parameters: Result<P, InvalidArguments>,
    /// The arguments as they were understood: the same for every way to write them.
    pub taken: Map<String, Value>,
    /// What was ignored or guessed.
    pub warnings: Vec<String>,
}

/// Arguments that do not fit.
#[derive(Debug, Clone)]
pub struct InvalidArguments {
    pub tool: &'static str,
    pub problems: Vec<Problem>,
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = |it: &Problem| format!("`{}` {}", it.path, it.text);
        out.write_str(&self.problems.iter().map(problem).collect::<Vec<_>>().join("; "))
    }
}

/// One thing that does not fit.
#[derive(Debug, Clone)]
pub struct Problem {
    pub path: String,
    pub kind: ProblemKind,
    /// What must be, as the rest of a sentence about the path.
    pub text: String,
}

/// In which way something does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    Missing,
    /// There is no such parameter.
    Unknown,
    /// It must be a string.
    NotString,
    WrongType,
    WrongValue,
}

impl InvalidArguments {
    /// One parameter is missing that is needed only at times.
    pub fn missing(tool: &'static str, path: &str, why: &str) -> Self {
        let text = format!("is missing: {why}");
        Self { tool, problems: vec![problem(path, ProblemKind::Missing, text)] }
    }

    /// One parameter cannot be what it is.
    pub fn wrong(tool: &'static str, path: &str, why: &str) -> Self {
        Self { tool, problems: vec![problem(path, ProblemKind::WrongValue, why.to_owned())] }
    }
}

/// Reads the arguments of `tool` by its `shape`.
pub fn read<P: DeserializeOwned>(
    tool: &'static str,
    manner: Leniency,
    shape: &Value,
    arguments: Map<String, Value>,
) -> Input<P> {
    let mut reading = Reading::new(manner);
    let mut value = match unwrapped(manner, arguments) {
        Ok(arguments) => Value::Object(arguments),
        Err(problem) => {
            let invalid_arguments = InvalidArguments { tool, problems: vec![problem] };
            return Input {
                parameters: Err(invalid_arguments),
                taken: Map::new(),
                warnings: Vec::new(),
            };
        }
    };
    reading.check(shape, &mut value, "");
    let Reading { problems, ignored, mut warnings, .. } = reading;
    if !ignored.is_empty() {
        warnings.push(format!("ignored, as there is no such parameter: {}", ignored.join(", ")));
    }
    let taken = value.as_object().cloned().unwrap_or_default();
    let parameters = if problems.is_empty() {
        serde_json::from_value(value).map_err(|error| InvalidArguments {
            tool,
            problems: vec![problem("arguments", ProblemKind::WrongType, error.to_string())],
        })
    } else {
        Err(InvalidArguments { tool, problems })
    };
    Input { parameters, taken, warnings }
}

/// Takes the arguments out of the one that holds them, as an object or as its text.
fn unwrapped(
    manner: Leniency,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    if arguments.len() != 1 && !manner.has_company() {
        return Ok(arguments);
    }
    let wrapper = manner.wrapper();
    let Some(inner) = arguments.remove(wrapper) else { return Ok(arguments) };
    let inner = match inner {
        Value::String(text) => serde_json::from_str(&text).map_err(|error| {
            problem(wrapper, ProblemKind::WrongValue, format!("is not JSON: {error}"))
        })?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            inner
        }
    };
    match inner {
        Value::Object(inner) => Ok(inner),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(problem(wrapper, ProblemKind::WrongType, must_be("object", &inner)))
        }
    }
}

struct Reading {
    manner: Leniency,
    problems: Vec<Problem>,
    ignored: Vec<String>,
    warnings: Vec<String>,
}

impl Reading {
    fn new(manner: Leniency) -> Self {
        Self { manner, problems: Vec::new(), ignored: Vec::new(), warnings: Vec::new() }
    }

    /// Checks `value` and brings it into the form that its type is read from.
    fn check(&mut self, shape: &Value, value: &mut Value, path: &str) {
        let Some(kind) = shape.get("type").and_then(Value::as_str) else { return };
        if value.is_null() && shape.get(NULL_COUNTS).is_some() {
            return;
        }
        self.read_text(kind, value, path);
        if shape.get(JSON).is_some() && (value.is_object() || value.is_array()) {
            *value = Value::String(value.to_string());
        }
        if self.manner == Leniency::Closed {
            plain::read(kind, value);
        }
        if kind == "integer" {
            make_whole(value);
        }
        if !is_kind(kind, value) {
            let wrong =
                if kind == "string" { ProblemKind::NotString } else { ProblemKind::WrongType };
            self.add(path, wrong, must_be(kind, value));
            return;
        }
        match value {
            Value::Object(object) => self.check_object(shape, object, path),
            Value::Array(items) => {
                let Some(shape) = shape.get("items") else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.check(shape, item, &format!("{path}[{index}]"));
                }
            }
            Value::String(text) => {
                self.check_word(shape, text, path);
                let broken = limits::of_text(shape, text);
                self.check_limit(shape, broken, text, path);
            }
            Value::Number(number) => {
                let broken = limits::of_number(shape, number);
                self.check_limit(shape, broken, &number.to_string(), path);
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn check_object(&mut self, shape: &Value, object: &mut Map<String, Value>, path: &str) {
        let place = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
        };
        let Some(properties) = shape.get("properties").and_then(Value::as_object) else {
            if let Some(shape) = shape.get("additionalProperties") {
                object.iter_mut().for_each(|(name, it)| self.check(shape, it, &place(name)));
            }
            return;
        };
        let required = shape.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        rename(properties, object);
        let may_be_null = |name: &str| match self.manner {
            Leniency::Lenient => properties.get(name).is_some_and(|it| it.get(NULLABLE).is_some()),
            Leniency::Closed | Leniency::Coercing => {
                properties.contains_key(name) && !required.contains(&name)
            }
        };
        object.retain(|name, value| !(value.is_null() && may_be_null(name)));
        if self.manner == Leniency::Coercing {
            object.retain(|name, value| {
                let is_required = required.contains(&name.as_str());
                properties
                    .get(name)
                    .is_none_or(|it| self.coerce(it, value, &place(name), is_required))
            });
            coerced::fill(properties, &required, object);
        }
        for name in required {
            if !object.contains_key(name) {
                self.add(&place(name), ProblemKind::Missing, "is missing".to_owned());
            }
        }
        object.retain(|name, value| match properties.get(name) {
            Some(shape) => {
                self.check(shape, value, &place(name));
                true
            }
            None => {
                self.take_unknown(&place(name));
                false
            }
        });
    }

    /// Makes of a value what is wanted; `false` where it is as good as nothing.
    fn coerce(&mut self, shape: &Value, value: &mut Value, path: &str, is_required: bool) -> bool {
        let Some(kind) = shape.get("type").and_then(Value::as_str) else { return true };
        // A text that must be there is refused for what it is.
        let is_refused = is_required && coerced::default(kind).is_none();
        if coerced::read(shape, value) == Coerced::Kept || is_refused {
            return true;
        }
        self.warnings.push(format!("`{path}` was ignored: it {}", must_be(kind, value)));
        false
    }

    fn take_unknown(&mut self, path: &str) {
        match self.manner {
            Leniency::Lenient | Leniency::Coercing => self.ignored.push(format!("`{path}`")),
            Leniency::Closed => {
                self.add(path, ProblemKind::Unknown, "there is no such parameter".to_owned());
            }
        }
    }

    /// Says which limit is broken, in the parameter's own words where it has some.
    fn check_limit(&mut self, shape: &Value, broken: Option<String>, value: &str, path: &str) {
        if let Some(broken) = broken {
            self.add(path, ProblemKind::WrongValue, worded(shape, value, broken));
        }
    }

    /// Takes a word of a closed list, in whichever case it is written.
    fn check_word(&mut self, shape: &Value, text: &mut String, path: &str) {
        let Some(words) = shape.get("enum").and_then(Value::as_array) else { return };
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        match words.iter().find(|it| it.eq_ignore_ascii_case(text)) {
            Some(word) => (*word).clone_into(text),
            None => {
                let broken = format!("must be one of {}", words.join(", "));
                self.add(path, ProblemKind::WrongValue, worded(shape, text, broken));
            }
        }
    }

    /// Reads an object or a list that was written as text.
    fn read_text(&mut self, kind: &str, value: &mut Value, path: &str) {
        let Value::String(text) = &*value else { return };
        if !matches!(kind, "object" | "array") {
            return;
        }
        if let Some(read) = serde_json::from_str(text).ok().filter(|it| is_kind(kind, it)) {
            self.warnings.push(format!("`{path}` came as text and was read as JSON"));
            *value = read;
        }
    }

    fn add(&mut self, path: &str, kind: ProblemKind, text: String) {
        self.problems.push(problem(path, kind, text));
    }
}

/// Gives parameters that came under another of their names the one that is published.
fn rename(properties: &Map<String, Value>, object: &mut Map<String, Value>) {
    for (name, shape) in properties {
        let others = shape.get(NAMES).and_then(Value::as_array).into_iter().flatten();
        for other in others.filter_map(Value::as_str) {
            if !object.contains_key(name) && !properties.contains_key(other) {
                let value = object.remove(other);
                object.extend(value.map(|it| (name.clone(), it)));
            }
        }
    }
}

/// Returns the words that a parameter has for a value that does not fit, or else those given.
fn worded(shape: &Value, value: &str, broken: String) -> String {
    let own = shape.get(RULE).and_then(Value::as_str);
    own.map_or(broken, |it| it.replace("{value}", value))
}

fn problem(path: &str, kind: ProblemKind, text: String) -> Problem {
    Problem { path: path.to_owned(), kind, text }
}

/// `2.0` is a whole number in JSON.
fn make_whole(value: &mut Value) {
    let Some(float) = value.as_f64().filter(|_| value.is_f64()) else { return };
    if let Some(whole) = whole(float) {
        *value = Value::from(whole);
    }
}

/// Returns the whole number that a float is, if it is one.
fn whole(float: f64) -> Option<i64> {
    /// From here on a float does not hold every whole number.
    const FLOAT_EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let is_whole = float.fract().abs() < f64::EPSILON && float.abs() < FLOAT_EXACT_MAX;
    format!("{float:.0}").parse().ok().filter(|_| is_whole)
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn must_be(kind: &str, value: &Value) -> String {
    let wanted = match kind {
        "object" => "an object",
        "array" => "a list",
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => "a whole number",
        _ => "a number",
    };
    let given = match value {
        Value::Null => "null",
        Value::Bool(_) | Value::Number(_) => return format!("must be {wanted}, not {value}"),
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {given}")
}
