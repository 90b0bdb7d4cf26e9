//! What can be read without a tool: prompts, resources, and the completion of their names.

use std::sync::Arc;

use mcp::{Options, READERS_MAX};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::{client::Client, world::Stage};

const INVALID_PARAMS: i64 = -32602;

/// Returns a client beside a run of PLAN that waits at its gate.
async fn client() -> (Arc<Stage>, Client) {
    let stage = Arc::new(Stage::new(false));
    stage.define_all(include_str!("../core/workflows/plan.txt"));
    stage.write("plan.md", "do this");
    let mut client = Client::new(stage.runtime(), Options::default());
    client.call("start_workflow", json!({ "workflow_name": "PLAN", "key": "AB-1" })).await;
    let report = json!({ "step_id": "Draft", "status": "success" });
    client.call("advance_workflow", json!({ "instance_id": "AB-1", "report": report })).await;
    (stage, client)
}

async fn read(client: &mut Client, uri: &str) -> Value {
    let answer = client.ask("resources/read", json!({ "uri": uri })).await;
    assert!(answer["error"].is_null(), "{uri}: {answer}");
    let content = answer["result"]["contents"][0].clone();
    assert_eq!(content["uri"], uri);
    content
}

#[tokio::test]
async fn every_resource_that_is_listed_can_be_read() {
    let (_stage, mut client) = client().await;
    let listed = client.ask("resources/list", json!({})).await["result"].clone();
    let resources = listed["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 4, "{listed:#}");
    for resource in resources {
        assert!(resource["description"].is_string() && resource["title"].is_string());
        let content = read(&mut client, resource["uri"].as_str().unwrap()).await;
        assert_eq!(content["mimeType"], resource["mimeType"], "{resource}");
    }
}

#[tokio::test]
async fn a_run_can_be_read_with_its_history_brief_and_artifacts() {
    let (_stage, mut client) = client().await;
    let text = async |client: &mut Client, uri: &str| {
        read(client, uri).await["text"].as_str().unwrap().to_owned()
    };
    let status = client.call("get_workflow_status", json!({ "instance_id": "AB-1" })).await;
    let run: Value =
        serde_json::from_str(&text(&mut client, "milepost://runs/AB-1").await).unwrap();
    assert_eq!(run, status["structuredContent"]);
    let history: Value =
        serde_json::from_str(&text(&mut client, "milepost://runs/AB-1/history").await).unwrap();
    assert_eq!(history["length"], history["events"].as_array().unwrap().len());
    assert!(text(&mut client, "milepost://runs/AB-1/brief").await.contains("PLAN"));
    assert_eq!(text(&mut client, "milepost://runs/AB-1/artifacts/plan.md").await, "do this");
}

#[tokio::test]
async fn a_workflow_leads_to_its_steps() {
    let (_stage, mut client) = client().await;
    let workflow = read(&mut client, "milepost://workflows/PLAN").await;
    let workflow: Value = serde_json::from_str(workflow["text"].as_str().unwrap()).unwrap();
    let step = read(&mut client, workflow["steps"][2]["uri"].as_str().unwrap()).await;
    assert!(step["text"].as_str().unwrap().contains("Build what the plan says."));
}

#[tokio::test]
async fn what_is_not_there_is_an_error_with_its_uri() {
    let (_stage, mut client) = client().await;
    for uri in [
        "milepost://runs/none",
        "milepost://runs/AB-1/artifacts/other.md",
        "milepost://runs/AB-1/artifacts/../secret",
        "milepost://workflows/NONE",
        "milepost://workflows/PLAN/steps/None",
        "milepost://elsewhere",
        "file:///etc/passwd",
    ] {
        let answer = client.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{answer}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
}

#[tokio::test]
async fn many_runs_come_in_pages() {
    let stage = Arc::new(Stage::new(false));
    stage.define_all(include_str!("../core/workflows/demo.txt"));
    let mut client = Client::new(stage.runtime(), Options::default());
    for _ in 0..60 {
        client.call("start_workflow", json!({ "workflow_name": "DEMO" })).await;
    }
    let (mut uris, mut cursor, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = client.ask("resources/list", cursor).await["result"].clone();
        pages += 1;
        let listed = page["resources"].as_array().unwrap();
        uris.extend(listed.iter().map(|it| it["uri"].as_str().unwrap().to_owned()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = json!({ "cursor": next });
    }
    uris.sort();
    uris.dedup();
    assert_eq!((pages, uris.len()), (2, 60 + 3));
    let wrong = client.ask("resources/list", json!({ "cursor": "elsewhere" })).await;
    assert_eq!(wrong["error"]["code"], INVALID_PARAMS);
}

#[tokio::test]
async fn each_workflow_is_a_prompt_that_has_it_started() {
    let (_stage, mut client) = client().await;
    let listed = client.ask("prompts/list", json!({})).await["result"]["prompts"].clone();
    let prompt = listed.as_array().unwrap().iter().find(|it| it["name"] == "PLAN").unwrap();
    assert_eq!(prompt["arguments"][0]["name"], "key");
    assert_eq!(prompt["arguments"][0]["required"], true);
    let get = json!({ "name": "PLAN", "arguments": { "key": "AB-7" } });
    let said = client.ask("prompts/get", get).await["result"]["messages"][0].clone();
    assert_eq!(said["role"], "user");
    let text = said["content"]["text"].as_str().unwrap();
    assert!(text.contains(r#"{"key":"AB-7","workflow_name":"PLAN"}"#), "{text}");
}

#[tokio::test]
async fn the_prompt_of_a_graph_asks_for_its_inputs() {
    let (stage, mut client) = client().await;
    let graph = "name: Tiny\ndescription: A small graph.\ninputs:\n  task: {type: string, \
                 description: What to do}\n  n: {type: integer, description: A number, required: \
                 false, default: 7}\nworkflow: {goal: 'Do ${{ inputs.task }}', root: a, tree: {a: \
                 {goal: A}}}\n";
    stage.define("Tiny/graph.yaml", graph);
    let listed = client.ask("prompts/list", json!({})).await["result"]["prompts"].clone();
    let prompt = listed.as_array().unwrap().iter().find(|it| it["name"] == "Tiny").unwrap();
    let asked = json!([
        { "name": "n", "description": "A number", "required": false },
        { "name": "task", "description": "What to do", "required": true },
        { "name": "task_description", "description": "What is to be done", "required": false },
    ]);
    assert_eq!(prompt["arguments"], asked);
    let get = json!({ "name": "Tiny", "arguments": { "task": "it", "n": "3" } });
    let said = client.ask("prompts/get", get).await["result"]["messages"][0].clone();
    let text = said["content"]["text"].as_str().unwrap();
    let call = r#"{"context":{"n":3,"task":"it"},"workflow_name":"Tiny"}"#;
    assert!(text.contains(call), "{text}");
    let lacking = client.ask("prompts/get", json!({ "name": "Tiny" })).await;
    assert!(lacking["error"]["message"].as_str().unwrap().contains("task"), "{lacking}");
}

#[tokio::test]
async fn a_prompt_has_an_agent_go_on_with_a_run() {
    let (_stage, mut client) = client().await;
    let get = json!({ "name": "milepost_resume", "arguments": { "run": "AB-1" } });
    let said = client.ask("prompts/get", get).await["result"]["messages"][0].clone();
    let text = said["content"]["text"].as_str().unwrap();
    assert!(text.contains("`resume_workflow`") && text.contains("Approve the plan"), "{text}");
}

#[tokio::test]
async fn a_prompt_that_is_not_there_or_lacks_an_argument_is_refused() {
    let (_stage, mut client) = client().await;
    for wrong in [
        json!({ "name": "NONE" }),
        json!({ "name": "PLAN" }),
        json!({ "name": "milepost_resume" }),
        json!({ "name": "milepost_resume", "arguments": { "run": "none" } }),
    ] {
        let answer = client.ask("prompts/get", wrong).await;
        assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{answer}");
    }
}

#[tokio::test]
async fn ids_and_names_are_completed() {
    let (_stage, mut client) = client().await;
    let template = |uri: &str| json!({ "type": "ref/resource", "uri": uri });
    let run = Stage::run(1).short();
    for (reference, name, value, given, found) in [
        (template("milepost://runs/{run}"), "run", "AB", json!({}), json!(["AB-1"])),
        (template("milepost://runs/{run}"), "run", "run_", json!({}), json!([run])),
        (template("milepost://workflows/{workflow}"), "workflow", "p", json!({}), json!(["PLAN"])),
        (
            template("milepost://workflows/{workflow}/steps/{step}"),
            "step",
            "B",
            json!({ "workflow": "PLAN" }),
            json!(["Build"]),
        ),
        (
            template("milepost://runs/{run}/artifacts/{+path}"),
            "path",
            "",
            json!({ "run": "AB-1" }),
            json!(["plan.md"]),
        ),
        (
            template("milepost://runs/{run}/artifacts/{+path}"),
            "path",
            "",
            json!({ "run": "?" }),
            json!([]),
        ),
        (
            json!({ "type": "ref/prompt", "name": "milepost_resume" }),
            "run",
            "ab",
            json!({}),
            json!(["AB-1"]),
        ),
    ] {
        let ask = json!({ "ref": reference, "argument": { "name": name, "value": value },
            "context": { "arguments": given } });
        let answer = client.ask("completion/complete", ask.clone()).await;
        assert_eq!(answer["result"]["completion"]["values"], found, "{ask}: {answer}");
    }
}

#[tokio::test]
async fn the_page_for_hosts_is_whole_and_its_tools_point_at_it() {
    let (_stage, mut client) = client().await;
    let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let of = |name: &str| tools.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    let uri = of("get_workflow_status")["_meta"]["ui"]["resourceUri"].as_str().unwrap();
    let page = read(&mut client, uri).await;
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    assert!(page["_meta"]["ui"]["csp"].is_object());
    let html = page["text"].as_str().unwrap();
    for outside in ["http://", "https://", "src=", "@import", "<link"] {
        assert!(!html.contains(outside), "the page takes `{outside}` from elsewhere");
    }
}

#[test]
fn calls_that_read_source_code_leave_threads_to_the_other_tools() {
    const CALLS: usize = 3 * READERS_MAX;
    let mut builder = Builder::new_current_thread();
    let tokio = builder.max_blocking_threads(READERS_MAX + 1).enable_all().build().unwrap();
    tokio.block_on(async {
        let stage = Arc::new(Stage::new(false));
        stage.slow_down();
        let toolsets = vec!["core".to_owned(), "forge".to_owned()];
        let options = Options { toolsets, ..Options::default() };
        let mut client = Client::new(stage.runtime(), options);
        let reading = stage.reading.lock().await;
        for _ in 0..CALLS {
            let summary = json!({ "name": "ast_summary", "arguments": { "file_path": "a.ts" } });
            client.send("tools/call", summary).await;
        }
        let list = json!({ "name": "list_runs", "arguments": {} });
        let listing = client.send("tools/call", list).await;
        assert_eq!(client.receive().await["id"], listing, "no summary is ready before it");
        drop(reading);
        for _ in 0..CALLS {
            let answer = client.receive().await;
            assert!(answer["error"].is_null(), "{answer}");
        }
    });
}
