//! The acceptance scenarios of the original orchestrator that need no language model, one test
//! each, over MCP in both eras of the protocol. What is killed in the middle is a process.
//!
//! Where the original's stub decided, the workflow `DEMO` declares the same moves.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "orchestrator/definitions.rs"]
mod definitions;
#[path = "support/demo.rs"]
mod demo;
#[path = "support/played.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod played;
#[path = "support/project.rs"]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
#[path = "orchestrator/shipped.rs"]
mod shipped;

use std::{collections::BTreeSet, thread};

use serde_json::{Value, json};

use project::Project;
use server::{Answer, Era, Server};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A project with the original's settings in its environment, and the workflow `DEMO`.
fn demo_project() -> Project {
    let project = Project::new()
        .with("WORKFLOW_DEFINITIONS_DIR", "definitions")
        .with("WORKFLOW_DB_PATH", "data/workflows.sqlite");
    project.write_all(&demo::demo("definitions"));
    project
}

fn serve(project: &Project, era: Era) -> Server {
    Server::inside(project, &[], era)
}

/// The same, as a process.
fn serve_apart(project: &Project, era: Era) -> Server {
    Server::start(&mut project.milepost(&["mcp"]), era)
}

/// Has `check` look at a server in a new project, in each era.
fn in_both_eras(check: impl Fn(&Project, &Server)) {
    for era in ERAS {
        let project = demo_project();
        check(&project, &serve(&project, era));
    }
}

/// Calls a tool that must not refuse.
fn done(server: &Server, tool: &str, arguments: Value) -> Value {
    let Answer { value, is_error } = server.call(tool, arguments);
    assert!(!is_error, "`{tool}` refused: {value:#}");
    value
}

/// Calls a tool that must refuse, and returns its words and its code.
fn refused(server: &Server, tool: &str, arguments: Value) -> (String, String) {
    let Answer { value, is_error } = server.call(tool, arguments);
    assert!(is_error, "`{tool}` did not refuse: {value:#}");
    let word = |name: &str| value[name].as_str().unwrap_or_else(|| panic!("{value:#}")).to_owned();
    (word("error"), word("error_code"))
}

fn start_demo(server: &Server) -> String {
    let begun = done(
        server,
        "start_workflow",
        json!({"workflow_name": "DEMO", "context": {"user": "ann"}}),
    );
    id_of(&begun)
}

fn id_of(answer: &Value) -> String {
    answer["instance_id"].as_str().unwrap().to_owned()
}

fn advance(server: &Server, run: &str, report: &Value) -> Value {
    done(server, "advance_workflow", json!({"instance_id": run, "report": report}))
}

fn status(server: &Server, run: &str) -> Value {
    done(server, "get_workflow_status", json!({"instance_id": run, "include_history": true}))
}

/// Returns the rows of a history that tell of a report, as the original kept them.
fn rows(status: &Value) -> Vec<Value> {
    let history = status["history"].as_array().unwrap();
    history.iter().filter(|it| it["outcome_status"].is_string()).cloned().collect()
}

#[test]
fn a01_the_tools_of_the_original_are_listed() {
    in_both_eras(|_, server| {
        let message = server.request("tools/list", json!({})).unwrap();
        let tools = message["result"]["tools"].as_array().unwrap();
        let names: BTreeSet<&str> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
        for name in [
            "list_workflows",
            "start_workflow",
            "get_workflow_status",
            "advance_workflow",
            "resume_workflow",
        ] {
            assert!(names.contains(name), "{name} is not among {names:?}");
        }
        assert!(names.len() <= 12, "{names:?}");
    });
}

#[test]
fn a02_standard_output_carries_messages_only() {
    // The client looks at every line, and fails when the server is dropped if one is anything else.
    for era in ERAS {
        let project = demo_project().with("LOG_LEVEL", "trace");
        let server = serve(&project, era);
        let run = start_demo(&server);
        advance(&server, &run, &json!({"step_id": "Start", "status": "FINISH"}));
        refused(&server, "start_workflow", json!({"workflow_name": "NOPE"}));
    }
}

#[test]
fn a03_a_start_answers_with_the_first_step_and_keeps_the_context() {
    in_both_eras(|project, server| {
        let context = json!({"user": "ann"});
        let begun =
            done(server, "start_workflow", json!({"workflow_name": "DEMO", "context": context}));
        let run = id_of(&begun);
        assert!(run.len() == 36 && run.matches('-').count() == 4, "{run}");
        assert_eq!(begun["next_step"]["step_name"], "Start");
        let instructions = begun["next_step"]["instructions"].as_str().unwrap();
        assert!(instructions.starts_with("Do the work of Start."), "{instructions}");
        assert!(instructions.contains("# Context Expectations"), "{instructions}");
        assert_eq!(begun["current_context"], context);
        let status = status(server, &run);
        assert_eq!(status["status"], "RUNNING");
        assert_eq!(rows(&status), Vec::<Value>::new());
        // The command line sees the same run in the same file.
        assert_eq!(project.ask(&["run", "list"])["runs"][0]["instance_id"], run.as_str());
    });
}

#[test]
fn a04_arguments_come_flat_or_wrapped_or_wrapped_as_text() {
    in_both_eras(|_, server| {
        let flat = json!({"workflow_name": "DEMO", "context": {"user": "ann"}});
        let forms =
            [flat.clone(), json!({"input_data": flat}), json!({"input_data": flat.to_string()})];
        for form in forms {
            let begun = done(server, "start_workflow", form);
            assert_eq!(begun["current_context"], json!({"user": "ann"}));
        }
    });
}

#[test]
fn a05_an_unknown_workflow_is_refused_and_nothing_begins() {
    in_both_eras(|_, server| {
        let (error, code) = refused(server, "start_workflow", json!({"workflow_name": "NOPE"}));
        assert!(error.starts_with("Failed to start workflow 'NOPE':"), "{error}");
        assert_eq!(code, "DEFINITION_NOT_FOUND");
        assert_eq!(done(server, "list_runs", json!({}))["runs"], json!([]));
    });
}

#[test]
fn a07_every_field_that_does_not_fit_is_named_at_once() {
    in_both_eras(|_, server| {
        let (error, code) = refused(server, "start_workflow", json!({}));
        assert!(error.contains("workflow_name"), "{error}");
        assert_eq!(code, "MISSING_FIELD");
        let wrong = json!({"workflow_name": "DEMO", "context": null});
        let (error, code) = refused(server, "start_workflow", wrong);
        assert!(error.contains("context"), "{error}");
        assert_eq!(code, "INVALID_TYPE");
        let (error, _) = refused(server, "advance_workflow", json!({"report": {"result": 1}}));
        for field in ["instance_id", "report.step_id", "report.status"] {
            assert!(error.contains(field), "{field} is not named in: {error}");
        }
    });
}

#[test]
fn a08_a_09_an_advance_moves_on_merges_the_context_and_is_remembered() {
    in_both_eras(|_, server| {
        let run = start_demo(server);
        let report = json!({"step_id": "Start", "result": {"a": 1}, "status": "success"});
        let moved = done(
            server,
            "advance_workflow",
            json!({"instance_id": run, "report": report, "context_updates": {"k": [1, 2]}}),
        );
        assert_eq!(moved["next_step"]["step_name"], "NextStep");
        assert_eq!(moved["current_context"], json!({"user": "ann", "k": [1, 2]}));
        let status = status(server, &run);
        let rows = rows(&status);
        assert_eq!(rows.len(), 1, "{rows:#?}");
        assert_eq!(rows[0]["step_name"], "Start");
        assert_eq!(rows[0]["outcome_status"], "success");
        assert_eq!(rows[0]["determined_next_step"], "NextStep");
        let kept: Vec<&String> = rows[0]["user_report"].as_object().unwrap().keys().collect();
        assert_eq!(kept, ["details", "error", "message", "result", "status", "step_id"]);
        assert_eq!(status["current_step_name"], "NextStep");
        assert_eq!(status["status"], "RUNNING");
        assert_eq!(status["completed_at"], Value::Null);
        let time = |name: &str| status[name].as_str().unwrap().to_owned();
        assert!(time("created_at").ends_with('Z') && time("created_at") <= time("updated_at"));
    });
}

#[test]
fn a10_details_that_were_provided_join_the_context() {
    in_both_eras(|_, server| {
        let run = start_demo(server);
        let report = json!({"step_id": "Start", "status": "data_provided", "details": {"d": 1}});
        let moved = advance(server, &run, &report);
        assert_eq!(moved["current_context"], json!({"user": "ann", "d": 1}));
    });
}

#[test]
fn a11_a_12_a_run_ends_once_and_stays_as_it_ended() {
    in_both_eras(|_, server| {
        let run = start_demo(server);
        let report = json!({"step_id": "Start", "status": "FINISH"});
        let ended = advance(server, &run, &report);
        assert_eq!(ended["next_step"]["step_name"], "FINISH");
        assert_eq!(ended["next_step"]["instructions"], "Workflow Completed successfully.");
        let before = status(server, &run);
        assert_eq!(before["status"], "COMPLETED");
        assert!(before["completed_at"].is_string());
        let late = json!({"instance_id": run, "report": report, "context_updates": {"late": 1}});
        let again = done(server, "advance_workflow", late);
        assert_eq!(again["next_step"]["step_name"], "FINISH");
        assert_eq!(again["next_step"]["instructions"], "Workflow Completed.");
        assert_eq!(again["current_context"], json!({"user": "ann"}));
        assert_eq!(status(server, &run), before);
    });
}

#[test]
fn a13_a_step_called_finish_has_the_last_word() {
    in_both_eras(|project, server| {
        project.write_all(&demo::demo("definitions").replace("DEMO/", "ENDING/"));
        let index = project.path("definitions/ENDING/index.md");
        let text = std::fs::read_to_string(&index).unwrap();
        project.write("definitions/ENDING/index.md", &format!("{text}- [FINISH](steps/f.md)\n"));
        project.write(
            "definitions/ENDING/steps/f.md",
            "# Orchestrator Guidance\nThe end.\n# Client Instructions\nThank the user.\n",
        );
        let run = id_of(&done(server, "start_workflow", json!({"workflow_name": "ENDING"})));
        let report = json!({"step_id": "Start", "status": "FINISH"});
        for _ in 0..2 {
            let ended = advance(server, &run, &report);
            assert_eq!(ended["next_step"]["step_name"], "FINISH");
            assert_eq!(ended["next_step"]["instructions"], "Thank the user.");
        }
    });
}

#[test]
fn a14_a_failure_fails_the_run_and_still_says_what_to_do() {
    in_both_eras(|_, server| {
        let run = start_demo(server);
        let report = json!({"step_id": "Start", "status": "failure", "error": "no luck"});
        for _ in 0..2 {
            let failed = advance(server, &run, &report);
            assert_eq!(failed["next_step"]["step_name"], "HandleFailure");
            let instructions = failed["next_step"]["instructions"].as_str().unwrap();
            assert!(instructions.starts_with("Workflow Failed.\n"), "{instructions}");
            assert!(instructions.contains("Do the work of HandleFailure."), "{instructions}");
            assert_eq!(failed["status"], "FAILED");
        }
        assert_eq!(status(server, &run)["status"], "FAILED");
    });
}

#[test]
fn a15_an_agent_that_comes_back_with_an_old_belief_is_set_right() {
    in_both_eras(|_, server| {
        let run = start_demo(server);
        advance(server, &run, &json!({"step_id": "Start", "status": "success"}));
        let back = done(
            server,
            "resume_workflow",
            json!({
                "instance_id": run,
                "assumed_current_step_name": "Start",
                "report": {"step_id": "Start", "status": "resuming"},
            }),
        );
        assert_eq!(back["next_step"]["step_name"], "NextStep");
        let rows = rows(&status(server, &run));
        let last = rows.last().unwrap();
        assert_eq!(
            (&last["step_name"], &last["outcome_status"]),
            (&json!("Start"), &json!("RESUMING"))
        );
    });
}

#[test]
fn a16_an_unknown_run_is_refused_by_every_tool_and_named() {
    in_both_eras(|_, server| {
        let run = "0190b7a2-0000-7000-8000-000000000000";
        let report = json!({"step_id": "Start", "status": "success"});
        let full =
            json!({"instance_id": run, "report": report, "assumed_current_step_name": "Start"});
        for tool in ["resume_workflow", "advance_workflow"] {
            let mut arguments = full.clone();
            if tool == "advance_workflow" {
                arguments.as_object_mut().unwrap().remove("assumed_current_step_name");
            }
            let (error, code) = refused(server, tool, arguments);
            let verb = tool.strip_suffix("_workflow").unwrap();
            let prefix = format!("Failed to {verb} workflow instance '{run}':");
            assert!(error.starts_with(&prefix), "{error}");
            assert_eq!(code, "INSTANCE_NOT_FOUND");
        }
        let (error, code) = refused(server, "get_workflow_status", json!({"instance_id": run}));
        assert_eq!(
            (error, code),
            (format!("Instance '{run}' not found"), "INSTANCE_NOT_FOUND".to_owned())
        );
    });
}

#[test]
fn a17_a_server_that_was_killed_goes_on_where_it_was() {
    for era in ERAS {
        let project = demo_project();
        let server = serve_apart(&project, era);
        let run = start_demo(&server);
        let report = json!({"step_id": "Start", "status": "success"});
        let arguments =
            json!({"instance_id": run, "report": report, "context_updates": {"k": [1, 2]}});
        done(&server, "advance_workflow", arguments);
        let before = status(&server, &run);
        server.kill();
        drop(server);
        assert_eq!(status(&serve_apart(&project, era), &run), before);
    }
}

#[test]
fn a28_many_clients_advance_many_runs_at_once() {
    const CLIENTS: usize = 20;
    const RUNS: usize = 10;
    let project = demo_project();
    let server = serve_apart(&project, Era::Modern);
    let work = || {
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let run = start_demo(&server);
            for (step, said) in
                [("Start", "success"), ("NextStep", "success"), ("NextStep", "FINISH")]
            {
                advance(&server, &run, &json!({"step_id": step, "status": said}));
            }
            runs.push(run);
        }
        runs
    };
    let runs: BTreeSet<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(work)).collect();
        clients.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(runs.len(), CLIENTS * RUNS);
    for run in &runs {
        let status = status(&server, run);
        assert_eq!(status["status"], "COMPLETED");
        let said: Vec<Value> =
            rows(&status).iter().map(|it| it["outcome_status"].clone()).collect();
        assert_eq!(said, ["success", "success", "FINISH"]);
    }
    assert!(!server.talk().contains("locked"), "{}", server.talk());
}

#[test]
fn a29_without_any_setting_everything_has_a_default() {
    for era in ERAS {
        let project = Project::new();
        let server = serve(&project, era);
        let begun = done(&server, "start_workflow", json!({"workflow_name": "WORK"}));
        assert_eq!(status(&server, &id_of(&begun))["status"], "RUNNING");
        assert!(project.path(".milepost/milepost.db").exists());
    }
}
