//! The JSON Schemas of what tools take and answer, made from their types.
//!
//! A *shape* is what arguments are checked against: the schema with marks of our own. What is
//! published has no marks, no nulls and nothing that a model need not read.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::answer::Whole;

/// Marks what a parameter is if it is left out, where a contract has it published.
const DEFAULT: &str = "x-default";
/// Marks a parameter for which `null` is a value of its own. Written at the parameter.
pub(super) const NULL_COUNTS: &str = "x-null";
/// Marks a parameter for which `null` is as good as nothing.
pub(super) const NULLABLE: &str = "x-nullable";
/// Marks a parameter with what is said of a value that does not fit; `{value}` stands for it.
pub(super) const RULE: &str = "x-rule";
/// Marks a text that may come as the JSON that it is to hold.
pub(super) const JSON: &str = "x-json";
/// Marks a parameter with other names that are taken for it, such as its name in an answer.
pub(super) const NAMES: &str = "x-names";
/// Marks an object that is described elsewhere: it is checked, but published without its fields.
const ELSEWHERE: &str = "x-elsewhere";

/// Returns the shape of `P`.
pub fn shape<P: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut shape = generated::<P>(settings);
    tidy(&mut shape);
    without_null(&mut shape);
    if let Some(root) = shape.as_object_mut() {
        root.remove("description");
        root.entry("properties").or_insert_with(|| json!({}));
        root.insert("additionalProperties".into(), Value::Bool(false));
    }
    shape
}

/// Returns what of a shape is shown.
pub fn published(mut shape: Value) -> Map<String, Value> {
    unmark(&mut shape);
    each_schema(&mut shape, &mut |schema| {
        // One that says nothing is taken for a mistake by those who check schemas; this says that
        // anything goes.
        if schema.keys().all(|it| it == "description") {
            schema.insert("additionalProperties".into(), Value::Bool(true));
        }
    });
    object(shape)
}

/// Returns the schema that both an answer `A` and a failure `F` fit.
pub fn output<A: JsonSchema, F: JsonSchema>() -> Value {
    let settings = || SchemaSettings::draft2020_12().for_serialize();
    let mut done = object(plain_nulls(generated::<Whole<A>>(settings())));
    let mut failed = object(plain_nulls(generated::<Whole<F>>(settings())));
    let mut properties = object(failed.remove("properties").unwrap_or_default());
    properties.extend(object(done.remove("properties").unwrap_or_default()));
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "anyOf": [
            { "required": done.remove("required").unwrap_or_else(|| json!([])) },
            { "required": failed.remove("required").unwrap_or_else(|| json!([])) },
        ],
    });
    tidy(&mut schema);
    unmark(&mut schema);
    // The words are for readers of code.
    each_schema(&mut schema, &mut |schema| {
        schema.remove("description");
    });
    schema
}

/// The fields of answers that are published with every list of tools: why not, and a text of its
/// own. The rest an answer shows by itself.
const OUTLINE: [&str; 2] = ["refusal", "result"];

/// Returns what of the schema of an answer is published.
pub fn outline(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.remove("anyOf");
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| OUTLINE.contains(&name.as_str()));
        for field in fields.values_mut() {
            let kind = field.get("type").cloned();
            *field = kind.map_or_else(|| json!({}), |kind| json!({ "type": kind }));
        }
    }
    schema
}

/// Returns the map that a schema is.
pub fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Removes what says nothing, and closes every object whose fields are known.
fn tidy(schema: &mut Value) {
    each_schema(schema, &mut |schema| {
        for name in ["title", "format", "default"] {
            schema.remove(name);
        }
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            schema.remove("additionalProperties");
        }
    });
}

/// Takes `null` out of every schema, and marks those that had it; closes objects.
fn without_null(schema: &mut Value) {
    each_schema(schema, &mut |schema| {
        let had_null = take_null(schema);
        if had_null {
            schema.insert(NULLABLE.into(), Value::Bool(true));
        }
        if schema.contains_key("properties") {
            schema.insert("additionalProperties".into(), Value::Bool(false));
        }
    });
}

fn take_null(schema: &mut Map<String, Value>) -> bool {
    let mut had_null = false;
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|it| !it.is_null());
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|it| it != "null");
        had_null = true;
        let only = kinds.pop().unwrap_or_default();
        schema.insert("type".into(), only);
    }
    if let Some(Value::Array(mut options)) = schema.remove("anyOf") {
        options.retain(|it| it.get("type").is_none_or(|kind| kind != "null"));
        had_null = true;
        let only = object(options.pop().unwrap_or_default());
        for (name, value) in only {
            schema.entry(name).or_insert(value);
        }
    }
    had_null
}

/// Says of what may be `null` so in the way that every client understands, and of what is left
/// out instead not at all.
fn plain_nulls(mut schema: Value) -> Value {
    each_schema(&mut schema, &mut |schema| {
        let required = schema.get("required").and_then(Value::as_array).cloned();
        let required = required.unwrap_or_default();
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
        for (name, property) in properties {
            let Value::Object(inner) = property else { continue };
            let is_required = required.iter().any(|it| it == name);
            if take_null(inner) && is_required {
                *property = json!({ "anyOf": [property.take(), { "type": "null" }] });
            }
        }
    });
    schema
}

/// Removes the marks, and a lower bound that every count has.
fn unmark(schema: &mut Value) {
    each_schema(schema, &mut |schema| {
        schema.remove(NULLABLE);
        schema.remove(NULL_COUNTS);
        if let Some(default) = schema.remove(DEFAULT) {
            schema.insert("default".into(), default);
        }
        schema.remove(RULE);
        schema.remove(JSON);
        schema.remove(NAMES);
        if schema.get("minimum").and_then(Value::as_u64) == Some(0) {
            schema.remove("minimum");
        }
        if schema.remove(ELSEWHERE).is_some() {
            for name in ["properties", "required", "additionalProperties"] {
                schema.remove(name);
            }
        }
    });
}

/// Visits a schema and all inside it, the outer one first.
fn each_schema(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    visit(map);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(|it| each_schema(it, visit));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(name) {
            each_schema(inner, visit);
        }
    }
    for name in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(options)) = map.get_mut(name) {
            options.iter_mut().for_each(|it| each_schema(it, visit));
        }
    }
}
