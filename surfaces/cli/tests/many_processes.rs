//! Several server processes on one database file and one run, as when each client starts its own.
//!
//! Nobody ever hears of a locked database, no answered write is lost, and no step has two holders.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
mod project;
#[path = "support/random.rs"]
mod random;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{collections::BTreeMap, fmt::Write as _, thread, time::Duration};

use serde_json::{Value, json};

use project::Project;
use random::Random;
use server::{Era, Server};

const PROCESSES: u64 = 8;
/// How many steps the run has that they all want.
const STEPS: usize = 60;
/// The most calls that one process may need to see the end of the run.
const CALLS_MAX: usize = 2000;

/// What a process was answered.
#[derive(Default)]
struct Tally {
    notes: Vec<String>,
    reports: usize,
    claims: usize,
    /// How often each refusal was met.
    refusals: BTreeMap<String, usize>,
}

#[test]
fn processes_that_hammer_one_run_lose_nothing_and_never_hold_one_step_together() {
    let seed = random::seed();
    let project = Project::new().with("LOG_LEVEL", "warn");
    project.write_all(&race_workflow());
    let servers: Vec<Server> = (0..PROCESSES)
        .map(|number| serve(&project, if number % 2 == 0 { Era::Modern } else { Era::Legacy }))
        .collect();
    let run = begin(&servers[0]);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let race = |(number, server)| {
            let run = &run;
            scope.spawn(move || hammer(server, run, number, seed))
        };
        let racing: Vec<_> = (0..).zip(&servers).map(race).collect();
        racing.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for server in &servers {
        assert!(!server.talk().contains("locked"), "seed {seed}: {}", server.talk());
    }
    drop(servers);
    let history = project.ask(&["run", "history", &run, "--limit", "100000"]);
    let events = history["events"].as_array().unwrap();
    println!("{}", check_tallies(events, &tallies, seed));
    check_holders(events, seed);
    project.ask(&["doctor"]);
}

/// Claims, notes and reports until the run is over. Now and then it reports without asking anyone,
/// which works only while nobody holds the step.
fn hammer(server: &Server, run: &str, number: u64, seed: u64) -> Tally {
    let mut random = Random::new(seed.wrapping_mul(PROCESSES).wrapping_add(number));
    let mut tally = Tally::default();
    let holder = format!("process-{number}");
    for _ in 0..CALLS_MAX {
        let text = format!("{holder} note {}", tally.notes.len());
        let note = json!({"instance_id": run, "type": "note", "text": text});
        let noted = server.call("record_entry", note);
        assert!(!noted.is_error, "seed {seed}: {:#}", noted.value);
        tally.notes.push(text);
        if random.below(6) == 0 {
            tally.barge_in(server, run);
        }
        let claim = json!({"instance_id": run, "holder": holder, "seconds": 60});
        let Some(claimed) = tally.take(server.call("claim_step", claim)) else {
            if tally.refusals.contains_key("run_ended") {
                return tally;
            }
            continue;
        };
        tally.claims += 1;
        let (lease, step) = (&claimed["lease"]["number"], &claimed["lease"]["step_name"]);
        assert!(lease.is_u64() && step.is_string(), "{claimed:#}");
        if random.below(3) == 0 {
            let release =
                json!({"instance_id": run, "holder": holder, "lease": lease, "release": true});
            let released = server.call("claim_step", release);
            assert!(!released.is_error, "seed {seed}: {:#}", released.value);
            continue;
        }
        let report = json!({"step_id": step, "status": "success", "message": holder});
        let arguments =
            json!({"instance_id": run, "report": report, "holder": holder, "lease": lease});
        let moved = server.call("advance_workflow", arguments);
        // Anyone who holds a step is not kept from reporting on it.
        assert!(!moved.is_error, "seed {seed}: {:#}", moved.value);
        tally.reports += 1;
    }
    panic!("seed {seed}: the run is not over after {CALLS_MAX} rounds");
}

impl Tally {
    /// Reports on whatever step is current, as one that knows nothing of leases.
    fn barge_in(&mut self, server: &Server, run: &str) {
        let status = server.call("get_workflow_status", json!({"instance_id": run}));
        let report = json!({"step_id": status.value["current_step_name"], "status": "success"});
        if status.value["status"] == "RUNNING" {
            let arguments = json!({"instance_id": run, "report": report});
            drop(self.take(server.call("advance_workflow", arguments)));
        }
    }

    /// Returns what was answered, unless someone else was faster.
    fn take(&mut self, answer: server::Answer) -> Option<Value> {
        if !answer.is_error {
            return Some(answer.value);
        }
        let code = answer.value["refusal"]["code"].as_str().unwrap().to_owned();
        let lost = ["step_held", "run_ended", "run_moved", "step_not_current"];
        assert!(lost.contains(&code.as_str()), "{:#}", answer.value);
        *self.refusals.entry(code).or_default() += 1;
        None
    }
}

/// The log has every note, report and claim that was answered, once, and no other. Returns how
/// many there were, in words.
fn check_tallies(events: &[Value], tallies: &[Tally], seed: u64) -> String {
    let of_kind = |kind: &str| events.iter().filter(|it| it["kind"] == kind).collect::<Vec<_>>();
    let mut answered: Vec<&str> =
        tallies.iter().flat_map(|it| &it.notes).map(String::as_str).collect();
    let recorded = of_kind("EntryRecorded");
    let mut found: Vec<&str> =
        recorded.iter().map(|it| it["event"]["entry"]["text"].as_str().unwrap()).collect();
    answered.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, answered, "seed {seed}");
    let reports: usize = tallies.iter().map(|it| it.reports).sum();
    let completed = of_kind("StepCompleted");
    let by_holders = completed.iter().filter(|it| it["event"]["report"]["message"].is_string());
    assert_eq!((completed.len(), by_holders.count()), (STEPS, reports), "seed {seed}");
    let claims: usize = tallies.iter().map(|it| it.claims).sum();
    assert_eq!(of_kind("LeaseTaken").len(), claims, "seed {seed}");
    let refusals: Vec<_> = tallies.iter().map(|it| &it.refusals).collect();
    assert!(tallies.iter().filter(|it| 0 < it.claims).count() > 1, "there was no race");
    format!(
        "seed {seed}: {PROCESSES} processes, {} events, {} notes, {claims} leases, {reports} steps by \
         their holders; refused: {refusals:?}",
        events.len(),
        answered.len()
    )
}

/// Numbers of leases only grow, and a step is never given away while someone holds it.
fn check_holders(events: &[Value], seed: u64) {
    let (mut newest, mut holder) = (0, None);
    for it in events {
        let event = &it["event"];
        match it["kind"].as_str().unwrap() {
            "LeaseTaken" => {
                let generation = event["generation"].as_u64().unwrap();
                assert!(newest < generation, "seed {seed}: {event:#}");
                assert_eq!(holder, None, "seed {seed}: {event:#}");
                newest = generation;
                holder = event["holder"].as_str();
            }
            "LeaseReleased" => {
                assert_eq!(event["generation"].as_u64(), Some(newest), "seed {seed}: {event:#}");
                holder = None;
            }
            "StepCompleted" => {
                // Who reported without a name did so while nobody held the step.
                assert_eq!(event["report"]["message"].as_str(), holder, "seed {seed}: {event:#}");
                holder = None;
            }
            _ => {}
        }
    }
}

#[test]
fn a_lease_that_was_taken_over_is_worth_nothing_to_its_old_holder() {
    let project = Project::new();
    project.write_all(&race_workflow());
    let (slow, quick) = (serve(&project, Era::Modern), serve(&project, Era::Legacy));
    let run = begin(&slow);
    let claim = |server: &Server, holder: &str, seconds: u64| {
        let arguments = json!({"instance_id": run, "holder": holder, "seconds": seconds});
        server.call("claim_step", arguments)
    };
    let first = claim(&slow, "slow", 1);
    let old = first.value["lease"]["number"].as_u64().unwrap_or_else(|| panic!("{first:?}"));
    assert_eq!(claim(&quick, "quick", 60).value["refusal"]["code"], "step_held");
    let second = (0..100).find_map(|_| {
        thread::sleep(Duration::from_millis(50));
        Some(claim(&quick, "quick", 60)).filter(|it| !it.is_error)
    });
    let new = second.expect("a lease of a second is over").value["lease"]["number"].as_u64();
    assert!(Some(old) < new);
    let before = project.ask(&["run", "history", &run, "--limit", "100000"]);
    let report = |server: &Server, holder: &str, lease: Option<u64>| {
        let report = json!({"step_id": "Step 0", "status": "success"});
        let arguments =
            json!({"instance_id": run, "report": report, "holder": holder, "lease": lease});
        server.call("advance_workflow", arguments)
    };
    let late = report(&slow, "slow", Some(old));
    assert_eq!(late.value["refusal"]["code"], "lease_stale", "{:#}", late.value);
    assert_eq!(late.value["error_code"], "CONFLICT");
    let beat = json!({"instance_id": run, "holder": "slow", "lease": old});
    assert!(slow.call("claim_step", beat).is_error);
    assert_eq!(project.ask(&["run", "history", &run, "--limit", "100000"]), before);
    assert!(!report(&quick, "quick", new).is_error);
}

fn serve(project: &Project, era: Era) -> Server {
    Server::start(&mut project.milepost(&["mcp"]), era)
}

fn begin(server: &Server) -> String {
    let answer = server.call("start_workflow", json!({"workflow_name": "RACE"}));
    answer.value["instance_id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn race_workflow() -> String {
    let mut index = "== .milepost/workflows/RACE/index.md\n# Goal\n\nBe first.\n\n".to_owned();
    for step in 0..STEPS {
        writeln!(index, "1. [Step {step}](steps/any.md)").unwrap();
    }
    let step = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    format!("{index}== .milepost/workflows/RACE/steps/any.md\n{step}")
}
