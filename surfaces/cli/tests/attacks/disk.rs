//! The database on disk: the WAL, damaged bytes, removed files, backups.
//!
//! What needs a second hand on the database itself (a lock that is held, a full disk, bytes flipped
//! by the hundred) is tried in `crates/store/tests/faults`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    project::Project,
    random::{self, Random},
    server::{Era, Server},
};

const MIB: u64 = 1024 * 1024;

#[test]
fn the_wal_does_not_grow_without_bound_under_steady_mixed_load() {
    const CLIENTS: usize = 8;
    const ROUNDS: usize = 25;
    let project = Project::new();
    let servers = [serve(&project, "core"), serve(&project, "core")];
    let text = "words that fill some pages ".repeat(600);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let largest = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (server, text) = (&servers[number % servers.len()], text.as_str());
                scope.spawn(move || work(server, text, ROUNDS))
            })
            .collect();
        let watching = scope.spawn(|| {
            let mut largest = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                largest = largest.max(size(&database(&project, "-wal")));
                thread::sleep(Duration::from_millis(2));
            }
            largest
        });
        for client in clients {
            client.join().unwrap();
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        watching.join().unwrap()
    });
    let whole = size(&database(&project, ""));
    println!("the WAL had {largest} bytes at most, beside {whole}");
    assert!(largest < 64 * MIB, "{largest}");
    // It is in the file too, not only in the log.
    assert!(MIB < whole, "{whole}");
    drop(servers);
    assert!(!database(&project, "-wal").exists(), "the last one leaves a single file");
    project.ask(&["doctor"]);
}

#[test]
fn no_write_is_acknowledged_into_an_unlinked_wal() {
    for suffix in ["-wal", "-shm", ""] {
        let project = Project::new();
        let server = serve(&project, "core");
        let run = begin(&server);
        for number in 0..5 {
            assert!(!note(&server, &run, &format!("before {number}")).is_error);
        }
        fs::remove_file(database(&project, suffix)).unwrap();
        for number in 0..20 {
            let refused = note(&server, &run, &format!("after {number}"));
            assert!(refused.is_error, "{suffix}: {:#}", refused.value);
            let refusal = &refused.value["refusal"];
            assert_eq!(refusal["code"], "database_gone", "{suffix}: {refusal:#}");
            let hint = refusal["hint"].as_str().unwrap();
            assert!(hint.contains("started again"), "{hint}");
            assert_eq!(refusal["retry_after_ms"], Value::Null, "{refusal:#}");
        }
        if suffix == "-wal" {
            let doctor = try_ask(&project, &["doctor"]);
            let said = String::from_utf8(doctor.stdout).unwrap();
            let helps = said.contains("stop every Milepost server");
            assert!(doctor.status.success() || helps, "{said}");
        }
        drop(server);
        if suffix.is_empty() {
            continue;
        }
        // Nothing that was acknowledged before is lost with the log.
        let server = serve(&project, "core");
        assert!(!note(&server, &run, "after the restart").is_error);
        drop(server);
        let history = project.ask(&["run", "history", &run, "--limit", "1000"]).to_string();
        for text in ["before 0", "before 4", "after the restart"] {
            assert!(history.contains(text), "{suffix}: {text} is not in {history}");
        }
        assert!(!history.contains("after 1"), "{suffix}: {history}");
        project.ask(&["doctor"]);
    }
}

#[test]
fn a_database_that_was_removed_beside_its_mark_is_missed_by_every_command() {
    let project = Project::new();
    let server = serve(&project, "core");
    begin(&server);
    drop(server);
    fs::remove_file(database(&project, "")).unwrap();
    for command in [&["run", "list"], &["audit"] as &[&str], &["gate", "list"]] {
        let said = refused(&project, command).to_string();
        assert!(said.contains("is empty or gone, though"), "{command:?}: {said}");
        assert!(said.contains("a backup of it in its place"), "{command:?}: {said}");
    }
    let doctor = refused(&project, &["doctor"]);
    let findings = doctor["findings"].as_array().unwrap();
    let finding = findings.iter().find(|it| it["what"] == "database").unwrap();
    assert_eq!(finding["state"], "wrong", "{doctor:#}");
    assert!(finding["hint"].as_str().unwrap().contains("delete"), "{doctor:#}");
    fs::remove_file(database(&project, "-mark")).unwrap();
    project.ask(&["run", "list"]);
}

#[test]
fn a_flipped_byte_of_history_is_named_by_doctor_audit_and_load() {
    let project = Project::new();
    let server = serve(&project, "core");
    let (damaged, sound) = (begin(&server), begin(&server));
    for run in [&damaged, &sound] {
        assert!(!note(&server, run, "a text").is_error);
    }
    assert!(!note(&server, &damaged, "an UNMISTAKABLE text").is_error);
    drop(server);
    let fine = project.ask(&["audit"]);
    assert_eq!(fine["runs"].as_array().unwrap().len(), 2, "{fine:#}");
    assert!(fine["runs"][0]["head"].as_str().is_some_and(|it| it.len() == 32), "{fine:#}");
    replace_in(&database(&project, ""), b"UNMISTAKABLE", b"UNMISTAKABLF");

    let doctor = refused(&project, &["doctor"]);
    let text = doctor.to_string();
    assert!(text.contains("is damaged") && text.contains("restore a backup"), "{doctor:#}");
    let audit = refused(&project, &["audit"]);
    let problems: Vec<&Value> =
        audit["runs"].as_array().unwrap().iter().filter(|it| it["problems"] != json!([])).collect();
    assert_eq!(problems.len(), 1, "{audit:#}");
    assert_eq!(problems[0]["instance_id"], damaged, "{audit:#}");
    assert_eq!(problems[0]["problems"][0]["code"], "damaged", "{audit:#}");
    let seq = problems[0]["problems"][0]["seq"].as_u64().unwrap();

    let server = serve(&project, "core");
    let answer = note(&server, &damaged, "onto damage");
    let refusal = &answer.value["refusal"];
    assert_eq!((answer.is_error, &refusal["code"]), (true, &json!("damaged")), "{refusal:#}");
    let message = refusal["message"].as_str().unwrap();
    assert!(message.contains(&format!("event {seq}")) && message.contains(&damaged), "{message}");
    let hint = refusal["hint"].as_str().unwrap();
    assert!(hint.contains("milepost backup") && hint.contains("do not call again"), "{hint}");
    assert!(!note(&server, &sound, "goes on").is_error);
}

#[test]
fn the_end_of_history_that_is_missing_is_found_by_audit() {
    let project = Project::new();
    let server = serve(&project, "core");
    let run = begin(&server);
    drop(server);
    let files = ["", "-wal"].map(|it| database(&project, it));
    let before = files.each_ref().map(|it| fs::read(it).ok());
    let server = serve(&project, "core");
    assert!(!note(&server, &run, "what is lost").is_error);
    drop(server);
    for (file, bytes) in files.iter().zip(before) {
        match bytes {
            Some(bytes) => fs::write(file, bytes).unwrap(),
            None => drop(fs::remove_file(file)),
        }
    }
    let audit = refused(&project, &["audit"]);
    assert!(audit["lost"].as_str().is_some_and(|it| it.contains("are missing")), "{audit:#}");
}

#[test]
fn what_lists_show_of_a_run_and_its_history_does_not_say_is_found_by_audit() {
    let project = Project::new();
    let server = serve(&project, "core");
    let runs = [begin(&server), begin(&server)];
    drop(server);
    let database = rusqlite::Connection::open(database(&project, "")).unwrap();
    let find = |audit: &Value, run: &str| -> Value {
        let audits = audit["runs"].as_array().unwrap();
        audits.iter().find(|it| it["instance_id"] == run).unwrap()["problems"][0].clone()
    };
    database.execute_batch("UPDATE runs SET steps_done = 3 WHERE id = 1").unwrap();
    let problem = find(&refused(&project, &["audit"]), &runs[0]);
    assert_eq!(problem["code"], "summary_differs");
    let text = problem["message"].as_str().unwrap();
    assert!(text.contains("steps_done is `3`, not `0`"), "{text}");

    database.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM runs WHERE id = 2").unwrap();
    let problem = find(&refused(&project, &["audit"]), &runs[1]);
    assert_eq!(problem["code"], "unlisted");
}

#[test]
fn random_byte_flips_never_change_history_silently() {
    let seed = random::seed();
    let mut random = Random::new(seed);
    let project = Project::new();
    let server = serve(&project, "core");
    let runs: Vec<String> = (0..3).map(|_| begin(&server)).collect();
    for number in 0..30 {
        assert!(!note(&server, &runs[number % 3], &format!("note {number}")).is_error);
    }
    drop(server);
    let path = database(&project, "");
    let sound = fs::read(&path).unwrap();
    let truth = histories(&project, &runs);
    let (mut found, mut harmless) = (0, 0);
    for _ in 0..20 {
        let place = usize::try_from(random.below(sound.len() as u64)).unwrap();
        let bits = u8::try_from(random.below(255)).unwrap() + 1;
        let mut flipped = sound.clone();
        flipped[place] ^= bits;
        clear(&project);
        fs::write(&path, &flipped).unwrap();
        if !try_ask(&project, &["doctor"]).status.success() {
            found += 1;
        } else if histories(&project, &runs) == truth {
            harmless += 1;
        } else {
            panic!("seed {seed}: byte {place} ^ {bits:#x} changed history silently");
        }
    }
    println!("seed {seed}: {found} found, {harmless} harmless");
}

#[test]
fn a_flip_in_the_wal_after_a_kill_is_found() {
    let project = Project::new();
    let server = serve(&project, "core");
    let run = begin(&server);
    for number in 0..40 {
        assert!(!note(&server, &run, &format!("acknowledged {number}")).is_error);
    }
    server.kill();
    drop(server);
    let log = database(&project, "-wal");
    let mut bytes = fs::read(&log).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    fs::write(&log, bytes).unwrap();
    let doctor = refused(&project, &["doctor"]).to_string();
    assert!(doctor.contains("are missing"), "{doctor}");
    // It stays known, also once others have written on.
    let server = serve(&project, "core");
    begin(&server);
    drop(server);
    refused(&project, &["doctor"]);
}

#[test]
fn a_killed_backup_leaves_no_file_that_passes_for_one() {
    let seed = random::seed();
    let mut random = Random::new(seed);
    let project = Project::new();
    let server = serve(&project, "core");
    let run = begin(&server);
    let text = "words that fill pages ".repeat(1000);
    for _ in 0..40 {
        assert!(!note(&server, &run, &text).is_error);
    }
    for number in 0..25 {
        let name = format!("copy-{number}.db");
        let mut backup = project.milepost(&["backup", &name]);
        let mut backup = backup.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(random.below(60_000)));
        backup.kill().unwrap();
        backup.wait().unwrap();
        if project.path(&name).exists() {
            project.ask(&["audit", "--db", &name]);
            project.ask(&["doctor", "--db", &name]);
        }
    }
    drop(server);
    // Whatever else was left says by its name that it is not whole.
    for entry in fs::read_dir(project.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = name.starts_with("copy-") || name == ".milepost";
        assert!(is_known || name.contains(".partial-"), "{name}");
    }
}

#[test]
fn doctor_does_not_pass_an_empty_file() {
    let project = Project::new();
    project.write("copy.db", "");
    let doctor = refused(&project, &["doctor", "--db", "copy.db"]).to_string();
    assert!(doctor.contains("is empty"), "{doctor}");
    assert_eq!(size(&project.path("copy.db")), 0, "it was left as it is");
}

#[test]
fn the_file_of_an_orchestrator_is_named_and_can_be_imported() {
    let project = Project::new().with("WORKFLOW_DB_PATH", "original.sqlite");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/orchestrator.sqlite");
    fs::copy(fixture, project.path("original.sqlite")).unwrap();
    let before = fs::read(project.path("original.sqlite")).unwrap();
    let said = refused(&project, &["run", "list"]).to_string();
    assert!(said.contains("database of an orchestrator-mcp-server"), "{said}");
    assert!(said.contains("milepost import orchestrator"), "{said}");
    assert!(!said.contains("damaged") && !said.contains("restore"), "{said}");
    let output = try_ask(&project, &["import", "orchestrator", "original.sqlite"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let handled = ["taken", "not_taken"].map(|it| said[it].as_array().map_or(0, Vec::len));
    assert!(0 < handled.iter().sum::<usize>(), "{said:#}");
    assert!(project.path(".milepost/milepost.db").exists(), "{said:#}");
    assert_eq!(fs::read(project.path("original.sqlite")).unwrap(), before);
}

#[test]
fn no_toolset_says_call_again_where_that_does_not_help() {
    let analyze = json!({"task_description": "Add: a thing", "project_config_path": ""});
    let calls = [
        ("core", "start_workflow", json!({"workflow_name": "SPRINT_TASK"})),
        ("generation", "start_generation", json!({"scene_id": "0204", "blueprint_path": "b.md"})),
        ("devworkflow", "analyze_phase_guidance", analyze),
        ("forge", "init", json!({"workspace": ".specs/a", "spec_name": "a", "validated": true})),
    ];
    for (toolset, tool, arguments) in calls {
        let project = Project::new();
        project.write_all("== b.md\n# Blueprint\n== .specs/a/request.md\n# Request");
        let server = serve(&project, toolset);
        server.request("tools/list", json!({})).unwrap();
        fs::remove_file(database(&project, "-wal")).unwrap();
        let message = server.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let answer = message.unwrap()["result"].to_string();
        assert!(answer.contains("\"isError\":true"), "{toolset}: {answer}");
        assert!(answer.contains("started again"), "{toolset}: {answer}");
        assert!(!answer.contains("in a moment"), "{toolset}: {answer}");
        assert!(!answer.contains("retry_after_ms"), "{toolset}: {answer}");
    }
}

/// Mixes writes, lists, searches and status calls.
fn work(server: &Server, text: &str, rounds: usize) {
    let run = begin(server);
    for round in 0..rounds {
        assert!(!note(server, &run, &format!("{round} {text}")).is_error);
        for (tool, arguments) in [
            ("list_runs", json!({"limit": 20})),
            ("search_history", json!({"query": "pages"})),
            ("get_workflow_status", json!({"instance_id": run})),
        ] {
            let answer = server.call(tool, arguments);
            assert!(!answer.is_error, "{tool}: {:#}", answer.value);
        }
    }
}

fn serve(project: &Project, toolset: &str) -> Server {
    Server::start(&mut project.milepost(&["mcp", "--toolset", toolset]), Era::Modern)
}

fn begin(server: &Server) -> String {
    let answer = server.call("start_workflow", json!({"workflow_name": "SPRINT_TASK"}));
    answer.value["instance_id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn note(server: &Server, run: &str, text: &str) -> crate::server::Answer {
    server.call("record_entry", json!({"instance_id": run, "type": "note", "text": text}))
}

fn database(project: &Project, suffix: &str) -> PathBuf {
    project.path(&format!(".milepost/milepost.db{suffix}"))
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |it| it.len())
}

/// Replaces the first occurrence of some bytes.
fn replace_in(path: &Path, from: &[u8], to: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let place = bytes.windows(from.len()).position(|it| it == from).unwrap();
    bytes[place..place + to.len()].copy_from_slice(to);
    fs::write(path, bytes).unwrap();
}

/// Deletes what lies beside the database.
fn clear(project: &Project) {
    for suffix in ["-wal", "-shm", "-mark"] {
        drop(fs::remove_file(database(project, suffix)));
    }
}

fn histories(project: &Project, runs: &[String]) -> Vec<Vec<u8>> {
    let history = |run: &String| {
        try_ask(project, &["run", "history", run.as_str(), "--limit", "1000"]).stdout
    };
    runs.iter().map(history).collect()
}

fn try_ask(project: &Project, arguments: &[&str]) -> Output {
    project.milepost(arguments).arg("--json").stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that must find something wrong, and returns what it says.
fn refused(project: &Project, arguments: &[&str]) -> Value {
    let output = try_ask(project, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}
