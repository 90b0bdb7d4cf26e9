//! What a graph is given when it is started, and where its texts say so: `${{ inputs.NAME }}`.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::{Input, Workflow, suggest};

/// The input that every graph has: what is to be done, as the caller says it.
const TASK: &str = "task_description";

/// Returns the text with each `${{ inputs.NAME }}` replaced by that input. A name that is not
/// among the inputs is left as it is, and what an input says is not looked into again.
pub fn fill_inputs(text: &str, inputs: &Map<String, Value>) -> String {
    let fill = |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |it| it.as_str());
        let value = found.get(1).and_then(|it| inputs.get(it.as_str()));
        value.map_or(Cow::Borrowed(whole), show).into_owned()
    };
    PLACEHOLDER.replace_all(text, fill).into_owned()
}

/// Returns the inputs of a new run, and what is doubtful about them.
///
/// `task_description` is always the task. Every other input is what was given, else its default,
/// else something empty of its type.
pub fn prepare_inputs(
    workflow: &Workflow,
    task: &str,
    given: &Map<String, Value>,
) -> (Map<String, Value>, Vec<String>) {
    let mut inputs = Map::new();
    let mut warnings = Vec::new();
    inputs.insert(TASK.to_owned(), task.into());
    for input in workflow.inputs.iter().filter(|it| it.name != TASK) {
        let value = given.get(&input.name).or(input.default.as_ref()).cloned();
        if value.is_none() && input.is_required {
            let name = &input.name;
            warnings.push(format!("required input `{name}` has neither a value nor a default"));
        }
        inputs.insert(input.name.clone(), value.unwrap_or_else(|| empty(input)));
    }
    let known = || workflow.inputs.iter().map(|it| it.name.as_str()).filter(|it| *it != TASK);
    for name in given.keys().filter(|it| !inputs.contains_key(*it)) {
        let help = suggest::help(name, known().collect::<Vec<_>>());
        let help = help.map(|it| format!(" ({it})")).unwrap_or_default();
        warnings.push(format!("there is no input `{name}`{help}"));
    }
    (inputs, warnings)
}

/// Returns whether a text may name an input that is not declared.
pub(crate) fn is_always_there(name: &str) -> bool {
    name == TASK
}

/// Returns the names that the placeholders of a text have.
pub(crate) fn find_placeholders(text: &str) -> impl Iterator<Item = &str> {
    PLACEHOLDER.captures_iter(text).filter_map(|it| it.get(1)).map(|it| it.as_str())
}

/// The value of an input that was not given.
fn empty(input: &Input) -> Value {
    match input.kind.as_str() {
        "boolean" => false.into(),
        "integer" | "number" => 0.into(),
        "array" => Value::Array(Vec::new()),
        _ => "".into(),
    }
}

fn show(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "".into(),
        Value::String(it) => it.into(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string().into()
        }
    }
}

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{\{\s*inputs\.([\p{L}_][\p{L}\p{N}_]*)\s*\}\}")
        .expect("the pattern is fixed, and a test compiles it")
});
