//! Clocks that jump or differ between processes.

use std::{fmt::Write as _, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    project::Project,
    random::{self, Random},
    server::{Answer, Era, Server},
};

/// How many steps the run has that all processes want.
const STEPS: usize = 12;
const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

#[test]
fn one_process_eight_days_ahead_makes_no_request_id_forgotten() {
    let project = project();
    let server = serve(&project, 0);
    let run = begin(&server);
    let first = note(&server, &run, "once", "id");
    let ahead = serve(&project, 8 * DAY);
    for number in 0..20 {
        note(&ahead, &run, "ahead", &format!("ahead {number}"));
    }
    for server in [&server, &ahead, &serve(&project, 0)] {
        assert_eq!(note(server, &run, "once", "id"), first);
    }
    let events = history(&project, &run);
    let once = events.iter().filter(|it| it["event"]["entry"]["text"] == "once");
    assert_eq!(once.count(), 1);
}

#[test]
fn a_lease_that_was_taken_while_the_clock_was_ahead_ends_when_its_time_is_over() {
    let project = project();
    let ahead = serve(&project, 30 * DAY);
    let run = begin(&ahead);
    let taken = claim(&ahead, &run, "ahead", 1);
    assert!(!taken.is_error, "{taken:?}");
    let right = serve(&project, 0);
    let next = (0..200).find_map(|_| {
        let next = claim(&right, &run, "right", 60);
        if !next.is_error {
            return Some(next);
        }
        assert_eq!(next.value["refusal"]["code"], "step_held", "{next:?}");
        thread::sleep(Duration::from_millis(50));
        None
    });
    assert!(next.is_some(), "a lease of one second is over after ten");
}

#[test]
fn a_heartbeat_of_a_process_that_is_ahead_moves_a_lease_by_no_more_than_it_asks_for() {
    let project = project();
    let (right, ahead) = (serve(&project, 0), serve(&project, 30 * DAY));
    let run = begin(&right);
    let lease = claim(&right, &run, "one", 2).value["lease"]["number"].clone();
    let beat = json!({"instance_id": run, "holder": "one", "lease": lease, "seconds": 3});
    assert!(!ahead.call("claim_step", beat).is_error);
    let next = (0..200).find(|_| {
        thread::sleep(Duration::from_millis(50));
        !claim(&right, &run, "two", 60).is_error
    });
    assert!(next.is_some(), "a lease of three seconds is over after ten");
}

#[test]
fn a_jump_fails_no_run_that_had_time_left() {
    let project = project();
    let right = serve(&project, 0);
    let run = begin(&right);
    for seconds in [30 * DAY, -30 * DAY] {
        // It looks after runs that are due before it answers, and in the background.
        let jumped = serve(&project, seconds);
        note(&jumped, &run, "still at it", &seconds.to_string());
    }
    let status = right.call("get_workflow_status", json!({"instance_id": run}));
    assert_eq!(status.value["status"], "RUNNING", "{:#}", status.value);
    let events = history(&project, &run);
    assert!(events.iter().all(|it| it["kind"] != "StepFailed"), "{events:#?}");
}

#[test]
fn processes_whose_clocks_differ_never_both_hold_one_step() {
    let project = project();
    let skews = [0, 5, -5, HOUR, -HOUR, 30 * DAY, -30 * DAY];
    let servers: Vec<(i64, Server)> = skews.map(|it| (it, serve(&project, it))).into();
    let run = begin(&servers[0].1);
    let seed = random::seed();
    let mut random = Random::new(seed);
    for step in 0..STEPS {
        let mut held = Vec::new();
        let first = usize::try_from(random.below(skews.len() as u64)).unwrap();
        for (skew, server) in servers.iter().cycle().skip(first).take(2 * skews.len()) {
            let claimed = claim(server, &run, &format!("skew {skew}"), 60);
            if claimed.is_error {
                assert_eq!(claimed.value["refusal"]["code"], "step_held", "{claimed:?}");
            } else {
                held.push((*skew, server, claimed.value["lease"].clone()));
            }
        }
        let (skew, server, lease) = held.pop().expect("someone holds the step");
        assert!(held.iter().all(|it| it.0 == skew), "seed {seed}: step {step} had two holders");
        let report = json!({"step_id": lease["step_name"], "status": "success"});
        let holder = format!("skew {skew}");
        let arguments = json!({"instance_id": run, "report": report, "holder": holder, "lease": lease["number"]});
        let reported = server.call("advance_workflow", arguments);
        assert!(!reported.is_error, "{:#}", reported.value);
    }
    assert_eq!(completed(&project, &run), STEPS);
}

#[test]
fn doctor_tells_of_clocks_that_jumped_or_differ() {
    let project = project();
    let right = serve(&project, 0);
    let run = begin(&right);
    assert_eq!(clock_of(&project)["state"], "fine");
    note(&serve(&project, 8 * DAY), &run, "ahead", "ahead");
    let told = clock_of(&project);
    assert_eq!(told["state"], "doubtful", "{told:#}");
    assert!(told["text"].as_str().unwrap().contains("behind"), "{told:#}");
    assert!(told["hint"].as_str().unwrap().contains("NTP"), "{told:#}");
}

fn clock_of(project: &Project) -> Value {
    let findings = project.ask(&["doctor"])["findings"].clone();
    let found = findings.as_array().unwrap().iter().find(|it| it["what"] == "clock").cloned();
    found.unwrap_or_else(|| panic!("{findings:#}"))
}

fn history(project: &Project, run: &str) -> Vec<Value> {
    let history = project.ask(&["run", "history", run, "--limit", "100000"]);
    history["events"].as_array().unwrap().clone()
}

fn completed(project: &Project, run: &str) -> usize {
    history(project, run).iter().filter(|it| it["kind"] == "StepCompleted").count()
}

fn claim(server: &Server, run: &str, holder: &str, seconds: u64) -> Answer {
    let arguments = json!({"instance_id": run, "holder": holder, "seconds": seconds});
    server.call("claim_step", arguments)
}

/// Notes something, and returns what was answered.
fn note(server: &Server, run: &str, text: &str, request_id: &str) -> Value {
    let arguments =
        json!({"instance_id": run, "type": "note", "text": text, "request_id": request_id});
    let noted = server.call("record_entry", arguments);
    assert!(!noted.is_error, "{:#}", noted.value);
    noted.value
}

fn begin(server: &Server) -> String {
    let answer = server.call("start_workflow", json!({"workflow_name": "CLOCK"}));
    answer.value["instance_id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// Starts a server whose wall clock is so many seconds ahead.
fn serve(project: &Project, seconds: i64) -> Server {
    let mut around = project.surroundings();
    around.environment.insert("MILEPOST_TEST_CLOCK_AHEAD_S".to_owned(), seconds.to_string());
    Server::surrounded(around, &[], Era::Modern)
}

fn project() -> Project {
    let project = Project::new().with("LOG_LEVEL", "warn");
    let mut index = "== .milepost/workflows/CLOCK/index.md\n# Goal\n\nBe in time.\n\n".to_owned();
    for step in 0..STEPS {
        writeln!(index, "1. [Step {step}](steps/any.md)").unwrap();
    }
    let step =
        "---\ntimeout: 1h\n---\n# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    project.write_all(&format!("{index}== .milepost/workflows/CLOCK/steps/any.md\n{step}"));
    project
}
