//! The acceptance scenarios of the original orchestrator in which a language model decides,
//! over MCP, against a model on this computer.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/model.rs"]
mod model;
#[path = "support/project.rs"]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{
    fs,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::{Value, json};

use model::{FakeModel, Turn};
use project::Project;
use server::{Answer, Era, Server};

const KEY: &str = "sk-very-secret-1234";

/// A plain folder, as the original had them.
const DEMO: &str = "\
== definitions/DEMO/index.md
# Goal
Show it.
- [Start](steps/start.md)
- [NextStep](steps/next.md)
- [HandleFailure](steps/failure.md)
== definitions/DEMO/steps/start.md
# Orchestrator Guidance
Success: \"NextStep\".
# Client Instructions
Start.
== definitions/DEMO/steps/next.md
# Orchestrator Guidance
Success: FINISH.
# Client Instructions
Go on.
== definitions/DEMO/steps/failure.md
# Orchestrator Guidance
Then FINISH.
# Client Instructions
Tell the user.
";

/// A project that has `fake` decide.
fn project(fake: &FakeModel) -> Project {
    let project = Project::new()
        .with("WORKFLOW_DEFINITIONS_DIR", "definitions")
        .with("WORKFLOW_DB_PATH", "data/workflows.sqlite")
        .with("AI_SERVICE_ENDPOINT", &fake.endpoint)
        .with("AI_SERVICE_API_KEY", KEY)
        .with("GEMINI_MODEL_NAME", "m-1")
        .with("MILEPOST_MODEL_BACKOFF", "1ms")
        // A computer without any certificates can still ask a model of its own.
        .with("SSL_CERT_FILE", "/nowhere")
        .with("SSL_CERT_DIR", "/nowhere");
    project.write_all(DEMO);
    project
}

fn serve(project: &Project) -> Server {
    Server::inside(project, &[], Era::Legacy)
}

/// The same, as a process.
fn serve_apart(project: &Project) -> Server {
    Server::start(&mut project.milepost(&["mcp"]), Era::Legacy)
}

fn says(reply: &Value) -> Turn {
    Turn::Says(reply.to_string())
}

fn away() -> Turn {
    Turn::Refuses(503, "", r#"{"error":{"message":"overloaded"}}"#.to_owned())
}

fn done(server: &Server, tool: &str, arguments: Value) -> Value {
    let Answer { value, is_error } = server.call(tool, arguments);
    assert!(!is_error, "`{tool}` refused: {value:#}");
    value
}

fn start(server: &Server) -> String {
    let begun = done(server, "start_workflow", json!({"workflow_name": "DEMO"}));
    begun["instance_id"].as_str().unwrap().to_owned()
}

fn success(run: &str, step: &str) -> Value {
    json!({"instance_id": run, "report": {"step_id": step, "status": "success"}})
}

fn advance(server: &Server, run: &str) -> Value {
    done(server, "advance_workflow", success(run, "Start"))
}

fn status(server: &Server, run: &str) -> Value {
    done(server, "get_workflow_status", json!({"instance_id": run, "include_history": true}))
}

/// Returns the events of one kind.
fn events(status: &Value, kind: &str) -> Vec<Value> {
    let history = status["history"].as_array().unwrap();
    history.iter().filter(|it| it["kind"] == kind).cloned().collect()
}

#[test]
fn a23_an_answer_that_is_no_json_is_asked_for_once_more() {
    let reply = json!({"next_step_name": "NextStep", "reasoning": "Start is done"});
    let fake = FakeModel::start([Turn::Says("I think so.".to_owned()), says(&reply)]);
    let project = project(&fake);
    let server = serve(&project);
    let run = start(&server);
    assert_eq!(fake.heard().len(), 0, "nobody is asked where to start");
    let moved = advance(&server, &run);
    assert_eq!(moved["next_step"]["step_name"], "NextStep");
    assert_eq!(moved["reasoning"], "Start is done");
    let heard = fake.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].path, "/v1/chat/completions");
    let asked = heard[1].body.to_string();
    assert!(asked.contains("is not JSON"), "{asked}");
    let asked = events(&status(&server, &run), "ModelAsked");
    assert_eq!(asked.len(), 1);
    assert!(asked[0]["summary"].as_str().unwrap().contains("[m-1, 14 + 6 tokens"), "{asked:?}");
}

#[test]
fn a24_a_model_that_is_away_for_a_moment_is_tried_again() {
    let reply = says(&json!({"next_step_name": "NextStep"}));
    let broken = Turn::BreaksOff("HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n{".to_owned());
    let fake = FakeModel::start([away(), broken, away(), reply]);
    let project = project(&fake);
    let server = serve(&project);
    let moved = advance(&server, &start(&server));
    assert_eq!(moved["next_step"]["step_name"], "NextStep");
    assert_eq!(fake.heard().len(), 4);
}

#[test]
fn a24_a_model_that_stays_away_leaves_the_choice_to_the_agent() {
    let fake = FakeModel::start([away(), away(), away(), away()]);
    let project = project(&fake);
    let server = serve(&project);
    let run = start(&server);
    let mut arguments = success(&run, "Start");
    arguments["context_updates"] = json!({"k": 1});
    let open = done(&server, "advance_workflow", arguments);
    assert_eq!(open["next_step"], Value::Null);
    assert_eq!(open["status"], "RUNNING");
    assert_eq!(open["current_context"], json!({"k": 1}));
    let names: Vec<&str> = open["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["step_name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Start", "NextStep", "HandleFailure", "FINISH"]);
    let reason = status(&server, &run)["reason"].clone();
    assert!(reason.as_str().unwrap().contains("overloaded"), "{reason}");
    for place in ["reasoning", "warnings"] {
        let text = open[place].to_string();
        assert!(text.contains("did not choose") && text.contains("overloaded"), "{open:#}");
    }
    let brief = done(&server, "resume_workflow", json!({"instance_id": run}));
    assert!(brief["brief"].as_str().unwrap().contains("overloaded"), "{brief:#}");
    // The agent chooses this once; the next report asks the model again.
    let mut arguments = success(&run, "Start");
    arguments["next_step_name"] = json!("NextStep");
    let moved = done(&server, "advance_workflow", arguments);
    assert_eq!(moved["next_step"]["step_name"], "NextStep");
    fake.add(says(&json!({"next_step_name": "FINISH", "reasoning": "all is done"})));
    let ended = done(&server, "advance_workflow", success(&run, "NextStep"));
    assert_eq!(
        (&ended["status"], &ended["reasoning"]),
        (&json!("COMPLETED"), &json!("all is done"))
    );
}

#[test]
fn a24_the_original_s_hard_error_is_a_setting() {
    let nowhere = says(&json!({"next_step_name": "Nowhere"}));
    for (turns, code, kind) in [
        (vec![away(), away(), away(), away()], "AI_SERVICE_ERROR", "api"),
        (vec![nowhere.clone(), nowhere], "AI_INVALID_STEP", "invalid_step"),
    ] {
        let fake = FakeModel::start(turns);
        let project = project(&fake).with("FAIL_ON_AI_ERROR", "true");
        let server = serve(&project);
        let run = start(&server);
        let Answer { value, is_error } = server.call("advance_workflow", success(&run, "Start"));
        assert!(is_error, "{value:#}");
        assert_eq!((&value["error_code"], &value["details"]["kind"]), (&json!(code), &json!(kind)));
        let error = value["error"].as_str().unwrap();
        assert!(error.starts_with(&format!("Failed to advance workflow instance '{run}':")));
        let status = status(&server, &run);
        assert_eq!(
            (&status["status"], &status["current_step_name"]),
            (&json!("FAILED"), &json!("Start"))
        );
    }
}

#[test]
fn a25_a_26_names_are_taken_loosely_and_unknown_words_left_aside() {
    let reply = json!({
        "next_step_name": "next_step",
        "status_suggestion": "PAUSED",
        "updated_context": [{"key": "mood", "value": "good"}],
    });
    let fake = FakeModel::start([says(&reply)]);
    let project = project(&fake);
    let server = serve(&project);
    let run = start(&server);
    let moved = advance(&server, &run);
    assert_eq!(moved["next_step"]["step_name"], "NextStep");
    assert_eq!(moved["status"], "RUNNING");
    assert_eq!(moved["current_context"], json!({"mood": "good"}));
    assert!(moved["warnings"].to_string().contains("PAUSED"), "{moved:#}");
}

#[test]
fn a_belief_is_reconciled_by_the_model() {
    let reply = json!({"next_step_name": "NextStep", "reasoning": "it was done before the break"});
    let fake = FakeModel::start([says(&reply)]);
    let project = project(&fake);
    let server = serve(&project);
    let run = start(&server);
    let back = json!({
        "instance_id": run,
        "assumed_current_step_name": "NextStep",
        "report": {"step_id": "NextStep", "status": "resuming"},
    });
    let back = done(&server, "resume_workflow", back);
    assert_eq!(back["next_step"]["step_name"], "NextStep");
    assert!(back["reasoning"].as_str().unwrap().contains("before the break"), "{back:#}");
    assert!(fake.heard()[0].body.to_string().contains("ASSUMED STEP"));
}

#[test]
fn a29_everything_that_is_missing_for_a_model_is_named_at_once() {
    let told = |variables: &[(&str, &str)], named: &[&str], command: &[&str], code: i32| {
        let project =
            variables.iter().fold(Project::new(), |it, (name, value)| it.with(name, value));
        let output = project.milepost(command).stdin(Stdio::null()).output().unwrap();
        let talk = [output.stdout, output.stderr].concat();
        let talk = String::from_utf8_lossy(&talk).into_owned();
        assert_eq!(output.status.code(), Some(code), "{talk}");
        for name in named {
            assert!(talk.contains(name), "{name} is not named: {talk}");
        }
        assert!(!talk.contains(KEY), "{talk}");
    };
    // What is only incomplete stops nothing: there is no model, and `doctor` says why.
    let incomplete = |variables: &[(&str, &str)], named: &[&str]| {
        told(variables, &[], &["mcp"], 0);
        told(variables, named, &["doctor", "--json"], 0);
    };
    incomplete(&[("GEMINI_API_KEY", KEY)], &["GEMINI_MODEL_NAME"]);
    incomplete(&[("AI_PROVIDER", "gemini")], &["GEMINI_MODEL_NAME", "AI_SERVICE_API_KEY"]);
    incomplete(&[("AI_SERVICE_API_KEY", KEY)], &["GEMINI_MODEL_NAME", "AI_SERVICE_ENDPOINT"]);
    // What is wrong is refused.
    told(&[("AI_SERVICE_ENDPOINT", "ftp://x")], &["AI_SERVICE_ENDPOINT"], &["mcp"], 1);
    told(&[("MILEPOST_MODEL_KEY_FILE", "gone")], &["gone"], &["mcp"], 1);
}

#[test]
fn a30_a_slow_model_holds_nobody_else_up() {
    let reply = json!({"next_step_name": "NextStep"}).to_string();
    let fake = FakeModel::start([Turn::Waits(reply)]);
    let project = project(&fake);
    let server = serve(&project);
    let run = start(&server);
    let is_answered = AtomicBool::new(false);
    thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let moved = advance(&server, &run);
            is_answered.store(true, Ordering::SeqCst);
            moved
        });
        fake.wait_for(1);
        assert!(server.request("ping", json!({})).unwrap()["result"].is_object());
        done(&server, "list_workflows", json!({}));
        let other = start(&server);
        assert_eq!(status(&server, &other)["status"], "RUNNING");
        assert_eq!(status(&server, &run)["current_step_name"], "Start");
        // Anyone who writes to the same run meanwhile does not have the model asked twice.
        let note = json!({"instance_id": run, "type": "note", "text": "meanwhile"});
        done(&server, "record_entry", note);
        assert!(!is_answered.load(Ordering::SeqCst), "the model was not waited for");
        fake.let_go();
        assert_eq!(slow.join().unwrap()["next_step"]["step_name"], "NextStep");
        assert_eq!(fake.heard().len(), 1);
    });
}

#[test]
fn a_server_that_is_killed_while_a_model_thinks_loses_nothing() {
    let reply = json!({"next_step_name": "NextStep"});
    let fake = FakeModel::start([Turn::Waits(reply.to_string())]);
    let project = project(&fake);
    let server = serve_apart(&project);
    let run = start(&server);
    let before = status(&server, &run);
    let mut call = success(&run, "Start");
    call["request_id"] = json!("once");
    thread::scope(|scope| {
        let asked = scope.spawn(|| server.try_call("advance_workflow", call.clone()));
        fake.wait_for(1);
        server.kill();
        assert!(asked.join().unwrap().is_err(), "a dead server answered");
    });
    drop(server);
    let server = serve_apart(&project);
    assert_eq!(status(&server, &run), before);
    fake.add(says(&reply));
    for _ in 0..2 {
        let moved = done(&server, "advance_workflow", call.clone());
        assert_eq!(moved["next_step"]["step_name"], "NextStep");
    }
    assert_eq!(fake.heard().len(), 2, "the same call is answered as before, without the model");
}

#[test]
fn the_key_is_nowhere_but_on_its_way_to_the_model() {
    let quoted = format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#);
    let fake = FakeModel::start([
        Turn::Refuses(400, "", quoted.clone()),
        Turn::Refuses(401, "", quoted),
        says(&json!({"next_step_name": "NextStep"})),
    ]);
    let project = project(&fake).with("LOG_LEVEL", "trace");
    let server = serve_apart(&project);
    let run = start(&server);
    let mut told = String::new();
    for _ in 0..3 {
        told.push_str(&advance(&server, &run).to_string());
    }
    told.push_str(&status(&server, &run).to_string());
    assert!(fake.heard().iter().all(|it| it.head.contains(KEY)), "the model got it");
    assert!(told.contains("wrong key ***"), "{told}");
    told.push_str(&server.talk());
    drop(server);
    told.push_str(&project.ask(&["config", "show"]).to_string());
    for command in [&["config", "show"][..], &["doctor"]] {
        let output = project.milepost(command).output().unwrap();
        told.push_str(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    assert!(told.contains("model.key") && told.contains("m-1"), "{told}");
    assert!(!told.contains(KEY), "the key was told");
    let files: Vec<_> = fs::read_dir(project.path("data")).unwrap().map(Result::unwrap).collect();
    assert!(!files.is_empty());
    for file in files {
        let bytes = fs::read(file.path()).unwrap();
        let is_there = bytes.windows(KEY.len()).any(|it| it == KEY.as_bytes());
        assert!(!is_there, "the key is in {}", file.path().display());
    }
}

#[test]
fn a_project_does_not_say_where_the_key_is_sent() {
    let fake = FakeModel::start([]);
    let project = Project::new().with("AI_SERVICE_API_KEY", KEY).with("GEMINI_MODEL_NAME", "m-1");
    project.write(".milepost/config.toml", &format!("[model]\nendpoint = \"{}\"\n", fake.endpoint));
    // Not even of a project that is trusted.
    project.ask(&["trust", "--yes"]);
    let output = project.milepost(&["mcp"]).stdin(Stdio::null()).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let doctor = project.milepost(&["doctor", "--json"]).output().unwrap();
    let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(told.contains("missing for a language model: `model.endpoint`"), "{told}");
    assert!(fake.heard().is_empty());
    let shown = project.milepost(&["config", "show", "--json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["ignored"][0]["name"], "model.endpoint", "{shown:#}");
}

#[test]
fn a_stray_variable_of_a_model_stops_nothing() {
    for (name, missing) in [("GEMINI_API_KEY", "model.name"), ("AI_SERVICE_ENDPOINT", "model.name")]
    {
        let project = Project::new().with(name, "http://127.0.0.1:1/v1");
        project.ask(&["run", "list"]);
        let told = project.milepost(&["doctor", "--json"]).output().unwrap();
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains(&format!("missing for a language model: `{missing}`")), "{told}");
    }
}

#[test]
fn doctor_names_a_folder_of_definitions_that_is_not_there() {
    let project = Project::new().with("WORKFLOW_DEFINITIONS_DIR", "nowhere");
    let output = project.milepost(&["doctor", "--json"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("nowhere") && told.contains("WORKFLOW_DEFINITIONS_DIR"), "{told}");
}
