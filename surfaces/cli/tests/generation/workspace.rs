//! Where the files are, how they are written, and what is done about those that are not right.

use std::{fs, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    fixtures::{KEYS, TITLES, state},
    project::Project,
    stage::{Stage, place, pretty, start_of},
};

const SCENE: &str = "0204";

fn log(scene: &str) -> Value {
    json!({"scene_id": scene, "question": "Куда?", "answer": "В Башню Книжников"})
}

#[test]
fn a21_a_damaged_file_is_told_of_and_left_alone() {
    let whole = pretty(&state("0707", "IN_PROGRESS"));
    for text in [&whole[..whole.len() / 2], "", "[]", "null", "\u{feff}{"] {
        let stage = Stage::with_text("0707", text);
        let calls = [
            ("get_generation_status", json!({"scene_id": "0707"})),
            ("resume_generation", json!({"scene_id": "0707"})),
            ("resume_generation", json!({"scene_id": "0707", "force": true, "confirm": true})),
            ("cancel_generation", json!({"scene_id": "0707"})),
            ("log_question_answer", log("0707")),
            ("start_step", start_of("0707", 1)),
            ("start_generation", json!({"scene_id": "0707", "blueprint_path": "b.md"})),
        ];
        for (tool, arguments) in calls {
            let said = stage.refused(tool, arguments);
            said.has(&["State file corrupted: workspace/generation-state-0707.json"]);
        }
        assert_eq!(stage.bytes("0707"), text.as_bytes());
    }
}

#[test]
fn a31_unknown_keys_survive_and_letters_stay_as_they_are() {
    let mut state = state(SCENE, "IN_PROGRESS");
    state["настроение"] = json!({"тон": ["светлый", 1, null]});
    state["steps"][KEYS[3]]["reviewer"] = json!("Аня");
    state["metadata"]["mood"] = json!(7);
    let stage = Stage::with(&[state.clone()]);
    stage.done("log_question_answer", log(SCENE));
    let arguments = json!({"scene_id": SCENE, "step_number": 4, "duration_seconds": 100});
    stage.done("complete_step", arguments);
    let text = String::from_utf8(stage.bytes(SCENE)).unwrap();
    for word in ["настроение", "светлый", "Аня", "В Башню Книжников"]
    {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
    assert!(!text.contains("\\u"), "{text}");
    let now = stage.state(SCENE);
    assert_eq!(now["настроение"], state["настроение"]);
    assert_eq!(now["steps"][KEYS[3]]["reviewer"], "Аня");
    assert_eq!(now["steps"][KEYS[3]]["status"], "COMPLETED");
    assert_eq!(now["metadata"]["mood"], 7);
    assert_eq!(now["user_questions"][0]["answer"], "В Башню Книжников");
}

#[test]
fn a_file_is_indented_ends_without_a_new_line_and_keeps_the_order_of_its_keys() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let text = String::from_utf8(stage.bytes(SCENE)).unwrap();
    assert!(text.starts_with("{\n  \"scene_id\": \"0204\",\n  \"session_id\": \""), "{text}");
    assert!(text.ends_with("\n}"), "{text}");
    assert!(text.contains("\n    \"blueprint_path\": "), "{text}");
    let order = ["scene_id", "session_id", "started_at", "updated_at", "workflow_status", "steps"];
    let at = |text: &str, key: &str| text.find(&format!("\n  \"{key}\":")).unwrap();
    assert!(order.iter().map(|it| at(&text, it)).is_sorted(), "{text}");
    // A file that was written in another order keeps it.
    let other = "{\n  \"zebra\": 1,\n  \"workflow_status\": \"IN_PROGRESS\",\n  \"apple\": 2,\n  \
                 \"scene_id\": \"0205\",\n  \"current_step\": null,\n  \
                 \"started_at\": \"2025-11-03T14:30:45Z\"\n}";
    stage.project.write(&place("0205"), other);
    stage.done("log_question_answer", log("0205"));
    let text = String::from_utf8(stage.bytes("0205")).unwrap();
    let order = ["zebra", "workflow_status", "apple", "scene_id", "current_step", "started_at"];
    assert!(order.iter().map(|it| at(&text, it)).is_sorted(), "{text}");
}

#[test]
fn a32_standard_output_carries_messages_only() {
    // The client fails when it is dropped if any line was something else.
    for has_plans in [false, true] {
        let project = Project::new().with("LOG_LEVEL", "trace");
        if has_plans {
            project.write("workspace/planning-state/acts/act-1.json", "{\"id\": \"act-1\"}");
        }
        let stage = Stage::apart(project);
        stage.begin(SCENE);
        stage.read("list_generations", json!({}));
        stage.refused("start_step", start_of(SCENE, 7));
    }
}

#[test]
fn a33_an_active_session_has_the_new_scenes() {
    let project = Project::new();
    project.write("workspace/session.lock", "{\"active\": \"exp-1\"}");
    let stage = Stage::over(project);
    stage.begin(SCENE);
    let own = "workspace/sessions/exp-1/generation-state-0204.json";
    let written: Value =
        serde_json::from_slice(&fs::read(stage.project.path(own)).unwrap()).unwrap();
    assert_eq!(written["workflow_status"], "IN_PROGRESS");
    assert!(!stage.path(SCENE).exists());
    // The path that is shown is the real one.
    stage.done("log_question_answer", log(SCENE)).has(&[own]);
    assert_eq!(stage.read("list_generations", json!({})).value["total"], 1);
}

#[test]
fn a33_a_lock_that_cannot_be_read_means_no_session() {
    for lock in ["{torn", "[]", "{}", "{\"active\": null}", "{\"active\": 7}"] {
        let project = Project::new();
        project.write("workspace/session.lock", lock);
        let stage = Stage::over(project);
        stage.begin(SCENE);
        assert!(stage.path(SCENE).is_file(), "{lock}");
    }
}

#[test]
fn a33_a_session_never_leads_out_of_the_workspace() {
    for name in ["../../x", "/x", "a/b", "..", "", "x y"] {
        let project = Project::new();
        project.write("workspace/session.lock", &json!({"active": name}).to_string());
        let stage = Stage::over(project);
        stage.begin(SCENE);
        assert!(stage.path(SCENE).is_file(), "{name}");
        assert!(!stage.project.path("x").exists(), "{name}");
        assert_eq!(stage.files().len(), 1, "{name}: {:?}", stage.files());
    }
}

#[test]
fn a_session_changes_its_own_copy_of_a_scene() {
    let project = Project::new();
    project.write(&place(SCENE), &pretty(&state(SCENE, "IN_PROGRESS")));
    project.write("workspace/session.lock", "{\"active\": \"exp-1\"}");
    let stage = Stage::over(project);
    let bytes = stage.bytes(SCENE);
    stage.read("get_generation_status", json!({"scene_id": SCENE})).has(&["Step 4/7"]);
    assert!(!stage.call("cancel_generation", json!({"scene_id": SCENE})).is_error);
    assert_eq!(stage.bytes(SCENE), bytes);
    let own = stage.project.path("workspace/sessions/exp-1/generation-state-0204.json");
    let copy: Value = serde_json::from_slice(&fs::read(own).unwrap()).unwrap();
    assert_eq!(copy["workflow_status"], "CANCELLED");
    // The session's is the one that counts, and the scene is listed once.
    let listed = stage.read("list_generations", json!({}));
    assert_eq!(listed.value["total"], 1, "{}", listed.text);
    assert_eq!(listed.value["generations"][0]["workflow_status"], "CANCELLED");
    listed.lacks(&["│ IN_PROGRESS"]);
    // Without the session everything is as it was.
    fs::remove_file(stage.project.path("workspace/session.lock")).unwrap();
    stage.read("get_generation_status", json!({"scene_id": SCENE})).has(&["IN_PROGRESS"]);
}

#[test]
fn the_workspace_can_be_elsewhere() {
    let project = Project::new().with("WORKSPACE_PATH", "book/state");
    let stage = Stage::over(project);
    let arguments = json!({"scene_id": SCENE, "blueprint_path": "b.md"});
    let said = stage.done("start_generation", arguments);
    said.has(&["book/state/generation-state-0204.json"]);
    assert!(stage.project.path("book/state/generation-state-0204.json").is_file());
    assert!(!stage.project.path("workspace").exists());
    let mut other = state("0205", "FAILED");
    other["настроение"] = json!(1);
    stage.project.write("book/state/generation-state-0205.json", &pretty(&other));
    assert_eq!(stage.read("list_generations", json!({})).value["total"], 2);
    stage.read("get_status", json!({"scene_id": "0205"})).has(&["FAILED"]);
}

#[test]
fn a_bare_file_is_read_and_worked_with() {
    let stage = Stage::with_text(SCENE, "{}");
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    said.has(&["unknown", "Step 0/7"]).has_in_order(&TITLES);
    stage.read("list_generations", json!({})).has(&["(1 total)"]);
    assert!(!stage.call("log_question_answer", log(SCENE)).is_error);
    assert_eq!(stage.state(SCENE)["user_questions"][0]["question"], "Куда?");
}

#[test]
fn fields_of_the_wrong_kind_count_as_empty() {
    let mut odd = state(SCENE, "IN_PROGRESS");
    for field in ["artifacts", "metadata", "generation_attempts", "errors", "user_questions"] {
        odd[field] = json!("odd");
    }
    odd["user_interactions"] = json!(7);
    let stage = Stage::with(&[odd]);
    let detailed = json!({"scene_id": SCENE, "detailed": true});
    stage.read("get_generation_status", detailed).has(&["Step 4/7"]);
    stage.done("log_question_answer", log(SCENE)).has(&["Total Q&A entries: 1"]);
    stage.complete(SCENE, 4, 10.0);
    stage.done("cancel_generation", json!({"scene_id": SCENE}));
}

#[test]
fn a_session_that_was_thrown_away_does_not_come_back() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=1);
    let common = stage.bytes(SCENE);
    let lock =
        |stage: &Stage| stage.project.write("workspace/session.lock", r#"{"active": "exp"}"#);
    let drop_session = |stage: &Stage| {
        fs::remove_dir_all(stage.project.path("workspace/sessions/exp")).unwrap();
        fs::remove_file(stage.project.path("workspace/session.lock")).unwrap();
    };
    for _ in 0..2 {
        lock(&stage);
        // The first is a copy of the common state, the second a scene of the session's own.
        assert!(!stage.call("start_step", start_of(SCENE, 2)).is_error);
        let other = json!({"scene_id": "0205", "blueprint_path": "b.md"});
        let said = stage.call("start_generation", other);
        said.has(&["GENERATION STARTED"]);
        drop_session(&stage);
        assert_eq!(stage.bytes(SCENE), common);
        let said = stage.call("get_generation_status", json!({"scene_id": "0205"}));
        said.has(&["No state found"]);
        assert!(!stage.project.path("workspace/sessions/exp").exists());
    }
}

#[test]
fn a_file_that_could_not_be_written_is_written_as_soon_as_it_can_be() {
    let stage = Stage::apart(Project::new());
    stage.begin(SCENE);
    let (folder, aside) = (stage.project.path("workspace"), stage.project.path("aside"));
    fs::rename(&folder, &aside).unwrap();
    fs::write(&folder, "in the way").unwrap();
    stage.done("log_question_answer", log(SCENE)).has(&["could not be written"]);
    stage.wait_for(|| stage.server.talk().contains("could not be written"));
    let is_owed = || {
        let findings = stage.project.ask(&["doctor"])["findings"].to_string();
        findings.contains("files of 1 run are not written yet")
    };
    assert!(is_owed());
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    stage.wait_for(|| stage.state(SCENE)["user_questions"] != json!([]));
    stage.wait_for(|| !is_owed());
}

impl Stage {
    #[track_caller]
    fn wait_for(&self, is_so: impl Fn() -> bool) {
        for _ in 0..300 {
            if is_so() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("it never came to that:\n{}", self.server.talk());
    }
}
