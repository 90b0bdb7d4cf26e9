//! A plan is built only after a person said yes to it: in the call, or at the terminal, and to this
//! plan and no other.

use serde_json::json;

use crate::{
    calls::updating,
    file_text::file_text,
    fixtures::{CONSTRUCT, INIT, REVISE, UPDATE},
    project::Project,
    stage::{Stage, project},
};

const LOGIN: &str = "Add: login";
const PLAN: &str = "1. write `login.rs`";

/// A plan that waits for approval.
fn waiting() -> Stage {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.come_to_approval(LOGIN);
    stage
}

/// Calls for construction without an approval, which must be refused.
#[track_caller]
fn no_construction(stage: &Stage) {
    let said = stage.refused(CONSTRUCT, json!({"task_description": LOGIN}));
    said.code("ILLEGAL_TRANSITION");
}

/// Calls for construction without an approval, which must be followed.
#[track_caller]
fn construction(stage: &Stage) {
    stage.done(CONSTRUCT, json!({"task_description": LOGIN}));
    stage.stands("CONSTRUCT", "RUNNING");
}

/// Returns the run that waits for a person.
#[track_caller]
fn gate(project: &Project) -> String {
    let listed = project.ask(&["gate", "list"]);
    let [gate] = listed["gates"].as_array().unwrap().as_slice() else {
        panic!("not one gate: {listed:#}")
    };
    gate["run"]["run"].as_str().unwrap().to_owned()
}

#[track_caller]
fn approve(stage: &Stage) {
    stage.project.ask(&["gate", "approve", &gate(&stage.project), "--yes"]);
}

#[test]
fn construction_waits_for_an_approval() {
    let stage = waiting();
    no_construction(&stage);
    let refused = json!({"task_description": LOGIN, "user_approval": false});
    stage.refused(CONSTRUCT, refused).code("ILLEGAL_TRANSITION");
    stage.approve(LOGIN);
    stage.stands("CONSTRUCT", "RUNNING");
    // It is not asked for again while the plan is built.
    construction(&stage);
}

#[test]
fn only_true_is_an_approval() {
    let stage = waiting();
    for word in [json!("perhaps"), json!(0), json!(null), json!([])] {
        stage.refused(CONSTRUCT, json!({"task_description": LOGIN, "user_approval": word}));
    }
}

#[test]
fn an_approval_without_a_plan_that_waits_is_refused() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let yes = json!({"task_description": LOGIN, "user_approval": true});
    stage.refused(CONSTRUCT, yes.clone()).code("ILLEGAL_TRANSITION");
    stage.analyze(LOGIN);
    stage.refused(CONSTRUCT, yes.clone()).code("ILLEGAL_TRANSITION");
    stage.blueprint(LOGIN);
    stage.refused(CONSTRUCT, yes).code("ILLEGAL_TRANSITION");
}

#[test]
fn a_plan_that_waits_can_be_approved_at_the_terminal() {
    let stage = waiting();
    let shown = stage.project.ask(&["gate", "show", &gate(&stage.project)]).to_string();
    assert!(shown.contains("login.rs"), "{shown}");
    approve(&stage);
    construction(&stage);
    let listed = stage.project.ask(&["gate", "list"]);
    assert_eq!(listed["gates"], json!([]), "{listed:#}");
}

#[test]
fn a_plan_that_is_rejected_at_the_terminal_has_to_be_revised() {
    let stage = waiting();
    let run = gate(&stage.project);
    stage.project.ask(&["gate", "reject", &run, "--yes", "--feedback", "name the risks"]);
    stage.stands("BLUEPRINT", "RUNNING");
    assert!(stage.state().log.contains("name the risks"), "{}", stage.text());
    no_construction(&stage);
    stage.plan("1. write `login.rs`\n2. watch the risks");
    no_construction(&stage);
    stage.approve(LOGIN);
}

#[test]
fn the_file_of_before_an_approval_that_is_put_back_is_told() {
    let stage = waiting();
    let before = stage.text();
    approve(&stage);
    assert_ne!(stage.text(), before);
    stage.project.write("workflow_state.md", &before);
    let said = stage.done("hello_workflow", json!({}));
    assert_ne!(said.value["warnings"], json!([]), "{:#}", said.value);
}

#[test]
fn b08_a_plan_that_changes_after_its_approval_waits_again() {
    let stage = waiting();
    approve(&stage);
    stage.plan("1. write something else");
    no_construction(&stage);
    // The same plan once more is not a change.
    let stage = waiting();
    approve(&stage);
    stage.plan(PLAN);
    construction(&stage);
}

#[test]
fn a_plan_that_is_edited_by_hand_after_its_approval_waits_again() {
    let stage = waiting();
    approve(&stage);
    stage.edit(|text| text.replace(PLAN, "1. write something else"));
    no_construction(&stage);
    stage.approve(LOGIN);
    stage.stands("CONSTRUCT", "RUNNING");
    assert_eq!(stage.state().plan, "1. write something else");
    // An edit of anything else is none of the plan.
    let stage = waiting();
    approve(&stage);
    stage.edit(|text| format!("{text}\n## Mine\nx\n"));
    construction(&stage);
}

#[test]
fn a_revision_voids_the_approval_and_logs_the_feedback() {
    let stage = waiting();
    approve(&stage);
    // The plan is put before the user once more, who has another thought.
    stage.plan(PLAN);
    let said = stage.revise(LOGIN, "name the risks");
    stage.stands("BLUEPRINT", "RUNNING");
    assert!(stage.state().log.contains("name the risks"), "{}", stage.text());
    assert!(said.next().contains(&CONSTRUCT) && said.next().contains(&REVISE), "{:#}", said.value);
    no_construction(&stage);
    stage.plan(PLAN);
    no_construction(&stage);
    approve(&stage);
    construction(&stage);
}

#[test]
fn an_approval_outlives_a_restart() {
    let stage = waiting();
    approve(&stage);
    let stage = stage.restart();
    construction(&stage);
}

#[test]
fn the_next_item_needs_an_approval_of_its_own() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.init("Add: logout");
    stage.work(LOGIN);
    stage.analyze("Add: logout");
    stage.blueprint("Add: logout");
    stage.plan("1. close the door");
    let said = stage.refused(CONSTRUCT, json!({"task_description": "Add: logout"}));
    said.code("ILLEGAL_TRANSITION");
}

#[test]
fn a_new_plan_after_an_error_needs_an_approval_of_its_own() {
    let stage = waiting();
    stage.approve(LOGIN);
    stage.error(LOGIN, "it does not fit");
    stage.blueprint(LOGIN);
    stage.plan("1. write something else");
    no_construction(&stage);
    stage.approve(LOGIN);
}

#[test]
fn an_update_is_no_way_around_the_approval() {
    let stage = waiting();
    stage.refused(UPDATE, updating("CONSTRUCT", "RUNNING", json!({}))).code("ILLEGAL_TRANSITION");
    let project = project(&[("transitions", "warn")]);
    project.write("workflow_state.md", &file_text("BLUEPRINT", "NEEDS_PLAN_APPROVAL").text());
    let stage = Stage::over(project);
    let said = stage.update("CONSTRUCT", "RUNNING", json!({}));
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
}

#[test]
fn with_warnings_only_a_plan_is_built_without_an_approval_and_it_is_said() {
    let project = project(&[("transitions", "warn")]);
    project.write("workflow_state.md", &file_text("BLUEPRINT", "NEEDS_PLAN_APPROVAL").text());
    let stage = Stage::over(project);
    let said = stage.done(CONSTRUCT, json!({"task_description": LOGIN}));
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    stage.stands("CONSTRUCT", "RUNNING");
}

#[test]
fn approval_can_be_given_beforehand_by_a_setting() {
    let own =
        [("MILEPOST_DEVWORKFLOW_AUTO_APPROVE", "true"), ("WORKFLOW_AUTO_APPROVE_PLANS", "true")];
    for (name, value) in own {
        let stage = Stage::over(project(&[]).with(name, value));
        stage.init(LOGIN);
        stage.analyze(LOGIN);
        let said = stage.blueprint(LOGIN);
        assert_eq!(said.stands(), ("CONSTRUCT", "RUNNING"), "{name}");
        stage.stands("CONSTRUCT", "RUNNING");
        let log = stage.state().log.to_lowercase();
        assert!(log.contains("approv"), "{log}");
        let listed = stage.project.ask(&["gate", "list"]);
        assert_eq!(listed["gates"], json!([]), "{name}: {listed:#}");
        stage.validate(LOGIN);
    }
}

#[test]
fn who_approved_what_is_on_record() {
    let stage = waiting();
    stage.approve(LOGIN);
    let runs = stage.project.ask(&["run", "list"]);
    let run = runs["runs"][0]["run"].as_str().unwrap();
    let history = stage.project.ask(&["run", "history", run]).to_string();
    assert!(history.to_lowercase().contains("approve"), "{history}");
    assert!(stage.state().log.to_lowercase().contains("approv"), "{}", stage.text());
}

#[test]
fn a_new_task_beside_a_plan_that_waits_leaves_it_waiting() {
    let stage = waiting();
    stage.done(INIT, json!({"task_description": "Add: logout"}));
    stage.stands("BLUEPRINT", "NEEDS_PLAN_APPROVAL");
    approve(&stage);
    stage.done(INIT, json!({"task_description": "Fix: the sign"}));
    construction(&stage);
}
