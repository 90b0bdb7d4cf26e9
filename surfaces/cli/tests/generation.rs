//! The acceptance scenarios of the toolset `generation`, one test each, over MCP in a folder of its
//! own; and what its rules say beyond them. Only `race`, `terminal` and what survives a crash start
//! the binary.
//!
//! Here are the rules that all tools share. The tests were written from the contract alone.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "generation/cancelling.rs"]
mod cancelling;
#[path = "support/dialect.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod dialect;
#[path = "generation/files.rs"]
mod files;
#[path = "generation/fixtures.rs"]
mod fixtures;
#[path = "generation/gates.rs"]
mod gates;
#[path = "generation/listing.rs"]
mod listing;
#[path = "generation/odd.rs"]
mod odd;
#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "generation/prompts.rs"]
mod prompts;
#[path = "generation/race.rs"]
mod race;
#[path = "support/random.rs"]
mod random;
#[path = "generation/records.rs"]
mod records;
#[path = "generation/resume.rs"]
mod resume;
#[path = "support/said.rs"]
mod said;
#[path = "generation/semantic.rs"]
mod semantic;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
#[path = "generation/stage.rs"]
mod stage;
#[path = "generation/steps.rs"]
mod steps;
#[path = "generation/terminal.rs"]
mod terminal;
#[path = "generation/transitions.rs"]
mod transitions;
#[path = "generation/workspace.rs"]
mod workspace;

use serde_json::{Value, json};

use fixtures::state;
use project::Project;
use server::Era;
use stage::{Stage, start_of};

/// The tools, and whether each only reads and may be called twice.
const TOOLS: [(&str, &str, bool, bool); 14] = [
    ("resume_generation", "Resume Generation Workflow", false, true),
    ("get_generation_status", "Get Generation Status", true, true),
    ("get_status", "Get Generation Status", true, true),
    ("cancel_generation", "Cancel Generation Workflow", false, true),
    ("list_generations", "List All Generations", true, true),
    ("start_generation", "Start Generation Workflow", false, true),
    ("start_step", "Start Workflow Step", false, true),
    ("complete_step", "Complete Workflow Step", false, true),
    ("fail_step", "Fail Step (Recoverable or Terminal)", false, false),
    ("retry_step", "Retry Failed Step", false, false),
    ("complete_generation", "Complete Generation Workflow (Terminal)", false, true),
    ("log_question_answer", "Log QuestionTool Interaction (BONUS)", false, false),
    ("record_error", "Record Non-Terminal Error", false, false),
    ("fail_generation", "Fail Generation Workflow (Terminal)", false, true),
];

#[test]
fn the_tools_are_listed_flat_annotated_and_with_what_they_answer() {
    for era in [Era::Legacy, Era::Modern] {
        let project = Project::new();
        let server = Stage::serve(&project, era);
        let message = server.request("tools/list", json!({})).unwrap();
        let listed = message["result"]["tools"].as_array().unwrap();
        assert_eq!(listed.len(), TOOLS.len(), "{message:#}");
        for (name, title, is_read_only, is_idempotent) in TOOLS {
            let tool = listed.iter().find(|it| it["name"] == name);
            let tool = tool.unwrap_or_else(|| panic!("there is no {name}"));
            let properties = &tool["inputSchema"]["properties"];
            let first = if name == "list_generations" { "filter" } else { "scene_id" };
            assert!(properties[first].is_object(), "{tool:#}");
            assert_eq!(properties["params"], Value::Null, "{tool:#}");
            assert!(tool["outputSchema"]["properties"]["result"].is_object(), "{tool:#}");
            let notes = &tool["annotations"];
            if name != "get_status" {
                assert!(tool["title"] == title || notes["title"] == title, "{tool:#}");
            }
            assert_eq!(notes["readOnlyHint"], is_read_only, "{tool:#}");
            assert_eq!(notes["destructiveHint"], false, "{tool:#}");
            assert_eq!(notes["idempotentHint"], is_idempotent, "{tool:#}");
            assert_eq!(notes["openWorldHint"], false, "{tool:#}");
        }
    }
}

/// Every tool that needs a state, with arguments that fit.
fn calls(scene: &str) -> Vec<(&'static str, Value)> {
    let step = |more: Value| {
        let mut all = json!({"scene_id": scene, "step_number": 1});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let error = json!({"error_type": "place", "error_message": "no", "severity": "LOW"});
    let metrics = json!({
        "scene_id": scene, "final_scene_path": "a.md", "validation_report_path": "b.md",
        "word_count": 1, "total_duration_seconds": 1,
    });
    vec![
        ("get_generation_status", json!({"scene_id": scene})),
        ("get_status", json!({"scene_id": scene})),
        ("resume_generation", json!({"scene_id": scene})),
        ("start_step", start_of(scene, 1)),
        ("complete_step", step(json!({"duration_seconds": 1}))),
        ("complete_generation", metrics),
        ("log_question_answer", json!({"scene_id": scene, "question": "q", "answer": "a"})),
        ("record_error", step(error)),
        ("fail_generation", step(json!({"failure_reason": "no"}))),
        ("fail_step", step(json!({"failure_reason": "no"}))),
        ("retry_step", step(json!({}))),
        ("cancel_generation", json!({"scene_id": scene})),
    ]
}

#[test]
fn a01_a_scene_without_a_state_is_refused_by_every_tool_and_none_is_made() {
    let stage = Stage::new();
    for (tool, arguments) in calls("0204") {
        let wanted = match tool {
            "cancel_generation" => "No generation found for scene 0204",
            _ => "No state found for scene 0204",
        };
        stage.refused(tool, arguments).has(&[wanted]);
    }
    assert_eq!(stage.files(), []);
}

#[test]
fn a02_an_empty_workspace_is_listed_without_any_arguments() {
    let stage = Stage::new();
    let wanted = ["📋 GENERATION STATES (0 total)", "No generation states found."];
    let message = stage.server.request("tools/call", json!({"name": "list_generations"})).unwrap();
    let text = message["result"]["content"][0]["text"].as_str().unwrap();
    for part in wanted {
        assert!(text.contains(part), "{text}");
    }
    let said = stage.done("list_generations", json!({}));
    said.has(&wanted);
    assert_eq!((&said.value["total"], &said.value["generations"]), (&json!(0), &json!([])));
}

#[test]
fn a03_a_scene_id_is_four_digits_and_blanks_around_it_do_not_matter() {
    let stage = Stage::with(&[state("0204", "FAILED")]);
    for (tool, _) in calls("0204") {
        for bad in ["204", "02a4", "../x", "12345", "०२०४", ""] {
            let arguments = calls(bad).into_iter().find(|it| it.0 == tool).unwrap().1;
            let said = stage.refused(tool, arguments);
            said.has(&["scene_id"]);
            assert!(said.text.contains("exactly 4 digits"), "{tool} {bad}: {}", said.text);
        }
    }
    let plain = stage.read("get_generation_status", json!({"scene_id": "0204"}));
    for same in [" 0204 ", "0204\n", "\t0204"] {
        assert_eq!(stage.read("get_generation_status", json!({"scene_id": same})), plain);
    }
    for wrong in [json!(204), json!(1204), Value::Null, json!(["0204"])] {
        stage.refused("get_generation_status", json!({"scene_id": wrong})).has(&["scene_id"]);
    }
    stage.refused("get_generation_status", json!({})).has(&["scene_id"]);
}

#[test]
fn a04_arguments_come_flat_or_wrapped_or_wrapped_as_text() {
    let stage = Stage::with(&[state("0204", "FAILED")]);
    let flat = json!({"scene_id": "0204", "detailed": true});
    let answer = stage.read("get_generation_status", flat.clone());
    answer.has(&["Prose Generation"]);
    for form in [json!({"params": flat}), json!({"params": flat.to_string()})] {
        assert_eq!(stage.read("get_generation_status", form), answer);
    }
    assert_eq!(stage.read("get_status", flat), answer);
    let listed = stage.read("list_generations", json!({"filter": "failed"}));
    assert_eq!(stage.read("list_generations", json!({"params": {"filter": "failed"}})), listed);
    // What is wrapped is checked as strictly, and does what it says.
    stage.refused("get_status", json!({"params": {"scene_id": "02"}})).has(&["scene_id"]);
    let wrapped = json!({"params": {"scene_id": "0301", "blueprint_path": "b.md"}});
    assert!(!stage.call("start_generation", wrapped).is_error);
    assert_eq!(stage.state("0301")["artifacts"]["blueprint_path"], "b.md");
}

#[test]
fn a05_an_unknown_argument_is_refused_and_named() {
    let stage = Stage::new();
    for (tool, mut arguments) in calls("0204") {
        arguments["bogus"] = json!(1);
        stage.refused(tool, arguments.clone()).has(&["bogus"]);
        stage.refused(tool, json!({"params": arguments})).has(&["bogus"]);
    }
    stage.refused("list_generations", json!({"bogus": 1})).has(&["bogus"]);
    let start = json!({"scene_id": "0204", "blueprint_path": "b.md", "bogus": 1});
    stage.refused("start_generation", start).has(&["bogus"]);
    assert_eq!(stage.files(), []);
}

#[test]
fn every_argument_that_does_not_fit_is_named_at_once_and_nothing_changes() {
    let stage = Stage::with(&[state("0204", "IN_PROGRESS")]);
    let long = |length: usize| "x".repeat(length);
    let scene = |more: Value| {
        let mut all = json!({"scene_id": "0204"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let cases = [
        ("start_generation", json!({"scene_id": "0205"}), "blueprint_path"),
        ("start_generation", json!({"scene_id": "0205", "blueprint_path": ""}), "blueprint_path"),
        (
            "start_generation",
            json!({"scene_id": "0205", "blueprint_path": long(501)}),
            "blueprint_path",
        ),
        (
            "start_generation",
            json!({"scene_id": "0205", "blueprint_path": "b", "initiated_by": long(101)}),
            "initiated_by",
        ),
        ("start_step", scene(json!({"step_number": 0})), "step_number"),
        ("start_step", scene(json!({"step_number": 8})), "step_number"),
        ("start_step", scene(json!({})), "step_number"),
        ("complete_step", scene(json!({"step_number": 4})), "duration_seconds"),
        (
            "complete_step",
            scene(json!({"step_number": 4, "duration_seconds": -1})),
            "duration_seconds",
        ),
        (
            "complete_step",
            scene(json!({"step_number": 4, "duration_seconds": 1, "artifacts": {"draft_path": 1}})),
            "artifacts",
        ),
        ("fail_step", scene(json!({"step_number": 4, "failure_reason": ""})), "failure_reason"),
        (
            "fail_generation",
            scene(json!({"step_number": 4, "failure_reason": long(1001)})),
            "failure_reason",
        ),
        ("log_question_answer", scene(json!({"question": "", "answer": "a"})), "question"),
        ("log_question_answer", scene(json!({"question": long(2001), "answer": "a"})), "question"),
        ("log_question_answer", scene(json!({"question": "q", "answer": long(5001)})), "answer"),
        (
            "log_question_answer",
            scene(json!({"question": "q", "answer": "a", "timestamp": "yesterday"})),
            "timestamp",
        ),
        ("resume_generation", scene(json!({"force": "perhaps"})), "force"),
    ];
    for (tool, arguments, field) in cases {
        stage.refused(tool, arguments).has(&[field]);
    }
    let error = scene(json!({
        "step_number": 4, "error_type": long(101), "error_message": long(1001),
        "severity": "SEVERE", "retry_count": -1,
    }));
    let fields = ["error_type", "error_message", "severity", "retry_count"];
    let said = stage.refused("record_error", error);
    said.has(&fields);
    let names_one = |line: &&str| fields.iter().any(|it| line.contains(it));
    let naming = said.text.lines().filter(names_one).count();
    assert!(fields.len() <= naming, "a line for each:\n{}", said.text);
    let metrics = json!({
        "scene_id": "0204", "final_scene_path": "", "validation_report_path": "b",
        "word_count": -1, "total_duration_seconds": -0.5, "retry_count": -1,
    });
    let fields = ["final_scene_path", "word_count", "total_duration_seconds", "retry_count"];
    stage.refused("complete_generation", metrics).has(&fields);
    assert!(!stage.path("0205").exists());
}

#[test]
fn words_are_taken_for_booleans_and_numerals_for_numbers() {
    let stage = Stage::with(&[state("0204", "IN_PROGRESS"), state("0205", "FAILED")]);
    let wanted = stage.read("get_status", json!({"scene_id": "0205", "detailed": true}));
    for word in ["true", "yes", "1"] {
        let said = stage.read("get_status", json!({"scene_id": "0205", "detailed": word}));
        assert_eq!(said, wanted, "{word}");
    }
    let arguments = json!({"scene_id": "0204", "step_number": "4", "duration_seconds": "45.2"});
    stage.done("complete_step", arguments).has(&["45s"]);
    let seconds = &stage.state("0204")["steps"]["step_4_generation"]["duration_seconds"];
    assert_eq!(seconds, &json!(45.2));
}

#[test]
fn both_eras_of_the_protocol_get_the_same_answers() {
    let stage = Stage::with(&[state("0204", "FAILED")]);
    let modern = Stage::serve(&stage.project, Era::Modern);
    for tool in ["get_generation_status", "resume_generation"] {
        let arguments = json!({"scene_id": "0204"});
        let said = Stage::try_call(&modern, tool, arguments.clone()).ok().unwrap();
        assert_eq!(stage.read(tool, arguments), said);
    }
}
