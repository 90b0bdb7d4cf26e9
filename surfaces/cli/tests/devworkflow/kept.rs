//! What goes wrong when files, settings and people meet: nothing is lost, nothing is done twice, and
//! no way leads round an approval.

use std::fs;

use serde_json::json;

use crate::{
    calls::updating,
    fixtures::{COMPLETE, CONSTRUCT, HELLO, UPDATE, VALIDATE},
    stage::{Stage, project},
};

const LOGIN: &str = "Add: login";
const PLAN: &str = "1. write `login.rs`";

fn begun() -> Stage {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    stage
}

#[test]
fn a_line_of_the_changelog_is_not_written_again_where_the_configuration_has_moved() {
    let stage = begun();
    stage.changelog("The first");
    let project = stage.project.with("MILEPOST_DEVWORKFLOW_PROJECT_CONFIG", "docs/config.md");
    fs::create_dir(project.path("docs")).unwrap();
    fs::rename(project.path("project_config.md"), project.path("docs/config.md")).unwrap();
    let stage = Stage::over(project);
    stage.changelog("The second");
    let text = fs::read_to_string(stage.project.path("docs/config.md")).unwrap();
    assert_eq!(text.matches("The first").count(), 1, "{text}");
    assert!(text.contains("## Changelog\n- The second\n- The first\n"), "{text}");
    assert!(!stage.project.path("project_config.md").exists());
}

#[test]
fn a_line_that_could_not_be_written_is_written_later_and_once() {
    let stage = begun();
    let config = stage.project.path("project_config.md");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, [0xff, 0xfe, 0x00]).unwrap();
    let said = stage.changelog("The first");
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    fs::write(&config, &text).unwrap();
    stage.log("something else");
    let now = fs::read_to_string(&config).unwrap();
    assert_eq!(now.matches("The first").count(), 1, "{now}");
    let stage = stage.restart();
    stage.log("something else again");
    assert_eq!(fs::read_to_string(&config).unwrap(), now);
}

#[test]
fn an_update_leads_no_further_than_the_approval() {
    let stage = begun();
    stage.blueprint(LOGIN);
    for phase in ["CONSTRUCT", "VALIDATE"] {
        let said = stage.refused(UPDATE, updating(phase, "RUNNING", json!({})));
        said.code("ILLEGAL_TRANSITION");
    }
    // Nor with another plan than the one that was approved.
    stage.plan(PLAN);
    stage.approve(LOGIN);
    stage.update("BLUEPRINT", "RUNNING", json!({}));
    let other = updating("CONSTRUCT", "RUNNING", json!({"plan": "1. something else"}));
    stage.refused(UPDATE, other).code("ILLEGAL_TRANSITION");
}

#[test]
fn the_approval_of_one_item_is_none_of_the_next() {
    let stage = begun();
    stage.init("Add: logout");
    stage.blueprint(LOGIN);
    stage.plan(PLAN);
    stage.approve(LOGIN);
    stage.validate(LOGIN);
    stage.complete(LOGIN, None);
    stage.refused(UPDATE, updating("CONSTRUCT", "RUNNING", json!({}))).code("ILLEGAL_TRANSITION");
}

#[test]
fn where_only_a_persons_own_answer_counts_there_is_no_other_way() {
    let stage = Stage::over(project(&[]).with("MILEPOST_GATES_ANSWERS", "verified"));
    stage.init(LOGIN);
    stage.come_to_approval(LOGIN);
    let yes = json!({"task_description": LOGIN, "user_approval": true});
    stage.refused(CONSTRUCT, yes.clone()).code("APPROVAL_REQUIRED");
    stage.refused(UPDATE, updating("VALIDATE", "RUNNING", json!({})));
    // A file that says so is not believed, and kept.
    let written = stage.edit(|text| {
        text.replace("Phase: BLUEPRINT", "Phase: CONSTRUCT")
            .replace("Status: NEEDS_PLAN_APPROVAL", "Status: RUNNING")
    });
    stage.call(HELLO, json!({}));
    stage.stands("BLUEPRINT", "NEEDS_PLAN_APPROVAL");
    let kept = fs::read_to_string(stage.project.path(".accordo/backups/workflow_state.md"));
    assert_eq!(kept.unwrap(), written);
    stage.refused(VALIDATE, json!({"task_description": LOGIN}));
    stage.refused(COMPLETE, json!({"task_description": LOGIN}));
    // The person's answer does, and the agent may say so once more.
    let gates = stage.project.ask(&["gate", "list"]);
    let run = gates["gates"][0]["run"]["run"].as_str().unwrap();
    stage.project.ask(&["gate", "approve", run, "--yes"]);
    stage.done(CONSTRUCT, yes);
    stage.stands("CONSTRUCT", "RUNNING");
}

#[test]
fn a_file_that_appears_beside_does_not_hide_the_work() {
    let stage = begun();
    let planted = stage.text().replace("Phase: ANALYZE", "Phase: CONSTRUCT");
    stage.project.write(".accordo/workflow_state.md", &planted);
    let said = stage.call(HELLO, json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"), "{:#}", said.value);
    assert_eq!(said.value["file"], "workflow_state.md");
}

#[test]
fn a_phase_that_is_set_back_by_hand_is_set_back() {
    let stage = begun();
    stage.blueprint(LOGIN);
    stage.edit(|text| text.replace("Phase: BLUEPRINT", "Phase: ANALYZE"));
    let said = stage.call(HELLO, json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"), "{:#}", said.value);
    assert!(said.warnings()[0].as_str().unwrap().contains("by hand"), "{:#}", said.value);
}

#[test]
fn an_editor_that_never_looks_again_loses_nothing() {
    let stage = begun();
    let mut buffer = stage.text();
    for round in 1..=4 {
        stage.log(&format!("the server's {round}"));
        buffer = buffer.replacen("## Rules", &format!("the person's {round}\n\n## Rules"), 1);
        fs::write(stage.state_path(), &buffer).unwrap();
        stage.call(HELLO, json!({}));
    }
    let state = stage.state();
    for round in 1..=4 {
        assert!(state.plan.contains(&format!("the person's {round}")), "{}", stage.text());
        assert!(state.log.contains(&format!("the server's {round}")), "{}", stage.text());
    }
}

#[test]
fn an_end_that_someone_cut_off_stays_off_and_a_torn_one_comes_back() {
    let stage = begun();
    stage.edit(|text| format!("{text}\n## Mine\nkeep me\n"));
    stage.log("more");
    let cut = stage.edit(|text| text.replace("\n## Mine\nkeep me\n", ""));
    stage.call(HELLO, json!({}));
    assert_eq!(stage.text(), cut);
    let whole = stage.text();
    fs::write(stage.state_path(), &whole.as_bytes()[..whole.len() / 2]).unwrap();
    stage.call(HELLO, json!({}));
    assert_eq!(stage.text(), whole);
}

#[test]
fn a_file_in_another_encoding_is_moved_aside_as_it_is() {
    let stage = begun();
    let whole = stage.text();
    let mut bytes = whole.replace("## Plan\n", "## Plan\nM\u{fc}ller\n").into_bytes();
    let at = bytes.windows(2).position(|it| it == "\u{fc}".as_bytes()).unwrap();
    bytes.splice(at..at + 2, [0xfc]);
    fs::write(stage.state_path(), &bytes).unwrap();
    let said = stage.call(HELLO, json!({}));
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    assert_eq!(stage.text(), whole);
    let kept = fs::read(stage.project.path(".accordo/backups/workflow_state.md")).unwrap();
    assert_eq!(kept, bytes);
}
