//! Workflows in YAML: what is checked, what is found in a folder, and what an agent is told that
//! writes one itself.

use serde_json::{Value, json};

use crate::{
    fixtures::{LOOP, TINY, yaml},
    said::Said,
    stage::Stage,
};

fn start(stage: &Stage, context: &str) -> Said {
    stage.ask(json!({"action": "start", "context": context}))
}

fn discover(stage: &Stage, folder: &str) -> Said {
    let arguments = json!({"task_description": "Add: login", "workflows_dir": folder});
    stage.read("workflow_discovery", arguments)
}

#[test]
fn b15_a_folder_is_read_whole_and_what_is_broken_is_said() {
    let stage = Stage::new();
    stage.project.write("flows/tiny.yaml", TINY);
    stage.project.write("flows/loop.yaml", LOOP);
    stage.project.write("flows/short.yml", &yaml("Short", "a", "    a: {goal: x}\n"));
    stage.project.write("flows/broken.yaml", "name: [unclosed\n");
    stage.project.write("flows/readme.md", "not one\n");
    let said = discover(&stage, "flows");
    let value = &said.value;
    assert_eq!(value["status"], "workflows_discovered", "{value:#}");
    assert_eq!(value["task_description"], "Add: login");
    assert_eq!(value["total_workflows"], 3, "{value:#}");
    let found = value["available_workflows"].as_object().unwrap();
    let names: Vec<&String> = found.keys().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let tiny = json!({
        "name": "Tiny", "description": "Two steps.", "goal": "Show how it goes.",
        "root_node": "Alpha", "total_nodes": 2, "node_names": ["Alpha", "Beta"],
    });
    assert_eq!(found["Tiny"], tiny);
    assert_eq!(found["Loop"]["node_names"], json!(["write", "check", "Done"]));
    assert_eq!(found["Short"]["total_nodes"], 1);
    let [invalid] = value["invalid"].as_array().unwrap().as_slice() else { panic!("{value:#}") };
    assert!(invalid["file"].as_str().unwrap().ends_with("broken.yaml"), "{invalid}");
    assert!(!invalid["error"].as_str().unwrap().is_empty(), "{invalid}");
    for key in ["title", "description", "instructions"] {
        assert!(!value["message"][key].is_null(), "{value:#}");
    }
    let guidance = &value["selection_guidance"];
    assert!(guidance["criteria"].is_array() && guidance["start_command"].is_string(), "{guidance}");
    assert!(guidance["session_tracking"].is_object() && guidance["note"].is_string(), "{guidance}");
    assert!(value["fallback"]["option"].is_string() && value["fallback"]["command"].is_string());
    // What was found can be started by its name.
    start(&stage, "workflow: Short").has(&["🚀 **Workflow Started:** Short"]);
}

#[test]
fn a_folder_without_workflows_says_so() {
    let stage = Stage::new();
    stage.project.write("flows/readme.md", "nothing here\n");
    for folder in ["flows", "not_there"] {
        let said = discover(&stage, folder);
        let value = &said.value;
        assert_eq!(value["status"], "no_workflows_found", "{value:#}");
        assert!(value["message"]["suggestions"].is_array(), "{value:#}");
        assert!(value["fallback"].is_object(), "{value:#}");
    }
}

#[test]
fn a_folder_outside_the_project_is_not_read() {
    let stage = Stage::new();
    for folder in ["/etc", "..", "../home"] {
        let arguments = json!({"task_description": "x", "workflows_dir": folder});
        let said = stage.refused("workflow_discovery", arguments);
        assert_eq!(said.value["status"], "discovery_error", "{:#}", said.value);
        assert!(said.value["error"].is_string(), "{:#}", said.value);
    }
}

#[test]
fn two_files_with_one_name_are_both_told() {
    let stage = Stage::new();
    stage.project.write("flows/a.yaml", TINY);
    stage.project.write("flows/b.yml", TINY);
    stage.project.write("flows/c.yaml", LOOP);
    let said = discover(&stage, "flows");
    assert_eq!(said.value["total_workflows"], 1, "{:#}", said.value);
    assert_eq!(said.value["invalid"].as_array().unwrap().len(), 2, "{:#}", said.value);
    assert!(said.value["invalid"].to_string().contains("Tiny"), "{:#}", said.value);
}

#[test]
fn what_is_known_is_what_the_last_look_found() {
    let stage = Stage::new();
    stage.project.write(".accordo/workflows/loop.yaml", LOOP);
    let look = json!({"task_description": "x"});
    stage.done("workflow_discovery", look.clone());
    start(&stage, "workflow: Loop").has(&["🚀"]);
    let changed = LOOP.replace("Write it.", "Write it again.");
    stage.project.write(".accordo/workflows/loop.yaml", &changed);
    stage.done("workflow_discovery", look.clone());
    start(&stage, "workflow: Loop").has(&["Write it again."]);
    std::fs::remove_file(stage.project.path(".accordo/workflows/loop.yaml")).unwrap();
    stage.done("workflow_discovery", look);
    start(&stage, "workflow: Loop").has(&["❌ **Workflow Not Found:** Loop"]);
}

#[test]
fn the_checks_of_a_definition_say_what_is_wrong() {
    let head = "name: Bad\ndescription: d\n";
    let cases = [
        (format!("{head}workflow: {{goal: g, root: a, tree: {{}}}}\n"), "tree"),
        (format!("{head}workflow: {{goal: g, tree: {{a: {{goal: x}}}}}}\n"), "root"),
        (format!("{head}workflow: {{root: a, tree: {{a: {{goal: x}}}}}}\n"), "goal"),
        (format!("{head}workflow: {{goal: g, root: a, tree: {{a: {{}}}}}}\n"), "goal"),
        (format!("{head}workflow: {{goal: g, root: a, tree: {{a: [1]}}}}\n"), "a"),
        (format!("{head}workflow: {{goal: [1], root: a, tree: {{a: {{goal: x}}}}}}\n"), "goal"),
        (
            "name: Bad\nworkflow: {goal: g, root: a, tree: {a: {goal: x}}}\n".to_owned(),
            "description",
        ),
        (yaml("Bad", "a", "    a: {goal: x, next_allowed_nodes: b}\n"), "next_allowed_nodes"),
        (yaml("Bad", "a", "    a: {goal: x, acceptance_criteria: [b]}\n"), "acceptance_criteria"),
        (yaml("Bad", "a", "    a: {goal: x, needs_approval: perhaps}\n"), "needs_approval"),
        (yaml("Bad", "z", "    a: {goal: x}\n"), "Root node 'z' not found in workflow tree"),
        (
            yaml("Bad", "a", "    a: {goal: x, next_allowed_nodes: [q]}\n"),
            "Node 'a' references non-existent node 'q'",
        ),
        (yaml("Bad", "a", "    a: {goal: x}\n    a: {goal: y}\n"), "a"),
    ];
    let stage = Stage::graph(&[]);
    for (text, part) in cases {
        let said = stage.unguided(json!({"action": "start", "context": text}));
        said.has(&["❌ **YAML Format Error:**", part]);
        stage.project.write("flows/bad.yaml", &text);
        let found = discover(&stage, "flows");
        let invalid = found.value["invalid"].to_string();
        assert!(invalid.contains(part), "{text}: {invalid}");
    }
}

#[test]
fn keys_that_are_not_known_are_warned_of_with_the_nearest() {
    let stage = Stage::graph(&[]);
    let text = yaml("Typo", "a", "    a: {goal: x, next_alowed_nodes: [], children: []}\n");
    let said = start(&stage, &text);
    assert!(!said.is_error, "{}", said.text);
    let told = format!("{} {}", said.text, said.value["warnings"]);
    assert!(told.contains("next_alowed_nodes") && told.contains("next_allowed_nodes"), "{told}");
    assert!(told.contains("children"), "{told}");
    let old = format!("{LOOP}execution: {{max_depth: 5, allow_backtracking: true}}\n");
    let said = start(&stage, &old);
    assert_eq!(said.warnings().len(), 0, "{:#}", said.value);
    assert!(!said.is_error, "{}", said.text);
}

#[test]
fn criteria_without_text_are_warned_of() {
    let stage = Stage::graph(&[]);
    let said =
        start(&stage, &yaml("Bare", "a", "    a: {goal: x, acceptance_criteria: {c: ''}}\n"));
    assert!(!said.is_error, "{}", said.text);
    let told = format!("{} {}", said.text, said.value["warnings"]);
    assert!(told.contains("`c`") || told.contains("'c'"), "{told}");
}

#[test]
fn a_definition_is_plain_data_of_moderate_size() {
    let stage = Stage::graph(&[]);
    let many = |count: usize| {
        let node = |it: usize| {
            let next = if it + 1 < count { format!("[n{}]", it + 1) } else { "[]".to_owned() };
            format!("    n{it}: {{goal: x, next_allowed_nodes: {next}}}\n")
        };
        yaml("Many", "n0", &(0..count).map(node).collect::<Vec<_>>().concat())
    };
    assert!(!start(&stage, &many(500)).is_error, "500 nodes are not too many");
    assert!(start(&stage, &many(501)).is_error);
    let long = yaml("Long", "a", &format!("    a: {{goal: {}}}\n", "x".repeat(256 * 1024)));
    start(&stage, &long).code("TOO_LARGE");
    let bomb: String = ('b'..='m')
        .map(|it| {
            let before = char::from_u32(u32::from(it) - 1).unwrap();
            format!("{it}: &{it} [{}]\n", vec![format!("*{before}"); 10].join(", "))
        })
        .collect::<Vec<_>>()
        .concat();
    let bomb = format!("a: &a [x]\n{bomb}{}", yaml("Bomb", "a", "    a: {goal: x}\n"));
    let nested = format!("deep: {}{}\n{LOOP}", "[".repeat(5000), "]".repeat(5000));
    let tagged = yaml("Tag", "a", "    a: {goal: !!python/object:os.system x}\n");
    for text in [bomb, nested, tagged] {
        let said = start(&stage, &text);
        assert!(said.is_error, "{}", said.text);
    }
    // The server is none the worse for it.
    start(&stage, LOOP).has(&["🚀"]);
}

#[test]
fn a_workflow_can_be_made_of_others() {
    let stage = Stage::new();
    let outer = "\
name: Outer
description: Of parts.
workflow:
  goal: All of it.
  root: before
  tree:
    before: {goal: Begin., next_allowed_nodes: [part]}
    part: {workflow: ./inner.yaml, next_allowed_nodes: [after]}
    after: {goal: Finish.}
";
    let inner = yaml(
        "Inner",
        "one",
        "    one: {goal: First., next_allowed_nodes: [two]}\n    two: {goal: Second.}\n",
    );
    stage.project.write(".accordo/workflows/outer.yaml", outer);
    stage.project.write(".accordo/workflows/inner.yaml", &inner);
    let id = stage.begin("workflow: Outer");
    for node in ["part_one", "part_two", "after"] {
        stage.go(&id, &json!({"choose": node}));
        assert_eq!(stage.session(&id)["current_node"], node);
    }
    stage.is_at(&id, "after", "COMPLETED");
    for (name, part) in [
        ("both", "{goal: x, workflow: ./inner.yaml}"),
        ("neither", "{next_allowed_nodes: []}"),
        ("criteria", "{workflow: ./inner.yaml, acceptance_criteria: {c: d}}"),
        ("itself", "{workflow: ./bad.yaml}"),
        ("outside", "{workflow: ../../x.yaml}"),
        ("missing", "{workflow: ./missing.yaml}"),
    ] {
        let text = yaml("Parts", "part", &format!("    part: {part}\n"));
        stage.project.write(".accordo/workflows/bad.yaml", &text);
        let said = start(&stage, "workflow: Parts");
        assert!(said.is_error, "{name}: {}", said.text);
    }
}

#[test]
fn an_agent_is_told_how_to_write_a_workflow() {
    let stage = Stage::graph(&[]);
    for (level, nodes) in [("simple", 3), ("medium", 4), ("complex", 6)] {
        let arguments = json!({"task_description": "Add: login", "complexity_level": level});
        let said = stage.read("workflow_creation_guidance", arguments);
        let value = &said.value;
        assert_eq!(value["status"], "workflow_creation_guidance");
        assert_eq!(value["task_description"], "Add: login");
        assert_eq!(
            (&value["workflow_type"], &value["complexity_level"]),
            (&json!("general"), &json!(level))
        );
        for key in [
            "title",
            "message",
            "workflow_requirements",
            "yaml_structure_specification",
            "goal_formatting_guidelines",
            "acceptance_criteria_structure",
        ] {
            assert_ne!(value["guidance"][key], Value::Null, "{key}");
        }
        for key in ["creation_instructions", "next_action", "components"] {
            assert_ne!(value[key], Value::Null, "{key}");
        }
        said.lacks(&["auto_transition", "require_approval"]);
        let example = value["complete_example"]["yaml_content"].as_str().unwrap();
        stage.project.write("flows/example.yaml", example);
        let found = discover(&stage, "flows");
        assert_eq!(found.value["invalid"].as_array().map_or(0, Vec::len), 0, "{:#}", found.value);
        let found = found.value["available_workflows"].as_object().unwrap();
        let [example] = found.values().collect::<Vec<_>>()[..] else { panic!("{found:?}") };
        assert_eq!(example["total_nodes"], nodes, "{level}");
    }
    let said = stage.read("workflow_creation_guidance", json!({"task_description": "x"}));
    let example = said.value["complete_example"]["yaml_content"].as_str().unwrap().to_owned();
    for node in ["analyze:", "plan:", "execute:", "validate:"] {
        assert!(example.contains(node), "{example}");
    }
    start(&stage, &example).has(&["🚀 **Workflow Started:**"]);
}
