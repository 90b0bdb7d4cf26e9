//! How a session goes from node to node: choices, approvals, evidence, and the end.

use serde_json::{Value, json};

use crate::{
    calls::joined,
    fixtures::{LOOP, yaml},
    stage::Stage,
};

/// A choice of `Beta` with an approval and evidence for everything.
fn beta() -> Value {
    json!({
        "choose": "Beta", "user_approval": true,
        "criteria_evidence": {"c1": "ran it", "c2": "ran it again"},
    })
}

fn tiny() -> (Stage, String) {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    (stage, id)
}

fn in_loop(settings: &[(&str, &str)]) -> (Stage, String) {
    let stage = Stage::graph(settings);
    let id = stage.begin(LOOP);
    (stage, id)
}

#[test]
fn b17_looking_changes_nothing() {
    let (stage, id) = tiny();
    for arguments in [
        json!({"session_id": id, "action": "build"}),
        json!({"session_id": id, "context": "how is it going?"}),
        json!({"session_id": id, "context": "not {json} either"}),
        json!({}),
    ] {
        let mut all = json!({"task_description": "Add: login"});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let said = stage.read("workflow_guidance", all);
        said.has(&["Do Add: login with n=0", "**📋 ACCEPTANCE CRITERIA:**"]);
        assert_eq!(said.session(), id);
    }
}

#[test]
fn b18_a_node_that_needs_approval_is_not_left_without() {
    let (stage, id) = tiny();
    let refused = [
        json!({"choose": "Beta"}),
        json!({"choose": "Beta", "user_approval": false}),
        json!({"choose": "Beta", "user_approval": "true"}),
        json!({"choose": "Beta", "user_approval": 1}),
        json!({"choose": "Beta", "user_approval": null}),
    ];
    for (number, context) in (1..).zip(&refused) {
        let said = stage.choose(&id, context);
        assert!(said.is_error, "{context}: {}", said.text);
        said.has(&["❌ **Transition Failed:**"]);
        stage.is_at(&id, "Alpha", "READY");
        let record = stage.session(&id);
        assert_eq!(joined(&record["log"]).matches("❌ TRANSITION FAILED:").count(), number);
        assert_eq!((&record["node_outputs"], &record["node_history"]), (&json!({}), &json!([])));
    }
    let said = stage.ask(json!({"session_id": id, "context": "choose: Beta"}));
    said.has(&["❌ **Transition Failed:**"]);
}

#[test]
fn b19_a_choice_must_be_one_of_the_options() {
    let (stage, id) = tiny();
    for context in [json!({"choose": "Zed", "user_approval": true}), json!({"user_approval": true})]
    {
        let before = stage.session(&id);
        let said = stage.choose(&id, &context);
        assert!(said.is_error, "{}", said.text);
        said.has(&["❌ **Invalid choice:**", "**Valid options:** Beta, Other"]);
        stage.is_at(&id, "Alpha", "READY");
        assert_eq!(stage.session(&id)["node_history"], before["node_history"]);
    }
    let said = stage.ask(json!({"session_id": id, "context": "choose: Zed"}));
    said.has(&["❌ **Invalid choice:** Zed"]);
}

#[test]
fn b19_another_workflow_is_a_session_of_its_own_that_comes_back() {
    let (stage, id) = tiny();
    let choice = json!({
        "choose": "Other", "user_approval": true,
        "criteria_evidence": {"c1": "ran it", "c2": "ran it again"},
    });
    let said = stage.go(&id, &choice);
    let child = said.session();
    assert_ne!(child, id);
    said.has(&["Other", "Look elsewhere."]);
    stage.is_at(&child, "look", "READY");
    let said = stage.go(&child, &json!({"choose": "back"}));
    stage.is_at(&child, "back", "COMPLETED");
    // The parent is where it was, and is named.
    said.has(&[&id]);
    assert_eq!(stage.session(&id)["current_node"], "Alpha");
    stage.go(&id, &beta()).has(&["✅ **Transitioned to:** BETA"]);
}

#[test]
fn b19_another_workflow_that_is_not_there_is_said_to_be_missing() {
    let (stage, id) = tiny();
    std::fs::remove_file(stage.project.path(".accordo/workflows/other.yaml")).unwrap();
    let said = stage.choose(&id, &json!({"choose": "Other", "user_approval": true}));
    assert!(said.is_error, "{}", said.text);
    said.has(&["Other"]);
    assert_eq!(stage.session(&id)["current_node"], "Alpha");
}

#[test]
fn b20_evidence_is_stored_as_it_is_and_never_invented() {
    let (stage, id) = tiny();
    let choice = json!({
        "choose": "Beta", "user_approval": true, "criteria_evidence": {"c1": "  ran it  "},
    });
    let said = stage.go(&id, &choice);
    said.has(&["✅ **Transitioned to:** BETA", "c2"]);
    let record = stage.session(&id);
    let outputs = &record["node_outputs"]["Alpha"];
    let output = if outputs.is_array() { &outputs[0] } else { outputs };
    assert_eq!(output["completed_criteria"], json!({"c1": "ran it", "c2": null}), "{output:#}");
    assert_eq!(output["goal_achieved"], false);
    assert_eq!(output["node_name"], "Alpha");
    assert!(output["completion_timestamp"].is_string(), "{output:#}");
    let log = joined(&record["log"]);
    for part in [
        "✅ USER APPROVAL GRANTED for transition from 'Alpha'",
        "🔄 Transitioned from Alpha to Beta",
        "📝 CURRENT GOAL: Rest after Add: login",
        "ran it",
    ] {
        assert!(log.contains(part), "no {part} in {log}");
    }
    assert!(!log.to_lowercase().contains("satisfied"), "{log}");
    assert_eq!(record["node_history"], json!(["Alpha"]));
}

#[test]
fn b20_where_evidence_is_strict_none_may_be_missing() {
    let stage = Stage::graph(&[("evidence", "strict")]);
    let id = stage.begin("workflow: Tiny");
    for evidence in [json!({"c1": "ran it"}), json!({}), json!("text"), json!(["c1", "c2"])] {
        let choice =
            json!({"choose": "Beta", "user_approval": true, "criteria_evidence": evidence});
        stage.choose(&id, &choice).code("MISSING_EVIDENCE").has(&["c2"]);
        stage.is_at(&id, "Alpha", "READY");
    }
    stage.go(&id, &beta());
    let outputs = stage.session(&id)["node_outputs"]["Alpha"].clone();
    let output = if outputs.is_array() { &outputs[0] } else { &outputs };
    assert_eq!(output["goal_achieved"], true);
}

#[test]
fn where_evidence_is_off_nobody_is_told_of_it() {
    let stage = Stage::graph(&[("evidence", "off")]);
    let id = stage.begin("workflow: Tiny");
    let said = stage.go(&id, &json!({"choose": "Beta", "user_approval": true}));
    assert_eq!(said.warnings().len(), 0, "{:#}", said.value);
    said.has(&["✅ **Transitioned to:** BETA"]);
}

#[test]
fn evidence_for_what_is_no_criterion_is_kept_apart_and_told() {
    let (stage, id) = tiny();
    let mut choice = beta();
    choice["criteria_evidence"]["c9"] = json!("nobody asked");
    let said = stage.go(&id, &choice);
    said.has(&["c9"]);
    let outputs = stage.session(&id)["node_outputs"]["Alpha"].clone();
    let output = if outputs.is_array() { &outputs[0] } else { &outputs };
    assert_eq!(output["extra_evidence"], json!({"c9": "nobody asked"}), "{output:#}");
    assert_eq!(output["completed_criteria"].get("c9"), None);
}

#[test]
fn b21_an_end_without_criteria_completes_on_entry() {
    let (stage, id) = tiny();
    let said = stage.go(&id, &beta());
    said.has(&["✅ **Transitioned to:** BETA", "**🏁 Status:** This is a terminal node"]);
    stage.is_at(&id, "Beta", "COMPLETED");
    for context in
        [json!({"choose": "Alpha"}), json!({"choose": "Beta"}), json!({"criteria_evidence": {}})]
    {
        stage.choose(&id, &context).code("SESSION_CLOSED");
    }
    stage.is_at(&id, "Beta", "COMPLETED");
}

#[test]
fn an_end_with_criteria_is_completed_by_its_evidence() {
    let (stage, id) = in_loop(&[]);
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "wrote it"}}));
    stage.is_at(&id, "check", "RUNNING");
    let said = stage.go(&id, &json!({"choose": "Done"}));
    said.has(&["✅ **Transitioned to:** DONE", "handed: it was handed over"]);
    stage.is_at(&id, "Done", "RUNNING");
    stage.guide(json!({"session_id": id}));
    stage.is_at(&id, "Done", "RUNNING");
    let context = json!({"criteria_evidence": {"handed": "they have it"}});
    stage.go(&id, &context);
    stage.is_at(&id, "Done", "COMPLETED");
    let outputs = stage.session(&id)["node_outputs"]["Done"].clone();
    assert!(outputs.to_string().contains("they have it"), "{outputs}");
    stage.choose(&id, &context).code("SESSION_CLOSED");
}

#[test]
fn an_end_can_be_completed_by_its_status() {
    let (stage, id) = in_loop(&[]);
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "wrote it"}}));
    stage.go(&id, &json!({"choose": "Done"}));
    stage.update_session(&id, &json!({"status": "COMPLETED"}));
    stage.is_at(&id, "Done", "COMPLETED");
}

#[test]
fn every_final_status_closes_a_session() {
    for status in ["COMPLETED", "FAILED", "CANCELLED"] {
        let (stage, id) = in_loop(&[]);
        stage.update_session(&id, &json!({"status": status}));
        let said = stage.choose(&id, &json!({"choose": "check"}));
        said.code("SESSION_CLOSED");
        stage.is_at(&id, "write", status);
    }
    for status in ["PAUSED", "ERROR", "NEEDS_PLAN_APPROVAL"] {
        let (stage, id) = in_loop(&[]);
        stage.update_session(&id, &json!({"status": status}));
        stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "x"}}));
        stage.is_at(&id, "check", "RUNNING");
    }
}

#[test]
fn b22_a_choice_may_be_plain_text_and_keeps_its_case() {
    let (stage, id) = in_loop(&[]);
    let say = |context: &str| stage.ask(json!({"session_id": id, "context": context}));
    say("I CHOOSE: check ").has(&["✅ **Transitioned to:** CHECK"]);
    say("choose: Done").has(&["✅ **Transitioned to:** DONE"]);
    let (stage, id) = in_loop(&[]);
    let say = |context: &str| stage.ask(json!({"session_id": id, "context": context}));
    say("choose: CHECK").has(&["✅ **Transitioned to:** CHECK"]);
    say("choose: done").has(&["✅ **Transitioned to:** DONE"]);
}

#[test]
fn text_that_looks_like_json_and_is_none_is_text() {
    let (stage, id) = in_loop(&[]);
    let said = stage.ask(json!({"session_id": id, "context": "{broken choose: check"}));
    said.has(&["✅ **Transitioned to:** CHECK"]);
    let said = stage.ask(json!({"session_id": id, "context": "{\"choose\": \"Done\""}));
    assert!(said.is_error, "{}", said.text);
    stage.is_at(&id, "check", "RUNNING");
}

#[test]
fn names_that_differ_in_case_only_are_told_apart() {
    let tree = "    a: {goal: x, next_allowed_nodes: [end, End]}\n    end: {goal: small}\n    End: \
                {goal: large}\n";
    let stage = Stage::graph(&[]);
    let id = stage.begin(&yaml("Cases", "a", tree));
    let said = stage.ask(json!({"session_id": id, "context": "choose: END"}));
    said.has(&["❌ **Invalid choice:**"]);
    stage.go(&id, &json!({"choose": "End"}));
    stage.is_at(&id, "End", "COMPLETED");
}

#[test]
fn a_node_that_is_visited_twice_keeps_both_outputs() {
    let (stage, id) = in_loop(&[]);
    for text in ["first draft", "second draft"] {
        stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": text}}));
        if text == "first draft" {
            stage.go(&id, &json!({"choose": "write"}));
        }
    }
    let record = stage.session(&id);
    let outputs = record["node_outputs"]["write"].as_array().unwrap();
    let texts: Vec<&Value> = outputs.iter().map(|it| &it["completed_criteria"]["text"]).collect();
    assert_eq!(texts, ["first draft", "second draft"]);
    assert_eq!(record["node_history"], json!(["write", "check", "write"]));
}

#[test]
fn an_approval_holds_for_one_call_only() {
    let tree = "    a: {goal: x, needs_approval: true, next_allowed_nodes: [b]}\n    b: {goal: x, \
                next_allowed_nodes: [a, c]}\n    c: {goal: x, needs_approval: true}\n";
    let stage = Stage::graph(&[]);
    let id = stage.begin(&yaml("Again", "a", tree));
    stage.go(&id, &json!({"choose": "b", "user_approval": true})).lacks(&["⚠️ APPROVAL REQUIRED"]);
    stage.go(&id, &json!({"choose": "a"})).has(&["⚠️ APPROVAL REQUIRED"]);
    let said = stage.choose(&id, &json!({"choose": "b"}));
    said.has(&["❌ **Transition Failed:**"]);
    stage.go(&id, &json!({"choose": "b", "user_approval": true}));
    // An end has no way on that could need one.
    stage.go(&id, &json!({"choose": "c"})).lacks(&["⚠️ APPROVAL REQUIRED"]);
    stage.is_at(&id, "c", "COMPLETED");
}

#[test]
fn a_workflow_that_was_given_with_the_call_needs_no_file() {
    let (stage, id) = in_loop(&[]);
    let stage = stage.restart();
    stage.guide(json!({"session_id": id})).has(&["Write it."]);
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "x"}}));
}

#[test]
fn one_of_two_calls_at_once_is_followed() {
    let (stage, id) = in_loop(&[]);
    let said: Vec<bool> = std::thread::scope(|scope| {
        let go = || {
            let choice = json!({"choose": "check", "criteria_evidence": {"text": "x"}});
            stage.choose(&id, &choice).is_error
        };
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(go)).collect();
        calls.into_iter().map(|it| it.join().unwrap()).collect()
    });
    // From `check` there is no way to `check`.
    assert_eq!(said.iter().filter(|is_error| !**is_error).count(), 1, "{said:?}");
    assert_eq!(stage.session(&id)["node_history"], json!(["write"]));
}
