//! What a model is shown of the tools: names, descriptions and parameters, a file a toolset.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fmt::Write as _, path::Path};

use expect_test::expect_file;
use mcp::{Effect, Entry, TOOLSETS, Toolset};
use serde_json::{Map, Value, json};

/// Tools that only look, and whose names do not say so: another contract fixes them.
const QUESTIONS: [&str; 28] = [
    "analytics_estimate",
    "analytics_pipeline_summary",
    "analytics_repo_dashboard",
    "history_get_friction_map",
    "history_get_patterns",
    "history_search",
    "profile_get",
    "search_patterns",
    "__IMPORTANT",
    "get",
    "phase_stats",
    "resume_info",
    "validate_input",
    "validate_artifact",
    "pipeline_init",
    "preferences_get",
    "subscribe_events",
    "ast_find_definition",
    "ast_summary",
    "dependency_graph",
    "impact_scope",
    "check_project_config_guidance",
    "hello_workflow",
    "validate_workflow_files_guidance",
    "workflow_discovery",
    "workflow_creation_guidance",
    "workflow_semantic_search",
    "validate_workflow_file",
];

#[test]
fn each_toolset_is_as_written_down() {
    for toolset in TOOLSETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(toolset.name);
        expect_file![folder.join("tools_list.txt")].assert_eq(&list(toolset));
    }
}

#[test]
fn every_parameter_is_described_in_a_schema_that_is_closed_and_without_nulls() {
    for tool in tools() {
        check_closed(tool.name, &tool.input_schema());
    }
}

#[test]
fn every_tool_has_a_title_and_a_description_and_tells_the_truth_about_itself() {
    for tool in tools() {
        assert!(!tool.title.is_empty() && !tool.description.is_empty(), "{}", tool.name);
        let is_question = ["list_", "get_", "search_"].iter().any(|it| tool.name.starts_with(it))
            || QUESTIONS.contains(&tool.name);
        assert_eq!(tool.hints.effect == Effect::Reads, is_question, "{}", tool.name);
    }
}

#[test]
fn the_core_toolset_stays_small() {
    let core = TOOLSETS.iter().find(|it| it.name == "core").unwrap();
    assert!(core.tools().len() <= 12);
    // About 4.5 bytes a token, so that 1,900 tokens are never passed unnoticed.
    assert!(shown(core).len() < 8_550, "{} bytes", shown(core).len());
}

#[test]
fn every_output_schema_is_a_schema() {
    for tool in tools() {
        let Some(schema) = tool.output_schema().map(Value::Object) else { continue };
        assert_eq!(schema["type"], "object", "{}", tool.name);
        let reason = &schema["properties"]["error_code"];
        assert!(reason.is_object() || schema["properties"]["refusal"].is_object(), "{}", tool.name);
        jsonschema::validator_for(&schema).unwrap();
        assert_eq!(find_unconstrained(&schema), None, "{}", tool.name);
    }
}

/// Returns the name of a property of which a schema says nothing: clients warn of it.
fn find_unconstrained(schema: &Value) -> Option<String> {
    let says = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    let properties = schema["properties"].as_object();
    let mut properties = properties.into_iter().flatten();
    let silent = properties.find(|(_, it)| !says.iter().any(|key| it.get(key).is_some()));
    let inner = || match schema {
        Value::Object(fields) => fields.values().find_map(find_unconstrained),
        Value::Array(items) => items.iter().find_map(find_unconstrained),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    silent.map(|(name, _)| name.clone()).or_else(inner)
}

fn tools() -> impl Iterator<Item = Entry> {
    TOOLSETS.iter().flat_map(Toolset::tools)
}

fn list(toolset: &Toolset) -> String {
    let mut list = String::new();
    for tool in toolset.tools() {
        let hints = tool.hints;
        writeln!(list, "{} ({}): {:?}", tool.name, tool.title, hints.effect).unwrap();
        writeln!(list, "{}", tool.description).unwrap();
        writeln!(list, "{:#}\n", Value::Object(tool.input_schema())).unwrap();
    }
    writeln!(list, "{} bytes", shown(toolset).len()).unwrap();
    list
}

/// The bytes that a model is shown.
fn shown(toolset: &Toolset) -> String {
    let tool = |it: &Entry| json!({ "name": it.name, "description": it.description, "inputSchema": it.input_schema() });
    Value::Array(toolset.tools().iter().map(tool).collect()).to_string()
}

fn check_closed(path: &str, schema: &Map<String, Value>) {
    assert_ne!(schema.get("type"), Some(&json!("null")), "{path}");
    assert!(!schema.get("type").is_some_and(Value::is_array), "{path} has several types");
    assert!(!schema.contains_key("anyOf") && !schema.contains_key("$ref"), "{path}");
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)), "{path} is open");
    for (name, property) in properties {
        let path = format!("{path}.{name}");
        let property = property.as_object().unwrap();
        assert!(property.contains_key("description"), "{path} is not described");
        check_closed(&path, property);
    }
}
