//! A phase that is done leads to the next, and no further: what is left out, who is asked and which
//! tasks there are is found by anyone who goes on.

use serde_json::{Value, json};

use crate::{
    player::line,
    stage::{Stage, answer, done, task},
};

fn logged(stage: &Stage) -> Vec<String> {
    stage.log().iter().map(|(phase, model)| format!("{phase} {model}")).collect()
}

#[test]
fn a_report_leads_no_further_than_to_a_phase_that_is_left_out() {
    let stage = Stage::begun("S");
    stage.go(json!({}));
    stage.write("analysis.md", "As it is.\n");
    stage.report("phase-1");
    stage.is_at("phase-2", "pending");
    assert_eq!(stage.log().len(), 1);
    let next = "phase-3 architect [request.md, analysis.md] -> design.md";
    assert_eq!(line(&stage.go(json!({}))), next);
    assert_eq!(stage.log().last().unwrap(), &("phase-2".to_owned(), "skipped".to_owned()));
}

#[test]
fn a_phase_that_is_left_out_does_not_stand_in_the_way_of_a_report() {
    let stage = Stage::begun("S");
    stage.go(json!({}));
    stage.write("analysis.md", "As it is.\n");
    stage.report("phase-1");
    stage.write("design.md", "# D\n\n## A\n");
    stage.report("phase-3");
    stage.is_at("phase-3b", "pending");
}

#[test]
fn a_checkpoint_that_is_only_come_to_is_not_completed() {
    let stage = Stage::begun("L");
    stage.put("phase-3b", json!({}));
    stage.write("review-design.md", "## Verdict: APPROVE\n");
    stage.ok("phase_complete", json!({"phase": "phase-3b"}));
    stage.is_at("checkpoint-a", "pending");
    stage.error("phase_complete", json!({"phase": "checkpoint-a"})).blocked();
    stage.ok("checkpoint", json!({"phase": "checkpoint-a"}));
    stage.is_at("checkpoint-a", "awaiting_human");
    stage.ok("phase_complete", json!({"phase": "checkpoint-a"}));
    stage.is_at("phase-4", "pending");
    stage.ok("skip_phase", json!({"phase": "phase-4b"}));
    stage.is_at("checkpoint-b", "pending");
}

#[test]
fn whoever_goes_on_to_a_checkpoint_is_shown_it_at_once() {
    let stage = Stage::set(&[("MILEPOST_FORGE_POLL", "50")]);
    stage.init("M");
    stage.put("phase-3b", json!({}));
    stage.write("design.md", "A design.\n");
    stage.write("review-design.md", "## Verdict: APPROVE\n");
    stage.report("phase-3b");
    let action = stage.go(answer("proceed"));
    assert_eq!(line(&action), "checkpoint checkpoint-a [proceed, revise, abandon]");
    assert!(action["warning"].as_str().unwrap().contains("not asked"), "{action:#}");
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn a_checkpoint_that_is_left_out_is_not_passed_while_a_revision_is_pending() {
    let stage = Stage::begun("L");
    let pending = json!({"checkpoint-a": false, "checkpoint-b": true});
    let members = json!({"skippedPhases": ["checkpoint-b"], "checkpointRevisionPending": pending});
    stage.put("checkpoint-b", members);
    stage.write("tasks.md", "## Task 1: t\n");
    let asked = stage.go(json!({}));
    assert_eq!(asked["name"], "checkpoint-b", "{asked:#}");
    let warning = asked["warning"].as_str().unwrap();
    assert!(warning.contains("`proceed` is refused for now"), "{warning}");
    assert!(warning.contains("call `clear_revision_pending` for `checkpoint-b`"), "{warning}");
    stage.stumble("pipeline_next_action", answer("proceed")).blocked();
    stage.ok("clear_revision_pending", json!({"checkpoint": "checkpoint-b"}));
    assert_eq!(stage.go(json!({}))["phase"], "phase-5");
}

#[test]
fn a_task_for_a_person_is_put_to_them_by_whoever_goes_on() {
    let stage = Stage::begun("M");
    stage.write("tasks.md", "## Task 1: t\n\n## Task 2: d\nmode: human_gate\n");
    stage.put("phase-5", json!({}));
    stage.go(json!({}));
    stage.write("impl-1.md", "Done.\n");
    stage.report("phase-5");
    stage.is_at("phase-5", "in_progress");
    assert_eq!(stage.go(json!({}))["type"], "human_gate");
    stage.is_at("phase-5", "awaiting_human");
    stage.go(answer("done"));
    assert_eq!(logged(&stage), ["phase-5 "]);
}

#[test]
fn tasks_that_passed_before_are_left_alone() {
    let stage = Stage::begun("M");
    stage
        .put("phase-5", json!({"tasks": {"1": task("sequential", "completed", "completed_pass")}}));
    assert_eq!(stage.go(json!({}))["phase"], "phase-7");
    assert_eq!(logged(&stage), ["phase-5 skipped", "phase-6 skipped"]);
}

#[test]
fn a_task_that_is_not_built_is_reviewed_once_it_is() {
    let stage = Stage::begun("M");
    stage.write("tasks.md", "## Task 1: t\n\n## Task 2: t\n");
    let (built, open) =
        (task("sequential", "completed", "pending"), task("sequential", "pending", "pending"));
    stage.put("phase-6", json!({"tasks": {"1": built, "2": open}}));
    let first = stage.go(json!({}));
    assert_eq!(line(&first), "phase-6 impl-reviewer [impl-1.md, tasks.md] -> review-1.md");
    stage.write("review-1.md", "## Verdict: FAIL\n");
    let again = stage.go(done());
    let wanted = "phase-5 implementer [tasks.md, design.md, review-1.md] -> impl-1.md";
    assert_eq!(line(&again), wanted);
    stage.write("impl-1.md", "Mended.\n");
    let other = stage.go(done());
    assert_eq!(line(&other), "phase-5 implementer [tasks.md, design.md] -> impl-2.md");
    stage.write("impl-2.md", "Done.\n");
    let both = stage.go(done());
    assert_eq!(both["agent"], "impl-reviewer", "{both:#}");
    assert_eq!(crate::stage::words(&both["parallel_task_ids"]), ["1", "2"]);
}

#[test]
fn only_a_pipeline_that_cuts_no_tasks_begins_without_their_file() {
    let stage = Stage::begun("M");
    stage.put("phase-5", json!({}));
    stage.error("pipeline_next_action", json!({})).has(&["tasks.md"]);
}

#[test]
fn a_phase_that_is_none_is_not_gone_on_from() {
    let stage = Stage::begun("M");
    stage.put("setup", json!({}));
    stage.error("pipeline_next_action", json!({})).has(&["setup"]);
    stage.put("phase-2", json!({}));
    assert_eq!(stage.field("currentPhase"), "phase-2");
    // A phase that nobody knows is not taken in, and the run is where it was.
    stage.put("phase-99", json!({}));
    let said = stage.ok("pipeline_next_action", json!({}));
    said.has(&["phase-99", "/backups/state-replaced.json"]);
    assert_eq!(said.json()["agent"], "investigator");
}

#[test]
fn a_state_with_a_time_of_its_own_is_taken_and_an_old_copy_is_not() {
    let stage = Stage::begun("M");
    let old = stage.state();
    let own = json!({"created": "2020-01-01T00:00:00Z", "lastUpdated": "2020-01-02T00:00:00Z",
                     "phaseStarted": null});
    stage.put("phase-7", json!({"timestamps": own}));
    assert_eq!(stage.go(json!({}))["phase"], "phase-7");
    let mut old = old;
    old["debug"] = json!(true);
    stage.write("state.json", &old.to_string());
    assert_eq!(stage.field("currentPhase"), "phase-7");
}

/// Returns what an agent of `phase` is to read, in a run that a file says to be there.
#[track_caller]
fn read_at(phase: &str, members: Value, files: &[(&str, &str)]) -> String {
    let stage = Stage::begun("M");
    files.iter().for_each(|(file, text)| stage.write(file, text));
    stage.put(phase, members);
    line(&stage.go(json!({})))
}

#[test]
fn a_design_that_was_reviewed_is_made_again_with_the_review() {
    let past = json!({"completedPhases": ["setup", "phase-1", "phase-2", "phase-3", "phase-3b"]});
    let wanted = "phase-3 architect [request.md, analysis.md, investigation.md, review-design.md] \
                  -> design.md";
    assert_eq!(read_at("phase-3", past, &[("review-design.md", "x\n")]), wanted);
}

#[test]
fn a_review_of_the_tasks_that_is_there_goes_along() {
    let wanted = "phase-4 task-decomposer [design.md, review-tasks.md] -> tasks.md";
    let review = [("review-tasks.md", "## Verdict: REVISE\n")];
    assert_eq!(read_at("phase-4", json!({}), &review), wanted);
    let without = "phase-4 task-decomposer [design.md] -> tasks.md";
    assert_eq!(read_at("phase-4", json!({}), &[]), without);
}

#[test]
fn a_task_that_a_file_says_to_have_failed_is_built_with_its_review() {
    let failed = json!({"tasks": {"1": task("sequential", "completed", "completed_fail")}});
    let review = [("review-1.md", "## Verdict: FAIL\n")];
    let wanted = "phase-5 implementer [tasks.md, design.md, review-1.md] -> impl-1.md";
    assert_eq!(read_at("phase-6", failed, &review), wanted);
}

#[test]
fn what_someone_wrote_counts_for_every_call_that_comes_after_it() {
    let stage = Stage::begun("M");
    let missing = [("phase-1", "analysis.md"), ("phase-2", "investigation.md")];
    for (phase, file) in missing.into_iter().cycle().take(20) {
        stage.put(phase, json!({}));
        std::thread::scope(|scope| {
            let report = || {
                let arguments = json!({"workspace": stage.workspace(), "phase": phase});
                stage.call("pipeline_report_result", arguments)
            };
            let calls: Vec<_> = (0..6).map(|_| scope.spawn(report)).collect();
            for call in calls {
                call.join().unwrap().has(&[file]);
            }
        });
    }
}
