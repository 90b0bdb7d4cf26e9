//! An agent that knows nothing but the brief finishes every built-in workflow and repeats no step.
//!
//! Before each call there is a new server over the same database, and the agent has nothing but the
//! brief. From it come the names of calls, steps, parts, criteria, choices and files; only what is
//! in the files comes from the scenario of the workflow.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "amnesiac/brief.rs"]
mod brief;
#[path = "support/played.rs"]
mod played;
#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Map, Value, json};

use brief::{Brief, Now};
use played::Played;
use project::Project;
use server::{Era, Server};

/// What a token has at least, in bytes, as the brief counts them.
const TOKEN_BYTES: usize = 3;
/// The most that a brief may take.
const BRIEF_TOKENS_MAX: usize = 2500;
/// The most calls that the longest workflow takes.
const CALLS_MAX: usize = 60;

/// Files that are there before a run starts: no step promises them.
const GIVEN: [(&str, &str); 2] =
    [("RESUME", "MEMORY_BANK/TASK_PROGRESS.md"), ("forge", "request.md")];

#[test]
fn every_workflow_is_finished_by_an_agent_that_knows_only_the_brief() {
    let names = names();
    assert!(30 <= names.len(), "only {} workflows", names.len());
    let play = |name: &String| {
        let (played, project) = (Played::read(name), Project::new());
        let run = start(&project, name, &played);
        finish(&project, &played, &run).and_then(|()| repeats_nothing(&project, &run))
    };
    let stuck = names.iter().filter_map(|it| Some(format!("`{it}`: {}", play(it).err()?)));
    let stuck: Vec<String> = stuck.collect();
    assert!(stuck.is_empty(), "{} are stuck:\n{}", stuck.len(), stuck.join("\n\n"));
}

/// Returns the names of all folders of workflows.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts a run as its scenario does, and returns its id.
fn start(project: &Project, name: &str, played: &Played) -> String {
    let mut arguments = json!({"workflow_name": name, "context": played.context});
    arguments["key"] = json!(key(played));
    arguments["flow"] = json!(played.flow);
    let begun = done(&Server::inside(project, &[], Era::Modern), "start_workflow", arguments);
    project.write("scripts/check", &text_of(played, "scripts/check").unwrap());
    for (_, path) in GIVEN.iter().filter(|it| it.0 == name) {
        project.write(path, &text_of(played, path).unwrap());
    }
    // The person allows once what the server is to run.
    project.ask(&["trust", "--yes"]);
    begun["instance_id"].as_str().unwrap().to_owned()
}

fn key(played: &Played) -> &str {
    played.key.as_deref().unwrap_or("plain")
}

/// Has each call made by an agent of its own.
fn finish(project: &Project, played: &Played, run: &str) -> Result<(), String> {
    for _ in 0..CALLS_MAX {
        // The server and what the agent knows are gone each time.
        let server = Server::inside(project, &[], Era::Modern);
        let resumed = done(&server, "resume_workflow", json!({"instance_id": run}));
        let text = resumed["brief"].as_str().unwrap();
        let bytes = text.len();
        if BRIEF_TOKENS_MAX * TOKEN_BYTES < bytes {
            return Err(format!("a brief has {bytes} bytes:\n{text}"));
        }
        let brief = Brief::read(text).ok_or_else(|| format!("the brief is not clear:\n{text}"))?;
        match &brief.now {
            Now::Completed => return Ok(()),
            Now::Wait { call: Some(call), answers } => {
                let answer = json!({"instance_id": brief.run, "answer": answers[0]});
                done(&server, call, answer);
            }
            Now::Wait { call: None, .. } => {
                project.ask(&["gate", "approve", &brief.run, "--yes"]);
            }
            Now::Choose { call, step, choices } => {
                // Where it leads is open: go where the brief tells of nothing done.
                let fresh = choices.iter().find(|it| !brief.done.contains(it));
                let next = fresh.or_else(|| choices.last()).unwrap();
                let report = json!({"step_id": step, "status": "success"});
                let chosen =
                    json!({"instance_id": brief.run, "report": report, "next_step_name": next});
                done(&server, call, chosen);
            }
            Now::Work { call, .. } => {
                for path in &brief.files {
                    let text = text_of(played, path)?;
                    project.write(&format!("{}{path}", brief.folder), &text);
                }
                let answer = server.call(call, report(&brief, played));
                if answer.is_error {
                    return Err(format!("{}\n{text}", answer.value["refusal"]));
                }
            }
        }
    }
    Err(format!("it is not over after {CALLS_MAX} calls"))
}

/// Reports success on what the brief says is to do.
fn report(brief: &Brief, played: &Played) -> Value {
    let Now::Work { step, parts, criteria, .. } = &brief.now else {
        panic!("there is nothing to report")
    };
    let shown = |(key, text): &(String, String)| (key.clone(), json!(format!("Seen: {text}")));
    let evidence: Map<_, _> = criteria.iter().map(shown).collect();
    let details = json!({"evidence": evidence});
    let report = json!({"step_id": step, "status": "success", "details": details});
    // What is true at the end of the scenario, as far as the brief asks for it.
    let asked = played.updates.iter().filter(|it| brief.names(it.0));
    let updates: Map<_, _> = asked.map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut arguments =
        json!({"instance_id": brief.run, "report": report, "context_updates": updates});
    if let Some(part) = parts.first() {
        arguments["part"] = json!(part);
    }
    arguments
}

/// Returns what the scenario has in a file at its end.
fn text_of(played: &Played, path: &str) -> Result<String, String> {
    if path == "scripts/check" {
        return Ok("exit 0\n".to_owned());
    }
    let files = played.files(key(played));
    let found = files.into_iter().rev().find(|it| it.0 == path);
    found.map(|it| it.1).ok_or_else(|| format!("the scenario writes no `{path}`"))
}

/// A step that is completed is completed once, and so is each part.
fn repeats_nothing(project: &Project, run: &str) -> Result<(), String> {
    let history = project.ask(&["run", "history", run]);
    let mut completed: BTreeMap<String, usize> = BTreeMap::new();
    for it in history["events"].as_array().unwrap() {
        if it["kind"] == "StepCompleted" {
            let what = format!("{} {}", it["event"]["step"], it["event"]["part"]);
            *completed.entry(what).or_default() += 1;
        }
    }
    assert!(!completed.is_empty(), "{history:#}");
    let again: Vec<_> = completed.iter().filter(|it| 1 < *it.1).collect();
    if again.is_empty() { Ok(()) } else { Err(format!("it repeats {again:?}")) }
}

/// Calls a tool that must not refuse.
#[track_caller]
fn done(server: &Server, tool: &str, arguments: Value) -> Value {
    let answer = server.call(tool, arguments);
    assert!(!answer.is_error, "`{tool}` refused: {:#}", answer.value);
    answer.value
}
