//! One long story: two items through all phases, with a plan that is rejected, a check that fails, a
//! log that is rotated and a changelog, while a person writes in the same file.

use std::fs;

use serde_json::json;

use crate::{
    file_text::{row, section},
    fixtures::{ANALYZE, CHECK_FILES, CONSTRUCT, FINALIZE, FIX, ITERATE},
    stage::{Stage, project},
};

const LOGIN: &str = "Add: login";
const LOGOUT: &str = "Add: logout | and the door";
const NOTES: &str = "## Notes\n\n* mine, and *only* mine\n\n```\n## Log\nnot a log\n```\n";

/// Checks that what the person wrote is still there, byte for byte.
#[track_caller]
fn keeps_notes(stage: &Stage) {
    let text = stage.text().replace("\r\n", "\n");
    assert!(text.contains(NOTES), "{text}");
    assert!(text.contains("> do not touch my rules"), "{text}");
}

/// The person opens the file before anything happened, adds notes of their own and a second item.
fn begins(stage: &Stage) {
    stage.init(LOGIN);
    stage.edit(|text| {
        let row = "| 1 | Add: login | pending |\n";
        let text =
            text.replace(row, &format!("{row}| 2 | Add: logout \\| and the door | pending |\n"));
        let text = text.replacen("## Rules\n", "## Rules\n> do not touch my rules\n\n", 1);
        text.replacen("\n## Items\n", &format!("\n{NOTES}\n## Items\n"), 1)
    });
    stage.analyze(LOGIN);
    let wanted = [row(1, LOGIN, "pending"), row(2, LOGOUT, "pending")];
    assert_eq!(stage.state().items, wanted);
    keeps_notes(stage);
}

/// The first plan is rejected, and the person sharpens the second by hand before saying yes.
fn plans(stage: &Stage) {
    stage.log("people sign in with a name and a word");
    stage.update("ANALYZE", "READY", json!({}));
    stage.blueprint(LOGIN);
    stage.plan("1. keep the words in a text file");
    stage.refused(CONSTRUCT, json!({"task_description": LOGIN})).code("ILLEGAL_TRANSITION");
    stage.revise(LOGIN, "never keep words in plain text");
    stage.stands("BLUEPRINT", "RUNNING");
    stage.plan(
        "### Second try\n\n1. keep digests\n\n| file | change |\n|---|---|\n| `login.rs` | new |",
    );
    stage.edit(|text| text.replace("1. keep digests\n", "1. keep digests, with salt\n"));
    stage.approve(LOGIN);
    stage.stands("CONSTRUCT", "RUNNING");
    let plan = stage.state().plan;
    assert!(plan.contains("with salt") && plan.contains("| `login.rs` | new |"), "{plan}");
    assert!(stage.state().log.contains("never keep words in plain text"), "{}", stage.text());
    keeps_notes(stage);
}

/// A check fails, the log grows until it is rotated, and the person's editor changes line ends.
fn builds(stage: &Stage) {
    stage.log("step 1: wrote `login.rs`");
    stage.error(LOGIN, "error: `cargo test` failed in `login::salt`");
    stage.stands("CONSTRUCT", "ERROR");
    stage.done(CONSTRUCT, json!({"task_description": LOGIN}));
    stage.stands("CONSTRUCT", "RUNNING");
    stage.edit(|text| text.replace('\n', "\r\n"));
    for number in 0..6 {
        stage.log(&format!("run {number}: {}", "ok ".repeat(300)));
    }
    let state = stage.state();
    assert!(state.log.chars().count() <= 5000, "{}", state.log.len());
    assert_eq!(state.archive.matches("--- LOG ROTATION ").count(), 1, "{}", state.archive);
    assert!(state.archive.contains("login::salt"), "the error is among the findings");
    let text = stage.text();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "line ends are mixed");
    stage.edit(|text| text.replace("\r\n", "\n"));
    let archived = stage.archived();
    for entry in ["people sign in with a name", "step 1: wrote", "run 0"] {
        assert!(archived.contains(entry), "{entry} is lost");
    }
    keeps_notes(stage);
}

/// The first item is validated in a second try, and completed.
fn completes(stage: &Stage) {
    stage.update("CONSTRUCT", "READY", json!({}));
    stage.validate(LOGIN);
    stage.done(FIX, json!({"task_description": LOGIN, "issues": "the docs are silent"}));
    stage.stands("VALIDATE", "ERROR");
    stage.validate(LOGIN);
    let said = stage.complete(LOGIN, Some("People can sign in."));
    assert!(said.next().contains(&ITERATE), "{:#}", said.value);
    stage.stands("ANALYZE", "READY");
    let state = stage.state();
    assert_eq!((state.item.as_deref(), state.log.as_str()), (Some(LOGOUT), ""));
    assert_eq!(state.statuses(), ["completed", "pending"]);
    let changelog = section(&stage.config(), "Changelog").unwrap();
    assert_eq!(changelog, "- People can sign in.\n- Opened the shop.\n- Drew the sign.");
    assert!(stage.archived().contains("the docs are silent"), "{}", stage.archived());
    keeps_notes(stage);
}

#[test]
fn two_items_go_all_the_way_while_a_person_writes_in_the_file() {
    let stage = Stage::over(project(&[]));
    begins(&stage);
    plans(&stage);
    let stage = stage.restart();
    builds(&stage);
    completes(&stage);
    // The second item, by what the answers say comes next.
    let said = stage.done(ITERATE, json!({}));
    let task = said.next_params(ANALYZE)["task_description"].as_str().unwrap().to_owned();
    assert_eq!(task, LOGOUT);
    stage.analyze(&task);
    // The file is taken away in the midst of it, and comes back.
    let before = stage.text();
    fs::remove_file(stage.state_path()).unwrap();
    stage.call(CHECK_FILES, json!({}));
    assert_eq!(stage.text(), before);
    stage.blueprint(&task);
    stage.plan("1. close the door");
    let stage = stage.restart();
    // An approval of the first plan is none of the second.
    stage.refused(CONSTRUCT, json!({"task_description": task})).code("ILLEGAL_TRANSITION");
    stage.approve(&task);
    stage.validate(&task);
    let said = stage.complete(&task, None);
    assert!(said.next().contains(&FINALIZE), "{:#}", said.value);
    stage.stands("VALIDATE", "COMPLETED");
    let changelog = section(&stage.config(), "Changelog").unwrap();
    let wanted = format!("- {LOGOUT}\n- People can sign in.\n- Opened the shop.\n- Drew the sign.");
    assert_eq!(changelog, wanted);
    stage.done(FINALIZE, json!({})).has(&[LOGIN]);
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("INIT", "READY"));
    assert_eq!((state.item.as_deref(), state.statuses()), (None, vec!["completed", "completed"]));
    keeps_notes(&stage);
    stage.read(CHECK_FILES, json!({})).lacks(&["workflow_state.md: ", "project_config.md: "]);
}
