//! How a graph session begins: what a context may say, what becomes of the inputs, and which session
//! a call without an id means.

use serde_json::{Value, json};

use crate::{
    fixtures::{TINY, yaml},
    stage::Stage,
};

#[test]
fn b16_a_workflow_is_started_by_its_name() {
    let stage = Stage::graph(&[]);
    stage.done("workflow_discovery", json!({"task_description": "Add: login"}));
    let said = stage.guide(json!({"action": "start", "context": "workflow: Tiny"}));
    said.has(&[
        "🚀 **Workflow Started:** Tiny",
        "**Task:** Add: login",
        "**Source:** Server-side discovery cache",
        "Do Add: login with n=0 b=false ${{ inputs.missing }}",
        "**📋 ACCEPTANCE CRITERIA:**",
        "c1: the first is done",
        "c2: the second is done for Add: login",
        "⚠️ APPROVAL REQUIRED",
        "Rest after Add: login",
    ]);
    let id = said.session();
    assert_eq!(id.len(), 36, "{id}");
    said.has(&[&id]);
    let record = stage.session(&id);
    let wanted = [
        ("session_id", json!(id)),
        ("workflow_name", json!("Tiny")),
        ("current_node", json!("Alpha")),
        ("status", json!("READY")),
        ("current_item", json!("Add: login")),
        ("inputs", json!({"task_description": "Add: login", "n": 0, "b": false})),
        ("items", json!([])),
        ("node_outputs", json!({})),
        ("node_history", json!([])),
    ];
    for (key, value) in wanted {
        assert_eq!(record[key], value, "{key}");
    }
}

#[test]
fn a_name_is_looked_up_on_disk_without_a_discovery() {
    let stage = Stage::graph(&[]);
    for name in ["Tiny", "tiny", "TINY", "  Tiny  "] {
        let context = format!("workflow: {name}\nwhatever follows");
        let said = stage.guide(json!({"action": "START", "context": context}));
        said.has(&["🚀 **Workflow Started:** Tiny"]);
    }
}

#[test]
fn a_name_by_another_case_must_mean_one_workflow() {
    let stage = Stage::graph(&[]);
    stage.project.write(".accordo/workflows/tiny2.yaml", &TINY.replace("name: Tiny", "name: tINY"));
    stage.guide(json!({"action": "start", "context": "workflow: Tiny"})).has(&["Started:** Tiny"]);
    stage.guide(json!({"action": "start", "context": "workflow: tINY"})).has(&["Started:** tINY"]);
    stage.unguided(json!({"action": "start", "context": "workflow: tiny"}));
}

#[test]
fn b23_a_workflow_may_be_given_with_the_call() {
    let stage = Stage::graph(&[]);
    let named = format!("workflow: Inline\nyaml:\n{TINY}");
    let said = stage.guide(json!({"action": "start", "context": named}));
    said.has(&["🚀 **Workflow Started:** Inline", "YAML fallback (custom workflow)"]);
    assert_eq!(stage.session(&said.session())["workflow_name"], "Inline");
    let said = stage.guide(json!({"action": "start", "context": TINY}));
    said.has(&["🚀 **Workflow Started:** Tiny", "YAML content (custom workflow)"]);
    // It may begin on the same line.
    let flow = "{name: x, description: d, workflow: {goal: g, root: a, tree: {a: {goal: only}}}}";
    let said =
        stage.guide(json!({"action": "start", "context": format!("workflow: Flow\nyaml: {flow}")}));
    said.has(&["🚀 **Workflow Started:** Flow"]);
}

#[test]
fn b23_what_is_wrong_with_a_workflow_is_said_with_node_and_target() {
    let stage = Stage::graph(&[]);
    let nowhere = yaml("Bad", "a", "    a: {goal: x, next_allowed_nodes: [gone]}\n");
    let said = stage.unguided(json!({"action": "start", "context": nowhere}));
    said.has(&["❌ **YAML Format Error:**", "Node 'a' references non-existent node 'gone'"]);
    let rootless = yaml("Bad", "gone", "    a: {goal: x}\n");
    let said = stage.unguided(json!({"action": "start", "context": rootless}));
    said.has(&["Root node 'gone' not found in workflow tree"]);
}

#[test]
fn other_contexts_are_refused_with_their_cause() {
    let stage = Stage::graph(&[]);
    let cases = [
        ("- a\n- b\n", "❌ **YAML Format Error:**"),
        ("description: no name\nworkflow: {tree: {a: {goal: x}}}\n", "Invalid YAML content"),
        ("name: X\ndescription: d\n", "Invalid YAML content"),
        ("workflow: Fine\nyaml:\n", "YAML content is missing"),
        ("workflow: Fine\nyaml: [1, 2", "❌ **YAML Format Error:**"),
        ("please start something", "Unrecognized context format"),
    ];
    for (context, cause) in cases {
        let said = stage.unguided(json!({"action": "start", "context": context}));
        said.has(&["❌ **YAML Format Error:**", cause]);
        assert_eq!(said.value["session_id"], Value::Null, "{context}");
    }
    assert_eq!(stage.session_files(), Vec::<String>::new());
}

#[test]
fn b24_a_name_that_is_not_there_brings_the_nearest() {
    let stage = Stage::graph(&[]);
    let said = stage.unguided(json!({"action": "start", "context": "workflow: Tinny"}));
    said.has(&["❌ **Workflow Not Found:** Tinny", "Tiny", "workflow_discovery"]);
    let said = stage.unguided(json!({"action": "start", "context": "workflow: Nope"}));
    said.has(&["❌ **Workflow Not Found:** Nope"]);
}

#[test]
fn without_a_session_an_agent_is_told_to_discover_and_start() {
    let stage = Stage::graph(&[]);
    for action in ["start", "Start"] {
        let said = stage.ask(json!({"action": action}));
        said.has(&["🔍 **Workflow Discovery Required**", "workflow_discovery"]);
        assert_eq!(said.value["session_id"], Value::Null);
    }
    for action in ["plan", "build", "revise", "next"] {
        let said = stage.unguided(json!({"action": action, "context": "choose: Beta"}));
        said.has(&["❌ **No Active Workflow Session**", action, "workflow_discovery"]);
    }
    stage.unguided(json!({})).has(&["❌ **No Active Workflow Session**"]);
}

#[test]
fn a_session_is_named_by_its_id_or_by_a_token_in_the_context() {
    let stage = Stage::graph(&[]);
    let (first, second) = (stage.begin("workflow: Tiny"), stage.begin("workflow: Other"));
    assert_ne!(first, second);
    let view = stage.guide(json!({"session_id": format!("  {first} ")}));
    assert_eq!(view.session(), first);
    let token = format!("where am I session_id:{second} please");
    assert_eq!(stage.guide(json!({"context": token})).session(), second);
    // The argument wins.
    let said = stage.guide(json!({"session_id": first, "context": token}));
    assert_eq!(said.session(), first);
    // What is not an id is not a token.
    let said = stage.unguided(json!({"context": "session_id:nonsense"}));
    said.code("AMBIGUOUS_SESSION");
}

#[test]
fn an_unknown_id_is_said_to_be_unknown() {
    let stage = Stage::graph(&[]);
    stage.begin("workflow: Tiny");
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    for id in [unknown, "nonsense"] {
        let said = stage.unguided(json!({"session_id": id}));
        said.has(&[&format!("❌ **Session Not Found:** {id}")]);
        let state = json!({"operation": "get", "session_id": id});
        stage.refused("workflow_state", state);
    }
}

#[test]
fn the_only_active_session_is_meant_when_none_is_named() {
    let stage = Stage::graph(&[]);
    let first = stage.begin("workflow: Tiny");
    assert_eq!(stage.guide(json!({"action": "next"})).session(), first);
    let second = stage.begin("workflow: Other");
    let said = stage.unguided(json!({"action": "next"}));
    said.code("AMBIGUOUS_SESSION");
    said.has(&[&first, &second, "Tiny", "Other", "Alpha", "look", "Add: login"]);
    // One that is over does not count.
    stage.update_session(&second, &json!({"status": "CANCELLED"}));
    assert_eq!(stage.guide(json!({"action": "next"})).session(), first);
}

#[test]
fn which_session_is_meant_is_a_setting() {
    let stage = Stage::graph(&[("session_fallback", "latest")]);
    stage.begin("workflow: Tiny");
    let second = stage.begin("workflow: Other");
    assert_eq!(stage.guide(json!({})).session(), second);
    // One that is under way comes before those that wait.
    let context = yaml(
        "Three",
        "a",
        "    a: {goal: x, next_allowed_nodes: [b]}\n    b: {goal: x, next_allowed_nodes: [c]}\n    \
         c: {goal: x}\n",
    );
    let running = stage.begin(&context);
    stage.go(&running, &json!({"choose": "b"}));
    stage.begin("workflow: Tiny");
    assert_eq!(stage.guide(json!({})).session(), running);
    let stage = Stage::graph(&[("session_fallback", "none")]);
    let id = stage.begin("workflow: Tiny");
    stage.unguided(json!({})).has(&["❌ **No Active Workflow Session**"]);
    assert_eq!(stage.guide(json!({"session_id": id})).session(), id);
}

#[test]
fn a_start_always_opens_a_new_session() {
    let stage = Stage::graph(&[]);
    let first = stage.begin("workflow: Tiny");
    let second = stage.begin("workflow: Tiny");
    assert_ne!(first, second);
    // Unless one is named: then it is looked at.
    let arguments = json!({"action": "start", "context": "workflow: Tiny", "session_id": first});
    let said = stage.guide(arguments);
    assert_eq!(said.session(), first);
    assert_eq!(stage.session_files().len(), 2);
}

#[test]
fn inputs_have_defaults_by_their_type() {
    let inputs = "\
inputs:
  s: {type: string, description: x}
  i: {type: integer, description: x}
  f: {type: number, description: x}
  b: {type: boolean, description: x}
  a: {type: array, description: x}
  o: {type: whatever, description: x}
  d: {type: string, description: x, default: given}
  t: {type: boolean, description: x, default: true}
  e: {type: string, description: x, default: null}
";
    let goal = "goal: '[${{ inputs.s }}|${{inputs.i}}|${{ inputs.b }}|${{ inputs.d }}|${{ inputs.t \
                }}|${{ inputs.e }}|${{ inputs.none }}]'";
    let text = yaml("Inputs", "a", &format!("    a:\n      {goal}\n"));
    let text = text.replace("workflow:\n", &format!("{inputs}workflow:\n"));
    let stage = Stage::graph(&[]);
    let said = stage.guide(json!({"action": "start", "context": text}));
    said.has(&["[|0|false|given|true||${{ inputs.none }}]"]);
    let inputs = stage.session(&said.session())["inputs"].clone();
    assert_eq!(inputs["a"], json!([]), "{inputs}");
    assert_eq!(inputs["f"].as_f64(), Some(0.0), "{inputs}");
    assert_eq!(inputs["o"], "", "{inputs}");
    assert_eq!(inputs["task_description"], "Add: login", "{inputs}");
}

#[test]
fn values_of_inputs_come_with_the_options() {
    let stage = Stage::graph(&[]);
    let options = json!({"inputs": {"n": 7, "b": true, "task_description": "not this"}});
    let said = stage.guide(json!({
        "action": "start", "context": "workflow: Tiny", "options": options.to_string(),
    }));
    said.has(&["Do Add: login with n=7 b=true"]);
    let text = TINY.replace("description: A number}", "description: A number, required: true}");
    let said = stage.guide(json!({"action": "start", "context": text}));
    let told = format!("{} {}", said.text, said.value["warnings"]);
    assert!(told.contains("`n`") || told.contains("'n'") || told.contains(" n "), "{told}");
}

#[test]
fn instructions_are_shown_after_the_goal() {
    let text = yaml("Told", "a", "    a: {goal: THE GOAL, instructions: THE WAY}\n");
    let stage = Stage::graph(&[]);
    let said = stage.guide(json!({"action": "start", "context": text}));
    let (goal, way) = (said.text.find("THE GOAL"), said.text.find("THE WAY"));
    assert!(goal.is_some() && goal < way, "{}", said.text);
}

#[test]
fn the_view_of_a_node_says_what_is_open_to_it() {
    let long = "g".repeat(500);
    let tree = format!("    a: {{goal: x, next_allowed_nodes: [b]}}\n    b: {{goal: {long}}}\n");
    let stage = Stage::graph(&[]);
    let said = stage.guide(json!({"action": "start", "context": yaml("View", "a", &tree)}));
    said.has(&["No specific criteria defined", &"g".repeat(200), "criteria_evidence", "choose"]);
    said.lacks(&[&"g".repeat(201), "⚠️ APPROVAL REQUIRED"]);
    let id = said.session();
    let said = stage.go(&id, &json!({"choose": "b"}));
    said.has(&["**🏁 Status:** This is a terminal node (workflow complete)"]);
}
