//! Every tool as an agent meets it: transcripts of calls and their whole answers.
//!
//! ```text
//! @ workflows demo          take the definitions of `workflows/demo.txt`
//! @ builtin NAME            take a workflow that is a part of the program
//! @ promised FILE           what a promised file says then
//! @ put FILE                write such a file again: the indented lines that follow
//! @ rewrite FILE            write into a promised file: put one word of it in the place of another
//! @ track FILE              have git track a file of the project
//! @ edit DEMO/index.md      write a file of a definition: the indented lines that follow
//! @ forget DEMO             remove a definition
//! @ file plan.md            write an artifact
//! @ option KEY VALUE        a setting of the dialect, from the beginning on
//! @ pass 20m                let time pass (each call takes a second)
//! > tool {arguments}        call; `$1` is the first run's id, `$1s` its short form
//!   answer                  as the agent reads it; with `!` before it an error
//! ```
//!
//! `UPDATE_EXPECT=1` writes the answers down. Each is also held against the tool's output schema.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "calls/asking.rs"]
mod asking;
#[path = "support/client.rs"]
mod client;
#[path = "calls/noise.rs"]
mod noise;
#[path = "calls/protocol.rs"]
mod protocol;
#[path = "calls/put_away.rs"]
mod put_away;
#[path = "calls/reading.rs"]
mod reading;
#[path = "calls/sent_again.rs"]
mod sent_again;
#[path = "calls/tasks.rs"]
mod tasks;
#[path = "calls/watching.rs"]
mod watching;
#[expect(dead_code, reason = "the walks use more of it")]
#[path = "support/world.rs"]
mod world;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use definition::Evidence;
use dialects::kit::json::Json;
use expect_test::expect_file;
use jsonschema::Validator;
use mcp::{Dialects, Options, TOOLSETS, Toolset, devworkflow::Fallback};
use serde_json::{Value, json};

use client::Client;
use world::Stage;

#[tokio::test]
async fn calls_are_answered_as_written_down() {
    let mut count = 0;
    for toolset in TOOLSETS {
        let folder = folder(toolset.name).join("calls");
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        for file in files {
            let played = play(toolset.name, &fs::read_to_string(&file).unwrap()).await;
            expect_file![&file].assert_eq(&played);
            count += 1;
        }
    }
    assert!(0 < count, "no transcript found");
}

#[tokio::test]
async fn a_wait_ends_when_the_run_changes() {
    let stage = Arc::new(Stage::new(true));
    stage.define_all(&fs::read_to_string(folder("core").join("workflows/demo.txt")).unwrap());
    let mut client = Client::new(stage.runtime(), Options::default());
    let begun = client.call("start_workflow", json!({ "workflow_name": "DEMO" })).await;
    let run = begun["structuredContent"]["instance_id"].clone();

    let wait = json!({ "name": "get_workflow_status",
        "arguments": { "instance_id": run, "wait_seconds": 50 } });
    let waiting = client.send("tools/call", wait).await;
    let report = json!({ "step_id": "Start", "status": "success" });
    let advance = json!({ "name": "advance_workflow",
        "arguments": { "instance_id": run, "report": report } });
    let advancing = client.send("tools/call", advance).await;

    let answers = [client.receive().await, client.receive().await];
    let of = |id: u64| answers.iter().find(|it| it["id"] == id).unwrap();
    let seen = &of(waiting)["result"]["structuredContent"];
    assert_eq!(seen["current_step_name"], "NextStep");
    assert_eq!(seen["seq"], of(advancing)["result"]["structuredContent"]["seq"]);
}

#[tokio::test]
async fn a_context_that_is_too_large_to_read_is_cut_and_says_so() {
    let stage = Arc::new(Stage::new(false));
    stage.define_all(&fs::read_to_string(folder("core").join("workflows/demo.txt")).unwrap());
    let mut client = Client::new(stage.runtime(), Options::default());
    let context = json!({ "goal": "small", "log": "x".repeat(200_000), "list": vec![7; 30_000] });
    let start = json!({ "workflow_name": "DEMO", "context": context });
    let begun = client.call("start_workflow", start).await["structuredContent"].clone();
    let shown = &begun["current_context"];
    assert_eq!(shown["goal"], "small");
    assert!(shown["log"].as_str().unwrap().ends_with("… (cut; 200000 bytes)"), "{shown}");
    assert_eq!(shown["list"].as_array().unwrap().len(), 30_000);
    let warning = begun["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("cut from the context: `log`; `milepost run show run_"),
        "{warning}"
    );
}

fn folder(toolset: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(toolset)
}

/// Plays a transcript, and returns it with the answers that came.
async fn play(toolset: &str, text: &str) -> String {
    let stage = Arc::new(Stage::new(false));
    let dialects = dialects(text);
    let runtime = stage.runtime_with(&dialects);
    let options = Options { toolsets: vec![toolset.to_owned()], dialects, ..Options::default() };
    let mut client = Client::new(runtime, options);
    let schemas = load_schemas(&mut client).await;
    let mut played = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_body = |line: &&str| line.starts_with("  ") || line.starts_with("! ");
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(is_body) {
            body.push(&line[2..]);
        }
        writeln!(played, "{line}").unwrap();
        if let Some(call) = line.strip_prefix("> ") {
            stage.pass(Duration::from_secs(1));
            let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
            let arguments = serde_json::from_str(&fill_in(arguments)).expect(line);
            let result = client.call(tool, arguments).await;
            check(tool, schemas.get(tool), &result);
            let mark = if result["isError"] == true { "! " } else { "  " };
            let text = result["content"][0]["text"].as_str().unwrap();
            // The long answers of the others are easier to read in lines than in one.
            let data = Json::parse(text).ok().filter(|_| toolset != "forge");
            let text = data.map_or_else(|| text.to_owned(), |it| it.render());
            for line in text.lines() {
                writeln!(played, "{mark}{line}").unwrap();
            }
        } else {
            let promised =
                line.strip_prefix("@ promised ").map(|path| stage.promised(path).unwrap());
            let body: Vec<&str> = promised.as_ref().map_or(body, |text| text.lines().collect());
            body.iter().for_each(|line| writeln!(played, "  {line}").unwrap());
            if let Some(order) = line.strip_prefix("@ ").filter(|_| promised.is_none()) {
                obey(toolset, &stage, order, &body.join("\n"));
            }
        }
    }
    let (ended, rest) = client.hang_up().await;
    ended.unwrap();
    assert!(rest.is_empty(), "unasked: {rest:?}");
    played
}

/// Returns the settings that a transcript names.
fn dialects(text: &str) -> Dialects {
    let mut dialects = Dialects::default();
    let options = Arc::make_mut(&mut dialects.devworkflow.settings);
    let forge = Arc::make_mut(&mut dialects.forge);
    for order in text.lines().filter_map(|it| it.strip_prefix("@ option ")) {
        match order {
            "evidence strict" => options.evidence = Evidence::Strict,
            "events_port 8099" => forge.events_port = 8099,
            "specs /elsewhere/.specs" => "/elsewhere/.specs".clone_into(&mut forge.specs),
            "specs /project/.specs" => "/project/.specs".clone_into(&mut forge.specs),
            "cache true" => options.sessions.cache = true,
            "retention 1h" => options.sessions.retention = Duration::from_secs(3600),
            "fallback latest" => options.sessions.fallback = Fallback::Latest,
            other => panic!("no such option: {other}"),
        }
    }
    dialects
}

fn obey(toolset: &str, stage: &Stage, order: &str, body: &str) {
    let (verb, object) = order.split_once(' ').expect(order);
    match verb {
        "workflows" => {
            let file = folder(toolset).join(format!("workflows/{object}.txt"));
            stage.define_all(&fs::read_to_string(file).unwrap());
        }
        "builtin" => define_builtin(stage, object),
        "option" => {}
        "put" => stage.put(object, body),
        "track" => stage.track(object),
        "rewrite" => {
            let (from, to) = body.split_once('\n').unwrap();
            stage.rewrite(object, |text| text.replace(from, to));
        }
        "edit" => stage.define(object, body),
        "forget" => stage.forget(object),
        "file" => stage.write(object, body),
        "pass" => {
            let minutes = object.strip_suffix('m').unwrap().parse::<u64>().unwrap();
            stage.pass(Duration::from_secs(minutes * 60));
        }
        other => panic!("no such order: {other}"),
    }
}

/// Takes a workflow that is a part of the program.
fn define_builtin(stage: &Stage, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(name);
    for part in ["", "steps"] {
        for file in fs::read_dir(folder.join(part)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "md") {
                let inside = path.strip_prefix(folder.parent().unwrap()).unwrap();
                stage.define(inside.to_str().unwrap(), &fs::read_to_string(&path).unwrap());
            }
        }
    }
}

/// Puts the ids of runs in the place of `$1` and `$1s`.
fn fill_in(text: &str) -> String {
    (1..10).fold(text.to_owned(), |text, number| {
        let run = Stage::run(number);
        text.replace(&format!("${number}s"), &run.short())
            .replace(&format!("${number}"), &run.to_string())
    })
}

async fn load_schemas(client: &mut Client) -> BTreeMap<String, Validator> {
    let listed = client.ask("tools/list", json!({})).await;
    // Only an outline of each schema is listed; the answers fit the whole.
    let schema = |tool: &Value| {
        let name = tool["name"].as_str().unwrap().to_owned();
        let tool = TOOLSETS.iter().flat_map(Toolset::tools).find(|it| it.name == name).unwrap();
        let schema = Value::Object(tool.answer_schema()?);
        Some((name, jsonschema::validator_for(&schema).unwrap()))
    };
    listed["result"]["tools"].as_array().unwrap().iter().filter_map(schema).collect()
}

/// The text and the data carry the same facts, and the data is what was promised.
fn check(tool: &str, schema: Option<&Validator>, result: &Value) {
    let text = result["content"][0]["text"].as_str().unwrap();
    let read = result["structuredContent"].clone();
    // A tool with a text of its own has that in its data too, and so has one that lists.
    match serde_json::from_str::<Value>(text) {
        Ok(plain) if !plain.is_object() => assert_eq!(plain, read["result"], "{tool}"),
        Ok(mut same) => {
            // Where a contract fixes the text, what was ignored is told beside it.
            if !text.contains('\n')
                && let Some(warnings) = read.get("warnings")
            {
                same["warnings"] = warnings.clone();
            }
            assert_eq!(same, read, "{tool}");
        }
        Err(_) => assert_eq!(read["result"], text, "{tool}"),
    }
    let invalid_arguments = schema.into_iter().flat_map(|it| it.iter_errors(&read));
    let invalid_arguments: Vec<String> = invalid_arguments.map(|it| it.to_string()).collect();
    assert!(invalid_arguments.is_empty(), "{tool}: {invalid_arguments:?}\n{read:#}");
    assert_eq!(result["isError"] == true, read["refusal"].is_object(), "{tool}: {read:#}");
}
