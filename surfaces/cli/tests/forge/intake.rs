//! From what was typed to a run that is confirmed: detection, preferences, the handshake.

use std::fs;

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::stage::{Stage, words};

const LINEAR: &str = "https://linear.app/acme/issue/ENG-77/some-title";

fn detect(stage: &Stage, text: &str) -> Value {
    stage.done("pipeline_init", json!({"arguments": text})).json()
}

fn today() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%d").to_string()
}

/// The first call, which only asks what to confirm.
fn ask(stage: &Stage, mut arguments: Value) -> Value {
    arguments["workspace"] = json!(stage.workspace());
    let said = stage.done("pipeline_init_with_context", arguments).json();
    assert!(!stage.path("").exists(), "the first call wrote something");
    said["needs_user_confirmation"].clone()
}

#[test]
fn a03_a_task_gets_a_workspace_of_today_and_its_flags_and_nothing_is_written() {
    let stage = Stage::new();
    let before = today();
    let arguments = json!({"arguments": "fix login --auto --effort=S", "current_branch": "main"});
    let said = stage.done("pipeline_init", arguments).json();
    // The day may have ended meanwhile.
    let days = [before, today()].map(|day| json!(format!(".specs/{day}-fix-login")));
    assert!(days.contains(&said["workspace"]), "{said:#}");
    assert_eq!(said["spec_name"], "fix-login");
    assert_eq!(said["source_type"], "text");
    assert_eq!(said["core_text"], "fix login");
    let flags = json!({
        "auto": true, "skip_pr": false, "debug": false, "discuss": false,
        "effort_override": "S", "current_branch": "main",
    });
    assert_eq!(said["flags"], flags);
    assert_eq!(said.get("fetch_needed"), None);
    assert_eq!(said.get("errors"), None);
    assert_eq!(stage.files(), []);
}

#[test]
fn a03_a_task_without_latin_letters_is_called_task() {
    let said = detect(&Stage::new(), "ログイン画面の不具合");
    assert!(said["workspace"].as_str().unwrap().ends_with("-task"), "{said:#}");
}

#[test]
fn a03_a_long_task_is_cut_in_its_name() {
    let said = detect(&Stage::new(), &"A".repeat(100));
    let workspace = said["workspace"].as_str().unwrap();
    let (_, slug) = workspace.split_once('-').unwrap();
    assert_eq!(slug, "a".repeat(60));
}

#[test]
fn a04_an_issue_of_linear_is_fetched_by_its_tool() {
    let said = detect(&Stage::new(), LINEAR);
    assert_eq!(said["source_id"], "ENG-77");
    let fetch = &said["fetch_needed"];
    assert_eq!(fetch["type"], "linear");
    assert_eq!(fetch["mcp_tool"], "mcp__linear__get_issue");
    assert_eq!(fetch["mcp_params"], json!({"issueId": "ENG-77"}));
    assert_eq!(fetch["response_mapping"].as_object().unwrap().len(), 5);
}

#[test]
fn a04_an_issue_of_jira_is_fetched_by_an_instruction() {
    let said = detect(&Stage::new(), "https://x.atlassian.net/browse/AB-1");
    assert_eq!(said["source_id"], "AB-1");
    let fetch = &said["fetch_needed"];
    assert_eq!(fetch["type"], "jira");
    assert_eq!((fetch.get("command"), fetch.get("mcp_tool")), (None, None));
    assert!(!fetch["instruction"].as_str().unwrap().is_empty());
}

#[test]
fn a04_an_issue_of_github_is_fetched_by_a_command_that_no_shell_has_to_read() {
    let said = detect(&Stage::new(), "https://github.com/o/r/issues/12");
    assert_eq!(said["source_id"], "12");
    let fetch = &said["fetch_needed"];
    assert_eq!(fetch["type"], "github");
    let mapping = json!({
        "title": "github_title", "body": "github_body", "labels": "github_labels",
    });
    assert_eq!(fetch["response_mapping"], mapping);
    let command = words(&fetch["command"]);
    assert_eq!(command[..3], ["gh", "issue", "view"], "{fetch:#}");
    assert!(command.iter().any(|it| it == "https://github.com/o/r/issues/12"), "{fetch:#}");
}

#[test]
fn a05_the_name_of_a_workspace_resumes_it() {
    let stage = Stage::begun("M");
    for text in ["20260101-x", ".specs/20260101-x --debug"] {
        let said = detect(&stage, text);
        assert_eq!(said["resume_mode"], "auto", "{said:#}");
        assert_eq!(said["workspace"], ".specs/20260101-x", "{said:#}");
        assert_eq!(said.get("flags"), None, "{said:#}");
    }
}

#[test]
fn a05_a_workspace_that_is_not_there_cannot_be_resumed() {
    let said = detect(&Stage::new(), ".specs/nope");
    assert_eq!(said.as_object().unwrap().len(), 1, "{said:#}");
    let errors = words(&said["errors"]);
    assert_eq!(errors.len(), 1, "{said:#}");
    assert!(errors[0].contains("state.json not found"), "{said:#}");
}

#[test]
fn a06_preferences_are_replaced_as_a_whole_and_checked() {
    let stage = Stage::new();
    let get = || stage.done("preferences_get", json!({})).json();
    assert_eq!(get(), json!({}));
    let set = |preferences: Value| json!({"preferences": preferences});
    stage.refused("preferences_set", set(json!({"effort": "XL"}))).has(&["S", "M", "L"]);
    stage.refused("preferences_set", set(json!({"auto": "yes"})));
    stage.refused("preferences_set", json!({}));
    assert_eq!(get(), json!({}));
    let given = json!({"auto": true, "effort": "L", "junk": 1, "nopr": false, "discuss": true});
    assert_eq!(stage.done("preferences_set", set(given)).json(), json!({"ok": true}));
    assert_eq!(get(), json!({"auto": true, "effort": "L", "nopr": false, "discuss": true}));
    stage.done("preferences_set", set(json!({"debug": true})));
    assert_eq!(get(), json!({"debug": true}));
}

#[test]
fn a06_preferences_fill_in_what_was_not_typed() {
    let stage = Stage::new();
    let given = json!({"auto": true, "effort": "L", "nopr": false, "discuss": true});
    stage.done("preferences_set", json!({"preferences": given}));
    let flags = detect(&stage, "some text here --effort=S")["flags"].clone();
    assert_eq!((&flags["auto"], &flags["discuss"]), (&json!(true), &json!(true)), "{flags:#}");
    assert_eq!((&flags["skip_pr"], &flags["effort_override"]), (&json!(false), &json!("S")));
    assert_eq!(detect(&stage, "some text here")["flags"]["effort_override"], "L");
}

#[test]
fn a06_preferences_that_cannot_be_read_are_told_of_and_otherwise_left_out() {
    let stage = Stage::new();
    fs::write(stage.specs("preferences.json"), "{\"auto\": tr").unwrap();
    stage.refused("preferences_get", json!({}));
    let flags = detect(&stage, "some text here")["flags"].clone();
    for key in ["auto", "skip_pr", "debug", "discuss"] {
        assert_eq!(flags[key], false, "{flags:#}");
    }
}

#[test]
fn a07_the_effort_is_seen_in_the_words_of_the_task() {
    let stage = Stage::new();
    for (text, effort) in [
        ("add a new endpoint with validation", "L"),
        ("rename the button label", "S"),
        ("refactor", "M"),
        ("", "M"),
    ] {
        assert_eq!(ask(&stage, json!({"task_text": text}))["detected_effort"], effort, "{text}");
    }
}

#[test]
fn a07_story_points_say_more_than_words_and_an_order_says_more_than_both() {
    let stage = Stage::new();
    let jira = |points: u32, flags: Value| {
        let arguments = json!({
            "source_url": "https://x.atlassian.net/browse/A-1",
            "external_context": {"summary": "architecture", "jira_story_points": points},
            "flags": flags,
        });
        ask(&stage, arguments)["detected_effort"].clone()
    };
    for (points, effort) in [(1, "S"), (4, "S"), (5, "M"), (12, "M"), (13, "L"), (0, "L")] {
        assert_eq!(jira(points, json!({})), effort, "{points}");
    }
    assert_eq!(jira(13, json!({"effort_override": "S"})), "S");
}

#[test]
fn a08_each_effort_says_what_it_skips_and_one_is_recommended() {
    let options = ask(&Stage::new(), json!({"task_text": "refactor"}))["effort_options"].clone();
    let skipped = |effort: &str| options[effort]["skipped_phases"].clone();
    let phase = |id: &str, label: &str| json!({"phase_id": id, "label": label});
    let decomposition = phase("phase-4", "Task Decomposition");
    let review = phase("phase-4b", "Tasks AI Review");
    let checkpoint = phase("checkpoint-b", "Tasks Checkpoint");
    let small = json!([
        phase("phase-2", "Investigation"),
        decomposition,
        review,
        checkpoint,
        phase("phase-6", "Code Review"),
    ]);
    assert_eq!(skipped("S"), small);
    assert_eq!(skipped("M"), json!([review, checkpoint]));
    assert_eq!(skipped("L"), json!([]));
    let recommended: Vec<&str> =
        ["S", "M", "L"].into_iter().filter(|it| options[it]["recommended"] == true).collect();
    assert_eq!(recommended, ["M"]);
}

#[test]
fn a08_it_is_said_whether_the_branch_is_the_main_one() {
    let stage = Stage::new();
    for (branch, is_main) in [("feat/x", false), ("", true), ("main", true), ("master", true)] {
        let said = ask(&stage, json!({"task_text": "x", "flags": {"current_branch": branch}}));
        assert_eq!(said["is_main_branch"], is_main, "{branch}");
    }
}

#[test]
fn whoever_wants_to_discuss_is_asked_first_and_the_answers_join_the_request() {
    let stage = Stage::new();
    let mut arguments = json!({
        "workspace": stage.workspace(), "task_text": "Add a thing", "flags": {"discuss": true},
    });
    let said = stage.done("pipeline_init_with_context", arguments.clone()).json();
    assert_eq!(words(&said["needs_discussion"]["questions"]).len(), 3, "{said:#}");
    arguments["discussion_answers"] = json!("Quickly.");
    let said = stage.done("pipeline_init_with_context", arguments).json();
    let body = &said["needs_user_confirmation"]["enriched_request_body"];
    assert_eq!(body, "Add a thing\n\n## Discussion Answers\n\nQuickly.");
    assert_eq!(stage.files(), []);
}
