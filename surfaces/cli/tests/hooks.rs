//! What the hooks of an agent's client are answered: what is blocked while a forge pipeline is
//! going on, and that nothing else ever is.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;

use std::{
    fs,
    io::Write as _,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use project::Project;

/// Where the pipeline of most tests is.
const WORKSPACE: &str = ".specs/20260101-x";
/// An answer that is long enough to have been meant.
const LONG: &str = "I have read the files and written down what is there, in detail.";

/// What a hook answered.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Passed,
    Told(String),
    Blocked(String),
}

fn state(phase: &str, status: &str) -> Value {
    json!({
        "version": 2,
        "specName": "x",
        "branch": "feature/x",
        "currentPhase": phase,
        "currentPhaseStatus": status,
        "tasks": {},
        "timestamps": {"lastUpdated": "2026-01-01T10:00:00Z"},
    })
}

fn project(state: &Value) -> Project {
    let project = Project::new();
    project.write(&format!("{WORKSPACE}/state.json"), &state.to_string());
    project
}

/// Has the binary answer a hook, with whatever bytes on its standard input.
fn answer_to(project: &Project, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = project.milepost(&["hook", "forge"]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have answered without having read everything.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

#[track_caller]
fn ask(project: &Project, event: &str, call: &Value) -> Answer {
    let output = answer_to(project, &[event], call.to_string().as_bytes());
    let text = |it: &[u8]| String::from_utf8(it.to_vec()).unwrap().trim_end().to_owned();
    let (out, talk) = (text(&output.stdout), text(&output.stderr));
    match (output.status.code(), out.is_empty(), talk.is_empty()) {
        (Some(0), true, true) => Answer::Passed,
        (Some(0), false, true) => Answer::Told(out),
        (Some(2), true, false) => Answer::Blocked(talk),
        (code, ..) => panic!("{code:?}: {out}: {talk}"),
    }
}

#[track_caller]
fn blocked(answer: Answer, words: &[&str]) {
    let Answer::Blocked(text) = answer else { panic!("{answer:?}") };
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

fn write(path: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": path}})
}

fn shell(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}})
}

fn agent(answer: &Value) -> Value {
    json!({"tool_name": "Agent", "tool_input": {"prompt": "…"}, "tool_response": answer})
}

#[test]
fn while_the_situation_is_looked_at_only_the_workspace_is_written() {
    for phase in ["phase-1", "phase-2"] {
        let project = project(&state(phase, "in_progress"));
        let inside = project.path(&format!("{WORKSPACE}/analysis.md"));
        assert_eq!(ask(&project, "pre-tool-use", &write(inside.to_str().unwrap())), Answer::Passed);
        let outside = project.path("src/new/a.rs");
        let answer = ask(&project, "pre-tool-use", &write(outside.to_str().unwrap()));
        blocked(answer, &["src/new/a.rs", "`x`", phase, "hint: ", WORKSPACE]);
        let relative = format!("{WORKSPACE}/notes.md");
        assert_eq!(ask(&project, "pre-tool-use", &write(&relative)), Answer::Passed);
        blocked(ask(&project, "pre-tool-use", &write(&format!("{WORKSPACE}/../../a.rs"))), &[]);
        blocked(ask(&project, "pre-tool-use", &write(&format!("{WORKSPACE}/no/../../x.rs"))), &[]);
        blocked(ask(&project, "pre-tool-use", &write(".specs/20260101-xy/a.md")), &[]);
        let notebook =
            json!({"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "a.ipynb"}});
        blocked(ask(&project, "pre-tool-use", &notebook), &["a.ipynb"]);
        let read = json!({"tool_name": "Read", "tool_input": {"file_path": "src/a.rs"}});
        assert_eq!(ask(&project, "pre-tool-use", &read), Answer::Passed);
    }
}

#[test]
fn paths_are_seen_from_where_the_agent_is() {
    let project = project(&state("phase-1", "in_progress"));
    let mut call = write("analysis.md");
    call["cwd"] = json!(project.path(WORKSPACE));
    assert_eq!(ask(&project, "pre-tool-use", &call), Answer::Passed);
    fs::create_dir(project.path("src")).unwrap();
    call["cwd"] = json!(project.path("src"));
    blocked(ask(&project, "pre-tool-use", &call), &["analysis.md"]);
}

#[cfg(unix)]
#[test]
fn a_link_leads_nowhere_else() {
    let project = project(&state("phase-1", "in_progress"));
    fs::create_dir(project.path("src")).unwrap();
    let link = project.path(&format!("{WORKSPACE}/out"));
    std::os::unix::fs::symlink(project.path("src"), link).unwrap();
    blocked(ask(&project, "pre-tool-use", &write(&format!("{WORKSPACE}/out/a.rs"))), &[]);
}

#[test]
fn code_may_be_written_in_every_other_phase() {
    let others = [
        ("phase-1", "pending"),
        ("phase-2", "failed"),
        ("phase-3", "in_progress"),
        ("phase-5", "in_progress"),
    ];
    for (phase, status) in others {
        let project = project(&state(phase, status));
        assert_eq!(ask(&project, "pre-tool-use", &write("src/a.rs")), Answer::Passed);
    }
}

#[test]
fn nothing_is_committed_while_tasks_run_side_by_side() {
    let mut building = state("phase-5", "in_progress");
    building["tasks"] = json!({
        "1": {"executionMode": "sequential", "implStatus": "in_progress"},
        "2": {"executionMode": "parallel", "implStatus": "in_progress"},
        "3": {"executionMode": "parallel", "implStatus": "completed"},
    });
    let ours = project(&building);
    let commit = shell("cargo test && git -C . commit -am 'done'");
    blocked(ask(&ours, "pre-tool-use", &commit), &["side by side: 2\n", "hint: "]);
    assert_eq!(ask(&ours, "pre-tool-use", &shell("git diff; echo 'git commit'")), Answer::Passed);
    building["tasks"]["2"]["implStatus"] = json!("completed");
    assert_eq!(ask(&project(&building), "pre-tool-use", &commit), Answer::Passed);
    building["tasks"]["2"]["implStatus"] = json!("in_progress");
    building["currentPhase"] = json!("phase-6");
    assert_eq!(ask(&project(&building), "pre-tool-use", &commit), Answer::Passed);
}

#[test]
fn the_branch_of_a_pipeline_is_not_left_for_the_trunk() {
    for status in ["pending", "in_progress", "awaiting_human", "failed"] {
        let project = project(&state("phase-3", status));
        let answer = ask(&project, "pre-tool-use", &shell("git stash; git checkout main"));
        blocked(answer, &["`main`", "`feature/x`"]);
        blocked(ask(&project, "pre-tool-use", &shell("git switch master")), &["`master`"]);
        for fine in [
            "git checkout feature/y",
            "git checkout -b fix/z main",
            "git checkout main -- a.txt",
            "git commit -m 'git checkout main'",
            "ls",
        ] {
            assert_eq!(ask(&project, "pre-tool-use", &shell(fine)), Answer::Passed, "{fine}");
        }
    }
}

#[test]
fn a_pipeline_that_works_on_the_trunk_may_return_to_it() {
    let mut state = state("phase-3", "in_progress");
    state["branch"] = json!("main");
    let project = project(&state);
    assert_eq!(ask(&project, "pre-tool-use", &shell("git checkout main")), Answer::Passed);
    blocked(ask(&project, "pre-tool-use", &shell("git checkout master")), &["`main`"]);
}

#[test]
fn an_agent_that_answers_next_to_nothing_is_pointed_out() {
    let project = project(&state("phase-3", "in_progress"));
    let short = agent(&json!({"content": [{"type": "text", "text": "Done."}], "totalTokens": 7}));
    let Answer::Told(text) = ask(&project, "post-tool-use", &short) else { panic!("nothing told") };
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let words = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(words.contains("next to nothing") && words.contains("`x`"), "{words}");
    let long = agent(&json!({"content": [{"type": "text", "text": LONG}]}));
    assert_eq!(ask(&project, "post-tool-use", &long), Answer::Passed);
    project.write(&format!("{WORKSPACE}/design.md"), "# D\n\n## A\n");
    assert_eq!(ask(&project, "post-tool-use", &short), Answer::Passed);
}

#[test]
fn a_review_without_a_verdict_is_pointed_out() {
    let cases = [
        ("phase-3b", "review-design.md", "## Verdict: APPROVE_WITH_NOTES"),
        ("phase-4b", "review-tasks.md", "## Verdict: REVISE"),
        ("phase-6", "review-2.md", "## Verdict: FAIL"),
    ];
    for (phase, file, verdict) in cases {
        let ours = project(&state(phase, "in_progress"));
        let Answer::Told(text) = ask(&ours, "post-tool-use", &agent(&json!(LONG))) else {
            panic!("{phase}: nothing told")
        };
        assert!(text.contains("no verdict"), "{text}");
        let with = agent(&json!(format!("{LONG}\n{verdict}")));
        assert_eq!(ask(&ours, "post-tool-use", &with), Answer::Passed);
        ours.write(&format!("{WORKSPACE}/{file}"), verdict);
        assert_eq!(ask(&ours, "post-tool-use", &agent(&json!(LONG))), Answer::Passed);
        let waiting = project(&state(phase, "awaiting_human"));
        assert_eq!(ask(&waiting, "post-tool-use", &agent(&json!(""))), Answer::Passed);
    }
}

#[test]
fn an_agent_is_sent_back_once_while_the_pipeline_goes_on() {
    let first = json!({"hook_event_name": "Stop", "stop_hook_active": false});
    let again = json!({"hook_event_name": "Stop", "stop_hook_active": true});
    for status in ["pending", "in_progress"] {
        let project = project(&state("phase-3", status));
        let answer = ask(&project, "stop", &first);
        blocked(answer, &["`x`", "phase-3", "pipeline_next_action", WORKSPACE, "abandon"]);
        assert_eq!(ask(&project, "stop", &again), Answer::Passed);
    }
    for status in ["completed", "abandoned", "awaiting_human", "failed"] {
        let project = project(&state("phase-3", status));
        assert_eq!(ask(&project, "stop", &first), Answer::Passed, "{status}");
    }
    assert_eq!(ask(&Project::new(), "stop", &first), Answer::Passed);
}

#[test]
fn a_session_begins_with_what_is_going_on() {
    let ours = project(&state("phase-5", "in_progress"));
    let Answer::Told(text) = ask(&ours, "session-start", &json!({})) else {
        panic!("nothing told")
    };
    for word in ["`x`", "`phase-5`", "in_progress", "/forge", WORKSPACE] {
        assert!(text.contains(word), "{text}");
    }
    let over = project(&state("completed", "completed"));
    assert_eq!(ask(&over, "session-start", &json!({})), Answer::Passed);
}

#[test]
fn the_pipeline_that_changed_last_counts() {
    let project = project(&state("phase-1", "in_progress"));
    let mut newer = state("phase-5", "in_progress");
    newer["timestamps"]["lastUpdated"] = json!("2026-01-01T10:00:00.000000001Z");
    project.write(".specs/20251231-newer/state.json", &newer.to_string());
    assert_eq!(ask(&project, "pre-tool-use", &write("src/a.rs")), Answer::Passed);
    newer["currentPhaseStatus"] = json!("abandoned");
    project.write(".specs/20251231-newer/state.json", &newer.to_string());
    blocked(ask(&project, "pre-tool-use", &write("src/a.rs")), &["phase-1"]);
}

#[test]
fn the_specs_may_be_elsewhere() {
    let project = Project::new();
    project.write("shop/plans/a/state.json", &state("phase-3", "in_progress").to_string());
    let arguments = ["stop", "--specs", "plans", "--project", "shop"];
    assert_eq!(answer_to(&project, &arguments, b"{}").status.code(), Some(2));
    assert_eq!(answer_to(&project, &["stop", "--project", "shop"], b"{}").status.code(), Some(0));
}

#[test]
fn what_cannot_be_read_lets_everything_pass() {
    let project = project(&state("phase-1", "in_progress"));
    for input in [&b""[..], b"no json", b"[1]", b"{\"tool_name\": 7}", b"\xff\xfe"] {
        assert_eq!(answer_to(&project, &["pre-tool-use"], input).status.code(), Some(0));
        assert_eq!(answer_to(&project, &["post-tool-use"], input).status.code(), Some(0));
    }
    assert_eq!(answer_to(&project, &["stop"], b"{\"stop").status.code(), Some(0));
    let write = write("src/a.rs");
    // Neither a torn state nor wrong settings nor a project that is not there is the agent's fault.
    project.write(".milepost/config.toml", "nonsense = [");
    blocked(ask(&project, "pre-tool-use", &write), &[]);
    project.write(&format!("{WORKSPACE}/state.json"), "{\"currentPhase\": \"phase-1\", \"curr");
    assert_eq!(ask(&project, "pre-tool-use", &write), Answer::Passed);
    project.write(&format!("{WORKSPACE}/state.json"), "{\"currentPhase\": 1}");
    assert_eq!(ask(&project, "pre-tool-use", &write), Answer::Passed);
    let gone = answer_to(&project, &["stop", "--project", "gone"], b"{}");
    assert_eq!(gone.status.code(), Some(0));
    // What was typed wrong is told, but blocks nothing either.
    assert_eq!(answer_to(&project, &["teatime"], b"{}").status.code(), Some(64));
}
