//! Ways around a gate, a guard or the end of a run.
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are passed")]

use std::fs;

use serde_json::{Value, json};

use crate::{
    project::Project,
    server::{Era, Server},
};

const GRAPH: &str = "Approval Example Workflow";

/// A workflow with everything by which a caller could leave a gate out.
const LEAVABLE: &str = r#"== .milepost/workflows/LEAVABLE/index.md
---
flows: {light: [Plan], full: []}
vars: {fast: false}
---
# Goal
Show it.
- [Plan](steps/plan.md)
- [Ship](steps/ship.md)
== .milepost/workflows/LEAVABLE/steps/plan.md
---
gate: true
skip_when: "vars.fast or context.fast | default(false)"
---
# Orchestrator Guidance
Go on.
# Client Instructions
Plan.
== .milepost/workflows/LEAVABLE/steps/ship.md
# Orchestrator Guidance
Go on.
# Client Instructions
Ship.
"#;

/// A server with a toolset, where only a person's own answer counts or not.
fn serve(project: &Project, toolset: &str) -> Server {
    Server::inside(project, &["--toolset", toolset], Era::Modern)
}

fn verified() -> Project {
    Project::new().with("MILEPOST_GATES_ANSWERS", "verified")
}

/// Calls a tool, and returns its text and whether it refused.
#[track_caller]
fn call(server: &Server, tool: &str, arguments: Value) -> (String, bool) {
    let answer = server.request("tools/call", json!({"name": tool, "arguments": arguments}));
    let result = &answer.unwrap()["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (format!("{text}\n{}", result["structuredContent"]), result["isError"] == true)
}

#[track_caller]
fn refused(server: &Server, tool: &str, arguments: Value) -> String {
    let (text, is_error) = call(server, tool, arguments.clone());
    assert!(is_error, "`{tool}` did not refuse {arguments}: {text}");
    text
}

#[track_caller]
fn done(server: &Server, tool: &str, arguments: Value) -> String {
    let (text, is_error) = call(server, tool, arguments.clone());
    assert!(!is_error, "`{tool}` refused {arguments}: {text}");
    text
}

/// Returns the newest run as the command line shows it.
fn newest(project: &Project) -> Value {
    project.ask(&["run", "list"])["runs"][0].clone()
}

#[track_caller]
fn is_at(project: &Project, status: &str, step: &str) {
    let run = newest(project);
    assert_eq!((&run["status"], &run["step"]), (&json!(status), &json!(step)), "{run:#}");
}

#[test]
fn a_gate_is_not_passed_by_reporting_failure() {
    for project in [Project::new(), verified()] {
        let server = serve(&project, "core");
        let inputs = json!({"task_description": "x"});
        let started = json!({"workflow_name": GRAPH, "context": {"inputs": inputs}});
        let started = server.call("start_workflow", started).value;
        let run = &started["instance_id"];
        let advance = |step: &str, status: &str, next: &str| {
            let report = json!({"step_id": step, "status": status, "result": "r"});
            json!({"instance_id": run, "report": report, "next_step_name": next})
        };
        done(&server, "advance_workflow", advance("analyze", "success", "plan_with_approval"));
        let failing = || advance("plan_with_approval", "failure", "implement");
        let said = refused(&server, "advance_workflow", failing());
        assert!(said.contains("may not follow"), "{said}");
        let mut resuming = failing();
        resuming["assumed_current_step_name"] = json!("plan_with_approval");
        refused(&server, "resume_workflow", resuming);
        is_at(&project, "running", "plan_with_approval");
    }
}

#[test]
fn a_forced_node_does_not_jump_a_verified_gate() {
    let project = verified();
    let server = serve(&project, "devworkflow");
    let start = json!({"action": "start", "context": format!("workflow: {GRAPH}")});
    done(
        &server,
        "workflow_guidance",
        json!({"task_description": "Do: it", "action": start["action"], "context": start["context"]}),
    );
    for node in ["implement", "review_for_deployment", "deploy", "complete"] {
        let updates = json!({"node": node, "force": true}).to_string();
        let update = json!({"operation": "update", "updates": updates});
        let said = refused(&server, "workflow_state", update);
        assert!(said.contains("plan_with_approval"), "{node}: {said}");
    }
    is_at(&project, "running", "analyze");
}

#[test]
fn an_update_to_completed_does_not_end_a_run_before_its_gate() {
    let project = verified();
    let server = serve(&project, "devworkflow");
    let start = json!({"task_description": "Do: it", "action": "start", "context": format!("workflow: {GRAPH}")});
    done(&server, "workflow_guidance", start);
    let updates = json!({"status": "COMPLETED"}).to_string();
    refused(&server, "workflow_state", json!({"operation": "update", "updates": updates}));
    is_at(&project, "running", "analyze");
}

#[test]
fn values_at_the_start_do_not_leave_a_gate_out() {
    let starts = [
        json!({"flow": "light"}),
        json!({"context": {"fast": true}}),
        json!({"vars": {"fast": true}}),
    ];
    for start in starts {
        let project = Project::new();
        project.write_all(LEAVABLE);
        let server = serve(&project, "core");
        let mut arguments = json!({"workflow_name": "LEAVABLE"});
        arguments.as_object_mut().unwrap().extend(start.as_object().unwrap().clone());
        done(&server, "start_workflow", arguments);
        is_at(&project, "waiting", "Plan");
    }
}

#[test]
fn a_copy_carries_an_approval_only_while_what_was_approved_is_unchanged() {
    let project = Project::new();
    project.write_all(
        r#"== .milepost/workflows/SHOWN/index.md
---
gates: relayed
---
# Goal
Show it.
- [Plan](steps/plan.md)
- [Ship](steps/ship.md)
== .milepost/workflows/SHOWN/steps/plan.md
---
produces: [plan.md]
gate: true
---
# Orchestrator Guidance
Go on.
# Client Instructions
Plan.
== .milepost/workflows/SHOWN/steps/ship.md
# Orchestrator Guidance
Go on.
# Client Instructions
Ship.
"#,
    );
    project.write("plan.md", "the plan");
    let server = serve(&project, "core");
    let started = server.call("start_workflow", json!({"workflow_name": "SHOWN"})).value;
    let run = &started["instance_id"];
    let report = json!({"step_id": "Plan", "status": "success", "result": "r"});
    done(&server, "advance_workflow", json!({"instance_id": run, "report": report}));
    done(&server, "answer_gate", json!({"instance_id": run, "answer": "approve"}));
    let fork = json!({"instance_id": run, "from_step": "Ship"});
    done(&server, "fork_run", fork.clone());
    is_at(&project, "running", "Ship");
    project.write("plan.md", "another plan");
    done(&server, "fork_run", fork);
    is_at(&project, "waiting", "Ship");
    let gates = project.ask(&["gate", "list"]);
    assert_eq!(gates["gates"][0]["gate"]["step"], "Plan", "{gates:#}");
}

/// Forks a run at each of its events, and returns where the copies stand.
fn copies(project: &Project, server: &Server, run: &Value) -> Vec<(u64, String, String)> {
    let history = project.ask(&["run", "history", run.as_str().unwrap()]);
    let length = history["events"].as_array().unwrap().len() as u64;
    let fork = |seq: u64| {
        let key = format!("{:04}", 5000 + seq);
        done(server, "fork_run", json!({"instance_id": run, "from_seq": seq, "key": key}));
        let copy = newest(project);
        (seq, copy["status"].as_str().unwrap().into(), copy["step"].as_str().unwrap().into())
    };
    (1..=length).map(fork).collect()
}

#[test]
fn a_copy_of_a_run_that_owes_an_answer_owes_it_too() {
    let project = verified();
    let step = |status: &str| json!({"status": status, "started_at": "2025-11-03T14:30:45Z"});
    let mut state = json!({
        "scene_id": "0106", "session_id": "s", "current_step": 4, "workflow_status": "IN_PROGRESS",
        "started_at": "2025-11-03T14:30:45Z", "updated_at": "2025-11-03T14:30:45Z", "steps": {},
    });
    for name in ["step_1_file_check", "step_2_blueprint_validation", "step_3_verification_plan"] {
        state["steps"][name] = step("COMPLETED");
    }
    state["steps"]["step_4_generation"] = step("IN_PROGRESS");
    project.write("workspace/generation-state-0106.json", &state.to_string());
    let server = serve(&project, "core,generation");
    done(&server, "get_generation_status", json!({"scene_id": "0106"}));
    for (seq, status, step) in copies(&project, &server, &json!("0106")) {
        assert_eq!(status, "waiting", "a copy from event {seq} is at {step}");
    }
}

#[test]
fn a_copy_at_the_answer_carries_no_approval_of_something_else() {
    let project = Project::new();
    project.write_all(
        r#"== .milepost/workflows/CHOSEN/index.md
---
gates: verified
decider: client
---
# Goal
Choose it.
- [Plan](steps/plan.md)
- [Ship](steps/ship.md)
== .milepost/workflows/CHOSEN/steps/plan.md
---
produces: [plan.md]
gate: true
---
# Orchestrator Guidance
Go on.
# Client Instructions
Plan.
== .milepost/workflows/CHOSEN/steps/ship.md
# Orchestrator Guidance
Go on.
# Client Instructions
Ship.
"#,
    );
    project.write("plan.md", "the plan");
    let server = serve(&project, "core");
    let started = server.call("start_workflow", json!({"workflow_name": "CHOSEN"})).value;
    let run = &started["instance_id"];
    let report = json!({"step_id": "Plan", "status": "success", "result": "r"});
    done(&server, "advance_workflow", json!({"instance_id": run, "report": report}));
    project.ask(&["gate", "approve", run.as_str().unwrap(), "--yes"]);
    project.write("plan.md", "another plan");
    for (seq, _, step) in copies(&project, &server, run) {
        assert_eq!(step, "Plan", "a copy from event {seq}");
        let copy = newest(&project)["run"].clone();
        let ship = json!({"instance_id": copy, "report": report, "next_step_name": "Ship"});
        call(&server, "advance_workflow", ship);
        assert_eq!(newest(&project)["step"], "Plan", "a copy from event {seq}");
    }
    let ship = json!({"instance_id": run, "report": report, "next_step_name": "Ship"});
    call(&server, "advance_workflow", ship);
    let shown = project.ask(&["run", "show", run.as_str().unwrap()]);
    assert_eq!(shown["run"]["status"], "waiting", "{shown:#}");
}

#[test]
fn nothing_is_completed_in_a_state_file_that_claims_to_be_behind_its_gate() {
    let task = "Add: login";
    let elsewhere = Project::new();
    let other = serve(&elsewhere, "devworkflow");
    done(&other, "init_workflow_guidance", json!({"task_description": task}));
    let text = fs::read_to_string(elsewhere.path("workflow_state.md")).unwrap();
    let behind =
        text.replace("Phase: INIT", "Phase: VALIDATE").replace("Status: READY", "Status: RUNNING");
    assert_ne!(behind, text);
    let project = verified();
    project.write("workflow_state.md", &behind);
    let server = serve(&project, "devworkflow");
    for tool in ["complete_workflow_guidance", "validate_phase_guidance"] {
        let said = refused(&server, tool, json!({"task_description": task, "summary": "done"}));
        assert!(!said.contains("completed"), "{said}");
    }
    let gates = project.ask(&["gate", "list"]);
    assert_eq!(gates["gates"][0]["gate"]["step"], "BLUEPRINT", "{gates:#}");
}

const PARTS: &str = r#"== .milepost/workflows/PARTS/index.md
---
gates: verified
---
# Goal
Look at it.
- [Plan](steps/plan.md)
- [Build](steps/build.md)
- [Ship](steps/ship.md)
== .milepost/workflows/PARTS/steps/plan.md
---
produces: [plan.md]
gate: true
---
# Orchestrator Guidance
Go on.
# Client Instructions
Plan.
== .milepost/workflows/PARTS/steps/build.md
---
each: {parts: t, from: tasks.md, order: declared}
---
# Orchestrator Guidance
Go on.
# Client Instructions
Build.
== .milepost/workflows/PARTS/steps/ship.md
# Orchestrator Guidance
Go on.
# Client Instructions
Ship.
== plan.md
the plan
== tasks.md
## Task 1: look
mode: human_gate

## Task 2: build
"#;

/// A run whose plan a person approved, and that now has a part for a person.
fn with_part_for_a_person(project: &Project, server: &Server) -> Value {
    project.write_all(PARTS);
    let started = server.call("start_workflow", json!({"workflow_name": "PARTS"})).value;
    let run = started["instance_id"].clone();
    let report = json!({"step_id": "Plan", "status": "success", "result": "r"});
    done(server, "advance_workflow", json!({"instance_id": run, "report": report}));
    project.ask(&["gate", "approve", run.as_str().unwrap(), "--yes"]);
    is_at(project, "waiting", "Build");
    run
}

#[test]
fn reopening_by_force_dismisses_no_question_that_is_a_persons() {
    let project = Project::new();
    let server = serve(&project, "core");
    let run = with_part_for_a_person(&project, &server);
    let reopen = json!({"instance_id": run, "reopen": true, "force": true});
    refused(&server, "resume_workflow", reopen);
    is_at(&project, "waiting", "Build");
}

#[test]
fn a_copy_of_a_cancelled_run_that_is_reopened_uses_no_approval_of_something_else() {
    let project = Project::new();
    let server = serve(&project, "core");
    let run = with_part_for_a_person(&project, &server);
    project.ask(&["gate", "approve", run.as_str().unwrap(), "--yes"]);
    done(&server, "cancel_workflow", json!({"instance_id": run}));
    project.write("plan.md", "another plan");
    let history = project.ask(&["run", "history", run.as_str().unwrap()]);
    let last = history["events"].as_array().unwrap().len();
    let copied = server.call("fork_run", json!({"instance_id": run, "from_seq": last})).value;
    let reopen = json!({"instance_id": copied["instance_id"], "reopen": true, "force": true});
    call(&server, "resume_workflow", reopen);
    let gates = project.ask(&["gate", "list"]);
    assert_eq!(gates["gates"][0]["gate"]["step"], "Plan", "{gates:#}");
}
