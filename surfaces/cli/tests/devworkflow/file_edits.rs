//! A person edits the file between two calls: it is taken in, and nothing is lost. A file that is
//! gone or torn is written again; a database that is gone is made again from the file.

use std::{
    fs,
    sync::{Barrier, mpsc},
    thread,
};

use serde_json::json;

use crate::{
    calls::joined,
    file_text::{file_text, row, section},
    fixtures::{
        ANALYZE, CHECK_CONFIG, CHECK_FILES, CONSTRUCT, CREATE_STATE, FINALIZE, HELLO, UPDATE,
        VALIDATE,
    },
    project::Project,
    server::{Era, Server},
    stage::Stage,
};

const LOGIN: &str = "Add: login";

/// Appends to the log, without a look at the file, which may not be there.
#[track_caller]
fn note(stage: &Stage, entry: &str) {
    stage.update("ANALYZE", "RUNNING", json!({"log_entry": entry}));
}

/// Work that the server began.
fn begun() -> Stage {
    let stage = Stage::new();
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    stage.log("read the code");
    stage
}

#[test]
fn every_part_can_be_edited_by_hand() {
    let stage = begun();
    let edited = stage.edit(|text| {
        let text = text.replace(
            "| 1 | Add: login | pending |",
            "| 1 | Add: login | pending |\n| 2 | by hand | pending |",
        );
        let text = text.replace("read the code", "read the code\n[12:00:00] and the docs");
        let plan = section(&text, "Plan").unwrap();
        let text = text.replacen(&format!("## Plan\n{plan}"), "## Plan\nmy own plan", 1);
        format!("{text}\n## Mine\nleave it\n")
    });
    let said = stage.read(CHECK_FILES, json!({}));
    assert_eq!(stage.text(), edited, "looking changes nothing");
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
    stage.blueprint(LOGIN);
    let state = stage.state();
    assert_eq!(state.items, [row(1, LOGIN, "pending"), row(2, "by hand", "pending")]);
    assert!(state.log.contains("read the code\n[12:00:00] and the docs\n"), "{}", state.log);
    assert_eq!(state.plan, "my own plan");
    assert!(stage.text().ends_with("\n## Mine\nleave it\n"), "{}", stage.text());
    // It is in the log of the run: the file is not needed for it any more.
    fs::remove_file(stage.state_path()).unwrap();
    let stage = stage.restart();
    stage.update("BLUEPRINT", "RUNNING", json!({"log_entry": "later"}));
    assert_eq!(stage.state().items, state.items);
    assert_eq!(stage.state().plan, "my own plan");
    assert!(stage.text().contains("## Mine\nleave it"), "{}", stage.text());
}

#[test]
fn a_phase_that_a_person_wrote_counts() {
    let stage = begun();
    stage.blueprint(LOGIN);
    stage.plan("1. write it");
    stage.approve(LOGIN);
    stage.edit(|text| text.replace("Phase: CONSTRUCT", "Phase: BLUEPRINT"));
    let said = stage.read(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("BLUEPRINT", "RUNNING"));
    stage.refused(VALIDATE, json!({"task_description": LOGIN})).code("ILLEGAL_TRANSITION");
    stage.revise(LOGIN, "name the risks");
}

#[test]
fn a_place_that_the_work_only_passed_through_is_an_edit_like_any_other() {
    // Completing the first item goes through VALIDATE and COMPLETED on to the second.
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete(LOGIN, None);
    stage.stands("ANALYZE", "READY");
    stage.edit(|text| {
        let text = text.replace("Phase: ANALYZE", "Phase: VALIDATE");
        let text = text.replace("Status: READY", "Status: COMPLETED");
        text.replace("| 2 | Add: logout | pending |", "| 2 | Add: logout | completed |")
    });
    stage.done(FINALIZE, json!({}));
    stage.stands("INIT", "READY");
    assert_eq!(stage.state().statuses(), ["completed", "completed"]);
}

#[test]
fn a_row_that_a_person_changed_or_took_away_is_so() {
    let stage = begun();
    stage.init("Add: logout");
    stage.init("Fix: the sign");
    stage.edit(|text| {
        let text = text.replace("| 2 | Add: logout | pending |\n", "");
        text.replace("| 3 | Fix: the sign | pending |", "| 3 | Fix: the door | completed |")
    });
    stage.log("x");
    let wanted = [row(1, LOGIN, "pending"), row(3, "Fix: the door", "completed")];
    assert_eq!(stage.state().items, wanted);
    stage.init("Fix: the roof");
    assert_eq!(stage.state().items.last(), Some(&row(4, "Fix: the roof", "pending")));
}

#[test]
fn an_editor_that_changes_the_style_is_followed() {
    let stage = begun();
    stage.edit(|text| text.replace('\n', "\r\n"));
    stage.log("more");
    let text = stage.text();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    stage.edit(|text| text.replace("\r\n", "\n"));
    stage.log("even more");
    assert!(!stage.text().contains('\r'));
}

#[test]
fn a_file_that_was_deleted_is_written_again() {
    let stage = begun();
    let before = stage.text();
    fs::remove_file(stage.state_path()).unwrap();
    let said = stage.call(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
    assert_eq!(stage.text(), before);
    fs::remove_file(stage.state_path()).unwrap();
    let stage = stage.restart();
    note(&stage, "more");
    let log = stage.state().log;
    assert!(log.contains("read the code") && log.contains("more"), "{log}");
}

#[test]
fn a_file_that_was_torn_is_written_again() {
    for kept in [0, 1, 2] {
        let stage = begun();
        let before = stage.text();
        let torn: &[u8] = match kept {
            0 => b"",
            1 => b"\0\0\0\0\0\0",
            _ => b"\xff\xfe\x00not text",
        };
        fs::write(stage.state_path(), torn).unwrap();
        let said = stage.call(CHECK_FILES, json!({}));
        assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
        assert_eq!(stage.text(), before);
        fs::write(stage.state_path(), torn).unwrap();
        note(&stage, "more");
        let log = stage.state().log;
        assert!(log.contains("read the code") && log.contains("more"), "{log}");
    }
}

#[test]
fn half_a_file_loses_nothing_that_was_in_the_log() {
    let stage = begun();
    let before = stage.text();
    fs::write(stage.state_path(), &before[..before.find("## Items").unwrap() + 4]).unwrap();
    note(&stage, "more");
    let state = stage.state();
    assert_eq!(state.items, [row(1, LOGIN, "pending")], "{}", stage.text());
    assert!(state.log.contains("read the code") && state.log.contains("more"), "{}", state.log);
}

#[test]
fn a_database_that_is_gone_is_made_again_from_the_file() {
    let stage = begun();
    stage.blueprint(LOGIN);
    stage.plan("1. write it");
    let before = stage.text();
    let stage = stage.restart_without_database();
    let said = stage.read(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"));
    assert_eq!(stage.text(), before);
    // An approval is not a matter of the file: it has to be given again.
    stage.refused(CONSTRUCT, json!({"task_description": LOGIN})).code("ILLEGAL_TRANSITION");
    stage.approve(LOGIN);
    assert!(stage.state().log.contains("read the code"), "{}", stage.text());
}

#[test]
fn an_old_copy_that_is_put_back_counts_as_an_edit() {
    let stage = begun();
    let old = stage.text();
    stage.blueprint(LOGIN);
    stage.plan("1. write it");
    fs::write(stage.state_path(), &old).unwrap();
    let said = stage.call(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
    stage.log("more");
    stage.stands("ANALYZE", "RUNNING");
    assert!(stage.state().log.contains("read the code"), "{}", stage.text());
}

#[test]
fn a_save_over_newer_text_is_taken_in_and_what_it_hides_stays_on_record() {
    let stage = begun();
    let old = stage.text();
    note(&stage, "said meanwhile");
    // The person's editor still had the text from before.
    let row = "| 1 | Add: login | pending |\n";
    let saved = old.replace(row, &format!("{row}| 2 | by hand | pending |\n"));
    fs::write(stage.state_path(), saved).unwrap();
    note(&stage, "said afterwards");
    let state = stage.state();
    assert_eq!(state.items.last(), Some(&self::row(2, "by hand", "pending")));
    assert!(state.log.contains("read the code") && state.log.contains("said afterwards"));
    let runs = stage.project.ask(&["run", "list"]);
    let run = runs["runs"][0]["run"].as_str().unwrap();
    let history = stage.project.ask(&["run", "history", run]).to_string();
    assert!(history.contains("said meanwhile"), "{history}");
}

#[test]
fn the_file_that_another_project_left_is_taken_as_it_is() {
    let stage = begun();
    let text = stage.text();
    drop(stage);
    let project = Project::new();
    project.write("workflow_state.md", &text);
    let stage = Stage::over(project);
    stage.log("here now");
    assert!(stage.state().log.contains("read the code"), "{}", stage.text());
    stage.stands("ANALYZE", "RUNNING");
}

#[test]
fn work_goes_on_over_any_number_of_restarts() {
    let mut stage = begun();
    for number in 0..5 {
        stage = stage.restart();
        stage.log(&format!("entry {number}"));
    }
    let log = stage.state().log;
    let positions: Vec<_> = (0..5).map(|it| log.find(&format!("entry {it}"))).collect();
    assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{log}");
}

#[test]
fn entries_of_several_servers_at_once_are_all_there_once() {
    let stage = Stage::set(&[("log_chars_max", "1000000")]);
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    let (servers, each) = (3, 15);
    let start = Barrier::new(servers);
    thread::scope(|scope| {
        for server in 0..servers {
            let (project, start) = (&stage.project, &start);
            scope.spawn(move || {
                let own = Stage::serve_apart(project, Era::Modern);
                start.wait();
                for number in 0..each {
                    let entry = format!("<{server} {number}>");
                    let arguments =
                        json!({"phase": "ANALYZE", "status": "RUNNING", "log_entry": entry});
                    let said = Stage::try_call(&own, UPDATE, arguments).ok().unwrap();
                    assert!(!said.is_error, "{}", said.text);
                }
            });
        }
    });
    let log = stage.state().log;
    for server in 0..servers {
        for number in 0..each {
            let entry = format!("<{server} {number}>");
            assert_eq!(log.matches(&entry).count(), 1, "{entry} in {log}");
        }
    }
}

#[test]
fn a_server_that_is_killed_leaves_a_whole_file_and_loses_nothing() {
    let stage = Stage::set(&[("log_chars_max", "1000000")]);
    stage.init(LOGIN);
    stage.analyze(LOGIN);
    let mut acknowledged = Vec::new();
    for round in 0..8 {
        let server = Stage::serve_apart(&stage.project, Era::Modern);
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let own = &server;
            scope.spawn(move || log_until_gone(own, round, &tell));
            for _ in 0..=round {
                acknowledged.push(told.recv().unwrap());
            }
            server.kill();
            acknowledged.extend(told);
        });
        stage.stands("ANALYZE", "RUNNING");
    }
    stage.log("the end");
    let log = stage.state().log;
    for entry in acknowledged {
        assert_eq!(log.matches(&entry).count(), 1, "{entry}");
    }
}

/// Logs as fast as it can, and tells each entry that was acknowledged.
fn log_until_gone(server: &Server, round: usize, tell: &mpsc::Sender<String>) {
    for number in 0.. {
        let entry = format!("<{round} {number}>");
        let arguments = json!({"phase": "ANALYZE", "status": "RUNNING", "log_entry": entry});
        let Ok(said) = Stage::try_call(server, UPDATE, arguments) else { return };
        assert!(!said.is_error, "{}", said.text);
        tell.send(entry).unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_taken_in_is_kept_and_the_next_call_says_where() {
    for tool in [HELLO, CHECK_FILES, CHECK_CONFIG, ANALYZE] {
        let stage = Stage::new();
        stage.init("Add: a door");
        let before = stage.text();
        fs::write(stage.state_path(), "half\0way\n").unwrap();
        let task =
            if tool == ANALYZE { json!({"task_description": "Add: a door"}) } else { json!({}) };
        let said = stage.done(tool, task);
        let kept = stage.project.path(".accordo/backups/workflow_state.md");
        assert_eq!(fs::read_to_string(kept).unwrap(), "half\0way\n", "{tool}");
        assert!(tool == ANALYZE || stage.text() == before, "{tool}");
        let told = joined(&said.value["warnings"]);
        assert!(told.contains(".accordo/backups/"), "{tool}: {told}");
    }
}

#[test]
fn a_refusal_says_it_too_where_a_file_is_kept_that_cannot_be_taken_in() {
    let stage = Stage::new();
    stage.init("Add: a door");
    for tool in [CONSTRUCT, CREATE_STATE, CONSTRUCT, CREATE_STATE] {
        fs::write(stage.state_path(), "half\0way\n").unwrap();
        let said = stage.call(tool, json!({"task_description": "Add: a door"}));
        assert!(said.is_error, "{}", said.text);
        let notices = joined(&said.value["refusal"]["notices"]);
        assert!(notices.contains(".accordo/backups/"), "{tool}: {notices}");
        assert!(said.text.contains(".accordo/backups/"), "{tool}: {}", said.text);
    }
}
