//! The skill's commands as prompts, which any client shows as slash commands.

use serde_json::{Value, json};

use crate::{fixtures::state, stage::Stage};

/// Asks for a prompt, and returns the text of its messages.
fn text(stage: &Stage, name: &str, arguments: &Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    let message = stage.server.request("prompts/get", params).unwrap();
    let messages = message["result"]["messages"].as_array();
    let messages = messages.unwrap_or_else(|| panic!("{name}: {message:#}"));
    let texts = messages.iter().map(|it| it["content"]["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_commands_are_listed_with_their_arguments() {
    let stage = Stage::new();
    let message = stage.server.request("prompts/list", json!({})).unwrap();
    let prompts = message["result"]["prompts"].as_array().unwrap();
    // Each argument, and whether it must be given.
    let wanted = [
        ("generation_status", vec![("scene_id", false)]),
        ("generation_resume", vec![("scene_id", true), ("force", false)]),
        ("generation_cancel", vec![("scene_id", true), ("reason", false)]),
        ("generation_list", vec![("filter", false)]),
    ];
    for (name, arguments) in wanted {
        let prompt = prompts.iter().find(|it| it["name"] == name);
        let prompt = prompt.unwrap_or_else(|| panic!("there is no {name}: {message:#}"));
        for (argument, is_required) in arguments {
            let listed = prompt["arguments"].as_array().unwrap();
            let found = listed.iter().find(|it| it["name"] == argument);
            let found = found.unwrap_or_else(|| panic!("no {argument}: {prompt:#}"));
            assert_eq!(found["required"] == true, is_required, "{prompt:#}");
        }
    }
}

#[test]
fn each_command_names_the_call_that_does_it() {
    let stage = Stage::with(&[state("0204", "FAILED")]);
    let cases = [
        ("generation_status", json!({}), vec!["list_generations", "active"]),
        (
            "generation_status",
            json!({"scene_id": "0204"}),
            vec!["get_generation_status", "0204", "detailed"],
        ),
        (
            "generation_resume",
            json!({"scene_id": "0204"}),
            vec!["resume_generation", "0204", "confirm"],
        ),
        (
            "generation_resume",
            json!({"scene_id": "0204", "force": "true"}),
            vec!["resume_generation", "0204", "force"],
        ),
        ("generation_cancel", json!({"scene_id": "0204"}), vec!["cancel_generation", "0204"]),
        (
            "generation_cancel",
            json!({"scene_id": "0204", "reason": "Blueprint has error"}),
            vec!["cancel_generation", "0204", "Blueprint has error"],
        ),
        ("generation_list", json!({}), vec!["list_generations"]),
        ("generation_list", json!({"filter": "failed"}), vec!["list_generations", "failed"]),
    ];
    let before = stage.files();
    for (name, arguments, parts) in cases {
        let text = text(&stage, name, &arguments);
        for part in parts {
            assert!(text.contains(part), "{name} {arguments}: no `{part}` in:\n{text}");
        }
    }
    assert_eq!(stage.files(), before);
}

#[test]
fn a_command_for_no_scene_is_refused() {
    let stage = Stage::new();
    let commands = ["generation_status", "generation_resume", "generation_cancel"];
    for name in commands {
        for bad in ["204", "02a4", "../x", "०२०४"] {
            let params = json!({"name": name, "arguments": {"scene_id": bad}});
            let message = stage.server.request("prompts/get", params).unwrap();
            let said = message["error"]["message"].as_str();
            let said = said.unwrap_or_else(|| panic!("{name} took {bad}: {message:#}"));
            assert!(said.contains("exactly 4 digits"), "{said}");
        }
    }
    for name in &commands[1..] {
        let message = stage.server.request("prompts/get", json!({"name": name})).unwrap();
        assert!(message["error"].is_object(), "{name}: {message:#}");
    }
    let params = json!({"name": "generation_list", "arguments": {"filter": "cancelled"}});
    let message = stage.server.request("prompts/get", params).unwrap();
    assert!(message["error"].is_object(), "{message:#}");
}
