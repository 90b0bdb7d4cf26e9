//! What must be refused, whatever it costs: each leaves every file as it was.

use serde_json::{Value, json};

use crate::{
    calls::updating,
    file_text::{file_text, row},
    fixtures::{
        ANALYZE, BLUEPRINT, CHANGELOG, COMPLETE, CONSTRUCT, ERROR, ESCALATE, FIX, INIT, PHASES,
        REVISE, UPDATE, VALIDATE, yaml,
    },
    stage::Stage,
};

const LOGIN: &str = "Add: login";

fn big() -> String {
    "x".repeat(10 * 1024 * 1024)
}

fn task(more: &Value) -> Value {
    let mut all = json!({"task_description": LOGIN});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

#[test]
fn a_phase_out_of_order() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let summary = task(&json!({"requirements_summary": "s"}));
    let steps: [(&str, Value); 4] = [
        (BLUEPRINT, summary),
        (CONSTRUCT, task(&json!({"user_approval": true}))),
        (VALIDATE, task(&json!({}))),
        (COMPLETE, task(&json!({}))),
    ];
    for (tool, arguments) in steps {
        let said = stage.refused(tool, arguments);
        said.code("ILLEGAL_TRANSITION").has(&[ANALYZE]);
        assert_eq!(said.value["legal"][0].as_str().map(str::is_empty), Some(false));
    }
    stage.analyze(LOGIN);
}

#[test]
fn construction_without_an_approved_plan() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.come_to_approval(LOGIN);
    stage.refused(CONSTRUCT, task(&json!({}))).code("ILLEGAL_TRANSITION");
    stage.refused(VALIDATE, task(&json!({}))).code("ILLEGAL_TRANSITION");
}

#[test]
fn an_item_that_does_not_exist() {
    let stage = Stage::with_state(&file_text("ANALYZE", "RUNNING").text());
    let no_item = updating("ANALYZE", "RUNNING", json!({"current_item": "Add: nothing"}));
    stage.refused(UPDATE, no_item).has(&["Add: nothing"]);
    // Nor can one be completed: the one that is named is not there, and the one at hand is done.
    let mut state = file_text("VALIDATE", "RUNNING");
    state.items[0] = row(1, LOGIN, "completed");
    let stage = Stage::with_state(&state.text());
    stage.refused(COMPLETE, json!({"task_description": "Add: nothing"})).has(&["Add: nothing"]);
    // With warnings only it is done, and said.
    let stage = Stage::set_with_state(&[("transitions", "warn")], &state.text());
    let said = stage.done(COMPLETE, json!({"task_description": "Add: nothing"}));
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    assert_eq!(stage.state().statuses(), ["completed", "pending"]);
}

#[test]
fn completing_names_an_item_or_else_means_the_one_at_hand() {
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete("words that are no row", None);
    assert_eq!(stage.state().items[0], row(1, LOGIN, "completed"));
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete("Add: logout", None);
    assert_eq!(stage.state().statuses(), ["pending", "completed"]);
}

#[test]
fn evidence_that_is_empty() {
    let cases = [
        ("ANALYZE", BLUEPRINT, "requirements_summary"),
        ("BLUEPRINT", REVISE, "feedback"),
        ("CONSTRUCT", ERROR, "error_details"),
        ("VALIDATE", FIX, "issues"),
        ("CONSTRUCT", ESCALATE, "error_details"),
    ];
    for (phase, tool, parameter) in cases {
        let stage = Stage::with_state(&file_text(phase, "RUNNING").text());
        for empty in ["", "  \n\t "] {
            let said = stage.refused(tool, task(&json!({parameter: empty})));
            let told = said.value["refusal"].to_string();
            assert!(told.contains(parameter), "{told}");
        }
    }
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    for empty in ["", "   "] {
        let choice = json!({
            "choose": "Beta", "user_approval": true,
            "criteria_evidence": {"c1": "done", "c2": empty},
        });
        let before = stage.session(&id);
        let said = stage.choose(&id, &choice);
        assert!(said.is_error, "{}", said.text);
        said.has(&["c2"]);
        stage.is_at(&id, "Alpha", "READY");
        assert_eq!(stage.session(&id)["node_outputs"], before["node_outputs"]);
    }
}

#[test]
fn a_graph_with_a_node_that_cannot_be_reached_or_a_cycle_without_a_way_out() {
    let lost = yaml(
        "Lost",
        "a",
        "    a: {goal: x, next_allowed_nodes: [b]}\n    b: {goal: x}\n    island: {goal: x}\n",
    );
    let cycle = yaml(
        "Round",
        "a",
        "    a: {goal: x, next_allowed_nodes: [merry]}\n    merry: {goal: x, next_allowed_nodes: \
         [a]}\n",
    );
    // A way out for some is none for those who turned the other way.
    let trap = yaml(
        "Trap",
        "a",
        "    a: {goal: x, next_allowed_nodes: [out, pit]}\n    out: {goal: x}\n    pit: {goal: x, \
         next_allowed_nodes: [pit]}\n",
    );
    for (text, node) in [(lost, "island"), (cycle, "merry"), (trap, "pit")] {
        let stage = Stage::graph(&[]);
        let said = stage.unguided(json!({"action": "start", "context": text}));
        said.has(&[node]);
        // From a file it cannot be started either, and discovery says why.
        stage.project.write(".accordo/workflows/bad.yaml", &text);
        let found = stage.read("workflow_discovery", json!({"task_description": LOGIN}));
        let invalid = found.value["invalid"].as_array().unwrap();
        assert_eq!(invalid.len(), 1, "{:#}", found.value);
        assert!(invalid[0]["error"].as_str().unwrap().contains(node), "{invalid:?}");
    }
}

#[test]
fn a_name_that_leads_out_of_the_project() {
    let stage = Stage::graph(&[]);
    stage.init(LOGIN);
    for name in ["../x", "..", "a/../../x", "/etc/passwd", "x\0y"] {
        stage.refused(ANALYZE, task(&json!({"project_config_path": name})));
        stage.refused(CHANGELOG, task(&json!({"project_config_path": name, "summary": "s"})));
        let found = json!({"task_description": LOGIN, "workflows_dir": name});
        stage.refused("workflow_discovery", found);
        let context = format!("workflow: {name}");
        stage.unguided(json!({"action": "start", "context": context}));
        stage.unguided(json!({"session_id": name})).has(&["Session Not Found"]);
        let state = json!({"operation": "reset", "session_id": name});
        stage.refused("workflow_state", state);
    }
}

#[test]
fn a_name_in_a_workflow_that_leads_out_of_the_project() {
    let stage = Stage::graph(&[]);
    for name in ["../x", "..", "a/../../b"] {
        let text = yaml(&format!("'{name}'"), "a", "    a: {goal: x}\n");
        stage.unguided(json!({"action": "start", "context": text}));
        let tree = format!("    '{name}': {{goal: x}}\n");
        let text = yaml("Fine", &format!("'{name}'"), &tree);
        stage.unguided(json!({"action": "start", "context": text}));
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_project() {
    let stage = Stage::graph(&[]);
    stage.init(LOGIN);
    std::os::unix::fs::symlink("/etc", stage.project.path("way")).unwrap();
    let arguments = json!({"task_description": LOGIN, "workflows_dir": "way"});
    let said = stage.call("workflow_discovery", arguments);
    assert!(said.is_error, "{:#}", said.value);
    let path =
        json!({"task_description": LOGIN, "project_config_path": "way/hosts", "summary": "s"});
    let said = stage.call(CHANGELOG, path);
    assert!(said.is_error, "{:#}", said.value);
}

#[test]
fn a_text_that_is_far_too_long() {
    let stage = Stage::graph(&[]);
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    let id = stage.begin("workflow: Tiny");
    let long = big();
    let evidence = json!({
        "choose": "Beta", "user_approval": true, "criteria_evidence": {"c1": long, "c2": "x"},
    });
    let update = json!({"log_entry": long}).to_string();
    let cases = [
        (UPDATE, updating("ANALYZE", "RUNNING", json!({"log_entry": long}))),
        (UPDATE, updating("ANALYZE", "RUNNING", json!({"plan": long}))),
        (UPDATE, updating("ANALYZE", "RUNNING", json!({"current_item": long}))),
        (INIT, json!({"task_description": long})),
        (ANALYZE, json!({"task_description": long})),
        (BLUEPRINT, task(&json!({"requirements_summary": long}))),
        (ERROR, task(&json!({"error_details": long}))),
        (FIX, task(&json!({"issues": long}))),
        (ESCALATE, task(&json!({"error_details": long}))),
        (CHANGELOG, task(&json!({"summary": long}))),
        (
            "workflow_guidance",
            json!({"task_description": long, "action": "start", "context": "workflow: Tiny"}),
        ),
        ("workflow_guidance", task(&json!({"session_id": id, "context": evidence.to_string()}))),
        ("workflow_guidance", task(&json!({"action": "start", "context": long}))),
        ("workflow_state", json!({"operation": "update", "session_id": id, "updates": update})),
    ];
    for (tool, arguments) in cases {
        stage.refused(tool, arguments).code("TOO_LARGE");
    }
    stage.log("and it goes on");
}

#[test]
fn b09_a_word_that_is_no_phase_or_status() {
    let stage = Stage::with_state(&file_text("ANALYZE", "RUNNING").text());
    let said = stage.refused(UPDATE, updating("BANANA", "READY", json!({"log_entry": "x"})));
    said.code("INVALID_PHASE").has(&PHASES);
    let said = stage.refused(UPDATE, updating("ANALYZE", "PEELED", json!({"log_entry": "x"})));
    let statuses = ["READY", "RUNNING", "NEEDS_PLAN_APPROVAL", "COMPLETED", "ERROR"];
    said.code("INVALID_STATUS").has(&statuses);
}

#[test]
fn a_call_that_is_refused_can_be_made_right() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let said = stage.refused(CONSTRUCT, task(&json!({"user_approval": true})));
    let legal: Vec<&str> =
        said.value["legal"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(legal.contains(&ANALYZE), "{legal:?}");
    stage.analyze(LOGIN);
    stage.stands("ANALYZE", "RUNNING");
}
