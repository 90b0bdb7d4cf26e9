//! The cycle of the classic tools: what each call does to the file, and which call comes next.

use std::fs;

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use crate::{
    file_text::{FileText, file_text, row, section},
    fixtures::{
        ANALYZE, BLUEPRINT, CHANGELOG, COMPLETE, CONSTRUCT, CREATE_STATE, ERROR, ESCALATE,
        FINALIZE, FIX, INIT, ITERATE, PHASES, REVISE, UPDATE, VALIDATE,
    },
    stage::Stage,
};

const LOGIN: &str = "Add: login";
const LOGOUT: &str = "Add: logout";

fn today() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).date().to_string()
}

#[test]
fn b03_a_first_task_makes_the_file() {
    let stage = Stage::new();
    let before = today();
    let said = stage.init(LOGIN);
    assert!(said.next().contains(&ANALYZE), "{:#}", said.value);
    assert_eq!(said.next_params(ANALYZE)["task_description"], LOGIN);
    let text = stage.text();
    for name in ["State", "Plan", "Rules", "Items", "Log", "ArchiveLog"] {
        assert!(section(&text, name).is_some(), "no {name} in:\n{text}");
    }
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("INIT", "READY"));
    assert_eq!(state.item.as_deref(), Some(LOGIN));
    assert_eq!(state.items, [row(1, LOGIN, "pending")]);
    let dates = [before, today()].map(|it| format!("_Last updated: {it}_"));
    let second = text.lines().nth(1).unwrap();
    assert!(dates.iter().any(|it| it == second), "{second}");
}

#[test]
fn the_rules_of_the_file_are_those_that_the_server_follows() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let rules = section(&stage.text(), "Rules").unwrap();
    for name in ["RULE_INIT_01", "RULE_ITERATE_01", "RULE_LOG_ROTATE_01", "RULE_SUMMARY_01"] {
        let (_, block) = rules.split_once(&format!("### {name}")).unwrap();
        let block = block.split("\n### ").next().unwrap();
        assert!(block.contains("Trigger ▶") && block.contains("Action ▶"), "{block}");
    }
    for phase in PHASES.into_iter().skip(1) {
        assert!(rules.contains(&format!("### [PHASE: {phase}]")), "{rules}");
    }
}

#[test]
fn b04_a_task_is_one_row_however_often_it_is_named() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.init(LOGIN);
    assert_eq!(stage.state().items, [row(1, LOGIN, "pending")]);
    stage.init(LOGOUT);
    assert_eq!(stage.state().items, [row(1, LOGIN, "pending"), row(2, LOGOUT, "pending")]);
}

#[test]
fn an_id_is_one_more_than_the_highest() {
    let items = vec![row(7, "old", "completed"), row(3, "older", "completed")];
    let state = FileText { items: items.clone(), item: None, ..file_text("INIT", "READY") };
    let stage = Stage::with_state(&state.text());
    stage.init(LOGIN);
    assert_eq!(stage.state().items, [items, vec![row(8, LOGIN, "pending")]].concat());
}

#[test]
fn b05_an_item_goes_through_all_phases() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let said = stage.analyze(LOGIN);
    stage.stands("ANALYZE", "RUNNING");
    let params = said.next_params(BLUEPRINT);
    assert!(params.get("task_description").is_some(), "{params}");
    assert!(params.get("requirements_summary").is_some(), "{params}");
    stage.update("ANALYZE", "READY", json!({"log_entry": "requirements are clear"}));
    stage.stands("ANALYZE", "READY");
    let said = stage.blueprint(LOGIN);
    stage.stands("BLUEPRINT", "RUNNING");
    assert!(stage.state().log.contains("people must sign in"), "{}", stage.text());
    assert!(said.next().contains(&CONSTRUCT), "{:#}", said.value);
    assert!(said.next_params(REVISE).get("feedback").is_some(), "{:#}", said.value);
    stage.plan("1. write `login.rs`\n2. test it");
    stage.stands("BLUEPRINT", "NEEDS_PLAN_APPROVAL");
    assert_eq!(stage.state().plan, "1. write `login.rs`\n2. test it");
    let said = stage.approve(LOGIN);
    stage.stands("CONSTRUCT", "RUNNING");
    assert!(said.next().contains(&VALIDATE), "{:#}", said.value);
    assert!(said.next_params(ERROR).get("error_details").is_some(), "{:#}", said.value);
    stage.update("CONSTRUCT", "READY", json!({}));
    let said = stage.validate(LOGIN);
    stage.stands("VALIDATE", "RUNNING");
    assert!(said.next().contains(&COMPLETE), "{:#}", said.value);
    assert!(said.next_params(FIX).get("issues").is_some(), "{:#}", said.value);
    // The item at hand was never lost on the way.
    assert_eq!(stage.state().item.as_deref(), Some(LOGIN));
    let said = stage.complete(LOGIN, Some("People can sign in."));
    stage.stands("VALIDATE", "COMPLETED");
    assert!(said.next().contains(&FINALIZE), "{:#}", said.value);
    assert_eq!(stage.state().items, [row(1, LOGIN, "completed")]);
    let changelog = section(&stage.config(), "Changelog").unwrap();
    assert_eq!(changelog, "- People can sign in.\n- Opened the shop.\n- Drew the sign.");
}

#[test]
fn the_changelog_says_the_task_when_no_summary_is_given() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.work(LOGIN);
    let changelog = section(&stage.config(), "Changelog").unwrap();
    assert_eq!(changelog.lines().next(), Some("- Add: login"));
}

#[test]
fn b06_the_next_item_is_taken_up_after_the_changelog_is_written() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.init(LOGOUT);
    let said = stage.work(LOGIN);
    assert!(said.next().contains(&ITERATE), "{:#}", said.value);
    assert_eq!(said.stands(), ("ANALYZE", "READY"));
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("ANALYZE", "READY"));
    assert_eq!(state.item.as_deref(), Some(LOGOUT));
    assert_eq!(state.statuses(), ["completed", "pending"]);
    assert_eq!(state.log, "");
    assert!(stage.config().contains("## Changelog\n- Add: login\n- Opened the shop."));
    // What was in the log is not lost.
    assert!(stage.archived().contains("people must sign in"), "{}", stage.archived());
    stage.work(LOGOUT);
    stage.stands("VALIDATE", "COMPLETED");
    assert!(stage.config().contains("## Changelog\n- Add: logout\n- Add: login\n"));
}

#[test]
fn the_next_item_is_the_pending_row_that_stands_first() {
    let items = vec![
        row(5, "fifth", "completed"),
        row(4, "fourth", "pending"),
        row(2, LOGIN, "pending"),
        row(3, "third", "pending"),
    ];
    let stage = Stage::with_state(&FileText { items, ..file_text("VALIDATE", "RUNNING") }.text());
    stage.complete(LOGIN, None);
    assert_eq!(stage.state().item.as_deref(), Some("fourth"));
    assert_eq!(stage.state().statuses(), ["completed", "pending", "completed", "pending"]);
}

#[test]
fn iterate_says_again_what_the_rule_has_done_already() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.init(LOGOUT);
    stage.work(LOGIN);
    let before = stage.text();
    let said = stage.done(ITERATE, json!({}));
    assert_eq!(said.next_params(ANALYZE)["task_description"], LOGOUT);
    assert_eq!(stage.done(ITERATE, json!({})), said);
    assert_eq!(stage.text(), before);
}

#[test]
fn iterate_without_an_item_left_leads_to_the_end() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.work(LOGIN);
    let said = stage.done(ITERATE, json!({}));
    assert!(said.next().contains(&FINALIZE), "{:#}", said.value);
    stage.stands("VALIDATE", "COMPLETED");
}

#[test]
fn the_end_says_what_was_done_and_clears_the_table() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.init(LOGOUT);
    stage.work(LOGIN);
    stage.work(LOGOUT);
    let said = stage.done(FINALIZE, json!({}));
    assert_eq!(said.next(), Vec::<&str>::new());
    said.has(&[LOGIN, LOGOUT]);
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("INIT", "READY"));
    assert_eq!(state.item, None);
    assert_eq!(state.statuses(), ["completed", "completed"]);
    let all = format!("{}\n{}", state.log, stage.archived());
    assert!(all.contains("2 items completed"), "{all}");
    assert!(all.contains("people must sign in"), "{all}");
    assert!(!state.log.contains("people must sign in"), "{}", state.log);
    // And then another task can come.
    stage.init("Fix: the sign");
    assert_eq!(stage.state().items[2], row(3, "Fix: the sign", "pending"));
}

#[test]
fn a_new_task_archives_the_old_log() {
    let state =
        FileText { log: "[12:00:01] an old finding".to_owned(), ..file_text("INIT", "READY") };
    let stage = Stage::with_state(&state.text());
    stage.init("Fix: the sign");
    assert!(!stage.state().log.contains("an old finding"), "{}", stage.text());
    assert!(stage.archived().contains("an old finding"), "{}", stage.archived());
}

#[test]
fn a_task_that_comes_while_another_is_worked_on_only_joins_the_items() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.come_to_approval(LOGIN);
    let before = stage.state();
    stage.init(LOGOUT);
    let after = stage.state();
    assert_eq!(after.items, [row(1, LOGIN, "pending"), row(2, LOGOUT, "pending")]);
    assert_eq!((after.phase, after.status, after.item), (before.phase, before.status, before.item));
    assert_eq!(after.plan, before.plan);
    assert!(after.log.starts_with(&before.log), "{}", after.log);
}

#[test]
fn b10_the_item_at_hand_stays_unless_null_is_said() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    stage.update("ANALYZE", "READY", json!({}));
    assert_eq!(stage.state().item.as_deref(), Some(LOGIN));
    let said = stage.update("ANALYZE", "READY", json!({"current_item": null}));
    assert_eq!(said.value["current_item"], Value::Null);
    assert_eq!(stage.state().item, None);
    assert!(stage.text().contains("\nCurrentItem: null"), "{}", stage.text());
    stage.update("ANALYZE", "READY", json!({"current_item": LOGIN}));
    assert_eq!(stage.state().item.as_deref(), Some(LOGIN));
}

#[test]
fn an_update_changes_exactly_what_it_names() {
    let stage = Stage::with_state(&file_text("CONSTRUCT", "RUNNING").text());
    let before = stage.state();
    stage.update("CONSTRUCT", "READY", json!({}));
    assert_eq!(stage.state(), FileText { status: "READY".to_owned(), ..before.clone() });
    stage.update("CONSTRUCT", "RUNNING", json!({"log_entry": "tests are green"}));
    let after = stage.state();
    assert!(after.log.starts_with(&before.log), "{}", after.log);
    assert_eq!(FileText { log: before.log.clone(), ..after }, before);
}

#[test]
fn b11_what_goes_wrong_is_logged_and_leads_on() {
    let cases = [
        (ERROR, "error_details", vec![CONSTRUCT, BLUEPRINT, ESCALATE]),
        (FIX, "issues", vec![VALIDATE, ERROR]),
        (ESCALATE, "error_details", vec![CONSTRUCT]),
    ];
    for (tool, parameter, next) in cases {
        for phase in ["CONSTRUCT", "VALIDATE"] {
            let stage = Stage::with_state(&file_text(phase, "RUNNING").text());
            let mut arguments = json!({"task_description": LOGIN});
            arguments[parameter] = json!("the linker gave up");
            let said = stage.done(tool, arguments);
            stage.stands(phase, "ERROR");
            assert!(stage.state().log.contains("the linker gave up"), "{}", stage.text());
            assert_eq!(stage.state().item.as_deref(), Some(LOGIN));
            for wanted in &next {
                assert!(said.next().contains(wanted), "{tool}: {:#}", said.value);
            }
        }
    }
    // A plan that is made again has the error as its reason.
    let stage = Stage::with_state(&file_text("CONSTRUCT", "RUNNING").text());
    let said = stage.error(LOGIN, "the linker gave up");
    let summary = said.next_params(BLUEPRINT)["requirements_summary"].as_str().unwrap();
    assert!(summary.contains("the linker gave up"), "{summary}");
}

#[test]
fn the_ways_back_from_an_error_are_open() {
    let failed = || {
        let stage = Stage::with_state(&file_text("CONSTRUCT", "RUNNING").text());
        stage.error(LOGIN, "it broke");
        stage
    };
    let stage = failed();
    stage.done(CONSTRUCT, json!({"task_description": LOGIN}));
    stage.stands("CONSTRUCT", "RUNNING");
    let stage = failed();
    stage.blueprint(LOGIN);
    stage.stands("BLUEPRINT", "RUNNING");
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.done(FIX, json!({"task_description": LOGIN, "issues": "one is red"}));
    stage.stands("VALIDATE", "ERROR");
    stage.validate(LOGIN);
    stage.stands("VALIDATE", "RUNNING");
}

#[test]
fn the_state_file_is_made_once_and_never_overwritten() {
    let stage = Stage::new();
    let said = stage.done(CREATE_STATE, json!({"task_description": LOGIN}));
    assert!(said.next().contains(&ANALYZE), "{:#}", said.value);
    for name in ["## State", "## Plan", "## Rules", "## Items", "## Log", "## ArchiveLog"] {
        said.has(&[name]);
    }
    assert!(stage.state_path().is_file());
    stage.refused(CREATE_STATE, json!({"task_description": LOGOUT}));
    // Nor when it is someone's own, and not in order.
    let stage = Stage::with_state("# my notes\n");
    stage.refused(CREATE_STATE, json!({"task_description": LOGIN}));
}

#[test]
fn log_entries_carry_the_full_time_and_may_have_several_lines() {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    stage.log("first line\nsecond line");
    let state = stage.state();
    let entry =
        regex::Regex::new(r"(?m)^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] first line\nsecond line$");
    assert!(entry.unwrap().is_match(&state.log), "{}", state.log);
    let stamp = regex::Regex::new(r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] \S").unwrap();
    let others = state.log.lines().filter(|it| *it != "second line");
    for line in others {
        assert!(stamp.is_match(line), "{line}");
    }
}

#[test]
fn a_task_may_be_free_text_with_a_hint_or_must_name_an_action() {
    let bad = ["no colon", "lower: x", "Two words: x", "Add:nothing", "Add: ", "R2: x"];
    for task in bad {
        let stage = Stage::new();
        stage.init(task).has(&["Action:"]);
        let stage = Stage::set(&[("task_format", "action")]);
        for tool in [INIT, ANALYZE, CHANGELOG] {
            let said = stage.refused(tool, json!({"task_description": task}));
            let told = format!("{}{}", said.text, said.value["refusal"]);
            for word in ["Action: Brief description", "Add", "Fix", "Implement", "Refactor"] {
                assert!(told.contains(word), "{task}: no {word} in {told}");
            }
        }
    }
    let stage = Stage::set(&[("task_format", "action")]);
    stage.init("  Add: login  ");
    assert_eq!(stage.state().item.as_deref(), Some(LOGIN));
}

#[test]
fn a_call_that_needs_a_task_asks_for_one_while_there_is_none() {
    let state = FileText { item: None, items: vec![], ..file_text("INIT", "READY") };
    let stage = Stage::with_state(&state.text());
    for tool in [INIT, ANALYZE] {
        let said = stage.unchanged(tool, json!({"task_description": "  "}));
        assert!(said.text.to_lowercase().contains("task"), "{}", said.text);
    }
    // When it is given, the work begins: by one call or by two.
    stage.analyze(LOGIN);
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("ANALYZE", "RUNNING"));
    assert_eq!(state.item.as_deref(), Some(LOGIN));
    assert_eq!(state.items, [row(1, LOGIN, "pending")]);
}

#[test]
fn two_servers_take_turns_at_one_file() {
    let stage = Stage::new();
    stage.init(LOGIN);
    let other = Stage::serve(&stage.project, crate::Era::Modern);
    let arguments = json!({"task_description": LOGIN});
    let said = Stage::try_call(&other, ANALYZE, arguments).ok().unwrap();
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
    stage.blueprint(LOGIN);
    let log = json!({"phase": "BLUEPRINT", "status": "RUNNING", "log_entry": "from the other"});
    Stage::try_call(&other, UPDATE, log).ok().unwrap();
    stage.log("from the first");
    let log = stage.state().log;
    assert!(log.contains("from the other") && log.contains("from the first"), "{log}");
    assert_eq!(fs::read_to_string(stage.state_path()).unwrap(), stage.text());
}
