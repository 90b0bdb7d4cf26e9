//! What a run does to the repository, and what it tells the world of itself.

use std::fs;

use serde_json::{Value, json};

use crate::{
    player::{Player, line},
    stage::{Stage, done, word},
};

/// A run that is to end in a pull request, on the branch that is checked out in a repository that has
/// an origin.
fn publishing() -> Stage {
    let stage = Stage::new();
    stage.git(&["init", "-q", "--bare", "-b", "main", "../origin.git"]);
    stage.git(&["remote", "add", "origin", "../origin.git"]);
    stage.git(&["push", "-q", "-u", "origin", "main"]);
    stage.git(&["checkout", "-q", "-b", "feature/y"]);
    stage.init_with("M", json!({}));
    stage
}

#[test]
fn a_pull_request_is_asked_for_after_the_branch_was_pushed() {
    let mut stage = publishing();
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["type"] == "exec");
    assert_eq!(line(&action), "exec pr-creation");
    let argv = crate::stage::words(&action["commands"]);
    assert_eq!(argv[..4], ["gh", "pr", "create", "--title"], "{action:#}");
    assert_eq!(argv[4], "feat: x");
    assert_eq!(argv[5], "--body");
    assert_eq!(stage.state()["branchPushed"], true);
}

#[test]
fn a_completed_run_is_committed_and_pushed_and_leaves_nothing_behind() {
    let mut stage = publishing();
    let lines = Player::new(&mut stage, &[]).play();
    assert_eq!(lines.last().unwrap(), "done pipeline completed");
    stage.is_at("completed", "completed");
    let left = stage.git(&["status", "--porcelain", "--", ".specs/20260101-x/state.json"]);
    assert_eq!(left, "", "the state differs from what was committed");
    let committed = stage.git(&["show", "HEAD:.specs/20260101-x/state.json"]);
    let committed: Value = serde_json::from_str(&committed).unwrap();
    assert_eq!(committed["currentPhase"], "completed");
    stage.git(&["cat-file", "-e", "HEAD:.specs/20260101-x/summary.md"]);
    let origin = stage.git(&["ls-remote", "origin", "refs/heads/feature/y"]);
    assert!(origin.starts_with(&stage.git(&["rev-parse", "HEAD"])), "{origin}");
    assert!(stage.events().iter().any(|it| it.0 == "pipeline-complete"));
}

#[test]
fn a_push_that_fails_can_be_tried_again() {
    let mut stage = publishing();
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["phase"] == "final-summary");
    player.act(&action);
    let origin = stage.project.path("../origin.git");
    let away = stage.project.path("../away.git");
    fs::rename(&origin, &away).unwrap();
    stage.stumble("pipeline_next_action", done());
    assert_ne!(stage.state()["status"], "completed");
    fs::rename(away, origin).unwrap();
    assert_eq!(line(&stage.go(done())), "done pipeline completed");
    stage.is_at("completed", "completed");
}

#[test]
fn a_run_is_not_completed_before_its_branch_is_pushed() {
    let mut stage = publishing();
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["phase"] == "final-summary");
    player.act(&action);
    stage.git(&["branch", "--unset-upstream", "feature/y"]);
    stage.git(&["remote", "rename", "origin", "elsewhere"]);
    let text = stage.stumble("pipeline_next_action", done()).text;
    assert!(text.contains("there is no remote `origin`"), "{text}");
    stage.is_at("final-commit", "pending");
    stage.git(&["remote", "rename", "elsewhere", "origin"]);
    assert_eq!(line(&stage.go(json!({}))), "done pipeline completed");
    let origin = stage.git(&["ls-remote", "origin", "refs/heads/feature/y"]);
    assert!(origin.starts_with(&stage.git(&["rev-parse", "HEAD"])), "{origin}");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/feature/y");
}

/// A run on a branch of its own.
pub(crate) fn branched() -> Stage {
    let stage = Stage::new();
    let arguments = json!({
        "workspace": stage.workspace(), "task_text": "Add thing xx", "flags": {"skip_pr": true},
        "user_confirmation": {"effort": "M"},
    });
    let said = stage.done("pipeline_init_with_context", arguments).json();
    assert_eq!((&said["branch"], &said["create_branch"]), (&json!("feature/x"), &json!(true)));
    stage.git(&["checkout", "-q", "-b", "feature/x"]);
    stage
}

#[test]
fn a_branch_gets_another_name_when_the_design_shows_another_kind_of_work() {
    let mut stage = branched();
    let script = [("design.md", 1, "# D\n\n## A\n\nThis is a bugfix.\n")];
    let mut player = Player::new(&mut stage, &script);
    player.play_until(|it| it["type"] == "checkpoint");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "fix/x");
    let state = stage.state();
    assert_eq!((&state["branch"], &state["branchClassified"]), (&json!("fix/x"), &json!(true)));
}

#[test]
fn a_branch_gets_another_name_also_where_nobody_is_asked() {
    let mut stage = branched();
    stage.ok("set_auto_approve", json!({}));
    let script = [("design.md", 1, "# D\n\n## A\n\nThis is a bugfix.\n")];
    let mut player = Player::new(&mut stage, &script);
    player.play_until(|it| it["phase"] == "phase-4");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "fix/x");
}

#[test]
fn a_branch_gets_another_name_at_a_checkpoint_that_a_file_speaks_of() {
    let stage = branched();
    stage.write("design.md", "# D\n\nThis is a bugfix.\n");
    stage.put("checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "fix/x");
}

#[test]
fn an_agent_starts_on_the_branch_of_its_run() {
    let stage = branched();
    stage.git(&["checkout", "-q", "main"]);
    let action = stage.go(json!({}));
    assert!(action["warning"].as_str().unwrap().contains("feature/x"), "{action:#}");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "feature/x");
}

#[test]
fn where_no_agent_is_sent_out_the_branch_is_left_as_it_is() {
    let stage = branched();
    let request = "---\nsource_type: linear_issue\nsource_url: https://linear.app/a/issue/ENG-7\n\
                   source_id: ENG-7\n---\n\nBroken page!\n";
    stage.write("request.md", request);
    stage.put("post-to-source", json!({}));
    stage.git(&["checkout", "-q", "main"]);
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "checkpoint post-to-source [post, skip]");
    assert_eq!(word(&action["warning"]), "", "{action:#}");
    assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "main");
}

#[test]
fn a_branch_with_a_command_in_its_name_runs_nothing() {
    let stage = Stage::begun("M");
    for branch in ["x; touch pwned", "$(touch pwned)", "--help", "-f"] {
        let said =
            stage.call("set_branch", json!({"workspace": stage.workspace(), "branch": branch}));
        if !said.is_error {
            stage.call("pipeline_next_action", json!({"workspace": stage.workspace()}));
        }
        assert!(!stage.project.path("pwned").exists());
        assert_eq!(stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "main");
    }
}

#[test]
fn a_dispatched_phase_is_told_of_in_order() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    let told: Vec<(String, String)> = stage.events().into_iter().map(|it| (it.0, it.2)).collect();
    let expected = [
        ("pipeline-init", "in_progress"),
        ("phase-start", "in_progress"),
        ("agent-dispatch", "dispatched"),
    ]
    .map(|(event, outcome)| (event.to_owned(), outcome.to_owned()));
    assert_eq!(told, expected);
}

#[test]
fn an_event_has_the_members_of_the_contract() {
    let stage = Stage::begun("M");
    let text = fs::read_to_string(stage.project.path("events.jsonl")).unwrap();
    let event: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(word(&event["event"]), "pipeline-init");
    assert_eq!(word(&event["phase"]), "setup");
    assert_eq!(word(&event["specName"]), "x");
    assert_eq!(word(&event["workspace"]), stage.workspace());
    assert_eq!(word(&event["detail"]), "effort=M");
    let time = word(&event["timestamp"]);
    assert!(time.len() == "2026-01-01T00:00:00Z".len() && time.ends_with('Z'), "{time}");
}

#[test]
fn a_whole_run_is_told_of_from_its_beginning_to_its_end() {
    let mut stage = Stage::begun("S");
    Player::new(&mut stage, &[]).play();
    let events = stage.events();
    let count = |event: &str| events.iter().filter(|it| it.0 == event).count();
    assert_eq!(count("pipeline-init"), 1, "{events:#?}");
    assert_eq!(count("checkpoint"), 1, "{events:#?}");
    assert_eq!(count("pipeline-complete"), 1, "{events:#?}");
    assert_eq!(count("agent-dispatch"), 7, "{events:#?}");
    assert_eq!(events.last().unwrap().0, "pipeline-complete", "{events:#?}");
}

#[test]
fn a_copy_of_a_pipeline_works_on_a_branch_of_its_own() {
    let mut stage = branched();
    Player::new(&mut stage, &[]).play_until(|it| it["phase"] == "phase-3b");
    let fork = ["run", "fork", ".specs/20260101-x", "--from-step", "phase-3", "--key"];
    let forked = stage.project.milepost(&[&fork[..], &[".specs/20260202-y"]].concat()).output();
    assert!(forked.unwrap().status.success());
    let copy = stage.specs("20260202-y");
    let branch = json!({"workspace": copy, "field": "branch"});
    assert_eq!(stage.done("get", branch).text, "feature/y");
    let action = stage.done("pipeline_next_action", json!({"workspace": copy})).json();
    assert_eq!((word(&action["phase"]), action.get("warning")), ("phase-3".to_owned(), None));
    let head = || stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    assert_eq!(head(), "feature/y");
    stage.write("review-design.md", "## Verdict: REVISE\n\n1. [CRITICAL] no.\n");
    stage.go(done());
    stage.go(json!({}));
    assert_eq!(head(), "feature/x", "the original goes on where it was");
}

#[test]
fn a_chore_that_holds_a_pipeline_up_says_what_helps() {
    let stage = publishing();
    stage.git(&["remote", "set-url", "origin", "../nowhere.git"]);
    stage.put("pr-creation", json!({}));
    let said = stage.stumble("pipeline_next_action", json!({}));
    assert!(said.text.contains("; fix the cause, then retry"), "{}", said.text);
}

#[test]
fn a_chore_that_is_not_allowed_is_not_done_and_the_setting_is_named() {
    let mut stage = Stage::set(&[("MILEPOST_CHORES_ALLOW", "rename_branch, checkout")]);
    stage.init("M");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "before"]);
    let script = [("tasks.md", 1, "## Task 1: One\nmode: parallel\nfiles:\n- one.txt\n")];
    let action = Player::new(&mut stage, &script).play_until(|it| word(&it["phase"]) == "phase-6");
    let warning = word(&action["warning"]);
    assert!(warning.contains("`commit`") && warning.contains("`chores.allow`"), "{action:#}");
    assert_eq!(stage.git(&["log", "-1", "--format=%s"]), "before");
}
