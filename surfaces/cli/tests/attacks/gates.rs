//! Ways around a gate, a guard or the end of a run.
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are passed")]

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
    Server::start(&mut project.milepost(&["mcp", "--toolset", toolset]), Era::Modern)
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
