//! What someone may type to start a pipeline, and what is made of it.

use serde_json::{Value, json};

use crate::stage::{Stage, words};

fn validate(stage: &Stage, arguments: Value) -> Value {
    let said = stage.done("validate_input", arguments).json();
    let parsed = &said["parsed"];
    for key in ["flags", "bare_flags", "core_text", "source_type"] {
        assert!(parsed.get(key).is_some(), "no {key}: {said:#}");
    }
    assert!(said.get("errors").is_some(), "{said:#}");
    said
}

/// Checks that `text` is turned down with one error that has each of `parts`.
#[track_caller]
fn is_invalid(stage: &Stage, text: &str, parts: &[&str]) {
    let said = validate(stage, json!({"arguments": text}));
    assert_eq!(said["valid"], false, "{text}: {said:#}");
    let errors = words(&said["errors"]);
    let [error] = errors.as_slice() else { panic!("not one error: {said:#}") };
    for part in parts {
        assert!(error.contains(part), "no `{part}` in `{error}`");
    }
}

/// Checks that `text` is taken as `core` of `source`, with bare flags.
#[track_caller]
fn is_valid(stage: &Stage, text: &str, (core, source): (&str, &str), bare: &[&str]) -> Value {
    let said = validate(stage, json!({"arguments": text}));
    assert_eq!(said["valid"], true, "{text}: {said:#}");
    assert!(words(&said["errors"]).is_empty(), "{said:#}");
    assert_eq!(said["parsed"]["core_text"], core, "{said:#}");
    assert_eq!(said["parsed"]["source_type"], source, "{said:#}");
    assert_eq!(words(&said["parsed"]["bare_flags"]), bare, "{said:#}");
    said["parsed"]["flags"].clone()
}

#[test]
fn a02_an_input_without_a_task_is_told_to_be_empty() {
    let stage = Stage::new();
    let said = validate(&stage, json!({}));
    assert_eq!(said["valid"], false);
    assert!(words(&said["errors"])[0].contains("empty input"), "{said:#}");
    for text in ["", "   "] {
        is_invalid(&stage, text, &["empty input"]);
    }
    is_invalid(&stage, "--auto", &["Only flags"]);
}

#[test]
fn a02_a_task_of_a_few_characters_is_too_short() {
    let stage = Stage::new();
    is_invalid(&stage, "abcd", &["4 chars", "too short"]);
    is_invalid(&stage, "日本語文", &["4 chars"]);
    is_valid(&stage, "abcde", ("abcde", "text"), &[]);
}

#[test]
fn a02_flags_are_taken_out_of_the_task() {
    let stage = Stage::new();
    let text = "fix login --auto --nopr --effort=S --type=bugfix";
    let flags = is_valid(&stage, text, ("fix login", "text"), &["auto", "nopr"]);
    assert_eq!(flags, json!({"effort": "S", "type": "bugfix"}));
    is_valid(&stage, ".specs/foo --debug", (".specs/foo", "workspace"), &["debug"]);
    is_valid(&stage, "do x --resume now", ("do x now", "text"), &[]);
    is_valid(&stage, "do--auto it", ("do--auto it", "text"), &[]);
}

#[test]
fn a02_bare_flags_come_in_a_fixed_order() {
    let stage = Stage::new();
    let text = "--discuss --debug --nopr --auto fix login";
    is_valid(&stage, text, ("fix login", "text"), &["auto", "nopr", "debug", "discuss"]);
}

#[test]
fn the_same_flag_twice_is_one_flag() {
    let stage = Stage::new();
    is_valid(&stage, "fix login --auto --auto", ("fix login", "text"), &["auto"]);
}

#[test]
fn a02_the_effort_xs_is_not_to_be_had() {
    is_invalid(&Stage::new(), "--effort=XS do the thing", &["XS", "S, M, L"]);
}

#[test]
fn a02_the_address_of_an_issue_tells_where_it_is_kept() {
    let stage = Stage::new();
    for (address, source) in [
        ("https://github.com/o/r/issues/12", "github_issue"),
        ("https://x.atlassian.net/browse/AB-1", "jira_issue"),
        ("https://linear.app/acme/issue/ENG-77/some-title", "linear_issue"),
    ] {
        is_valid(&stage, address, (address, source), &[]);
    }
}

#[test]
fn a02_an_address_of_anything_else_is_turned_down() {
    let stage = Stage::new();
    is_invalid(&stage, "https://github.com/o/r/pull/12", &["Invalid GitHub URL"]);
    is_invalid(&stage, "https://x.atlassian.net/browse/ab-1", &["Invalid Jira URL"]);
    is_invalid(&stage, "https://gitlab.com/x", &["Unrecognised URL"]);
    is_invalid(&stage, "http://github.com/o/r/issues/1", &["Unrecognised URL"]);
}

/// Addresses with more in them than the address of an issue.
const TAMPERED: [&str; 9] = [
    "https://github.com/o/r/issues/12; rm -rf ~",
    "https://github.com/o/r/issues/12;touch${IFS}pwned",
    "https://github.com/o/r/issues/12$(touch pwned)",
    "https://github.com/o/r/issues/12`id`",
    "https://github.com/o/r/issues/12|sh",
    "https://github.com/o/r/issues/12 && true",
    "https://github.com/o/$(id)/issues/12",
    "https://x.atlassian.net/browse/AB-1;id",
    "https://linear.app/acme/issue/ENG-77;id",
];

#[test]
fn a47_an_address_with_a_command_in_it_is_refused() {
    let stage = Stage::new();
    for address in TAMPERED {
        let said = validate(&stage, json!({"arguments": address}));
        assert_eq!(said["valid"], false, "{address}: {said:#}");
        let said = stage.done("pipeline_init", json!({"arguments": address})).json();
        assert!(!words(&said["errors"]).is_empty(), "{address}: {said:#}");
        assert_eq!(said.get("fetch_needed"), None, "{address}: {said:#}");
        assert_eq!(said.get("workspace"), None, "{address}: {said:#}");
    }
}

#[test]
fn a_command_in_the_address_of_a_confirmed_run_is_only_text() {
    for address in TAMPERED {
        let stage = Stage::new();
        let said = stage.call(
            "pipeline_init_with_context",
            json!({
                "workspace": stage.workspace(), "source_url": address, "source_id": "12",
                "task_text": "Add thing xx", "flags": {"skip_pr": true},
                "user_confirmation": {"effort": "M", "use_current_branch": true},
            }),
        );
        if said.is_error {
            assert!(!stage.has("state.json"), "{address}: it was refused, and begun");
            continue;
        }
        let workspace = said.json()["workspace"].as_str().unwrap().to_owned();
        let request = std::fs::read_to_string(format!("{workspace}/request.md")).unwrap();
        assert!(request.contains("source_type: text"), "{address}:\n{request}");
    }
}

#[test]
fn more_behind_the_number_of_an_issue_does_not_become_its_number() {
    let stage = Stage::new();
    let arguments = json!({"arguments": "https://github.com/o/r/issues/12/foo"});
    let said = stage.done("pipeline_init", arguments).json();
    let is_refused = !words(&said["errors"]).is_empty();
    assert!(is_refused || said["source_id"] == "12", "{said:#}");
}
