//! What people asked for beside the contract: a part of the phases, a budget, criteria that must be
//! shown to be met.

use std::fs;

use serde_json::{Value, json};

use crate::{
    player::Player,
    stage::{Stage, answer, done, word, words},
};

#[test]
fn a_pipeline_ends_after_the_phase_that_was_named() {
    let mut stage = Stage::new();
    let said = stage.done(
        "pipeline_init",
        json!({"arguments": "Add thing xx --until=phase-3b --nopr", "current_branch": "main"}),
    );
    let flags = said.json()["flags"].clone();
    assert_eq!(flags["until"], "phase-3b", "{flags:#}");
    stage.init_with("M", flags);
    let script = [("review-design.md", 1, "## Verdict: REVISE\n\n1. [CRITICAL] no.\n")];
    let lines = Player::new(&mut stage, &script).play();
    let phases: Vec<&str> = lines.iter().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(
        phases,
        ["phase-1", "phase-2", "phase-3", "phase-3b", "phase-3", "phase-3b", "done"]
    );
    stage.is_at("completed", "completed");
}

#[test]
fn a_pipeline_that_ends_with_a_review_tells_what_it_still_wants() {
    let mut stage = Stage::new();
    stage.init_with("M", json!({"skip_pr": true, "until": "phase-3b"}));
    let script = [1, 2].map(|at| ("review-design.md", at, "## Verdict: REVISE\n"));
    let lines = Player::new(&mut stage, &script).play();
    let last = "done pipeline completed at `phase-3b`, whose review wants `phase-3` changed";
    assert_eq!(lines.last().unwrap(), last, "{lines:#?}");
}

#[test]
fn no_review_is_sent_out_without_what_it_judges() {
    let stage = Stage::new();
    stage.init_with("M", json!({"skip_pr": true, "from": "phase-3b"}));
    let call = json!({"workspace": stage.workspace()});
    let said = stage.call("pipeline_next_action", call);
    assert!(said.is_error, "{}", said.text);
    said.has(&["design.md", "write"]);
    stage.write("design.md", "# D\n\n## A\n");
    assert_eq!(stage.go(json!({}))["agent"], "design-reviewer");
}

#[test]
fn a_failed_verification_is_not_passed() {
    let stage = Stage::begun("M");
    stage.put("final-verification", json!({}));
    stage.go(json!({}));
    stage.write("final-verification.md", "## Verdict: FAIL\n\nTwo tests fail.\n");
    let report = json!({"workspace": stage.workspace(), "previous_action_complete": true});
    let said = stage.call("pipeline_next_action", report);
    assert!(said.is_error, "{}", said.text);
    said.has(&["its verdict is FAIL", "fix what failed"]);
    stage.is_at("final-verification", "in_progress");
    stage.write("final-verification.md", "## Verdict: PASS\n");
    assert_eq!(stage.report("final-verification")["next_action_hint"], "proceed");
}

#[test]
fn what_was_built_side_by_side_is_committed_before_the_pipeline_ends() {
    let mut stage = Stage::new();
    stage.init_with("M", json!({"skip_pr": true, "until": "phase-5"}));
    let script = [("tasks.md", 1, "## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n")];
    let lines = Player::new(&mut stage, &script).play();
    assert_eq!(lines.last().unwrap(), "done pipeline completed", "{lines:#?}");
    stage.is_at("completed", "completed");
    assert_eq!(stage.state()["needsBatchCommit"], false);
    assert_eq!(stage.git(&["show", "--format=", "--name-only", "HEAD"]), "one.txt");
}

#[test]
fn a_pipeline_begins_with_the_phase_that_was_named() {
    let mut stage = Stage::new();
    stage.write("design.md", "# D\n\n## A\n");
    let flags = json!({"skip_pr": true, "from": "phase-3b", "until": "checkpoint-a"});
    let said = stage.init_with("M", flags);
    assert_eq!(said.get("warning"), None, "{said:#}");
    stage.is_at("phase-3b", "pending");
    assert_eq!(
        words(&stage.state()["completedPhases"]),
        ["setup", "phase-1", "phase-2", "phase-3"]
    );
    let lines = Player::new(&mut stage, &[]).play();
    assert!(lines[0].starts_with("phase-3b "), "{lines:#?}");
    assert_eq!(lines.len(), 3, "{lines:#?}");
    stage.is_at("completed", "completed");
}

#[test]
fn what_a_late_beginning_lacks_is_told() {
    let stage = Stage::new();
    let said = stage.init_with("M", json!({"from": "phase-3"}));
    let warning = word(&said["warning"]);
    assert!(warning.contains("analysis.md"), "{said:#}");
}

#[test]
fn phases_that_there_are_not_are_refused_with_those_that_there_are() {
    let stage = Stage::new();
    let said = stage.done("validate_input", json!({"arguments": "Add a thing --from=phase-9"}));
    let said = said.json();
    assert_eq!(said["valid"], false);
    let error = word(&said["errors"][0]);
    assert!(error.contains("phase-9") && error.contains("checkpoint-a"), "{error}");
    let wrong = json!({
        "task_text": "Add thing xx", "flags": {"until": "setup"},
        "user_confirmation": {"effort": "M", "use_current_branch": true},
    });
    stage.error("pipeline_init_with_context", wrong).has(&["setup", "phase-1", "final-commit"]);
}

#[test]
fn a_pipeline_asks_before_it_spends_more_than_its_budget() {
    let stage = Stage::new();
    stage.init_with("M", json!({"skip_pr": true, "auto": true, "budget_tokens": 1500}));
    assert_eq!(stage.go(json!({}))["phase"], "phase-1");
    stage.write("analysis.md", "Thus.\n");
    assert_eq!(stage.go(done())["phase"], "phase-2");
    stage.write("investigation.md", "Thus.\n");
    let asked = stage.go(done());
    assert_eq!(
        (word(&asked["type"]), word(&asked["name"])),
        ("checkpoint".into(), "budget-spent".into())
    );
    assert_eq!(words(&asked["options"]), ["continue", "abandon"]);
    assert!(word(&asked["present_to_user"]).contains("2000"), "{asked:#}");
    stage.is_at("phase-3", "awaiting_human");
    assert_eq!(stage.go(answer("more"))["name"], "budget-spent");
    let action = stage.go(answer("continue"));
    assert_eq!(
        (word(&action["type"]), word(&action["phase"])),
        ("spawn_agent".into(), "phase-3".into())
    );
    stage.is_at("phase-3", "in_progress");
    stage.write("design.md", "# D\n\n## A\n");
    assert_eq!(stage.go(done())["phase"], "phase-3b", "the budget counts again");
    stage.write("review-design.md", "## Verdict: APPROVE\n");
    assert_eq!(stage.go(done())["name"], "budget-spent");
    let over = stage.go(answer("abandon"));
    assert_eq!(over["type"], "done");
    assert_eq!(stage.state()["currentPhaseStatus"], "abandoned");
}

#[test]
fn a_budget_in_money_counts_the_price_of_each_model() {
    // An agent that is sent out without a model of its own has the usual one.
    let stage = Stage::set(&[("MILEPOST_FORGE_PRICES", "sonnet=2000/6000")]);
    let said = stage.done("pipeline_init", json!({"arguments": "Add thing xx --budget=$5"}));
    let mut flags = said.json()["flags"].clone();
    assert_eq!(flags["budget_dollars"], 5.0, "{flags:#}");
    flags["auto"] = json!(true);
    stage.init_with("M", flags);
    assert_eq!(stage.go(json!({}))["phase"], "phase-1");
    stage.write("analysis.md", "Thus.\n");
    // A thousand tokens cost three dollars.
    assert_eq!(stage.go(done())["phase"], "phase-2");
    stage.write("investigation.md", "Thus.\n");
    let asked = stage.go(done());
    assert_eq!(word(&asked["name"]), "budget-spent", "{asked:#}");
    assert!(word(&asked["present_to_user"]).contains("5.0 dollars"), "{asked:#}");
    assert_eq!(stage.go(answer("continue"))["phase"], "phase-3");
}

#[test]
fn the_last_check_tells_of_every_criterion_of_the_request() {
    let stage = Stage::new();
    let task =
        "Add thing xx\n\n## Acceptance Criteria\n\n- [ ] AC-1: it is there\n- [ ] AC-2: it works";
    let arguments = json!({
        "task_text": task, "flags": {"skip_pr": true, "from": "final-verification"},
        "user_confirmation": {"effort": "S", "use_current_branch": true},
    });
    stage.ok("pipeline_init_with_context", arguments);
    assert_eq!(stage.go(json!({}))["phase"], "final-verification");
    stage.write("final-verification.md", "AC-1: seen in `a.txt`.\n");
    let refused = stage.call(
        "pipeline_next_action",
        json!({"workspace": stage.workspace(), "previous_action_complete": true, "previous_tokens": 1}),
    );
    refused.has(&["AC-2", "request.md"]);
    stage.write("final-verification.md", "AC-1: seen in `a.txt`.\nAC-2: `test` ends with 0.\n");
    assert_eq!(stage.go(done())["phase"], "final-summary");
}

#[test]
fn a_copy_of_a_pipeline_has_a_workspace_of_its_own() {
    let mut stage = Stage::begun("M");
    Player::new(&mut stage, &[]).play_until(|it| it["phase"] == "phase-5");
    let run = |arguments: &[&str]| {
        let output = stage.project.milepost(arguments).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let key = ".specs/20260101-x";
    let fork = ["run", "fork", key, "--from-step", "phase-3b"];
    let taken = run(&fork);
    assert!(taken.contains("already has the key"), "{taken}");
    let copied = run(&[&fork[..], &["--key", ".specs/20260202-y"]].concat());
    assert!(copied.contains("at step `phase-3b`"), "{copied}");
    let folder = stage.project.path(".specs/20260202-y");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.ends_with(".md"))
        .collect();
    names.sort();
    assert_eq!(names, ["analysis.md", "design.md", "investigation.md", "request.md"]);
    let state: Value =
        serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap();
    assert_eq!((&state["currentPhase"], &state["specName"]), (&json!("phase-3b"), &json!("y")));
    assert_eq!(word(&state["workspace"]), folder.to_str().unwrap());
    let workspace = stage.specs("20260202-y");
    let action = stage.done("pipeline_next_action", json!({"workspace": workspace})).json();
    assert_eq!(word(&action["phase"]), "phase-3b", "{action:#}");
    stage.is_at("phase-5", "in_progress");
    let again = run(&[&fork[..], &["--key", ".specs/20260202-y"]].concat());
    assert!(again.contains("already has the key"), "{again}");
    stage.project.write(".specs/20260303-z/state.json", "{}");
    let foreign = run(&[&fork[..], &["--key", ".specs/20260303-z"]].concat());
    assert!(foreign.contains("20260303-z"), "{foreign}");
}
