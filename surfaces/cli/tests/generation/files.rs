//! The promised files: written from the log, taken in when someone edits them, and never lost.

use std::{collections::BTreeMap, fs, sync::mpsc, thread, time::UNIX_EPOCH};

use serde_json::{Value, json};

use crate::{
    fixtures::{KEYS, completed, state},
    project::Project,
    random::{self, Random},
    server::{Era, Server},
    stage::{Stage, place, pretty},
};

const SCENE: &str = "0204";
/// How often the server is killed.
const KILLS: u64 = 40;
/// How many callers it has meanwhile.
const CALLERS: u64 = 3;

fn log(question: &str) -> Value {
    json!({"scene_id": SCENE, "question": question, "answer": "a"})
}

fn status(stage: &Stage) -> Value {
    let said = stage.call("get_generation_status", json!({"scene_id": SCENE}));
    assert!(!said.is_error, "{}", said.text);
    let mut value = said.value;
    // The time since the start goes on.
    value.as_object_mut().unwrap().remove("result");
    value
}

/// The same once the file was written again, which must be told with `words`.
#[track_caller]
fn status_after(stage: &Stage, words: &str) -> Value {
    let mut value = status(stage);
    let told = value.as_object_mut().unwrap().remove("warnings").unwrap_or_default().to_string();
    assert!(told.contains(words), "no `{words}` in {told}");
    value
}

/// A scene that the server made and worked on.
fn begun() -> Stage {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=2);
    stage.done("log_question_answer", log("one"));
    stage
}

#[test]
fn a_file_that_was_deleted_is_written_again() {
    let stage = begun();
    let (before, bytes) = (status(&stage), stage.bytes(SCENE));
    fs::remove_file(stage.path(SCENE)).unwrap();
    assert_eq!(status_after(&stage, "was gone"), before);
    assert_eq!(stage.bytes(SCENE), bytes);
    // By another process too, with the folder gone, and when the call is one that writes.
    fs::remove_dir_all(stage.project.path("workspace")).unwrap();
    let stage = stage.restart();
    stage.done("log_question_answer", log("two")).has(&["Total Q&A entries: 2"]);
    let state = stage.state(SCENE);
    assert_eq!(state["user_questions"][0]["question"], "one");
    assert_eq!(state["steps"][KEYS[1]]["status"], "COMPLETED");
}

#[test]
fn a_list_names_scenes_whose_files_were_deleted() {
    let stage = begun();
    fs::remove_file(stage.path(SCENE)).unwrap();
    let said = stage.call("list_generations", json!({}));
    assert_eq!(said.value["total"], 1, "{}", said.text);
}

#[test]
fn a_file_that_was_torn_is_written_again() {
    let stage = begun();
    let (before, bytes) = (status(&stage), stage.bytes(SCENE));
    let torn =
        [(&bytes[..bytes.len() / 2], "its end"), (b"", "was empty"), (b"\0\0\0\0", "its end")];
    for (torn, words) in torn {
        fs::write(stage.path(SCENE), torn).unwrap();
        assert_eq!(status_after(&stage, words), before);
        assert_eq!(stage.bytes(SCENE), bytes);
    }
    fs::write(stage.path(SCENE), &bytes[..bytes.len() / 2]).unwrap();
    let stage = stage.restart();
    stage.done("log_question_answer", log("two")).has(&["Total Q&A entries: 2"]);
}

/// An earlier release wrote the same members in another order, and noted that it did. Nobody edited
/// that file: it is written as this release does it before an edit is compared with it.
#[test]
fn a_file_as_another_release_left_it_is_written_again_and_not_taken_for_an_edit() {
    let stage = begun();
    let (before, bytes) = (status(&stage), stage.bytes(SCENE));
    let project = stage.end();
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let older = pretty(&value);
    assert_ne!(older.as_bytes(), bytes, "the order of the members is another one");
    project.write(&place(SCENE), &older);
    let events = note_as_left(&project, &older);
    let stage = Stage::over(project);
    assert_eq!(status(&stage), before, "nothing happened that must be told");
    assert_eq!(String::from_utf8(stage.bytes(SCENE)), String::from_utf8(bytes));
    let project = stage.end();
    assert_eq!(count_events(&project), events, "nothing was taken in");
}

/// Notes that the file of the one scene is as the server left it. Returns how many events there are.
fn note_as_left(project: &Project, text: &str) -> u64 {
    let modified = fs::metadata(project.path(&place(SCENE))).unwrap().modified().unwrap();
    let modified = modified.duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let sha256 = definition::Digest::of(text.as_bytes());
    let (modified, size) = (i64::try_from(modified).unwrap(), i64::try_from(text.len()).unwrap());
    let changed = connect(project).execute(
        "UPDATE files SET sha256 = ?1, size = ?2, modified = ?3",
        (sha256.as_str(), size, modified),
    );
    assert_eq!(changed.unwrap(), 1);
    count_events(project)
}

fn count_events(project: &Project) -> u64 {
    let counted = connect(project).query_row("SELECT count(*) FROM events", [], |it| it.get(0));
    u64::try_from(counted.map(|it: i64| it).unwrap()).unwrap()
}

fn connect(project: &Project) -> rusqlite::Connection {
    rusqlite::Connection::open(project.path(".milepost/milepost.db")).unwrap()
}

#[test]
fn a_file_that_was_put_there_is_adopted() {
    let stage = Stage::new();
    let mut own = state(SCENE, "IN_PROGRESS");
    own["shelf"] = json!([1, {"b": null}]);
    stage.project.write(&place(SCENE), &pretty(&own));
    let bytes = stage.bytes(SCENE);
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    said.has(&["Step 4/7", "IN_PROGRESS"]);
    assert_eq!(stage.bytes(SCENE), bytes);
    stage.complete(SCENE, 4, 100.0);
    let now = stage.state(SCENE);
    assert_eq!(now["shelf"], own["shelf"]);
    assert_eq!(now["session_id"], own["session_id"]);
    assert_eq!(now["started_at"], own["started_at"]);
    assert_eq!(now["steps"][KEYS[0]], own["steps"][KEYS[0]]);
    // From then on it is a scene like any other.
    fs::remove_file(stage.path(SCENE)).unwrap();
    let stage = stage.restart();
    stage.start(SCENE, 5);
    assert_eq!(stage.state(SCENE)["shelf"], own["shelf"]);
}

#[test]
fn an_edit_by_hand_is_taken_in() {
    let stage = begun();
    stage.start(SCENE, 3);
    stage.edit(SCENE, |state| {
        state["shelf"] = json!("top");
        state["steps"][KEYS[2]] = completed(33.0);
        state["current_step"] = json!(4);
    });
    let said = stage.call("get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    said.has(&["Step 4/7"]);
    assert_eq!(said.lines("✓").len(), 3, "{}", said.text);
    stage.start(SCENE, 4);
    let state = stage.state(SCENE);
    assert_eq!(state["shelf"], "top");
    assert_eq!(state["steps"][KEYS[2]]["status"], "COMPLETED");
    assert_eq!(state["steps"][KEYS[2]]["duration_seconds"].as_f64(), Some(33.0));
    assert_eq!(state["user_questions"][0]["question"], "one");
    // It is in the log: the file is not needed for it any more.
    fs::remove_file(stage.path(SCENE)).unwrap();
    let stage = stage.restart();
    stage.done("log_question_answer", log("two"));
    let state = stage.state(SCENE);
    assert_eq!(state["shelf"], "top");
    assert_eq!(state["steps"][KEYS[2]]["status"], "COMPLETED");
}

#[test]
fn an_edit_by_hand_does_not_open_what_is_completed() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=7);
    let metrics = json!({
        "scene_id": SCENE, "final_scene_path": "a.md", "validation_report_path": "b.md",
        "word_count": 100, "total_duration_seconds": 28,
    });
    stage.done("complete_generation", metrics);
    let edited = stage.edit(SCENE, |state| {
        state["workflow_status"] = json!("IN_PROGRESS");
        state["note"] = json!("once more");
    });
    let said = stage.call("get_generation_status", json!({"scene_id": SCENE}));
    assert!(!said.is_error, "{}", said.text);
    assert_eq!(said.value["workflow_status"], "COMPLETED");
    let told = said.value["warnings"].to_string();
    assert!(told.contains("backups") && said.text.contains("backups"), "{told}\n{}", said.text);
    assert_eq!(stage.state(SCENE)["workflow_status"], "COMPLETED");
    let kept = fs::read_dir(stage.project.path("workspace/backups")).unwrap();
    let kept: Vec<String> =
        kept.map(|it| fs::read_to_string(it.unwrap().path()).unwrap()).collect();
    assert!(kept.contains(&edited), "{kept:#?}");
    // It is told once: the file is then as it was.
    let again = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    assert!(!again.text.contains("backups"), "{}", again.text);
}

#[test]
fn an_approval_at_the_terminal_rewrites_the_file() {
    let stage = begun();
    let wait = json!({"scene_id": SCENE, "step_number": 3, "awaiting_approval": true});
    stage.done("start_step", wait);
    assert_eq!(stage.state(SCENE)["workflow_status"], "WAITING_USER_APPROVAL");
    stage.project.ask(&["gate", "approve", SCENE, "--yes"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!(state["user_interactions"].as_array().unwrap().len(), 2, "{state:#}");
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    assert_eq!(said.value["workflow_status"], "IN_PROGRESS");
}

#[test]
fn two_servers_take_turns_at_one_scene() {
    let stage = begun();
    let other = Stage::serve(&stage.project, Era::Modern);
    for (number, server) in [&other, &stage.server, &other].into_iter().enumerate() {
        let said = Stage::try_call(server, "log_question_answer", log("turn")).ok().unwrap();
        said.has(&[&format!("Total Q&A entries: {}", number + 2)]);
    }
    assert_eq!(stage.state(SCENE)["user_questions"].as_array().unwrap().len(), 4);
}

#[test]
fn a_scene_goes_on_over_any_number_of_restarts() {
    let mut stage = Stage::new();
    stage.begin(SCENE);
    for step in 1..=7 {
        stage = stage.restart();
        stage.start(SCENE, step);
        stage = stage.restart();
        stage.complete(SCENE, step, 2.0);
    }
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    assert_eq!(said.lines("✓").len(), 7, "{}", said.text);
}

#[test]
fn a_server_that_is_killed_while_it_writes_leaves_a_whole_file_and_loses_nothing() {
    let seed = random::seed();
    let mut random = Random::new(seed);
    let stage = Stage::over(Project::new().with("LOG_LEVEL", "warn"));
    stage.begin(SCENE);
    let project = stage.end();
    let mut acknowledged = Vec::new();
    for round in 0..KILLS {
        acknowledged.extend(kill_under_load(&project, round, 1 + random.below(12)));
        let bytes = fs::read(project.path(&place(SCENE))).unwrap();
        let read = serde_json::from_slice::<Value>(&bytes);
        assert!(read.is_ok(), "seed {seed}: {}", String::from_utf8_lossy(&bytes));
    }
    let stage = Stage::over(project);
    status(&stage);
    let state = stage.state(SCENE);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in state["user_questions"].as_array().unwrap() {
        *found.entry(entry["question"].as_str().unwrap()).or_default() += 1;
    }
    assert!(found.values().all(|it| *it == 1), "seed {seed}: {found:?}");
    for question in &acknowledged {
        assert!(found.contains_key(question.as_str()), "seed {seed}: {question} is lost");
    }
    let most = usize::try_from(KILLS * CALLERS).unwrap();
    assert!(found.len() <= acknowledged.len() + most, "seed {seed}");
    println!("seed {seed}: {KILLS} kills, {} acknowledged entries", acknowledged.len());
}

/// Has a server log as fast as it can, kills it after `answers` of them, and returns what was
/// acknowledged.
fn kill_under_load(project: &Project, round: u64, answers: u64) -> Vec<String> {
    let server = Stage::serve_apart(project, Era::Modern);
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (tell, server) = (tell.clone(), &server);
            scope.spawn(move || log_until_gone(server, &format!("{round} {caller}"), &tell));
        }
        drop(tell);
        let mut acknowledged: Vec<String> = Vec::new();
        for _ in 0..answers {
            acknowledged.push(told.recv().unwrap());
        }
        // Each caller is in the midst of another call.
        server.kill();
        acknowledged.extend(told);
        acknowledged
    })
}

fn log_until_gone(server: &Server, name: &str, tell: &mpsc::Sender<String>) {
    for number in 0.. {
        let question = format!("{name} {number}");
        let Ok(said) = Stage::try_call(server, "log_question_answer", log(&question)) else {
            return;
        };
        assert!(!said.is_error, "{}", said.text);
        tell.send(question).unwrap();
    }
}

#[test]
fn a_scene_that_is_over_begins_anew_once_its_file_was_taken_away() {
    let stage = Stage::with(&[state(SCENE, "COMPLETED")]);
    let start = json!({"scene_id": SCENE, "blueprint_path": "new.md"});
    stage.refused("start_generation", start.clone()).has(&["already has terminal state"]);
    fs::remove_file(stage.path(SCENE)).unwrap();
    stage.done("start_generation", start.clone()).has(&["GENERATION STARTED"]);
    assert_eq!(stage.state(SCENE)["workflow_status"], "IN_PROGRESS");
    // One that goes on is only written again.
    fs::remove_file(stage.path(SCENE)).unwrap();
    stage.call("start_generation", start).has(&["already in progress"]);
    assert_eq!(stage.state(SCENE)["artifacts"]["blueprint_path"], "new.md");
}
