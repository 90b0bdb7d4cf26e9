//! JSON Schemas for editors, made from the page of keys. Each built-in workflow and each example fits.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

use super::{MAPS, Row, rows};
use crate::parse::{
    Problems, front_matter,
    graph::read::{INPUT_KEYS, KEYS, STRUCTURE_KEYS, VERTEX_KEYS},
    yaml::{self, Kind},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What the page calls a kind of value, and what fits it.
fn of_word(word: &str) -> Option<Value> {
    let refer = |name: &str| Some(json!({ "$ref": format!("#/$defs/{name}") }));
    match word {
        "text"
        | "template"
        | "expression"
        | "condition"
        | "pattern"
        | "duration"
        | "path"
        | "variable"
        | "step"
        | "file name"
        | "branch"
        | "a name"
        | "text or number"
        | "step; a template"
        | "name of a remote; a template" => refer("text"),
        "number" => Some(json!({ "type": "integer", "minimum": 1 })),
        "true or false" => Some(json!({ "type": "boolean" })),
        "true" => Some(json!({ "const": true })),
        "JSON Schema" => Some(json!({ "type": ["object", "boolean"] })),
        "list" => Some(json!({ "type": "array" })),
        "actions" => refer("actions"),
        "list of paths" | "list of texts" | "list of verdicts" | "list of arguments"
        | "list of ids" | "path or list" | "template or list" => refer("texts"),
        "map of texts" | "map of expressions" => Some(texts_by_name()),
        "map of numbers" => Some(by_name(&json!({ "type": "integer", "minimum": 1 }))),
        "map of entries" => Some(by_name(&json!({ "$ref": "#/$defs/entry" }))),
        "map of lists of steps" => Some(by_name(
            &json!({ "type": ["array", "null"], "items": { "$ref": "#/$defs/text" } }),
        )),
        _ => words(word),
    }
}

/// Returns the closed list that `` `a`, `b` or `c` `` is.
fn words(text: &str) -> Option<Value> {
    let pieces: Vec<&str> = text.split('`').collect();
    let between = pieces.iter().step_by(2);
    let is_closed = between.clone().all(|it| matches!(it.trim(), "" | "," | "or" | ", or"));
    let words: Vec<Value> = pieces.iter().skip(1).step_by(2).map(|it| plain(it)).collect();
    (is_closed && !words.is_empty()).then(|| json!({ "enum": words }))
}

fn plain(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| word.into())
}

fn by_name(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn texts_by_name() -> Value {
    by_name(&json!({ "$ref": "#/$defs/text" }))
}

fn or_list(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

/// What fits a key whose value is a structure of its own.
fn of_structure(section: &str, key: &str) -> Option<Value> {
    let text = || json!({ "$ref": "#/$defs/text" });
    let texts = || json!({ "$ref": "#/$defs/texts" });
    let refer = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let any = |all: Vec<Value>| json!({ "anyOf": all });
    let to_text = texts_by_name;
    let spent =
        |words: &str| json!({ "type": "string", "pattern": format!("^({words}|goto .+)$") });
    Some(match (section, key) {
        ("`index.md`", "vars") => json!({ "type": "object" }),
        ("`index.md`", "settings") => json!({ "type": "object" }),
        ("`index.md`", "limits") => refer("limits"),
        ("`index.md`", "ends") => refer("ends"),
        ("`index.md`", "on") => refer("on_index"),
        ("`ends`", "keep_key") => or_list(&json!({ "enum": ["completed", "failed", "cancelled"] })),
        ("Entries of `on`", "else" | "consent") => any(vec![text(), to_text()]),
        ("Actions", "rotate") => any(vec![
            json!({ "enum": ["findings", "whole"] }),
            json!({ "type": "object", "properties": { "findings": text() } }),
        ]),
        ("Actions", "insert") => by_name(&to_text()),
        ("Actions", "rename_branch") => to_text(),
        ("Actions", "checkout") => any(vec![text(), to_text()]),
        ("Actions", "commit") => refer("commit"),
        ("Actions", "publish") => refer("publish"),
        ("A step", "needs") => or_list(&any(vec![text(), refer("need")])),
        ("A step", "produces") => or_list(&any(vec![text(), refer("product")])),
        ("A step", "checks") => json!({ "type": "array", "items": texts() }),
        ("A step", "gate") => any(vec![json!({ "type": "boolean" }), refer("gate")]),
        ("A step", "review") => refer("review"),
        ("A step", "attempts") => {
            any(vec![json!({ "type": "integer", "minimum": 1 }), by_name(&spent("fail|warn|ask"))])
        }
        ("A step", "next") => or_list(&any(vec![text(), refer("successor")])),
        ("A step", "on") => refer("on_step"),
        ("A step", "each") => refer("each"),
        ("`produces`", "words") => any(vec![
            json!({ "type": "integer", "minimum": 1 }),
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2 }),
        ]),
        ("`produces`", "matches") => or_list(&any(vec![text(), to_text()])),
        ("`produces`", "covers") => {
            json!({ "type": "array", "items": text(), "minItems": 2, "maxItems": 2 })
        }
        ("`gate`", "options") => {
            by_name(&json!({ "type": "string", "pattern": "^(approve|skip|fail|cancel|back .+)$" }))
        }
        ("`review`", "verdicts") => json!({
            "type": "object",
            "properties": { "*": { "enum": ["ask", "refuse", "approve", "revise"] } },
            "additionalProperties": { "enum": ["approve", "revise"] },
        }),
        ("`review`", "limits") => by_name(&any(vec![
            spent("approve|ask|fail"),
            json!({ "type": "array", "prefixItems": [spent("approve|ask|fail")] }),
        ])),
        ("`next`", "to") => text(),
        ("`each`", "otherwise") => any(vec![text(), refer("parts")]),
        ("`each`", "list") => any(vec![text(), refer("parts")]),
        _ => return None,
    })
}

/// Returns the schema of the map that a section of the page describes.
fn of_section(rows: &[Row], section: &str) -> Value {
    let mut properties = Map::new();
    for row in rows.iter().filter(|it| it.section == section) {
        let found = of_structure(section, row.key).or_else(|| of_word(&row.value));
        let mut schema =
            found.unwrap_or_else(|| panic!("{section}: {}: no schema for {}", row.key, row.value));
        schema["description"] = row.meaning.clone().into();
        properties.insert(row.key.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The names that schemas have for sections of the page.
const NAMED: [(&str, &str); 15] = [
    ("limits", "`limits`"),
    ("ends", "`ends`"),
    ("on_index", "`on` of `index.md`"),
    ("entry", "Entries of `on`"),
    ("action", "Actions"),
    ("commit", "`commit`"),
    ("publish", "`publish`"),
    ("on_step", "`on` of a step"),
    ("need", "`needs`"),
    ("product", "`produces`"),
    ("gate", "`gate`"),
    ("review", "`review`"),
    ("successor", "`next`"),
    ("each", "`each`"),
    ("part", "Parts of `each.list`"),
];

fn of_front_matter(title: &str, section: &str) -> Value {
    let rows = rows();
    let mut all = Map::new();
    all.insert("text".into(), json!({ "type": ["string", "boolean", "number"] }));
    all.insert("texts".into(), or_list(&json!({ "$ref": "#/$defs/text" })));
    all.insert("actions".into(), or_list(&json!({ "$ref": "#/$defs/action" })));
    let part = json!({ "anyOf": [{ "$ref": "#/$defs/text" }, { "$ref": "#/$defs/part" }] });
    all.insert("parts".into(), json!({ "type": "array", "items": part, "minItems": 1 }));
    for (name, section) in NAMED {
        all.insert(name.to_owned(), of_section(&rows, section));
    }
    // An entry may contain its only action in place of `do`.
    let action = all["action"]["properties"].clone();
    let own = all["entry"]["properties"].as_object_mut().unwrap();
    for (key, schema) in action.as_object().unwrap() {
        own.entry(key.clone()).or_insert_with(|| schema.clone());
    }
    let mut schema = of_section(&rows, section);
    let used = find_used(&schema, &all);
    all.retain(|name, _| used.contains(name));
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = title.into();
    schema["$defs"] = all.into();
    schema
}

/// Returns the definitions that a schema refers to, by itself or by others.
fn find_used(schema: &Value, all: &Map<String, Value>) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    let mut open = vec![schema.to_string()];
    while let Some(text) = open.pop() {
        for name in text.split("#/$defs/").skip(1).filter_map(|it| it.split('"').next()) {
            if !used.iter().any(|it| it == name) {
                used.push(name.to_owned());
                open.push(all[name].to_string());
            }
        }
    }
    used
}

fn of_graph() -> Value {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let texts =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    let node = json!({
        "type": "object",
        "properties": {
            "goal": text("what to do"),
            "instructions": text("how to do it, shown after the goal"),
            "acceptance_criteria": {
                "type": "object", "additionalProperties": { "type": "string" },
                "description": "keys and texts: what a report must give evidence for",
            },
            "next_allowed_nodes": texts("the nodes that may follow; without any, the run ends here"),
            "next_allowed_workflows": texts("workflows that the agent may run from here"),
            "needs_approval": {
                "type": "boolean", "description": "a person must approve before the run leaves the node",
            },
            "workflow": text("another file instead of a goal; its nodes replace this one"),
        },
        "anyOf": [{ "required": ["goal"] }, { "required": ["workflow"] }],
    });
    let input = json!({
        "type": "object",
        "properties": {
            "type": text("`string`, `boolean`, `integer`, `number` or `array`"),
            "description": text("what it is for"),
            "required": { "type": "boolean", "description": "default: true" },
            "default": { "description": "its value if none is given" },
        },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A graph of Milepost",
        "type": "object",
        "properties": {
            "name": text("the name to start it by"),
            "description": text("what it is for"),
            "inputs": { "type": "object", "additionalProperties": input },
            "workflow": {
                "type": "object",
                "properties": {
                    "goal": text("what a run is to achieve"),
                    "root": text("the node that a run starts with"),
                    "tree": { "type": "object", "additionalProperties": node },
                },
                "required": ["goal", "root", "tree"],
            },
            "execution": { "description": "not used" },
        },
        "required": ["workflow"],
    })
}

fn write(name: &str, schema: &Value) {
    let path = Path::new(ROOT).join(format!("docs/reference/workflow-{name}.schema.json"));
    let text = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    expect_test::expect_file![path].assert_eq(&text);
}

fn front(text: &str, kind: Kind) -> Value {
    let mut problems = Problems::default();
    yaml::parse(text, "x", kind, &mut problems).map_or_else(|| json!({}), |it| it.to_json())
}

#[track_caller]
fn assert_fits(schema: &Value, value: &Value, what: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

#[test]
fn the_schemas_of_front_matter_fit_every_example_and_every_built_in_workflow() {
    let index = of_front_matter("The front matter of a workflow's index.md", "`index.md`");
    let step = of_front_matter("The front matter of a step", "A step");
    write("index", &index);
    write("step", &step);
    for row in rows() {
        let is_index = MAPS.iter().any(|(it, _, is_index)| *it == row.section && *is_index);
        let schema = if is_index { &index } else { &step };
        assert_fits(schema, &front(&row.example, Kind::FrontMatter), &row.example);
    }
    let mut count = 0;
    for folder in fs::read_dir(Path::new(ROOT).join("workflows")).unwrap() {
        let folder = folder.unwrap().path();
        let steps = fs::read_dir(folder.join("steps")).into_iter().flatten();
        let files = steps.map(|it| (it.unwrap().path(), &step));
        for (path, schema) in files.chain([(folder.join("index.md"), &index)]) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            if let (Some(yaml), _) = front_matter::split(&text) {
                let value = front(&yaml, Kind::FrontMatter);
                assert_fits(schema, &value, &path.display().to_string());
                count += 1;
            }
        }
    }
    assert!(100 < count, "only {count} files were looked at");
}

#[test]
fn the_schema_of_graphs_has_the_keys_of_the_reader_and_fits_every_built_in_graph() {
    let schema = of_graph();
    write("graph", &schema);
    let keys = |pointer: &str| -> Vec<String> {
        schema.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect()
    };
    let sorted = |keys: &[&str]| {
        let mut keys: Vec<String> = keys.iter().map(|it| (*it).to_owned()).collect();
        keys.sort();
        keys
    };
    let sorted_keys = |pointer: &str| {
        let mut keys = keys(pointer);
        keys.sort();
        keys
    };
    assert_eq!(sorted_keys("/properties"), sorted(&KEYS));
    assert_eq!(sorted_keys("/properties/workflow/properties"), sorted(&STRUCTURE_KEYS));
    let input = "/properties/inputs/additionalProperties/properties";
    assert_eq!(sorted_keys(input), sorted(&INPUT_KEYS));
    let node = "/properties/workflow/properties/tree/additionalProperties/properties";
    assert_eq!(sorted_keys(node), sorted(&VERTEX_KEYS));
    let mut count = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("workflows")).unwrap() {
        let path = entry.unwrap().path();
        let file = if path.is_dir() { path.join("graph.yaml") } else { path };
        if file.extension().is_some_and(|it| it == "yaml" || it == "yml") && file.is_file() {
            let value = front(&fs::read_to_string(&file).unwrap(), Kind::Graph);
            assert_fits(&schema, &value, &file.display().to_string());
            count += 1;
        }
    }
    assert!(5 < count, "only {count} graphs were looked at");
}

#[test]
fn the_schemas_refuse_what_the_readers_refuse() {
    let step = of_front_matter("", "A step");
    let index = of_front_matter("", "`index.md`");
    for (schema, wrong) in [
        (&step, "nxt: [A]"),
        (&step, "evidence: stricter"),
        (&step, "produces: [{pth: a.md}]"),
        (&step, "gate: {options: {yes: agree}}"),
        (&step, "attempts: {3: stop}"),
        (&step, "drops: a.md"),
        (&index, "language: 9"),
        (&index, "decider: nobody"),
        (&index, "on: {call: {x: {goto: A, whn: 'true'}}}"),
    ] {
        let value = front(wrong, Kind::FrontMatter);
        assert!(!jsonschema::is_valid(schema, &value), "{wrong}");
    }
}
