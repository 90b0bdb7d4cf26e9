//! Conditions, expressions and templates: minijinja, made small and strict.
//!
//! Each is compiled once, when a definition is parsed, and is cheap to clone and to evaluate. No
//! code is run: there are no calls and no loops, few filters, and a budget of steps. A name that is
//! not set is an error that says which one, never silently false.

mod builtins;
mod names;
mod scope;
mod template;
mod tokens;
mod types;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, LazyLock},
};

use minijinja::{Environment, ErrorKind};
use serde_json::Value;

pub(crate) use names::NameUse;
pub use scope::{Members, Root, Scope};
pub use template::Template;
pub(crate) use types::{
    NamedTypes, ValueType, find_mismatches, find_text_comparisons, literal_type,
};

/// How many steps of minijinja's machine an evaluation may take.
const FUEL: u64 = 10_000;
/// How long an expression may be, in characters.
const SOURCE_CHARS_MAX: usize = 1_000;
/// How large a text may grow by `join`, in bytes.
const JOINED_BYTES_MAX: usize = 64 << 10;
/// How large a text may grow by rendering a template, in bytes.
const RENDERED_BYTES_MAX: usize = 512 << 10;

/// Why a text is not a condition, expression or template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    pub message: String,
    /// The way out, where there is an obvious one.
    pub help: Option<String>,
    /// Where in the text it is, in bytes from its start.
    pub start: usize,
    /// How many bytes are to blame.
    pub width: usize,
}

/// Why a condition, an expression or a template has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{text}` cannot be evaluated: {reason}")]
pub struct EvaluationError {
    /// `condition`, `expression` or `template`.
    pub kind: &'static str,
    /// What was evaluated, as it was written.
    pub text: String,
    pub reason: String,
    /// The name that is not set, if that is why: `context.x`.
    pub missing: Option<String>,
}

/// An expression that is true or false.
#[derive(Clone)]
pub struct Condition(Arc<Compiled>);

impl Condition {
    /// Compiles a condition.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        Compiled::parse(source).map(|it| Self(Arc::new(it)))
    }

    /// Returns whether the condition holds. Anything but true or false is an error.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<bool, EvaluationError> {
        let value = self.0.evaluate("condition", scope)?;
        bool::try_from(value.clone()).ok().filter(|_| is_boolean(&value)).ok_or_else(|| {
            let reason = format!("it is neither true nor false, but {}", describe(&value));
            self.0.error("condition", reason)
        })
    }

    /// Returns the condition as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns whether the condition looks at `name`, such as `report` or `vars.rounds`.
    pub fn mentions(&self, name: &str) -> bool {
        let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
        self.0.names.iter().any(|it| it.text.strip_prefix(name).is_some_and(is_end))
    }

    /// Returns whether the condition looks at nothing but these roots.
    pub fn mentions_only(&self, roots: &[&str]) -> bool {
        let is_one = |it: &str| roots.contains(&it);
        self.0.names.iter().all(|it| it.text.split(['.', '[']).next().is_some_and(is_one))
    }

    pub(crate) fn names(&self) -> &[NameUse] {
        &self.0.names
    }
}

/// An expression that gives any value.
#[derive(Clone)]
pub struct Expression(Arc<Compiled>);

impl Expression {
    /// Compiles an expression.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        Compiled::parse(source).map(|it| Self(Arc::new(it)))
    }

    /// Returns the expression's value.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, EvaluationError> {
        let value = self.0.evaluate("expression", scope)?;
        serde_json::to_value(&value).map_err(|error| self.0.error("expression", error.to_string()))
    }

    /// Returns the expression as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    pub(crate) fn names(&self) -> &[NameUse] {
        &self.0.names
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Condition").field(&self.source()).finish()
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Expression").field(&self.source()).finish()
    }
}

/// What conditions and expressions have in common.
struct Compiled {
    source: String,
    names: Vec<NameUse>,
    roots: BTreeMap<String, Members>,
    program: minijinja::Expression<'static, 'static>,
}

impl Compiled {
    fn parse(source: &str) -> Result<Self, ExpressionError> {
        let whole = |message: String| ExpressionError {
            message,
            help: None,
            start: 0,
            width: source.len(),
        };
        if source.trim().is_empty() {
            return Err(whole("an expression must not be empty".to_owned()));
        }
        if source.chars().count() > SOURCE_CHARS_MAX {
            return Err(whole(format!("an expression has at most {SOURCE_CHARS_MAX} characters")));
        }
        // The parser proper goes first: its word on syntax is better than a guess from tokens.
        let tokens = tokens::cut(source);
        ENVIRONMENT.compile_expression_owned(source.to_owned()).map_err(|error| {
            let detail = error.detail().unwrap_or("syntax error");
            let message = format!("it is not an expression: {detail}");
            ExpressionError { help: names::foreign_sign(&tokens), ..whole(message) }
        })?;
        let names = names::find_names(source, &tokens)?;
        let program = ENVIRONMENT
            .compile_expression_owned(names::guard(source, &names))
            .map_err(|error| whole(format!("it is not an expression: {error}")))?;
        let roots = scope::find_roots(&names);
        Ok(Self { source: source.to_owned(), names, roots, program })
    }

    fn evaluate(
        &self,
        kind: &'static str,
        scope: &dyn Scope,
    ) -> Result<minijinja::Value, EvaluationError> {
        match self.program.eval(scope::select(scope, &self.roots)) {
            Ok(value) if value.is_undefined() => Err(self.error(kind, "it has no value".into())),
            Ok(value) => Ok(value),
            Err(error) if error.kind() == ErrorKind::UndefinedError => {
                let missing = error.detail().unwrap_or(&self.source).to_owned();
                let reason = format!("`{missing}` is not set");
                Err(EvaluationError { missing: Some(missing), ..self.error(kind, reason) })
            }
            Err(error) => Err(self.error(kind, reason_of(&error))),
        }
    }

    fn error(&self, kind: &'static str, reason: String) -> EvaluationError {
        EvaluationError { kind, text: self.source.clone(), reason, missing: None }
    }
}

fn reason_of(error: &minijinja::Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return format!("it takes more than {FUEL} steps");
    }
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

fn is_boolean(value: &minijinja::Value) -> bool {
    value.kind() == minijinja::value::ValueKind::Bool
}

fn describe(value: &minijinja::Value) -> String {
    let text: String = to_text(value).chars().take(80).collect();
    if value.is_none() { "null".to_owned() } else { format!("the {} `{text}`", value.kind()) }
}

/// Texts as they are, everything else as JSON.
fn to_text(value: &minijinja::Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    serde_json::to_string(value).unwrap_or_else(|_| value.to_string())
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(builtins::environment);
