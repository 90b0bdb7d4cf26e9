//! What anyone who goes on finds: reviews that were changed, put away or never made, tasks that were sent
//! back, and questions that are not asked any more.

use std::fs;

use serde_json::{Value, json};

use crate::{
    player::{Player, line},
    stage::{Stage, answer, done, task},
};

const REVISE: &str = "## Verdict: REVISE\n\n**1. [CRITICAL] no**\n";
const APPROVE: &str = "## Verdict: APPROVE\n";

/// A run at `phase`, with all that comes before its review.
fn at(effort: &str, phase: &str, members: Value) -> Stage {
    let stage = Stage::begun(effort);
    for (file, text) in [
        ("analysis.md", "x\n"),
        ("investigation.md", "x\n"),
        ("design.md", "# D\n\n## A\n"),
        ("tasks.md", "# T\n\n## Task 1: t\n\n## Task 2: t\n"),
        ("impl-1.md", "x\n"),
        ("impl-2.md", "x\n"),
    ] {
        stage.write(file, text);
    }
    stage.put(phase, members);
    stage
}

fn revised(design: u32, tasks: u32) -> Value {
    json!({"revisions": {"designRevisions": design, "taskRevisions": tasks,
                         "designInlineRevisions": 0, "taskInlineRevisions": 0}})
}

fn tasks(first: &Value, second: &Value) -> Value {
    json!({"tasks": {"1": first, "2": second}})
}

fn failed(retries: u32) -> Value {
    let mut task = task("sequential", "completed", "completed_fail");
    task["implRetries"] = json!(retries);
    task
}

#[test]
fn a_review_that_sends_back_stays_the_current_phase_until_someone_goes_on() {
    let stage = at("M", "phase-3b", json!({}));
    stage.write("review-design.md", REVISE);
    assert_eq!(stage.report("phase-3b")["next_action_hint"], "revision_required");
    stage.is_at("phase-3b", "in_progress");
    stage.error("pipeline_report_result", json!({"phase": "phase-3"})).has(&["phase-3b"]);
    stage.report("phase-3b");
    assert_eq!(stage.state()["revisions"]["designRevisions"], 1, "it was counted twice");
    assert_eq!(stage.go(json!({}))["agent"], "architect");
}

#[test]
fn a_review_that_was_taken_away_is_made_again() {
    let stage = at("M", "phase-3b", json!({}));
    stage.write("review-design.md", REVISE);
    stage.report("phase-3b");
    fs::remove_file(stage.path("review-design.md")).unwrap();
    assert_eq!(stage.go(json!({}))["agent"], "design-reviewer");
}

#[test]
fn a_review_that_was_changed_counts_as_it_is_now() {
    let stage = at("M", "phase-3b", json!({}));
    stage.write("review-design.md", REVISE);
    stage.report("phase-3b");
    stage.write("review-design.md", APPROVE);
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
}

#[test]
fn a_review_of_what_was_changed_since_is_made_again_by_whoever_goes_on() {
    for (phase, review, judged, agent) in [
        ("phase-3b", "review-design.md", "design.md", "design-reviewer"),
        ("phase-4b", "review-tasks.md", "tasks.md", "task-reviewer"),
    ] {
        let stage = at("L", phase, json!({}));
        stage.write_at(review, REVISE, 1);
        stage.touch(judged, 2);
        assert_eq!(stage.go(json!({}))["agent"], agent);
        assert!(!stage.has(review), "{review}");
    }
}

#[test]
fn a_review_without_a_verdict_is_not_taken_and_is_put_to_a_person_by_whoever_goes_on() {
    let stage = at("M", "phase-3b", json!({}));
    stage.write("review-design.md", "hm\n");
    stage.error("pipeline_report_result", json!({"phase": "phase-3b"})).has(&["no verdict"]);
    assert_eq!(stage.log(), []);
    let asked = stage.go(json!({}));
    assert_eq!(line(&asked), "checkpoint design-review-unknown [approve, revise, abandon]");
    let again = stage.go(answer("revise"));
    let wanted =
        "phase-3 architect [request.md, analysis.md, investigation.md, design.md] -> design.md";
    assert_eq!(line(&again), wanted);
    assert!(!stage.has("review-design.md"));
    assert_eq!(stage.log(), [("phase-3b".to_owned(), "checkpoint".to_owned())]);
}

#[test]
fn the_last_rejection_is_told_as_one_and_a_person_is_asked_by_whoever_goes_on() {
    for (phase, members, review, name) in [
        ("phase-3b", revised(4, 0), "review-design.md", "design-retry-limit"),
        ("phase-4b", revised(0, 4), "review-tasks.md", "task-retry-limit"),
    ] {
        let stage = at("L", phase, members);
        stage.write(review, REVISE);
        assert_eq!(stage.report(phase)["next_action_hint"], "revision_required");
        stage.is_at(phase, "in_progress");
        assert_eq!(stage.go(json!({}))["name"], name);
    }
}

#[test]
fn after_too_many_revisions_a_person_is_asked_whatever_the_review_says() {
    let stage = at("M", "phase-3b", revised(5, 0));
    stage.write("review-design.md", APPROVE);
    assert_eq!(stage.go(json!({}))["name"], "design-retry-limit");
}

#[test]
fn a_task_that_a_person_approves_is_left_alone_and_the_other_is_built_again() {
    let stage = at("M", "phase-6", tasks(&failed(5), &failed(1)));
    stage.write("review-1.md", "## Verdict: FAIL\n");
    stage.write("review-2.md", "## Verdict: FAIL\n");
    assert_eq!(stage.go(json!({}))["name"], "impl-retry-limit-1");
    let next = stage.go(answer("approve"));
    let wanted = "phase-5 implementer [tasks.md, design.md, review-2.md] -> impl-2.md";
    assert_eq!(line(&next), wanted);
    let first = stage.state()["tasks"]["1"].clone();
    assert_eq!(
        (&first["implStatus"], &first["reviewStatus"]),
        (&json!("completed"), &json!("completed_pass_with_notes"))
    );
}

#[test]
fn a_task_that_failed_stays_so_until_someone_goes_on() {
    let built = || task("sequential", "completed", "pending");
    let stage = at("M", "phase-6", tasks(&built(), &built()));
    stage.write("review-1.md", "## Verdict: FAIL\n");
    stage.write("review-2.md", "## Verdict: PASS\n");
    assert_eq!(stage.report("phase-6")["next_action_hint"], "retry_impl");
    stage.is_at("phase-6", "in_progress");
    stage.error("pipeline_report_result", json!({"phase": "phase-5"})).has(&["phase-6"]);
    assert_eq!(stage.report("phase-6")["next_action_hint"], "retry_impl");
    assert_eq!(stage.state()["tasks"]["1"]["implRetries"], 1, "it was counted twice");
    stage.ok("task_update", json!({"task_num": "1", "field": "implRetries", "value": "5"}));
    assert_eq!(stage.go(json!({}))["name"], "impl-retry-limit-1");
}

#[test]
fn without_tasks_there_is_nothing_to_review() {
    let stage = at("M", "phase-6", json!({}));
    assert_eq!(stage.go(json!({}))["phase"], "phase-7");
    assert_eq!(stage.log(), [("phase-6".to_owned(), "skipped".to_owned())]);
}

#[test]
fn tasks_that_someone_took_out_are_planned_again() {
    let other = json!({"tasks": {"7": task("sequential", "pending", "pending")}});
    let stage = at("M", "phase-5", other);
    stage.go(json!({}));
    stage.fixture(json!({"tasks": {}}));
    assert_eq!(stage.go(json!({}))["output_file"], "impl-1.md");
    assert_eq!(stage.state()["tasks"].as_object().unwrap().len(), 2);
}

#[test]
fn a_batch_is_committed_by_whoever_goes_on() {
    let stage = at("M", "phase-5", json!({}));
    stage.write("tasks.md", "## Task 1: t\nmode: parallel\nfiles:\n- a.txt\n");
    stage.go(json!({}));
    stage.project.write("a.txt", "b\n");
    assert_eq!(stage.report("phase-5")["next_action_hint"], "setup_continue");
    stage.is_at("phase-5", "in_progress");
    assert_eq!(stage.state()["needsBatchCommit"], true);
    assert_eq!(stage.go(json!({}))["phase"], "phase-6");
    assert_eq!(stage.state()["needsBatchCommit"], false);
}

#[test]
fn nobody_is_passed_over_unless_the_last_review_approves() {
    for (review, kind) in
        [(Some(REVISE), "checkpoint"), (None, "checkpoint"), (Some(APPROVE), "spawn_agent")]
    {
        let stage =
            at("M", "checkpoint-a", json!({"autoApprove": true, "currentPhaseStatus": "pending"}));
        if let Some(review) = review {
            stage.write("review-design.md", review);
        }
        assert_eq!(stage.go(json!({}))["type"], kind, "{review:?}");
    }
}

#[test]
fn a_question_that_became_needless_is_not_asked_any_more() {
    let set: [fn(&Stage); 2] = [
        |it| drop(it.ok("set_auto_approve", json!({}))),
        |it| it.fixture(json!({"skippedPhases": ["checkpoint-a"]})),
    ];
    for set in set {
        let stage = at("M", "checkpoint-a", json!({"currentPhaseStatus": "pending"}));
        stage.write("review-design.md", APPROVE);
        assert_eq!(stage.go(json!({}))["type"], "checkpoint");
        set(&stage);
        assert_eq!(stage.go(json!({}))["agent"], "task-decomposer");
        assert_eq!(stage.log(), [("checkpoint-a".to_owned(), "skipped".to_owned())]);
    }
}

#[test]
fn only_an_answer_that_is_offered_passes_a_checkpoint() {
    let stage = at("M", "checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    stage.go(json!({}));
    for word in ["approve", "reject", "yes"] {
        assert_eq!(stage.go(answer(word))["type"], "checkpoint", "{word}");
    }
}

#[test]
fn a_state_that_was_found_waiting_takes_its_answer() {
    let stage = at("M", "phase-3b", json!({"currentPhaseStatus": "awaiting_human"}));
    stage.write("review-design.md", "hm\n");
    assert_eq!(stage.go(answer("approve"))["name"], "checkpoint-a");
    let mine =
        tasks(&task("human_gate", "pending", "pending"), &task("sequential", "pending", "pending"));
    let stage = at("M", "phase-5", mine);
    stage.fixture(json!({"currentPhaseStatus": "awaiting_human", "pendingHumanGate": "1"}));
    assert_eq!(stage.go(answer("done"))["output_file"], "impl-2.md");
}

#[test]
fn a_person_who_is_asked_about_a_phase_does_not_do_its_work() {
    let stage = Stage::begun("M");
    stage.ok("checkpoint", json!({"phase": "phase-1"}));
    stage.error("pipeline_next_action", answer("approve")).has(&["analysis.md"]);
}

#[test]
fn a_plan_that_a_person_takes_as_it_is_is_still_reviewed() {
    let mut stage = Stage::new();
    stage.project.write(
        ".specs/instructions.md",
        "---\nrules:\n  - {id: r, when: {title_matches: t}, require: human_gate, reason: so}\n---\n",
    );
    stage.init("L");
    stage.put("phase-4", revised(0, 4));
    stage.write("tasks.md", "## Task 1: t\n");
    stage.go(json!({}));
    stage.go(done());
    let mut player = Player::new(&mut stage, &[]);
    let asked = player.play_until(|it| it["type"] == "checkpoint");
    assert_eq!(asked["name"], "task-workflow-rules-retry-limit");
    assert_eq!(stage.go(answer("approve"))["agent"], "task-reviewer");
}

#[test]
fn a_phase_that_was_closed_by_hand_is_no_approval() {
    for (tool, review) in [("phase_complete", REVISE), ("skip_phase", APPROVE)] {
        let stage = at("L", "phase-3b", json!({"autoApprove": true}));
        if tool == "phase_complete" {
            stage.write("review-design.md", review);
        }
        stage.ok(tool, json!({"phase": "phase-3b"}));
        assert_eq!(stage.go(json!({}))["type"], "checkpoint", "{tool}");
    }
}

#[test]
fn nobody_skips_past_a_person_who_is_asked() {
    let stage = at("L", "checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    stage.go(json!({}));
    stage.error("skip_phase", json!({"phase": "phase-4"})).blocked();
    stage.ok("skip_phase", json!({"phase": "checkpoint-a"}));
    stage.is_at("phase-4", "pending");
}

#[test]
fn nobody_skips_past_a_revision_that_is_pending() {
    let stage = at("L", "phase-3b", json!({}));
    stage.ok("set_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    stage.error("skip_phase", json!({"phase": "phase-4"})).blocked();
}

#[test]
fn a_report_that_was_taken_is_not_logged_again() {
    let stage = at("M", "phase-3b", json!({}));
    stage.write("review-design.md", REVISE);
    let first = stage.go(done());
    assert_eq!(first["type"], "");
    assert_eq!(stage.go(done()), first);
    assert_eq!(stage.go(json!({}))["agent"], "architect");
    assert_eq!(stage.log().len(), 1);
}

#[test]
fn what_a_person_says_is_told_to_the_next_agent_and_to_no_other() {
    let mine =
        tasks(&task("human_gate", "pending", "pending"), &task("sequential", "pending", "pending"));
    let stage = at("M", "phase-5", mine);
    stage.go(json!({}));
    let said = ["gate", "approve", ".specs/20260101-x", "--yes", "--feedback", "mind the gap"];
    stage.project.ask(&said);
    let next = stage.go(json!({}));
    assert_eq!(next["output_file"], "impl-2.md");
    assert!(next["prompt"].as_str().unwrap().contains("mind the gap"), "{next:#}");
    let after = stage.go(done());
    assert_eq!(after["agent"], "impl-reviewer");
    assert!(!after["prompt"].as_str().unwrap().contains("mind the gap"), "{after:#}");
}

#[test]
fn tasks_that_are_cut_anew_are_built_again() {
    let mut stage = Stage::begun("L");
    let two = "## Task 1: old\n\n## Task 2: old\n";
    let script = [("tasks.md", 1, two), ("tasks.md", 2, "## Task 1: new\n\n## Task 2: new\n")];
    let mut player = Player::new(&mut stage, &script);
    player.play_until(|it| it["phase"] == "phase-6");
    player.stage.ok("phase_start", json!({"phase": "phase-4"}));
    let built = player.seen.len();
    player.play_until(|it| it["phase"] == "phase-7");
    let lines: Vec<String> = player.seen[built..].iter().map(line).collect();
    for task in ["impl-1.md", "impl-2.md"] {
        let is_built = |it: &&String| it.starts_with("phase-5") && it.ends_with(task);
        assert_eq!(lines.iter().filter(is_built).count(), 1, "{task}: {lines:#?}");
    }
    assert_eq!(stage.state()["tasks"]["2"]["title"], "new");
}

#[test]
fn a_person_whose_own_answer_counts_is_not_passed_over_once_they_are_asked() {
    let set: [fn(&Stage); 2] = [
        |it| drop(it.ok("set_auto_approve", json!({}))),
        |it| it.fixture(json!({"skippedPhases": ["checkpoint-a"]})),
    ];
    for set in set {
        let stage = Stage::set(&[("MILEPOST_GATES_ANSWERS", "verified")]);
        stage.init("M");
        stage.write("design.md", "# D\n\n## A\n");
        stage.write("review-design.md", APPROVE);
        stage.put("checkpoint-a", json!({"currentPhaseStatus": "pending"}));
        assert_eq!(stage.go(json!({}))["type"], "checkpoint");
        set(&stage);
        assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    }
}

#[test]
fn a_report_stops_at_a_checkpoint_that_is_left_out_while_a_revision_is_pending() {
    let stage =
        at("M", "phase-3b", json!({"skippedPhases": ["phase-4b", "checkpoint-b", "checkpoint-a"]}));
    // What is there to be reported would tell a new report from the old one.
    fs::remove_file(stage.path("tasks.md")).unwrap();
    stage.go(json!({}));
    stage.write("review-design.md", APPROVE);
    stage.ok("set_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    let asked = stage.go(done());
    assert_eq!(asked["name"], "checkpoint-a", "{asked:#}");
    assert_eq!(asked["report_result"]["next_action_hint"], "proceed", "{asked:#}");
    assert_eq!(stage.go(done()), asked, "what was taken is repeated");
    stage.is_at("checkpoint-a", "awaiting_human");
    stage.ok("clear_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    assert_eq!(stage.go(json!({}))["agent"], "task-decomposer");
    let stats = stage.ok("phase_stats", json!({})).json();
    assert_eq!(stats["totalTokens"], 1000, "{stats:#}");
}

#[test]
fn a_message_of_a_person_is_told_as_often_as_the_action_is_asked_for() {
    let stage = at("M", "phase-4", json!({}));
    stage.write("checkpoint-message.txt", "Mind the gap.");
    for _ in 0..2 {
        let action = stage.go(json!({}));
        assert!(action["prompt"].as_str().unwrap().contains("Mind the gap."), "{action:#}");
        assert!(!stage.has("checkpoint-message.txt"));
    }
}
