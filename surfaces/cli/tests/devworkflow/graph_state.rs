//! `workflow_state`: looking at a session, changing it by hand, and putting it away.

use serde_json::{Value, json};

use crate::{
    calls::joined,
    fixtures::{LOOP, yaml},
    said::Said,
    stage::Stage,
};

const STATUSES: [&str; 8] = [
    "READY",
    "RUNNING",
    "NEEDS_PLAN_APPROVAL",
    "PAUSED",
    "COMPLETED",
    "FAILED",
    "ERROR",
    "CANCELLED",
];

fn update(stage: &Stage, id: &str, updates: &Value) -> Said {
    stage.call(
        "workflow_state",
        json!({"operation": "update", "session_id": id, "updates": updates}),
    )
}

fn get(stage: &Stage, id: &str) -> Said {
    stage.read("workflow_state", json!({"operation": "get", "session_id": id}))
}

fn begun() -> (Stage, String) {
    let stage = Stage::graph(&[]);
    let id = stage.begin(LOOP);
    (stage, id)
}

#[test]
fn b25_the_state_without_an_id() {
    let stage = Stage::graph(&[]);
    let get = json!({"operation": "get"});
    stage.refused("workflow_state", get.clone()).has(&["❌ **No Active Workflow Session**"]);
    let first = stage.begin("workflow: Tiny");
    let said = stage.read("workflow_state", get.clone());
    assert_eq!(said.session(), first);
    said.has(&["📊 **DYNAMIC WORKFLOW STATE**", "Tiny"]);
    let second = stage.begin("workflow: Other");
    let said = stage.refused("workflow_state", get);
    said.code("AMBIGUOUS_SESSION").has(&[&first, &second]);
}

#[test]
fn the_state_says_where_the_session_is() {
    let (stage, id) = begun();
    let said = get(&stage, &id);
    said.has(&[
        "📊 **DYNAMIC WORKFLOW STATE**",
        "Loop",
        "write",
        "READY",
        "Write it.",
        "Node 1 of 3",
        "Done",
    ]);
    said.has(&["→ Next:", "check"]);
    said.lacks(&["Loading", "End of workflow"]);
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "wrote it down"}}));
    let said = get(&stage, &id);
    said.has(&["Node 2 of 3", "RUNNING", "Check it.", "wrote it down"]);
    said.has(&["Progress: write → check"]);
    stage.go(&id, &json!({"choose": "Done"}));
    get(&stage, &id).has(&["Node 3 of 3", "End of workflow", "Progress: write → check → Done"]);
}

#[test]
fn b26_what_is_given_is_applied_or_refused() {
    let (stage, id) = begun();
    let said = update(&stage, &id, &json!("{\"status\": \"PAUSED\", \"log_entry\": \"a break\"}"));
    said.has(&["✅ **State updated successfully.**"]);
    assert!(!said.is_error, "{}", said.text);
    stage.is_at(&id, "write", "PAUSED");
    assert!(joined(&stage.session(&id)["log"]).contains("a break"));
    let before = stage.files();
    for (updates, text) in [
        (json!("not json"), "❌ **Error:** Invalid JSON in updates parameter."),
        (json!("[1]"), "❌"),
        (json!(""), "❌ **Error:** No updates provided."),
        (json!("{}"), "❌"),
        (json!("{\"phase\": \"X\"}"), "phase"),
        (json!("{\"bogus\": 1}"), "bogus"),
        (json!("{\"status\": \"BANANA\"}"), "BANANA"),
        (json!("{\"status\": 7}"), "status"),
        (json!("{\"log_entry\": \"  \"}"), "log_entry"),
    ] {
        let said = update(&stage, &id, &updates);
        assert!(said.is_error, "{updates}: {}", said.text);
        said.has(&[text]);
        assert!(stage.files() == before, "{updates} changed a file");
    }
    let said = stage.call("workflow_state", json!({"operation": "update", "session_id": id}));
    said.has(&["❌ **Error:** No updates provided."]);
    update(&stage, &id, &json!("{\"status\": \"COMPLETED\"}")).has(&["✅"]);
    stage.is_at(&id, "write", "COMPLETED");
}

#[test]
fn updates_may_be_an_object() {
    let (stage, id) = begun();
    let said = update(&stage, &id, &json!({"log_entry": "as an object"}));
    assert!(!said.is_error, "{}", said.text);
    assert!(joined(&stage.session(&id)["log"]).contains("as an object"));
}

#[test]
fn keys_that_are_not_known_are_named_beside_what_was_done() {
    let (stage, id) = begun();
    let said = update(&stage, &id, &json!({"log_entry": "x", "bogus": 1, "phase": "Y"}));
    assert!(!said.is_error, "{}", said.text);
    let ignored = said.value["ignored"].as_array().unwrap();
    assert!(ignored.contains(&json!("bogus")) && ignored.contains(&json!("phase")), "{ignored:?}");
}

#[test]
fn every_status_word_is_known_and_no_other() {
    for status in STATUSES {
        let (stage, id) = begun();
        stage.update_session(&id, &json!({"status": status}));
        stage.is_at(&id, "write", status);
    }
    let (stage, id) = begun();
    let said = update(&stage, &id, &json!({"status": "DONE"}));
    assert!(said.is_error, "{}", said.text);
    said.has(&STATUSES);
}

#[test]
fn a_node_is_set_only_where_there_is_a_way_unless_it_is_forced() {
    let (stage, id) = begun();
    for node in ["Done", "nowhere"] {
        let said = update(&stage, &id, &json!({"node": node}));
        assert!(said.is_error, "{node}: {}", said.text);
        stage.is_at(&id, "write", "READY");
    }
    let said = update(&stage, &id, &json!({"node": "nowhere", "force": true}));
    assert!(said.is_error, "{}", said.text);
    let said = update(&stage, &id, &json!({"node": "Done", "force": true}));
    assert!(!said.is_error, "{}", said.text);
    assert_eq!(stage.session(&id)["current_node"], "Done");
    let (stage, id) = begun();
    stage.update_session(&id, &json!({"node": "check"}));
    assert_eq!(stage.session(&id)["current_node"], "check");
    // Not without the approval that the way needs.
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let said = update(&stage, &id, &json!({"node": "Beta"}));
    assert!(said.is_error, "{}", said.text);
    stage.is_at(&id, "Alpha", "READY");
}

#[test]
fn nothing_is_applied_when_one_part_is_refused() {
    let (stage, id) = begun();
    let before = stage.files();
    let said = update(&stage, &id, &json!({"log_entry": "lost", "status": "BANANA"}));
    assert!(said.is_error, "{}", said.text);
    assert!(stage.files() == before, "half of it was done");
}

#[test]
fn items_are_added_and_completed() {
    let (stage, id) = begun();
    stage.update_session(&id, &json!({"add_item": "one | two\nthree"}));
    stage.update_session(&id, &json!({"add_item": "four"}));
    let items = stage.session(&id)["items"].clone();
    let wanted = json!([
        {"id": 1, "description": "one | two\nthree", "status": "pending"},
        {"id": 2, "description": "four", "status": "pending"},
    ]);
    assert_eq!(items, wanted);
    stage.update_session(&id, &json!({"complete_item": 2}));
    assert_eq!(stage.session(&id)["items"][1]["status"], "completed");
    get(&stage, &id).has(&["four", "completed"]);
    for wrong in [json!(3), json!(0), json!("x")] {
        let said = update(&stage, &id, &json!({"complete_item": wrong}));
        assert!(said.is_error, "{wrong}: {}", said.text);
    }
    assert!(update(&stage, &id, &json!({"add_item": " "})).is_error);
}

#[test]
fn log_entries_have_their_time_and_are_rotated() {
    let (stage, id) = begun();
    let stamp = regex::Regex::new(r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] ").unwrap();
    stage.update_session(&id, &json!({"log_entry": "a note"}));
    let record = stage.session(&id);
    let log = record["log"].as_array().unwrap();
    assert!(log.iter().all(|it| stamp.is_match(it.as_str().unwrap())), "{log:?}");
    assert!(log.last().unwrap().as_str().unwrap().ends_with("a note"), "{log:?}");
    for number in 0..6 {
        let entry = format!("{number} {}", "x".repeat(1000));
        stage.update_session(&id, &json!({"log_entry": entry}));
    }
    let record = stage.session(&id);
    let length = joined(&record["log"]).chars().count();
    assert!(length <= 5000, "{length}");
    let archive = joined(&record["archive_log"]);
    assert!(archive.contains("a note") && archive.contains("0 xxx"), "{archive}");
}

#[test]
fn inputs_are_filled_in_in_log_entries_too() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let choice = json!({"choose": "Beta", "user_approval": true});
    stage.go(&id, &choice);
    let log = joined(&stage.session(&id)["log"]);
    assert!(log.contains("Rest after Add: login") && !log.contains("${{ inputs.task"), "{log}");
}

#[test]
fn an_unknown_operation_or_session_is_refused() {
    let (stage, id) = begun();
    let said = stage.refused("workflow_state", json!({"operation": "peel", "session_id": id}));
    said.has(&["❌ **Invalid operation:** peel. Use 'get', 'update', or 'reset'."]);
    let unknown = "01234567-89ab-7def-8123-456789abcdef";
    for operation in ["get", "update", "reset"] {
        let arguments = json!({"operation": operation, "session_id": unknown, "updates": "{\"log_entry\": \"x\"}"});
        stage.refused("workflow_state", arguments).has(&[unknown]);
    }
}

#[test]
fn b27_a_reset_puts_the_session_away() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let record = stage.session(&id);
    let before = stage.session_files();
    let said = stage.done("workflow_state", json!({"operation": "reset", "session_id": id}));
    said.has(&["✅"]);
    let after = stage.session_files();
    assert_eq!(after.len(), before.len(), "{after:?}");
    let stem = before[0].strip_suffix(".json").unwrap();
    let name = regex::Regex::new(r"_[A-Z]+_\d{8}_\d{6}\.json$").unwrap();
    assert!(after[0].starts_with(stem) && name.is_match(&after[0]), "{after:?}");
    let path = stage.project.path(&format!(".accordo/sessions/{}", after[0]));
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(kept["inputs"], record["inputs"]);
    // It is gone from the active ones, also for the next server.
    stage.unguided(json!({"action": "next"})).has(&["❌ **No Active Workflow Session**"]);
    let stage = stage.restart();
    stage.unguided(json!({"action": "next"})).has(&["❌ **No Active Workflow Session**"]);
    let said = stage.done("workflow_cache_management", json!({"operation": "list"}));
    said.lacks(&[&id]);
    stage.refused("workflow_state", json!({"operation": "reset"}));
}

#[test]
fn the_classic_workflow_takes_a_phase_for_a_node() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Classic");
    stage.update_session(&id, &json!({"phase": "ANALYZE"}));
    assert_eq!(stage.session(&id)["current_node"], "ANALYZE");
    let said = update(&stage, &id, &json!({"phase": "VALIDATE"}));
    assert!(said.is_error, "{}", said.text);
}

#[test]
fn totals_and_kinds_of_nodes_are_told() {
    let tree = "    a: {goal: x, next_allowed_nodes: [b, c]}\n    b: {goal: x}\n    c: {goal: x, \
                next_allowed_nodes: [b]}\n";
    let stage = Stage::graph(&[]);
    let id = stage.begin(&yaml("Totals", "a", tree));
    get(&stage, &id).has(&["Node 1 of 3"]);
    stage.go(&id, &json!({"choose": "c"}));
    get(&stage, &id).has(&["Node 3 of 3", "Totals"]);
}
