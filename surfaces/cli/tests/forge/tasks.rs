//! The tasks of an implementation: how they are read, in which order and how many at once they are
//! given out, what waits for a person, and what the rules of a project ask.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use serde_json::{Value, json};

use crate::{
    player::{Player, line},
    stage::{Stage, answer, done, task, words},
};

/// A run that is about to implement `tasks`.
fn implementing(tasks: &str) -> Stage {
    let stage = Stage::begun("M");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("tasks.md", tasks);
    stage.put("phase-5", json!({}));
    stage
}

const SHAPES: &str = "intro\n## Task 10: Ten [parallel]\nmode: Parallel\n\n## Task 2: \
                      Two\nfiles:\n- a/b.go\n\n- c.go\ntext\n- not.go\ndepends_on: [99, 1]\n\n## \
                      Task 1:\nMODE: human_gate\n";

#[test]
fn a26_tasks_are_read_in_every_form_they_may_have() {
    let stage = implementing(SHAPES);
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "human_gate 1 [done, skip, abandon]");
    let tasks = stage.state()["tasks"].clone();
    assert_eq!(tasks.as_object().unwrap().len(), 3);
    let is = |number: &str, title: &str, mode: &str| {
        let task = &tasks[number];
        assert_eq!((&task["title"], &task["executionMode"]), (&json!(title), &json!(mode)));
        assert_eq!(
            (&task["implStatus"], &task["reviewStatus"]),
            (&json!("pending"), &json!("pending"))
        );
    };
    is("1", "", "human_gate");
    is("2", "Two", "sequential");
    is("10", "Ten [parallel]", "parallel");
    assert_eq!(tasks["2"]["files"], json!(["a/b.go", "c.go"]));
    assert_eq!(tasks["2"]["depends_on"], json!([99, 1]));
}

const GATED: &str = "## Task 1: Merge the upstream change\nmode: human_gate\n\n## Task 2: \
                     Use\ndepends_on: [1]\n";

#[test]
fn a_gate_waits_for_its_answer() {
    let stage = implementing(GATED);
    let first = stage.go(json!({}));
    assert_eq!((&first["type"], &first["phase"]), (&json!("human_gate"), &json!("phase-5")));
    assert!(first["present_to_user"].as_str().unwrap().contains("upstream"), "{first:#}");
    let state = stage.state();
    assert_eq!(state["pendingHumanGate"], "1");
    assert_eq!(state["currentPhaseStatus"], "awaiting_human");
    for said in [json!({}), answer("banana")] {
        assert_eq!(line(&stage.go(said)), line(&first));
        assert_eq!(stage.state()["tasks"]["1"]["implStatus"], "pending");
    }
}

#[test]
fn a_gate_that_is_done_or_skipped_lets_the_others_go_on() {
    for said in ["done", "skip"] {
        let stage = implementing(GATED);
        stage.go(json!({}));
        let action = stage.go(answer(said));
        assert_eq!(action["output_file"], "impl-2.md", "{said}: {action:#}");
        let state = stage.state();
        assert_eq!(state.get("pendingHumanGate"), None, "{said}");
        if said == "done" {
            assert_eq!(state["tasks"]["1"]["implStatus"], "completed");
            assert_eq!(state["tasks"]["1"]["reviewStatus"], "completed_pass");
        }
    }
}

#[test]
fn a_gate_that_is_answered_with_abandon_ends_the_run() {
    let stage = implementing(GATED);
    stage.go(json!({}));
    assert_eq!(stage.go(answer("abandon"))["type"], "done");
    let state = stage.state();
    assert_eq!(state["currentPhaseStatus"], "abandoned");
    assert_eq!(state["tasks"]["1"]["implStatus"], "pending");
}

const FAN: &str = "## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n\n## Task 2: Two\nmode: \
                   parallel\nfiles:\n- two.txt\n\n## Task 3: Three\ndepends_on: [1, 2]\n\n## Task \
                   10: Ten\nmode: parallel\nfiles:\n- ten.txt\n";

#[test]
fn parallel_tasks_are_given_out_together_and_in_the_order_of_their_numbers() {
    let stage = implementing(FAN);
    let action = stage.go(json!({}));
    let expected = "phase-5 implementer [tasks.md, design.md] -> impl-1.md, impl-2.md, impl-10.md";
    assert_eq!(line(&action), expected);
    assert_eq!(words(&action["parallel_task_ids"]), ["1", "2", "10"]);
    assert_eq!(action.get("output_file"), None, "{action:#}");
    let shown = action["display_message"].as_str().unwrap();
    assert!(shown.contains("(parallel · 3 tasks)"), "{shown}");
}

#[test]
fn a_sequential_task_waits_for_what_it_depends_on() {
    let stage = implementing("## Task 1: One\ndepends_on: [2]\n\n## Task 2: Two\n");
    assert_eq!(stage.go(json!({}))["output_file"], "impl-2.md");
    stage.write("impl-2.md", "Done.\n");
    assert_eq!(stage.go(done())["output_file"], "impl-1.md");
}

#[test]
fn a_batch_is_committed_once_with_the_files_of_its_tasks() {
    let mut stage = implementing(FAN);
    let mut player = Player::new(&mut stage, &[]);
    player.play_until(|it| it["phase"] == "phase-6");
    let subjects = stage.git(&["log", "--format=%s"]);
    assert_eq!(subjects, "chore: batch commit parallel tasks\nfirst");
    let files = stage.git(&["show", "--format=", "--name-only", "HEAD"]);
    let mut files: Vec<&str> = files.lines().collect();
    files.sort_unstable();
    assert_eq!(files, ["one.txt", "ten.txt", "two.txt"]);
    assert_eq!(stage.state()["needsBatchCommit"], false);
}

#[test]
fn two_batches_are_two_commits_and_each_has_its_own_files() {
    let tasks = "## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n\n## Task 2: Two\nmode: \
                 sequential\ndepends_on: [1]\n\n## Task 3: Three\nmode: parallel\nfiles:\n- \
                 three.txt\ndepends_on: [2]\n";
    let mut stage = implementing(tasks);
    Player::new(&mut stage, &[]).play_until(|it| it["phase"] == "phase-6");
    assert_eq!(stage.git(&["show", "--format=", "--name-only", "HEAD~1"]), "one.txt");
    assert_eq!(stage.git(&["show", "--format=", "--name-only", "HEAD"]), "three.txt");
}

#[test]
fn a41_the_last_batch_leads_on_to_the_review() {
    let mut stage = implementing("## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n");
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["phase"] == "phase-6");
    assert_eq!(line(&action), "phase-6 impl-reviewer [impl-1.md, tasks.md] -> review-1.md");
    let subjects = stage.git(&["log", "--format=%s"]);
    let batches = subjects.lines().filter(|it| *it == "chore: batch commit parallel tasks");
    assert_eq!(batches.count(), 1);
    let warning = action["warning"].as_str().unwrap_or_default();
    assert!(!warning.contains(".specs") && !warning.contains(".milepost"), "{warning}");
}

#[test]
fn a45_a_batch_that_changed_nothing_is_warned_of_and_the_run_goes_on() {
    let stage = implementing("## Task 1: One\nmode: parallel\nfiles:\n- a.txt\n");
    stage.go(json!({}));
    stage.write("impl-1.md", "Nothing to do.\n");
    let action = stage.go(done());
    assert_eq!(action["phase"], "phase-6", "{action:#}");
    assert!(!action["warning"].as_str().unwrap().is_empty(), "{action:#}");
    assert_eq!(stage.state()["needsBatchCommit"], false);
    assert_eq!(stage.git(&["log", "--format=%s"]), "first");
}

#[test]
fn a_batch_that_cannot_be_committed_is_tried_again_until_it_is() {
    let stage = implementing("## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n");
    let hook = stage.project.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho 'no such luck' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&hook, Permissions::from_mode(0o755)).unwrap();
    stage.go(json!({}));
    stage.write("impl-1.md", "Done.\n");
    fs::write(stage.project.path("one.txt"), "one\n").unwrap();
    for said in [done(), json!({}), done()] {
        let text = stage.stumble("pipeline_next_action", said).text;
        assert!(text.contains("no such luck") && text.contains("batch-commit"), "{text}");
        let state = stage.state();
        assert_eq!(state["needsBatchCommit"], true);
        assert_eq!(state["tasks"]["1"]["implStatus"], "completed");
        // All tasks are built, and yet the phase is not over.
        stage.is_at("phase-5", "in_progress");
        assert_eq!(stage.git(&["log", "--format=%s"]), "first");
    }
    fs::remove_file(hook).unwrap();
    assert_eq!(stage.go(json!({}))["phase"], "phase-6");
    assert_eq!(stage.state()["needsBatchCommit"], false);
    assert_eq!(stage.git(&["log", "-1", "--format=%s"]), "chore: batch commit parallel tasks");
    assert_eq!(stage.git(&["show", "--format=", "--name-only", "HEAD"]), "one.txt");
}

#[test]
fn a44_tasks_that_wait_for_each_other_are_not_taken_for_done() {
    let stage =
        implementing("## Task 1: One\ndepends_on: [2]\n\n## Task 2: Two\ndepends_on: [1]\n");
    let said = stage.call("pipeline_next_action", json!({"workspace": stage.workspace()}));
    if !said.is_error {
        assert_eq!(said.json()["type"], "checkpoint", "{}", said.text);
    }
    assert!(said.text.to_lowercase().contains("cycle"), "{}", said.text);
    let state = stage.state();
    assert_eq!(state["currentPhase"], "phase-5");
    assert!(!state["completedPhases"].to_string().contains("phase-5"), "{state:#}");
}

#[test]
fn tasks_that_are_done_in_the_file_lead_on_without_an_agent() {
    let stage = implementing(SHAPES);
    stage.fixture(json!({"tasks": {"1": task("sequential", "completed", "pending")}}));
    stage.write("impl-1.md", "Done.\n");
    assert_eq!(stage.go(json!({}))["phase"], "phase-6");
}

const RULES: &str = "---\nrules:\n  - id: protos\n    when:\n      files_match: [\"proto/**\"]\n    \
                     require: human_gate\n    reason: The other side must agree\n---\n\nMore.\n";

/// A run whose tasks are made under the rules of its project.
fn ruled(rules: &str, tasks: &str) -> Stage {
    let stage = Stage::begun("M");
    stage.project.write(".specs/instructions.md", rules);
    stage.put("phase-4", json!({}));
    stage.write("tasks.md", tasks);
    stage
}

const UNGATED: &str = "## Task 1: Wire\nfiles:\n- proto/deep/a.proto\n";

#[test]
fn a_task_that_breaks_a_rule_of_the_project_goes_back() {
    let stage = ruled(RULES, UNGATED);
    let said = stage.report("phase-4");
    assert_eq!(said["next_action_hint"], "revision_required", "{said:#}");
    assert_eq!(said["verdict_parsed"], "REVISE", "{said:#}");
    let finding: &Value = &said["findings"][0];
    assert_eq!(finding["severity"], "CRITICAL", "{said:#}");
    assert!(finding["description"].as_str().unwrap().contains("protos"), "{said:#}");
    assert_eq!(stage.state()["revisions"]["taskRevisions"], 1);
    assert_eq!(stage.stands().0, "phase-4");
    let review = fs::read_to_string(stage.path("review-tasks.md")).unwrap();
    let metadata = fs::metadata(stage.path("review-tasks.md")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    for part in ["REVISE", "## Task 1: Wire", "protos", "files_match:proto/**", "mode: human_gate"]
    {
        assert!(review.contains(part), "no `{part}` in:\n{review}");
    }
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "phase-4 task-decomposer [design.md, review-tasks.md] -> tasks.md");
}

#[test]
fn a_task_that_keeps_the_rules_goes_on_and_the_old_review_is_gone() {
    let stage = ruled(RULES, "## Task 1: Wire\nmode: human_gate\nfiles:\n- proto/a.proto\n");
    stage.write("review-tasks.md", "**REVISE**\n");
    assert_eq!(stage.report("phase-4")["next_action_hint"], "proceed");
    assert!(!stage.has("review-tasks.md"));
}

#[test]
fn rules_that_cannot_be_read_hold_the_tasks_back() {
    for rules in ["no front matter\n", "---\nrules:\n  - id: x\n---\n", "---\nother: 1\n---\n"] {
        let stage = ruled(rules, UNGATED);
        let report = json!({"workspace": stage.workspace(), "phase": "phase-4"});
        let said = stage.call("pipeline_report_result", report);
        assert!(said.is_error, "{}", said.text);
        assert_eq!(stage.stands().0, "phase-4");
    }
}

#[test]
fn an_old_review_of_the_tasks_is_gone_wherever_the_workspace_is() {
    let stage = Stage::new();
    let workspace = stage.project.path("elsewhere/20260101-x").to_str().unwrap().to_owned();
    let confirmation = json!({
        "workspace": workspace, "task_text": "Add thing xx", "flags": {"skip_pr": true},
        "user_confirmation": {"effort": "L", "use_current_branch": true},
    });
    stage.done("pipeline_init_with_context", confirmation);
    let at = |file: &str| format!("elsewhere/20260101-x/{file}");
    let text = fs::read_to_string(stage.project.path(&at("state.json"))).unwrap();
    let mut state: Value = serde_json::from_str(&text).unwrap();
    state["currentPhase"] = json!("phase-4");
    state["currentPhaseStatus"] = json!("in_progress");
    stage.project.write(&at("state.json"), &state.to_string());
    stage.project.write(&at("tasks.md"), "## Task 1: One\n");
    stage.project.write(&at("review-tasks.md"), "## Verdict: REVISE\n");
    let report = json!({"workspace": workspace, "phase": "phase-4"});
    let said = stage.done("pipeline_report_result", report).json();
    assert_eq!(said["next_action_hint"], "proceed", "{said:#}");
    assert!(!stage.project.path(&at("review-tasks.md")).exists());
}
