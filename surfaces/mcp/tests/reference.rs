//! The page `docs/reference/tools.md`, made from the tools themselves. `UPDATE_EXPECT=1` writes it;
//! else it must be fresh.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use expect_test::expect_file;
use mcp::{Effect, Entry, TOOLSETS};
use serde_json::{Map, Value};

#[test]
fn the_page_of_tools_is_fresh() {
    let mut page = String::from(
        "# Tools\n\n\
         Written by a test from the tools themselves; do not edit it.\n\n\
         `milepost mcp` serves them; the setting `mcp.toolsets` says which.\n\
         A call that led to nothing answers with `error`, `error_code` and `refusal`: its `code`, \
         `message` and `hint`.\n\
         [Refusals](refusals.md) has every code.\n",
    );
    for toolset in TOOLSETS {
        writeln!(page, "\n## Toolset `{}`\n\nTo {}.", toolset.name, toolset.summary).unwrap();
        for tool in toolset.tools() {
            describe(&mut page, &tool);
        }
    }
    expect_file!["../../../docs/reference/tools.md"].assert_eq(&page);
}

fn describe(page: &mut String, tool: &Entry) {
    let does = match tool.hints.effect {
        Effect::Reads => "changes nothing (`readOnlyHint`)",
        Effect::Adds => "adds to what is there",
        Effect::Ends => "ends something, or decides in a person's name (`destructiveHint`)",
    };
    let again =
        if tool.hints.is_idempotent { "; the same call again changes nothing more" } else { "" };
    writeln!(page, "\n### `{}`\n\n{}\n", tool.name, tool.description).unwrap();
    writeln!(page, "*{}*: {does}{again}.\n", tool.title).unwrap();
    writeln!(page, "| parameter | type | |\n|---|---|---|").unwrap();
    rows(page, "", &tool.input_schema());
}

fn rows(page: &mut String, path: &str, schema: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for (name, property) in properties {
        let is_required = required.is_some_and(|it| it.iter().any(|it| it == name.as_str()));
        let must = if is_required { " (required)" } else { "" };
        let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = about.replace('|', "\\|").replace('\n', " ");
        writeln!(page, "| `{path}{name}` | {kind} | {about}{must} |").unwrap();
        rows(page, &format!("{path}{name}."), property.as_object().unwrap_or(&Map::new()));
    }
}
