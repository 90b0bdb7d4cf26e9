//! What the tools take, and what a model is shown of that.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    TOOLSET,
    answer::{Facts, Failure},
    cancel_generation::CancelGeneration,
    complete_step::CompleteStep,
    fail_step::FailStep,
    get_generation_status::GetGenerationStatus,
    list_generations::ListGenerations,
    log_question_answer::LogQuestionAnswer,
    resume_generation::ResumeGeneration,
    start_step::StartStep,
};
use crate::kit::{Answer as _, Entry, Leniency, read_as, schema};

/// Reads arguments, or says in one line what is wrong with them.
fn read<P: DeserializeOwned + JsonSchema>(arguments: Value) -> Result<P, String> {
    read_as(Leniency::Closed, arguments).map_err(|invalid_arguments| {
        let text = Failure::from(invalid_arguments).text().unwrap().to_owned();
        text.lines().skip(2).collect::<Vec<_>>().join(" | ")
    })
}

fn check_refused<P: DeserializeOwned + JsonSchema + Debug>(arguments: Value, wanted: &str) {
    assert_eq!(read::<P>(arguments).unwrap_err(), wanted);
}

#[test]
fn arguments_come_flat_or_inside_params() {
    for arguments in [
        json!({ "scene_id": " 0204\n", "detailed": "Yes" }),
        json!({ "params": { "scene_id": "0204", "detailed": 1 } }),
        json!({ "params": "{\"scene_id\": \"0204\", \"detailed\": true}", "bogus": 1 }),
    ] {
        let read: GetGenerationStatus = read(arguments).unwrap();
        assert_eq!((read.scene_id.as_str(), read.detailed), ("0204", true));
    }
    let list: ListGenerations = read(json!({})).unwrap();
    assert_eq!((list.filter.word(), list.limit, list.offset), ("all", None, 0));
}

#[test]
fn a_scene_has_exactly_four_digits() {
    let rule = "scene_id: Scene ID must be exactly 4 digits (e.g., '0204')";
    for id in ["204", "02a4", "../x", "12345", "०२०४", ""] {
        check_refused::<GetGenerationStatus>(json!({ "scene_id": id }), rule);
    }
    let wrong = "scene_id: must be a string, not 204";
    check_refused::<GetGenerationStatus>(json!({ "scene_id": 204 }), wrong);
    check_refused::<GetGenerationStatus>(json!({}), "scene_id: is missing");
}

#[test]
fn every_problem_is_named_in_its_own_line() {
    check_refused::<ResumeGeneration>(
        json!({ "scene_id": "1", "bogus": 1, "force": "perhaps", "confirm": null }),
        "bogus: there is no such parameter | force: must be true or false, not a string | \
         scene_id: Scene ID must be exactly 4 digits (e.g., '0204')",
    );
    check_refused::<ListGenerations>(
        json!({ "filter": "cancelled", "sort_by": "duration", "limit": 0 }),
        "filter: must be one of all, active, failed, completed | limit: must be at least 1 | \
         sort_by: must be one of: scene_id, started_at, status",
    );
    check_refused::<CancelGeneration>(
        json!({ "scene_id": "0204", "reason": "я".repeat(501) }),
        "reason: must have at most 500 characters, not 501",
    );
    let reason = "я".repeat(500) + "  ";
    read::<CancelGeneration>(json!({ "scene_id": "0204", "reason": reason })).unwrap();
}

#[test]
fn numbers_may_be_written_as_text_and_artifacts_are_paths() {
    let step = |duration: Value, path: Value| {
        let artifacts = json!({ "draft_path": path });
        json!({ "scene_id": "0204", "step_number": "4", "duration_seconds": duration, "artifacts": artifacts })
    };
    let read: CompleteStep = read(step(json!(" 45.2 "), json!("a.md"))).unwrap();
    assert_eq!(read.step().unwrap().step.number, 4);
    assert!((read.duration_seconds - 45.2).abs() < f64::EPSILON);
    let wrong = "artifacts.draft_path: must be a string, not 1";
    check_refused::<CompleteStep>(step(json!(1), json!(1)), wrong);
    let wrong = "duration_seconds: must be at least 0";
    check_refused::<CompleteStep>(step(json!(-1), json!("a")), wrong);
    let wrong = "duration_seconds: must be a number, not a string";
    check_refused::<CompleteStep>(step(json!("NaN"), json!("a")), wrong);
}

#[test]
fn a_step_goes_by_its_number_or_by_its_name() {
    let step = |arguments: Value| {
        let mut all = json!({ "scene_id": "0204" });
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let read = read::<StartStep>(all)?;
        let spoken = read.step().map_err(|it| Failure::from(it).text().unwrap().to_owned())?;
        Ok::<_, String>(spoken.alone())
    };
    assert_eq!(step(json!({ "step_number": 5 })).unwrap(), "Step 5 - Fast Compliance Check");
    assert_eq!(
        step(json!({ "step_name": "scene:gen:draft:prose" })).unwrap(),
        "scene:gen:draft:prose"
    );
    assert_eq!(step(json!({ "step_number": 8 })).unwrap_err(), "step_number: must be at most 7");
    assert_eq!(step(json!({ "step_number": 0 })).unwrap_err(), "step_number: must be at least 1");
    let unknown = step(json!({ "step_name": "prose" })).unwrap_err();
    assert!(
        unknown.starts_with("step_name: Invalid step_name: 'prose' | Must be one of: |   - scene")
    );
    let none = step(json!({})).unwrap_err();
    assert!(none.contains("step_number: is missing: say it, or step_name instead"), "{none}");
    let both = step(json!({ "step_number": 1, "step_name": "scene:gen:setup:files" })).unwrap_err();
    assert!(both.contains("exactly one of the two"), "{both}");
}

#[test]
fn a_flag_in_metadata_is_set_by_true_alone() {
    let fail = |terminal: Value| {
        let arguments = json!({ "scene_id": "0204", "step_number": 4, "failure_reason": "x", "metadata": { "terminal": terminal } });
        read::<FailStep>(arguments).unwrap().is_terminal()
    };
    assert_eq!([json!(true), json!("true"), json!(1)].map(fail), [true, false, false]);
}

#[test]
fn a_moment_is_one_or_refused() {
    let check = |timestamp: Value| {
        let arguments =
            json!({ "scene_id": "0204", "question": "q", "answer": "a", "timestamp": timestamp });
        read::<LogQuestionAnswer>(arguments).unwrap().check().is_ok()
    };
    assert_eq!(
        [json!(null), json!("2025-11-03T14:32:15Z"), json!("soon")].map(check),
        [true, true, false]
    );
}

#[test]
fn what_a_model_is_shown_stays_small() {
    let shown = |it: &Entry| {
        json!({ "name": it.name, "description": it.description, "inputSchema": it.input_schema() })
            .to_string()
    };
    let tools: Vec<String> = TOOLSET.tools.iter().map(shown).collect();
    // About 4.4 bytes a token, so that 3,500 tokens are never passed unnoticed.
    assert!(tools.concat().len() < 15_000, "{} bytes", tools.concat().len());
}

#[test]
fn a_published_schema_has_no_marks_and_describes_every_parameter() {
    let schema = schema::published(schema::shape::<StartStep>());
    assert!(!Value::Object(schema.clone()).to_string().contains("x-"), "{schema:?}");
    assert_eq!(schema["required"], json!(["scene_id"]));
    let number = json!({ "description": "This or `step_name`", "type": "integer", "minimum": 1, "maximum": 7 });
    assert_eq!(schema["properties"]["step_number"], number);
    let properties: &Map<String, Value> = schema["properties"].as_object().unwrap();
    assert!(properties.values().all(|it| it.get("description").is_some()), "{properties:?}");
}

#[test]
fn an_answer_and_a_failure_have_one_schema() {
    let schema = schema::output::<Facts, Failure>();
    let required: Vec<Value> =
        schema["anyOf"].as_array().unwrap().iter().map(|it| it["required"].clone()).collect();
    assert_eq!(json!(required), json!([["result", "ok"], ["result", "ok", "refusal"]]));
}
