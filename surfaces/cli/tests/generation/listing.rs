//! The table of all scenes: which, in which order, how wide and how many.

use std::{fs, os::unix::fs::symlink};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    fixtures::{STATUSES, state},
    said::Said,
    stage::{Stage, place, pretty},
};

/// One scene in each status. By instant the order of their starts is 0104, 0105, 0101, 0103, 0102,
/// newest first; by their letters it would be another.
fn five() -> Stage {
    let starts = [
        "2025-11-03T14:30:45Z",
        "2025-11-03T09:00:00.000000+00:00",
        "2025-11-03T16:00:00.500000+02:00",
        "2025-11-05T08:00:00Z",
        "2025-11-04T01:00:00+00:00",
    ];
    let scenes = ["0101", "0102", "0103", "0104", "0105"];
    let mut states = Vec::new();
    for ((scene, status), start) in scenes.iter().zip(STATUSES).zip(starts) {
        let mut state = state(scene, status);
        state["started_at"] = json!(start);
        if *scene != "0101" {
            state["updated_at"] = json!("2025-11-06T00:00:00Z");
        }
        states.push(state);
    }
    Stage::with(&states)
}

/// Returns the scenes of a listing, which its text and its data must agree on.
#[track_caller]
fn scenes(said: &Said) -> Vec<String> {
    let generations = said.value["generations"].as_array().unwrap();
    let word = |it: &Value| it["scene_id"].as_str().unwrap().to_owned();
    let told: Vec<String> = generations.iter().map(word).collect();
    let shown: Vec<String> = rows(said).iter().map(|it| it[0].clone()).collect();
    assert_eq!(shown, told, "{}", said.text);
    told
}

/// Returns the cells of the table, without its head.
fn rows(said: &Said) -> Vec<Vec<String>> {
    let lines = said.lines("│");
    let cells = |line: &&str| {
        line.trim_matches('│').split('│').map(|it| it.trim().to_owned()).collect::<Vec<_>>()
    };
    lines.iter().map(cells).filter(|it| it[0] != "Scene").collect()
}

#[test]
fn a24_scenes_are_filtered_and_sorted() {
    let stage = five();
    let list = |filter: &str, sort_by: &str| {
        let said = stage.read("list_generations", json!({"filter": filter, "sort_by": sort_by}));
        let found = scenes(&said);
        said.has(&[&format!("GENERATION STATES ({} total)", found.len())]);
        assert_eq!(said.value["total"], found.len());
        found.join(" ")
    };
    assert_eq!(list("active", "scene_id"), "0101 0102 0103");
    assert_eq!(list("failed", "scene_id"), "0103");
    assert_eq!(list("completed", "scene_id"), "0105");
    assert_eq!(list("all", "scene_id"), "0101 0102 0103 0104 0105");
    assert_eq!(list("all", "started_at"), "0104 0105 0101 0103 0102");
    // CANCELLED, COMPLETED, FAILED, IN_PROGRESS, WAITING_USER_APPROVAL.
    assert_eq!(list("all", "status"), "0104 0105 0103 0101 0102");
    let plain = stage.read("list_generations", json!({}));
    assert_eq!(scenes(&plain).join(" "), list("all", "started_at"));
    for generation in plain.value["generations"].as_array().unwrap() {
        assert!(generation["workflow_status"].is_string(), "{generation}");
        assert!(generation["current_step"].is_u64(), "{generation}");
    }
    stage.refused("list_generations", json!({"sort_by": "duration"})).has(&[
        "sort_by",
        "scene_id",
        "started_at",
        "status",
    ]);
    stage.refused("list_generations", json!({"filter": "cancelled"})).has(&["filter"]);
}

#[test]
fn scenes_that_are_alike_are_sorted_by_their_ids() {
    let stage = Stage::with(&["0303", "0301", "0302"].map(|it| state(it, "FAILED")));
    for sort_by in ["started_at", "status", "scene_id"] {
        let said = stage.read("list_generations", json!({"sort_by": sort_by}));
        assert_eq!(scenes(&said), ["0301", "0302", "0303"], "{sort_by}");
    }
}

#[test]
fn a25_the_table_is_straight_and_says_what_can_be_done() {
    let stage = five();
    let said = stage.read("list_generations", json!({"sort_by": "scene_id"}));
    let table: Vec<&str> =
        said.text.lines().filter(|it| it.starts_with(['┌', '│', '├', '└'])).collect();
    assert_eq!(table.len(), 9, "{}", said.text);
    for line in &table {
        assert_eq!(line.width(), table[0].width(), "{line}\n{}", said.text);
    }
    let rows = rows(&said);
    let actions: Vec<&str> = rows.iter().map(|it| it[5].as_str()).collect();
    assert_eq!(actions, ["[Status]", "[Status]", "[Resume]", "[Resume]", "[View]"]);
    let shown: Vec<&str> = rows.iter().map(|it| it[1].as_str()).collect();
    assert_eq!(shown, ["IN_PROGRESS", "WAITING_USER", "FAILED", "CANCELLED", "COMPLETED"]);
    let steps: Vec<&str> = rows.iter().map(|it| it[2].as_str()).collect();
    assert_eq!(steps, ["4/7", "3/7", "4/7", "4/7", "7/7"]);
    assert_eq!(rows[0][4], "5m 39s");
    said.has(&[
        "get_generation_status(scene_id='0101')",
        "cancel_generation(scene_id='0101')",
        "resume_generation(scene_id='0103')",
    ]);
    let done = stage.read("list_generations", json!({"filter": "completed"}));
    done.lacks(&["get_generation_status(", "cancel_generation(", "resume_generation("]);
}

#[test]
fn a25_quick_actions_follow_the_order_that_was_asked_for() {
    let mut states = Vec::new();
    for (scene, status, day) in [
        ("0401", "IN_PROGRESS", 1),
        ("0402", "IN_PROGRESS", 2),
        ("0403", "FAILED", 3),
        ("0404", "FAILED", 4),
    ] {
        let mut state = state(scene, status);
        state["started_at"] = json!(format!("2025-11-0{day}T10:00:00Z"));
        states.push(state);
    }
    let stage = Stage::with(&states);
    let newest = stage.read("list_generations", json!({"sort_by": "started_at"}));
    newest.has(&["cancel_generation(scene_id='0402')", "resume_generation(scene_id='0404')"]);
    let first = stage.read("list_generations", json!({"sort_by": "scene_id"}));
    first.has(&["cancel_generation(scene_id='0401')", "resume_generation(scene_id='0403')"]);
}

#[test]
fn a25_a_filter_without_a_match_says_so() {
    let stage = Stage::with(&[state("0101", "COMPLETED")]);
    let said = stage.read("list_generations", json!({"filter": "failed"}));
    said.has(&["(0 total)", "No generations matching filter: failed"]);
    assert_eq!((&said.value["total"], &said.value["generations"]), (&json!(0), &json!([])));
}

#[test]
fn a26_damaged_files_are_named_and_the_others_listed() {
    let stage = Stage::with(&[state("0101", "FAILED"), state("0102", "COMPLETED")]);
    let half = &state("0103", "FAILED").to_string()[..40];
    stage.project.write("workspace/generation-state-0103.json", half);
    stage.project.write("workspace/generation-state-0104.json", "");
    stage.project.write("workspace/generation-state-0105.json", "[1, 2]");
    // No scene has such a name.
    stage.project.write("workspace/generation-state-notes.json", "{}");
    stage.project.write("workspace/generation-state-12345.json", "{}");
    let said = stage.read("list_generations", json!({"sort_by": "scene_id"}));
    assert_eq!(scenes(&said), ["0101", "0102"]);
    said.has_in_order(&["└", "⚠️ Warnings:", "generation-state-0103.json"]);
    said.has(&["generation-state-0104.json", "generation-state-0105.json"]);
    said.lacks(&["notes", "12345", "????"]);
}

#[test]
fn what_only_has_the_name_of_a_state_file_is_named() {
    let stage = Stage::with(&[state("0101", "FAILED")]);
    let path = |name: &str| stage.project.path("workspace").join(name);
    fs::create_dir(path("generation-state-0106.json")).unwrap();
    symlink("nowhere", path("generation-state-0107.json")).unwrap();
    let said = stage.call("list_generations", json!({}));
    assert_eq!(scenes(&said), ["0101"]);
    said.has(&["⚠️ Warnings:", "generation-state-0106.json", "generation-state-0107.json"]);
}

#[test]
fn starts_are_shown_with_their_age() {
    let now = Timestamp::now();
    let ages = [("0101", 10), ("0102", 5 * 60 + 10), ("0103", 30 * 60), ("0104", 72 * 60)];
    let mut states = Vec::new();
    let mut times = Vec::new();
    for (scene, minutes) in ages {
        let start = now - SignedDuration::from_mins(minutes) - SignedDuration::from_secs(20);
        let mut state = state(scene, "IN_PROGRESS");
        state["started_at"] = json!(start.to_string());
        state["updated_at"] = json!(now.to_string());
        times.push(start.to_string());
        states.push(state);
    }
    let mut unknown = state("0105", "IN_PROGRESS");
    unknown["started_at"] = json!("soon");
    states.push(unknown);
    let stage = Stage::with(&states);
    let said = stage.read("list_generations", json!({"sort_by": "scene_id"}));
    let shown: Vec<String> = rows(&said).iter().map(|it| it[3].clone()).collect();
    let wanted = [
        format!("{} (10m)", &times[0][11..16]),
        format!("{} (5h)", &times[1][11..16]),
        "Yesterday".to_owned(),
        times[3][..10].to_owned(),
        "unknown".to_owned(),
    ];
    assert_eq!(shown, wanted);
    assert_eq!(rows(&said)[4][4], "unknown");
}

/// Many scenes, which start one after the other.
fn many(number: usize) -> Stage {
    let states: Vec<Value> =
        (0..number).map(|it| state(&format!("{it:04}"), "COMPLETED")).collect();
    Stage::with(&states)
}

#[test]
fn a_part_of_the_list_can_be_asked_for() {
    let stage = many(25);
    let list = |more: Value| {
        let mut all = json!({"sort_by": "scene_id"});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = stage.read("list_generations", all);
        said.has(&["(25 total)"]);
        assert_eq!(said.value["total"], 25);
        (scenes(&said), said.text)
    };
    let (first, text) = list(json!({"limit": 10}));
    assert_eq!((first.len(), first[0].as_str()), (10, "0000"));
    assert!(text.contains("15 more"), "{text}");
    let (second, _) = list(json!({"limit": 10, "offset": 10}));
    assert_eq!((second.len(), second[0].as_str()), (10, "0010"));
    let (last, text) = list(json!({"limit": 10, "offset": 20}));
    assert_eq!((last.len(), last[4].as_str()), (5, "0024"));
    assert!(!text.contains(" more (use filter"), "{text}");
    let (none, _) = list(json!({"offset": 25}));
    assert!(none.is_empty(), "{none:?}");
    for bad in [json!({"limit": -1}), json!({"offset": -1})] {
        stage.refused("list_generations", bad);
    }
}

#[test]
fn a_long_list_is_cut_and_says_how_much_is_left_out() {
    let stage = many(600);
    let said = stage.read("list_generations", json!({"sort_by": "scene_id"}));
    assert!(said.text.chars().count() <= 25_000, "{} characters", said.text.chars().count());
    said.has(&["(600 total)"]);
    let shown = rows(&said).len();
    assert!(100 < shown && shown < 600, "{shown} rows");
    said.has_in_order(&["└", &format!("... {} more (use filter, limit/offset)", 600 - shown)]);
    assert_eq!(said.value["total"], 600);
    // The rest is there for anyone who asks.
    let rest = stage.read("list_generations", json!({"sort_by": "scene_id", "offset": shown}));
    assert_eq!(rows(&rest)[0][0], format!("{shown:04}"));
}

#[test]
fn a_list_sees_what_others_did_to_the_files_since_the_last_one() {
    let stage = Stage::with(&[state("0101", "FAILED"), state("0102", "IN_PROGRESS")]);
    let total = |filter: &str| {
        stage.call("list_generations", json!({"filter": filter})).value["total"].clone()
    };
    assert_eq!(total("all"), 2);
    // One is written into in its place, one is new, one is renamed into its place.
    stage.edit("0102", |it| *it = state("0102", "COMPLETED"));
    stage.project.write(&place("0103"), &pretty(&state("0103", "FAILED")));
    stage.project.write("workspace/draft", &pretty(&state("0104", "COMPLETED")));
    fs::rename(stage.project.path("workspace/draft"), stage.path("0104")).unwrap();
    assert_eq!([total("all"), total("failed"), total("completed")], [4, 2, 2]);
    // A folder that is put in place of the old one is looked at again. A scene that was worked on
    // outlives its file.
    stage.call("get_generation_status", json!({"scene_id": "0101"}));
    let workspace = stage.project.path("workspace");
    fs::rename(&workspace, stage.project.path("old")).unwrap();
    stage.project.write(&place("0105"), &pretty(&state("0105", "FAILED")));
    let said = stage.call("list_generations", json!({"filter": "all"}));
    assert_eq!(said.value["total"], 2);
    assert!(stage.path("0101").is_file(), "{:#?}", said.value);
}
