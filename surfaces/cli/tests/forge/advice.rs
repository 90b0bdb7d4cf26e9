//! What answers advise works, to the letter.

use std::fs;

use serde_json::json;

use crate::{
    checkpoints::waiting,
    stage::{Stage, answer, done, words},
};

const CIRCLE: &str = "## Task 1: One\ndepends_on: [2]\n\n## Task 2: Two\ndepends_on: [1]\n";

/// A run whose tasks are being made.
fn decomposing(effort: &str) -> Stage {
    let stage = Stage::begun(effort);
    stage.write("design.md", "# D\n\n## A\n");
    stage.put("phase-4", json!({}));
    stage
}

#[test]
fn a_plan_that_goes_round_is_refused_at_once_and_the_same_report_works_once_it_is_fixed() {
    for effort in ["M", "L"] {
        let stage = decomposing(effort);
        assert_eq!(stage.go(json!({}))["agent"], "task-decomposer");
        stage.write("tasks.md", CIRCLE);
        let said = stage.stumble("pipeline_next_action", done());
        assert!(said.text.contains("cycle of dependencies"), "{}", said.text);
        assert!(said.text.contains("tasks.md"), "{}", said.text);
        stage.is_at("phase-4", "in_progress");
        stage.write("tasks.md", "## Task 1 - One\n\n## Task 2: Two\ndepends_on: [1]\n");
        let action = stage.go(done());
        let next = if effort == "M" { "implementer" } else { "task-reviewer" };
        assert_eq!(action["agent"], next, "{action:#}");
    }
}

#[test]
fn a_plan_that_is_damaged_later_is_fixed_and_gone_on_with() {
    let stage = Stage::begun("M");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("tasks.md", CIRCLE);
    stage.put("phase-5", json!({"currentPhaseStatus": "pending"}));
    let said = stage.stumble("pipeline_next_action", json!({}));
    assert!(said.text.contains("20260101-x/tasks.md`, then call"), "{}", said.text);
    assert!(said.text.contains("nothing but `workspace`"), "{}", said.text);
    stage.write("tasks.md", "## Task 1: One\n");
    assert_eq!(stage.go(json!({}))["agent"], "implementer");
}

#[test]
fn whoever_revises_a_design_is_told_that_there_is_one() {
    let stage = waiting();
    let action = stage.go(answer("revise"));
    let inputs = words(&action["input_files"]);
    assert!(inputs.contains(&"design.md".to_owned()), "{action:#}");
}

#[test]
fn a_reviewer_is_told_what_the_last_review_found() {
    let stage = Stage::begun("M");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("tasks.md", "## Task 1: One\n");
    stage.put("phase-5", json!({"currentPhaseStatus": "pending"}));
    assert_eq!(stage.go(json!({}))["agent"], "implementer");
    stage.write("impl-1.md", "built");
    assert_eq!(stage.go(done())["agent"], "impl-reviewer");
    stage.write("review-1.md", "### Verdict: **FAIL**.\n\n**1. [CRITICAL] No rollback**\n");
    let action = stage.go(done());
    assert_eq!(action["agent"], "implementer", "{action:#}");
    assert_eq!(action["report_result"]["verdict_parsed"], "FAIL");
    let found = &action["report_result"]["findings"][0]["description"];
    assert_eq!(*found, "task 1: No rollback");
    stage.write("impl-1.md", "built again");
    let action = stage.go(done());
    assert_eq!(action["agent"], "impl-reviewer", "{action:#}");
    let prompt = action["prompt"].as_str().unwrap();
    assert!(prompt.contains("- [CRITICAL] No rollback"), "{prompt}");
    stage.write("review-1.md", "## Verdict\n\nPASS\n");
    assert_eq!(stage.go(done())["phase"], "phase-7");
    let log = stage.log();
    assert!(!log.contains(&("phase-5".to_owned(), "skipped".to_owned())), "{log:?}");
}

#[test]
fn an_answer_that_nobody_asked_for_is_told_to_be_ignored() {
    let stage = Stage::begun("M");
    let action = stage.go(answer("abandon"));
    let warning = action["warning"].as_str().unwrap();
    assert!(warning.contains("`abandon` was not taken"), "{action:#}");
    stage.ok("abandon", json!({}));
    stage.is_at("phase-1", "abandoned");
}

#[test]
fn an_open_question_is_named_with_the_answers_that_it_takes() {
    let stage = waiting();
    let said = stage.error("phase_start", json!({"phase": "phase-4"}));
    for option in ["`proceed`", "`revise`", "`abandon`", "`user_response`"] {
        assert!(said.text.contains(option), "{}", said.text);
    }
    let said = stage.error("pipeline_report_result", json!({"phase": "phase-4"}));
    assert!(said.text.contains("`proceed` or `revise`"), "{}", said.text);
    assert_eq!(stage.go(answer("proceed"))["phase"], "phase-4");
}

#[test]
fn what_comes_before_a_phase_is_what_the_run_is_at() {
    let stage = Stage::begun("L");
    let said = stage.error("phase_start", json!({"phase": "phase-5"}));
    assert!(said.text.contains("complete or skip `phase-1` first"), "{}", said.text);
    stage.ok("skip_phase", json!({"phase": "phase-1"}));
    let said = stage.error(
        "task_update",
        json!({"task_num": "1", "field": "implStatus", "value": "completed"}),
    );
    assert!(
        said.text.contains(
            "`phase-2` first, then each phase through `checkpoint-b`, and then call `task_init`"
        ),
        "{}",
        said.text
    );
}

#[test]
fn a_failed_pipeline_is_taken_up_as_its_summary_says() {
    let stage = Stage::begun("M");
    stage.ok("phase_fail", json!({"phase": "phase-1", "message": "no"}));
    let done = stage.go(json!({}));
    let summary = done["summary"].as_str().unwrap();
    assert!(summary.ends_with("`phase_start` for `phase-1` takes it up again"), "{done:#}");
    stage.ok("phase_start", json!({"phase": "phase-1"}));

    let stage = waiting();
    stage.ok("phase_fail", json!({"phase": "checkpoint-a", "message": "no"}));
    let done = stage.go(json!({}));
    let summary = done["summary"].as_str().unwrap();
    assert!(summary.contains("`checkpoint` for `checkpoint-a` takes it up again"), "{done:#}");
    stage.ok("checkpoint", json!({"phase": "checkpoint-a"}));
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn a_pipeline_that_cannot_begin_leaves_nothing_behind_and_names_the_folder() {
    let stage = Stage::new();
    let mut arguments = json!({"task_text": "Add thing xx", "workspace": stage.workspace()});
    arguments["flags"] = json!({"skip_pr": true, "from": "phase-5"});
    arguments["user_confirmation"] = json!({"effort": "L", "use_current_branch": true});
    let said = stage.stumble("pipeline_init_with_context", arguments);
    assert!(said.text.contains(".specs/20260101-x"), "{}", said.text);
    assert!(!stage.path("").exists(), "{}", said.text);
}

#[test]
fn a_plan_that_goes_round_leaves_its_checkpoint_open() {
    let stage = Stage::begun("L");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("tasks.md", CIRCLE);
    stage.put("checkpoint-b", json!({}));
    let asked = stage.go(json!({}));
    assert!(asked["warning"].as_str().unwrap().contains("`proceed` is refused"), "{asked:#}");
    let said = stage.stumble("pipeline_next_action", answer("proceed"));
    assert!(said.text.contains("cycle of dependencies"), "{}", said.text);
    stage.is_at("checkpoint-b", "awaiting_human");
    assert_eq!(stage.go(answer("revise"))["agent"], "task-decomposer");
}

#[test]
fn a_clone_finds_past_pipelines_by_their_summary() {
    let stage = Stage::new();
    let folder = stage.specs("20250101-old");
    fs::create_dir_all(&folder).unwrap();
    let state = json!({"specName": "old", "currentPhase": "completed",
                       "currentPhaseStatus": "completed"});
    fs::write(format!("{folder}/state.json"), state.to_string()).unwrap();
    fs::write(format!("{folder}/summary.md"), "# Summary\n\nPasskeys open the door.\n").unwrap();
    let found = stage.done("history_search", json!({"query": "passkeys door"})).json();
    assert_eq!(found["results"][0]["spec_name"], "old", "{found:#}");
    assert_eq!(found["results"][0]["one_liner"], "Passkeys open the door.");
}

#[test]
fn a_flag_that_is_unknown_or_without_effect_is_told() {
    let stage = waiting();
    let said = stage.done("pipeline_init", json!({"arguments": ".specs/20260101-x --auto"}));
    assert!(said.text.contains("`set_auto_approve`"), "{}", said.text);
    let said = stage.done("pipeline_init", json!({"arguments": "fix the login --atuo"}));
    assert!(said.text.contains("unknown flag `--atuo`"), "{}", said.text);
}
