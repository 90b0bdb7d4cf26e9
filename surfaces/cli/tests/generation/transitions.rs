//! Every call in every status: what it leads to, cell by cell.

use serde_json::{Value, json};

use crate::{
    fixtures::{CHANGED, KEYS, STATUSES, state},
    stage::Stage,
};

const SCENE: &str = "0204";

/// What a call leads to.
#[derive(Debug, Clone, Copy)]
enum Cell {
    /// It is refused, and nothing changes.
    No,
    /// It is refused with a text that has this.
    Says(&'static str),
    /// It is answered, and nothing changes.
    Kept(&'static str),
    /// The scene then has this status.
    Becomes(&'static str),
    /// The file changes, and the status does not.
    Same,
}

use Cell::{Becomes, Kept, No, Same, Says};

const RUNS: Cell = Becomes("IN_PROGRESS");

/// A call, and what it leads to without a file and in each of `STATUSES`.
struct Row {
    tool: &'static str,
    arguments: fn(&str) -> Value,
    cells: [Cell; 6],
}

fn step(status: &str, more: &Value) -> Value {
    let number = match status {
        "WAITING_USER_APPROVAL" => 3,
        "COMPLETED" => 7,
        _ => 4,
    };
    let mut all = json!({"scene_id": SCENE, "step_number": number});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn rows() -> Vec<Row> {
    let row = |tool, arguments, cells| Row { tool, arguments, cells };
    vec![
        row(
            "start_generation",
            |_| json!({"scene_id": SCENE, "blueprint_path": "b.md"}),
            [RUNS, Kept("⚠️"), Kept("⚠️"), Says("FAILED"), RUNS, Says("COMPLETED")],
        ),
        row(
            "start_step",
            |it| step(it, &json!({})),
            [
                No,
                RUNS,
                RUNS,
                Says("workflow in terminal state: FAILED"),
                Says("workflow in terminal state: CANCELLED"),
                Says("workflow in terminal state: COMPLETED"),
            ],
        ),
        row(
            "complete_step",
            |it| step(it, &json!({"duration_seconds": 5})),
            [
                No,
                RUNS,
                RUNS,
                Says("workflow in terminal state: FAILED"),
                Says("workflow in terminal state: CANCELLED"),
                Kept("already COMPLETED"),
            ],
        ),
        row(
            "record_error",
            |it| {
                let error = json!({"error_type": "t", "error_message": "m", "severity": "LOW"});
                step(it, &error)
            },
            [
                No,
                Same,
                Same,
                Says("workflow in terminal state: FAILED"),
                Says("workflow in terminal state: CANCELLED"),
                Says("workflow in terminal state: COMPLETED"),
            ],
        ),
        row(
            "fail_generation",
            |it| step(it, &json!({"failure_reason": "r"})),
            [
                No,
                Becomes("FAILED"),
                Becomes("FAILED"),
                Same,
                Says("workflow in terminal state: CANCELLED"),
                Says("workflow in terminal state: COMPLETED"),
            ],
        ),
        row(
            "cancel_generation",
            |_| json!({"scene_id": SCENE}),
            [
                No,
                Becomes("CANCELLED"),
                Becomes("CANCELLED"),
                Becomes("CANCELLED"),
                Says("already cancelled"),
                Says("Cannot cancel completed workflow"),
            ],
        ),
        row(
            "complete_generation",
            |_| {
                json!({
                    "scene_id": SCENE, "final_scene_path": "a", "validation_report_path": "b",
                    "word_count": 1, "total_duration_seconds": 1,
                })
            },
            [
                No,
                Becomes("COMPLETED"),
                Becomes("COMPLETED"),
                Says("workflow in terminal state: FAILED"),
                Says("workflow in terminal state: CANCELLED"),
                Kept("ℹ️"),
            ],
        ),
        row(
            "resume_generation",
            |_| json!({"scene_id": SCENE}),
            [No, No, No, Kept("RESUM"), Kept("RESUM"), No],
        ),
        row(
            "resume_generation",
            |_| json!({"scene_id": SCENE, "force": true}),
            [No, No, Kept("RESUM"), Kept("RESUM"), Kept("RESUM"), No],
        ),
        row(
            "resume_generation",
            |_| json!({"scene_id": SCENE, "confirm": true}),
            [No, No, No, RUNS, RUNS, No],
        ),
        row(
            "resume_generation",
            |_| json!({"scene_id": SCENE, "confirm": true, "force": true}),
            [No, No, RUNS, RUNS, RUNS, No],
        ),
        row(
            "log_question_answer",
            |_| json!({"scene_id": SCENE, "question": "q", "answer": "a"}),
            [No, Same, Same, Same, Same, Same],
        ),
        row(
            "get_generation_status",
            |_| json!({"scene_id": SCENE}),
            [No, Kept(""), Kept(""), Kept(""), Kept(""), Kept("")],
        ),
    ]
}

#[test]
fn every_call_does_in_every_status_what_the_table_says() {
    for Row { tool, arguments, cells } in rows() {
        check(&Stage::new(), (tool, arguments("")), cells[0]);
        for (status, cell) in STATUSES.iter().zip(&cells[1..]) {
            println!("{tool} in {status}: {cell:?}");
            check(&Stage::with(&[state(SCENE, status)]), (tool, arguments(status)), *cell);
        }
    }
}

fn check(stage: &Stage, (tool, arguments): (&str, Value), cell: Cell) {
    let status = || stage.state(SCENE)["workflow_status"].clone();
    match cell {
        No => drop(stage.refused(tool, arguments)),
        Says(part) => drop(stage.refused(tool, arguments).has(&[part]).clone()),
        Kept(part) => drop(stage.read(tool, arguments).has(&[part]).clone()),
        Becomes(wanted) => {
            stage.done(tool, arguments);
            assert_eq!(status(), wanted, "{tool}");
        }
        Same => {
            let before = (status(), stage.bytes(SCENE));
            stage.done(tool, arguments);
            assert_eq!(status(), before.0, "{tool}");
            assert_ne!(stage.bytes(SCENE), before.1, "{tool}");
        }
    }
}

#[test]
fn a_step_fails_in_a_live_scene_only() {
    for status in STATUSES {
        let stage = Stage::with(&[state(SCENE, status)]);
        let arguments = step(status, &json!({"failure_reason": "r"}));
        if !is_live(status) {
            stage.refused("fail_step", arguments);
            continue;
        }
        let number = usize::try_from(arguments["step_number"].as_u64().unwrap()).unwrap();
        stage.done("fail_step", arguments);
        let state = stage.state(SCENE);
        assert_eq!(state["steps"][KEYS[number - 1]]["status"], "FAILED", "{status}");
        assert_ne!(state["workflow_status"], "FAILED", "{status}");
    }
}

#[test]
fn a_step_is_retried_in_a_live_scene_only() {
    for status in STATUSES {
        let arguments = step(status, &json!({}));
        let number = usize::try_from(arguments["step_number"].as_u64().unwrap()).unwrap();
        let key = KEYS[number - 1];
        let mut state = state(SCENE, status);
        state["steps"][key] = json!({"status": "FAILED", "failed_at": CHANGED});
        let stage = Stage::with(&[state]);
        if is_live(status) {
            stage.done("retry_step", arguments);
            assert_eq!(stage.state(SCENE)["steps"][key]["status"], "PENDING", "{status}");
        } else {
            stage.refused("retry_step", arguments);
        }
    }
}

fn is_live(status: &str) -> bool {
    ["IN_PROGRESS", "WAITING_USER_APPROVAL"].contains(&status)
}

#[test]
fn a_completed_scene_takes_no_step_that_was_left_out() {
    let mut state = state(SCENE, "COMPLETED");
    state["steps"].as_object_mut().unwrap().remove(KEYS[5]);
    let stage = Stage::with(&[state]);
    let arguments =
        |number: u64| json!({"scene_id": SCENE, "step_number": number, "duration_seconds": 1});
    let said = stage.refused("complete_step", arguments(6));
    said.has(&["workflow in terminal state: COMPLETED"]);
    stage.read("complete_step", arguments(7)).has(&["already COMPLETED"]);
}

#[test]
fn only_the_third_step_leaves_the_wait_for_approval() {
    let stage = Stage::with(&[state(SCENE, "WAITING_USER_APPROVAL")]);
    for other in [1, 2, 4, 5, 6, 7] {
        let arguments = json!({"scene_id": SCENE, "step_number": other});
        stage.refused("start_step", arguments);
    }
    // A step that is done is done, and that says nothing about the wait.
    let done = json!({"scene_id": SCENE, "step_number": 2, "duration_seconds": 1});
    stage.read("complete_step", done).has(&["already COMPLETED"]);
    assert_eq!(stage.state(SCENE)["workflow_status"], "WAITING_USER_APPROVAL");
}
