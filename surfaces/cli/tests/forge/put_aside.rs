//! Whatever comes of a call, its answer tells of an edit that was put aside before it.

use serde_json::json;

use crate::{checkpoints::waiting, stage::Stage};

const TORN: &str = "{ torn";

#[test]
fn a_refusal_tells_it_like_a_success() {
    let calls = [
        ("pipeline_next_action", json!({"previous_action_complete": true})),
        ("pipeline_next_action", json!({"user_response": "proceed"})),
        ("pipeline_report_result", json!({"phase": "phase-7"})),
        ("set_effort", json!({"effort": "XX"})),
        ("skip_phase", json!({"phase": "zzz"})),
        ("task_update", json!({"task_num": "9", "field": "implStatus", "value": "x"})),
        ("task_init", json!({"tasks": {}})),
        ("phase_start", json!({"phase": "phase-9"})),
        ("clear_revision_pending", json!({"checkpoint": "xx"})),
        ("get", json!({"field": "specName"})),
    ];
    let stage = Stage::begun("M");
    let field = json!({"field": "specName"});
    let mut wrong = Vec::new();
    for (tool, arguments) in calls {
        stage.write("state.json", TORN);
        let said = stage.call(tool, stage.on_workspace(arguments.clone()));
        // What is refused for its arguments alone does not open the file.
        let is_left = std::fs::read_to_string(stage.path("state.json")).unwrap() == TORN;
        let told = format!("{}{}", said.text, said.noticed.unwrap_or_default());
        if told.matches("/backups/").count() != usize::from(!is_left) {
            wrong.push(format!("{tool} {arguments}: {told}"));
        }
        if is_left {
            stage.call("get", stage.on_workspace(field.clone()));
        }
        let again = stage.ok("get", field.clone());
        assert_eq!(again.noticed, None, "{tool}");
        again.lacks(&["backups"]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_at_a_checkpoint_tells_it() {
    let stage = waiting();
    stage.write("state.json", TORN);
    let said = stage.ok("pipeline_next_action", json!({"user_response": "proceed"}));
    let told = format!("{}{}", said.text, said.noticed.unwrap_or_default());
    assert!(told.contains("/backups/"), "{told}");
}
