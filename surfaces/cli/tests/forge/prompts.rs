//! The prompts that agents are given.

use std::fs;

use serde_json::{Value, json};

use crate::{
    player::Player,
    server::{Era, Server},
    stage::{Stage, done, world},
};

/// Returns the prompt of the first action of a phase.
fn prompt_of(stage: &mut Stage, phase: &str) -> String {
    let action = Player::new(stage, &[]).play_until(|it| it["phase"] == phase);
    prompt(&action)
}

fn prompt(action: &Value) -> String {
    action["prompt"].as_str().unwrap_or_else(|| panic!("no prompt: {action:#}")).to_owned()
}

#[track_caller]
fn has(prompt: &str, parts: &[&str]) {
    for part in parts {
        assert!(prompt.contains(part), "no `{part}` in:\n{prompt}");
    }
}

#[test]
fn a32_a_prompt_has_the_agent_its_inputs_and_its_output() {
    let mut stage = Stage::begun("M");
    let workspace = stage.workspace();
    let prompt = prompt_of(&mut stage, "phase-1");
    assert!(prompt.starts_with(&format!("AGENT situation-analyst ws={workspace} br=")), "{prompt}");
    has(
        &prompt,
        &[
            "sp=x",
            "keep={foo}",
            "n={N}",
            "## Input Artifacts",
            &format!("- {workspace}/request.md"),
            "## Output Artifact",
            &format!("{workspace}/analysis.md"),
        ],
    );
}

#[test]
fn a32_a_reviewer_is_told_the_verdicts_it_may_give() {
    let mut stage = Stage::begun("M");
    let prompt = prompt_of(&mut stage, "phase-3b");
    has(&prompt, &["APPROVE", "APPROVE_WITH_NOTES", "REVISE", "## Verdict:"]);
}

#[test]
fn a32_an_implementer_is_told_the_number_of_its_task() {
    let mut stage = Stage::begun("M");
    has(&prompt_of(&mut stage, "phase-5"), &["n=1"]);
}

#[test]
fn a32_without_its_file_an_agent_gets_one_line_and_the_missing_file_is_told() {
    let stage = Stage::set(&[("FORGE_AGENTS_PATH", "/nowhere/at/all")]);
    stage.init("M");
    let action = stage.go(json!({}));
    assert_eq!(prompt(&action).trim().lines().count(), 1, "{action:#}");
    let warning = action["warning"].as_str().unwrap();
    assert!(warning.contains("situation-analyst.md"), "{warning}");
}

#[test]
fn a_prompt_says_what_is_known_of_the_repository() {
    let project = world(&[]);
    project.write("go.mod", "module example.com/m\n");
    project.write("Makefile", "build:\n\techo\ntest:\n\techo\n");
    let stage = Stage::over(project);
    stage.init("M");
    let prompt = prompt(&stage.go(json!({})));
    has(&prompt, &["## Repository Context", "go test", "make build", "make test"]);
}

#[test]
fn findings_of_earlier_reviews_are_shown_to_those_who_can_use_them() {
    let mut stage = Stage::begun("M");
    let script =
        [("review-design.md", 1, "## Verdict: REVISE\n**[CRITICAL] Missing error check**\n")];
    let mut player = Player::new(&mut stage, &script);
    player.play_until(|it| it["phase"] == "phase-4");
    let seen = player.seen.clone();
    let of = |phase: &str| prompt(seen.iter().rfind(|it| it["phase"] == phase).unwrap());
    has(&of("phase-4"), &["## Common Review Findings", "missing error check"]);
    assert!(!of("phase-3b").contains("## Common Review Findings"));
}

#[test]
fn what_a_person_said_on_approving_reaches_the_next_agent_once() {
    let stage = Stage::begun("M");
    stage.write("checkpoint-message.txt", "Mind the gap.");
    let first = prompt(&stage.go(json!({})));
    has(&first, &["## Human Feedback", "Mind the gap."]);
    assert!(!stage.has("checkpoint-message.txt"));
    stage.write("analysis.md", "An analysis.\n");
    assert!(!prompt(&stage.go(done())).contains("Mind the gap."));
}

#[test]
fn what_an_agent_file_has_in_braces_is_filled_in_once() {
    let stage = Stage::new();
    let text = "{spec-name} {workspace} {other}\n";
    fs::write(stage.project.path("../agents/situation-analyst.md"), text).unwrap();
    stage.init("M");
    let prompt = prompt(&stage.go(json!({})));
    assert!(prompt.starts_with(&format!("x {} {{other}}", stage.workspace())), "{prompt}");
}

#[test]
fn a_brief_names_the_tools_that_a_pipeline_is_gone_through_with() {
    let mut stage = Stage::begun("M");
    let brief = |stage: &Stage| {
        let output = stage.project.milepost(&["brief", ".specs/20260101-x"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let read = |stage: &Stage, run: &str| {
        let uri = format!("milepost://runs/{run}/brief");
        stage.server.request("resources/read", json!({ "uri": uri })).unwrap().to_string()
    };
    let prompt = |stage: &Stage, name: &str, arguments: Value| {
        let asked = json!({"name": name, "arguments": arguments});
        stage.server.request("prompts/get", asked).unwrap().to_string()
    };
    let listed = stage.project.milepost(&["run", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let run = listed["runs"][0]["run"].as_str().unwrap().to_owned();
    let core = ["advance_workflow", "answer_gate", "start_workflow", "resume_workflow"];
    let check = |text: &str, wanted: &str| {
        assert!(text.contains(wanted), "{text}");
        assert!(!core.iter().any(|it| text.contains(it)), "{text}");
    };
    check(&brief(&stage), "`pipeline_next_action` (`workspace` `.specs/20260101-x`)");
    check(&read(&stage, &run), "pipeline_next_action");
    check(&prompt(&stage, "milepost_resume", json!({"run": run})), "pipeline_next_action");
    check(&prompt(&stage, "forge", json!({})), "pipeline_init");
    Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    check(&brief(&stage), "`user_response`");
    check(&read(&stage, &run), "user_response");
    // With the tools that any workflow can be gone through with, it names those.
    let served = Server::inside(&stage.project, &[], Era::Modern);
    let uri = format!("milepost://runs/{run}/brief");
    let text = served.request("resources/read", json!({ "uri": uri })).unwrap().to_string();
    assert!(text.contains("answer_gate") && !text.contains("user_response"), "{text}");
}
