//! Templates: texts with expressions between `{{` and `}}`, and nothing else of Jinja.

use std::{fmt, sync::Arc};

use super::{
    Compiled, EvaluationError, ExpressionError, NameUse, RENDERED_BYTES_MAX, Scope, to_text,
    tokens::quoted_length,
};

/// How long a template may be, in characters.
const SOURCE_CHARS_MAX: usize = 10_000;

/// A text with expressions in it: `impl-{{ part.id }}.md`.
#[derive(Clone)]
pub struct Template(Arc<Parts>);

struct Parts {
    source: String,
    parts: Vec<Part>,
}

enum Part {
    Text(String),
    /// With the byte of the template that its source begins at.
    Value(usize, Compiled),
}

impl Template {
    /// Compiles a template.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        if source.chars().count() > SOURCE_CHARS_MAX {
            let message = format!("a template has at most {SOURCE_CHARS_MAX} characters");
            return Err(ExpressionError { message, help: None, start: 0, width: source.len() });
        }
        let parts = parse_parts(source)?;
        Ok(Self(Arc::new(Parts { source: source.to_owned(), parts })))
    }

    /// Returns the text, with each expression replaced by its value. An expression that gives
    /// null is an error: a path or a question with a hole in it is useless.
    pub fn render(&self, scope: &dyn Scope) -> Result<String, EvaluationError> {
        let mut text = String::new();
        for part in &self.0.parts {
            match part {
                Part::Text(it) => text.push_str(it),
                Part::Value(_, it) => text.push_str(&self.render_value(it, scope)?),
            }
            if text.len() > RENDERED_BYTES_MAX {
                return Err(
                    self.error(format!("it gives more than {RENDERED_BYTES_MAX} bytes"), None)
                );
            }
        }
        Ok(text)
    }

    /// Returns the template as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns whether the template is only text: then it is its own rendering.
    pub fn is_plain(&self) -> bool {
        self.0.parts.iter().all(|it| matches!(it, Part::Text(_)))
    }

    /// Returns the expressions, each with the byte it begins at and the names it uses.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (usize, &str, &[NameUse])> {
        self.0.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(start, it) => Some((*start, it.source.as_str(), it.names.as_slice())),
        })
    }

    fn render_value(&self, value: &Compiled, scope: &dyn Scope) -> Result<String, EvaluationError> {
        let value_source = value.source.trim();
        match value.evaluate("template", scope) {
            Ok(it) if it.is_none() => {
                let missing = value.names.iter().find(|it| it.text == value_source);
                let reason = format!("`{value_source}` is null");
                Err(self.error(reason, missing.map(|it| it.text.clone())))
            }
            Ok(it) => Ok(to_text(&it)),
            Err(error) => Err(self.error(error.reason, error.missing)),
        }
    }

    fn error(&self, reason: String, missing: Option<String>) -> EvaluationError {
        EvaluationError { kind: "template", text: self.0.source.clone(), reason, missing }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Template").field(&self.source()).finish()
    }
}

fn parse_parts(source: &str) -> Result<Vec<Part>, ExpressionError> {
    let mut parts = Vec::new();
    let mut done = 0;
    while let Some(rest) = source.get(done..).filter(|it| !it.is_empty()) {
        let open = rest.find("{{").unwrap_or(rest.len());
        let text = rest.get(..open).unwrap_or_default();
        if let Some(at) = text.find("{%") {
            return Err(ExpressionError {
                message: "a template has no `{% … %}`".to_owned(),
                help: Some("write `{{ a if condition else b }}`".to_owned()),
                start: done + at,
                width: 2,
            });
        }
        if !text.is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        let Some(inner) = rest.get(open + 2..) else { break };
        let start = done + open + 2;
        let Some(length) = find_close(inner) else {
            return Err(ExpressionError {
                message: "`{{` without `}}`".to_owned(),
                help: None,
                start: done + open,
                width: 2,
            });
        };
        let value = Compiled::parse(inner.get(..length).unwrap_or_default())
            .map_err(|error| ExpressionError { start: start + error.start, ..error })?;
        parts.push(Part::Value(start, value));
        done = start + length + 2;
    }
    Ok(parts)
}

/// Returns where `}}` is, outside of quotes.
fn find_close(inner: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inner.get(at..)?;
        let letter = rest.chars().next()?;
        if rest.starts_with("}}") {
            return Some(at);
        }
        let is_quote = letter == '\'' || letter == '"';
        at += if is_quote { quoted_length(rest, letter) } else { letter.len_utf8() };
    }
}
