//! What a graph is given when it is started, and where its texts say so: `${{ inputs.NAME }}`.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::{Form, Input, Workflow, suggest};

/// The input that every graph has: what is to be done, as the caller says it.
const TASK: &str = "task_description";
/// Where a run's context has its inputs.
pub(crate) const INPUTS: &str = "inputs";

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

/// Returns the inputs of a run that begins with this context: those under `inputs`, else what the
/// context itself has under their names. The error names each that is required and missing.
pub fn take_inputs(
    workflow: &Workflow,
    context: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<String>> {
    let mut given = context.get(INPUTS).and_then(Value::as_object).cloned().unwrap_or_default();
    let names = workflow.inputs.iter().map(|it| it.name.as_str()).chain([TASK]);
    for name in names {
        if let (false, Some(value)) = (given.contains_key(name), context.get(name)) {
            given.insert(name.to_owned(), value.clone());
        }
    }
    let required = workflow.inputs.iter().filter(|it| it.is_required && it.default.is_none());
    let missing = required.filter(|it| !given.contains_key(&it.name));
    let missing: Vec<String> = missing
        .map(|it| match it.description.as_str() {
            "" => format!("`{}` is missing", it.name),
            what => format!("`{}` is missing: {what}", it.name),
        })
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let task = given.get(TASK).map(|it| show(it).into_owned()).unwrap_or_default();
    Ok(prepare_inputs(workflow, &task, &given).0)
}

/// Returns what the start context of a run may hold, as a JSON Schema: what a folder declares, or the
/// inputs of a graph.
pub fn describe_context(workflow: &Workflow) -> Option<Value> {
    if workflow.form == Form::Folder {
        return workflow.params.as_ref().map(|it| it.source().clone());
    }
    let property = |it: &Input| {
        let mut property = Map::new();
        if ["string", "boolean", "integer", "number", "array", "object"].contains(&it.kind.as_str())
        {
            property.insert("type".to_owned(), it.kind.as_str().into());
        }
        if !it.description.is_empty() {
            property.insert("description".to_owned(), it.description.as_str().into());
        }
        property.extend(it.default.clone().map(|it| ("default".to_owned(), it)));
        (it.name.clone(), Value::Object(property))
    };
    let mut properties: Map<String, Value> = workflow.inputs.iter().map(property).collect();
    if !properties.contains_key(TASK) {
        let task = json!({ "type": "string", "description": "What is to be done" });
        properties.insert(TASK.to_owned(), task);
    }
    let required = workflow.inputs.iter().filter(|it| it.is_required && it.default.is_none());
    let required: Vec<&str> = required.map(|it| it.name.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if let (Some(map), false) = (schema.as_object_mut(), required.is_empty()) {
        map.insert("required".to_owned(), required.into());
    }
    Some(schema)
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
