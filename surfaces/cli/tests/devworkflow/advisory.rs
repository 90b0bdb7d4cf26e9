//! The advisory mode: the server tells what to do and which call comes next, and touches no file.

use serde_json::{Value, json};

use crate::{
    file_text::file_text,
    fixtures::{
        ANALYZE, BLUEPRINT, CHANGELOG, CHECK_CONFIG, CHECK_FILES, COMPLETE, CONFIG, CONSTRUCT,
        CREATE_CONFIG, CREATE_STATE, ERROR, ESCALATE, FINALIZE, FIX, HELLO, INIT, ITERATE, REVISE,
        UPDATE, VALIDATE,
    },
    project::Project,
    stage::Stage,
};

/// Every classic tool with arguments, and the calls that it leads to.
fn calls() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    let task = |more: Value| {
        let mut all = json!({"task_description": "Add: login"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let state = json!({"phase": "BLUEPRINT", "status": "RUNNING", "log_entry": "x"});
    vec![
        (INIT, task(json!({})), vec![ANALYZE]),
        (ANALYZE, task(json!({})), vec![BLUEPRINT]),
        (BLUEPRINT, task(json!({"requirements_summary": "s"})), vec![CONSTRUCT, REVISE]),
        (CONSTRUCT, task(json!({})), vec![VALIDATE, ERROR]),
        (VALIDATE, task(json!({})), vec![COMPLETE, FIX]),
        (REVISE, task(json!({"feedback": "f"})), vec![]),
        (COMPLETE, task(json!({})), vec![ITERATE, FINALIZE]),
        (ITERATE, json!({}), vec![ANALYZE, FINALIZE]),
        (FINALIZE, json!({}), vec![]),
        (ERROR, task(json!({"error_details": "e"})), vec![CONSTRUCT, BLUEPRINT, ESCALATE]),
        (FIX, task(json!({"issues": "i"})), vec![VALIDATE, ERROR]),
        (ESCALATE, task(json!({"error_details": "e"})), vec![CONSTRUCT]),
        (CHANGELOG, task(json!({"summary": "s"})), vec![]),
        (UPDATE, state, vec![]),
        (CREATE_STATE, task(json!({})), vec![ANALYZE]),
        (CHECK_CONFIG, json!({}), vec![CREATE_CONFIG]),
        (CREATE_CONFIG, json!({}), vec![]),
        (CHECK_FILES, json!({}), vec![CREATE_STATE, CREATE_CONFIG]),
        (HELLO, json!({}), vec![]),
    ]
}

fn advisory() -> Project {
    Project::new().with("MILEPOST_DEVWORKFLOW_MODE", "advisory")
}

#[test]
fn b13_every_tool_works_without_any_file_and_makes_none() {
    let stage = Stage::over(advisory());
    for (tool, arguments, next) in calls() {
        let said = stage.read(tool, arguments);
        for wanted in next {
            assert!(said.next().contains(&wanted), "{tool}: no {wanted} in {:#}", said.value);
        }
        assert_eq!(stage.files(), [], "{tool}");
    }
}

#[test]
fn b13_files_that_are_there_are_not_touched() {
    let project = advisory();
    project.write("workflow_state.md", &file_text("CONSTRUCT", "RUNNING").text());
    project.write("project_config.md", CONFIG);
    let stage = Stage::over(project);
    for (tool, arguments, _) in calls() {
        stage.read(tool, arguments);
    }
    // Nor by another server afterwards that keeps files, just because it starts.
    let before = stage.files();
    let stage = stage.restart();
    assert_eq!(stage.files(), before);
}

#[test]
fn no_order_is_kept_in_advisory_mode() {
    let stage = Stage::over(advisory());
    for (tool, arguments, _) in calls().into_iter().rev() {
        let said = stage.read(tool, arguments);
        assert_eq!(said.value["error_code"], Value::Null, "{:#}", said.value);
    }
}

#[test]
fn the_answers_name_what_the_agent_has_to_write_itself() {
    let stage = Stage::over(advisory());
    let task = json!({"task_description": "Add: login"});
    stage.read(INIT, task.clone()).has(&["workflow_state.md", "Add: login"]);
    stage.read(ANALYZE, task.clone()).has(&["project_config.md", "READY"]);
    let plan = json!({"task_description": "Add: login", "requirements_summary": "who signs in"});
    stage.read(BLUEPRINT, plan).has(&["NEEDS_PLAN_APPROVAL", "who signs in"]);
    let template = stage.read(CREATE_STATE, task.clone());
    template.has(&["## State", "## Plan", "## Rules", "## Items", "## Log", "## ArchiveLog"]);
    let sections = ["## Project Info", "## Dependencies", "## Test Commands", "## Changelog"];
    stage.read(CREATE_CONFIG, json!({})).has(&sections);
    stage.read(CHECK_CONFIG, json!({})).has(&sections);
    stage.read(COMPLETE, task).has(&["COMPLETED"]);
    let state = json!({"phase": "BLUEPRINT", "status": "RUNNING", "log_entry": "said so"});
    stage.read(UPDATE, state).has(&["BLUEPRINT", "RUNNING", "said so"]);
}

#[test]
fn no_answer_is_longer_than_an_agent_wants_to_read() {
    let stage = Stage::over(advisory());
    // What quotes a whole template is as long as that is.
    let quoting = [CREATE_STATE, CREATE_CONFIG];
    for (tool, arguments, _) in calls().into_iter().filter(|it| !quoting.contains(&it.0)) {
        let said = stage.read(tool, arguments);
        assert!(said.text.len() <= 4096, "{tool}: {} bytes", said.text.len());
    }
}
