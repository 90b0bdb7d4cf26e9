//! The whole thing, killed and started again: nothing that was answered is lost, nothing is done
//! twice, and anyone who comes next goes on from there.
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

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use project::Project;
use random::Random;
use server::{Answer, Era, Gone, Server};

/// How often the server is killed.
const KILLS: u32 = 200;
/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// How many callers it has meanwhile.
const CALLERS: u64 = 4;
/// How many steps the workflow has that they work on.
const STEPS: usize = 40;

/// Something that a caller asked for, again and again with the same id until it was answered.
struct Asked {
    tool: &'static str,
    arguments: Value,
    answer: Option<Answer>,
}

/// An agent that never gives up.
struct Caller {
    number: u64,
    random: Random,
    asked: Vec<Asked>,
    /// The run it works on, and how many of its steps were answered as done.
    run: Option<(String, usize)>,
    resent: usize,
    repeated: usize,
}

#[test]
fn nothing_answered_is_lost_or_doubled_when_the_server_is_killed_under_load() {
    let seed = random::seed();
    let project = Project::new().with("LOG_LEVEL", "warn");
    project.write_all(&long_workflow());
    let survivor = serve(&project, Era::Modern);
    let shared = begin(&survivor, "shared");
    let is_over = AtomicBool::new(false);
    let mut callers: Vec<Caller> = (0..CALLERS).map(|number| Caller::new(number, seed)).collect();
    let mut random = Random::new(seed);
    // Another process works on the same file all the while, and must not notice anything.
    let noted = thread::scope(|scope| {
        let beside = scope.spawn(|| note_until(&survivor, &shared, &is_over));
        for _ in 0..KILLS {
            let era = if random.below(2) == 0 { Era::Legacy } else { Era::Modern };
            let blow = Blow { answers: random.below(12), pause: random.below(5_000) };
            kill_under_load(&project, &mut callers, &shared, (era, blow));
        }
        is_over.store(true, Ordering::Relaxed);
        beside.join().unwrap()
    });
    drop(survivor);
    let last = serve(&project, Era::Modern);
    for caller in &mut callers {
        caller.finish(&last);
    }
    let acknowledged: usize = callers.iter().map(|it| it.asked.len()).sum();
    let (resent, repeated) = callers
        .iter()
        .fold((0, 0), |(resent, repeated), it| (resent + it.resent, repeated + it.repeated));
    println!(
        "seed {seed}: {KILLS} kills, {acknowledged} calls acknowledged, {resent} of them after \
         being sent again, {repeated} answered calls repeated; {noted} calls of another process \
         beside it"
    );
    assert!(usize::try_from(KILLS).unwrap() < acknowledged, "there was no load to speak of");
    check_logs(&project, &callers, (&shared, noted));
    project.ask(&["doctor"]);
}

/// When a server is killed.
struct Blow {
    /// How many calls it answers before.
    answers: u64,
    /// And how much later, in microseconds: while it reads, writes or syncs.
    pause: u64,
}

/// Starts a server, has everyone call it, and kills it in the midst of that. Without a handshake
/// the blow may come while it is still opening the file.
fn kill_under_load(
    project: &Project,
    callers: &mut [Caller],
    shared: &str,
    (era, blow): (Era, Blow),
) {
    let server = &serve(project, era);
    let (answered, answers) = mpsc::channel();
    thread::scope(|scope| {
        for caller in callers {
            let answered = answered.clone();
            scope.spawn(move || caller.work(server, shared, &answered));
        }
        for _ in 0..blow.answers {
            answers.recv_timeout(ANSWER_MAX).unwrap();
        }
        thread::sleep(Duration::from_micros(blow.pause));
        server.kill();
    });
}

fn serve(project: &Project, era: Era) -> Server {
    Server::start(&mut project.milepost(&["mcp"]), era)
}

fn begin(server: &Server, key: &str) -> String {
    let answer = server.call("start_workflow", json!({"workflow_name": "LONG", "key": key}));
    assert!(!answer.is_error, "{:#}", answer.value);
    answer.value["instance_id"].as_str().unwrap().to_owned()
}

/// Records notes on a run until it is told to stop, and returns how many.
fn note_until(server: &Server, run: &str, is_over: &AtomicBool) -> usize {
    let mut noted = 0;
    while !is_over.load(Ordering::Relaxed) {
        let text = format!("beside {noted}");
        let arguments = json!({"instance_id": run, "type": "note", "text": text});
        let answer = server.call("record_entry", arguments);
        assert!(!answer.is_error, "{:#}", answer.value);
        noted += 1;
        thread::sleep(Duration::from_millis(20));
    }
    noted
}

impl Caller {
    fn new(number: u64, seed: u64) -> Self {
        let random = Random::new(seed.wrapping_mul(CALLERS + 1).wrapping_add(number));
        Self { number, random, asked: Vec::new(), run: None, resent: 0, repeated: 0 }
    }

    /// Calls until the server is gone.
    fn work(&mut self, server: &Server, shared: &str, answered: &mpsc::Sender<()>) {
        self.resent += usize::from(self.asked.last().is_some_and(|it| it.answer.is_none()));
        loop {
            let outcome = match self.asked.last() {
                Some(asked) if asked.answer.is_none() => self.send(server),
                Some(_) if self.random.below(8) == 0 => self.repeat(server),
                Some(_) | None => {
                    let (tool, arguments) = self.think(shared);
                    self.ask(tool, arguments);
                    self.send(server)
                }
            };
            if outcome == Err(Gone) || answered.send(()).is_err() {
                return;
            }
        }
    }

    /// Returns what to do next: begin a run, report on its current step, or note something.
    fn think(&mut self, shared: &str) -> (&'static str, Value) {
        let (number, count) = (self.number, self.asked.len());
        let Some((run, done)) = self.run.as_ref().filter(|(_, done)| *done < STEPS) else {
            let key = format!("caller-{number}-{count}");
            return ("start_workflow", json!({"workflow_name": "LONG", "key": key}));
        };
        let text = format!("caller {number} note {count}");
        match self.random.below(5) {
            0 | 1 => {
                let report = json!({"step_id": step_name(*done), "status": "success"});
                ("advance_workflow", json!({"instance_id": run, "report": report}))
            }
            2 | 3 => ("record_entry", json!({"instance_id": run, "type": "note", "text": text})),
            _ => ("record_entry", json!({"instance_id": shared, "type": "note", "text": text})),
        }
    }

    fn ask(&mut self, tool: &'static str, mut arguments: Value) {
        arguments["request_id"] = json!(format!("{}-{}", self.number, self.asked.len()));
        self.asked.push(Asked { tool, arguments, answer: None });
    }

    /// Sends what was asked last.
    fn send(&mut self, server: &Server) -> Result<(), Gone> {
        let asked = self.asked.last_mut().unwrap();
        let answer = server.try_call(asked.tool, asked.arguments.clone())?;
        assert!(!answer.is_error, "{} {}: {:#}", asked.tool, asked.arguments, answer.value);
        match asked.tool {
            "start_workflow" => {
                self.run = Some((answer.value["instance_id"].as_str().unwrap().to_owned(), 0));
            }
            "advance_workflow" => self.run.as_mut().unwrap().1 += 1,
            _ => {}
        }
        asked.answer = Some(answer);
        Ok(())
    }

    /// Sends something that was answered before, which must be answered in the same way.
    fn repeat(&mut self, server: &Server) -> Result<(), Gone> {
        let answered = u64::try_from(self.asked.len()).unwrap();
        let chosen = usize::try_from(self.random.below(answered)).unwrap();
        let asked = &self.asked[chosen];
        let answer = server.try_call(asked.tool, asked.arguments.clone())?;
        assert_eq!(asked.answer.as_ref(), Some(&answer), "{} {}", asked.tool, asked.arguments);
        self.repeated += 1;
        Ok(())
    }

    /// Brings what is unanswered to an answer, and its run to an end.
    fn finish(&mut self, server: &Server) {
        if self.asked.last().is_some_and(|it| it.answer.is_none()) {
            self.resent += 1;
            self.send(server).unwrap();
        }
        while let Some((run, done)) = self.run.clone().filter(|(_, done)| *done < STEPS) {
            let report = json!({"step_id": step_name(done), "status": "success"});
            self.ask("advance_workflow", json!({"instance_id": run, "report": report}));
            self.send(server).unwrap();
        }
        for chosen in 0..self.asked.len().min(20) {
            let asked = &self.asked[chosen];
            let answer = server.call(asked.tool, asked.arguments.clone());
            assert_eq!(asked.answer.as_ref(), Some(&answer), "{} {}", asked.tool, asked.arguments);
        }
    }
}

/// Compares every log with what was answered: it has all of that once, and nothing else.
fn check_logs(project: &Project, callers: &[Caller], (shared, noted): (&str, usize)) {
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let beside = (0..noted).map(|it| format!("beside {it}")).collect();
    expected.insert(shared.to_owned(), beside);
    for asked in callers.iter().flat_map(|it| &it.asked) {
        let answer = &asked.answer.as_ref().unwrap().value;
        let run = answer["instance_id"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
        let log = expected.entry(run.to_owned()).or_default();
        match asked.tool {
            "start_workflow" => {}
            "advance_workflow" => log.push(word(&asked.arguments["report"]["step_id"])),
            _ => log.push(word(&asked.arguments["text"])),
        }
    }
    let listed = project.ask(&["run", "list", "--limit", "100"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), expected.len(), "{listed:#}");
    for (run, mut expected) in expected {
        let history = project.ask(&["run", "history", &run, "--limit", "100000"]);
        let mut found: Vec<String> = history["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| match it["kind"].as_str().unwrap() {
                "StepCompleted" => Some(word(&it["event"]["step"])),
                "EntryRecorded" => Some(word(&it["event"]["entry"]["text"])),
                _ => None,
            })
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "run {run}");
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn step_name(number: usize) -> String {
    format!("Step {number}")
}

/// A workflow of many steps that are worked on in order.
fn long_workflow() -> String {
    let mut index = "== .milepost/workflows/LONG/index.md\n# Goal\n\nGo far.\n\n".to_owned();
    for step in (0..STEPS).map(step_name) {
        writeln!(index, "1. [{step}](steps/any.md)").unwrap();
    }
    let step = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    format!("{index}== .milepost/workflows/LONG/steps/any.md\n{step}")
}

/// A workflow whose steps each add a line to a ledger, and which has an artifact.
fn ledger_workflow() -> String {
    let mut text =
        "== .milepost/workflows/LEDGER/index.md\n# Goal\n\nKeep a ledger.\n\n".to_owned();
    for step in LEDGER {
        writeln!(text, "1. [{step}](steps/{step}.md)").unwrap();
    }
    for step in LEDGER {
        let produces = if step == "open" { "---\nproduces: [cover.md]\n---\n" } else { "" };
        writeln!(
            text,
            "== .milepost/workflows/LEDGER/steps/{step}.md\n{produces}# Orchestrator Guidance\nGo \
             on.\n# Client Instructions\nAdd the line <{step}> to the ledger."
        )
        .unwrap();
    }
    text
}

const LEDGER: [&str; 5] = ["open", "buy", "sell", "count", "close"];

fn report(server: &Server, run: &str, step: &str, status: &str) -> Value {
    let report =
        json!({"step_id": step, "status": status, "message": format!("{step} is {status}")});
    let answer = server.call("advance_workflow", json!({"instance_id": run, "report": report}));
    assert!(!answer.is_error, "{:#}", answer.value);
    answer.value
}

/// Begins a ledger, works on its first two steps, and is killed in the third.
fn begin_ledger(project: &Project) -> String {
    project.write_all(&ledger_workflow());
    project.write("cover.md", "# Cover\n");
    let server = serve(project, Era::Legacy);
    let answer = server.call("start_workflow", json!({"workflow_name": "LEDGER"}));
    let run = answer.value["instance_id"].as_str().unwrap().to_owned();
    for step in &LEDGER[..2] {
        report(&server, &run, step, "success");
    }
    report(&server, &run, LEDGER[2], "in_progress");
    server.kill();
    run
}

#[test]
fn an_agent_that_knows_only_the_id_goes_on_from_the_brief_and_does_no_step_twice() {
    let project = Project::new();
    let run = begin_ledger(&project);
    let mut ledger: Vec<String> = LEDGER[..2].iter().map(|it| (*it).to_owned()).collect();
    // Each step is taken by an agent of its own, in a process of its own, that reads only the brief.
    while ledger.len() < LEDGER.len() {
        let server = serve(&project, Era::Modern);
        let answer = server.call("resume_workflow", json!({"instance_id": run}));
        let brief = answer.value["brief"].as_str().unwrap_or_else(|| panic!("{:#}", answer.value));
        let wanted: Vec<&str> =
            brief.split("Add the line <").skip(1).filter_map(|it| it.split('>').next()).collect();
        assert_eq!(wanted.len(), 1, "a brief must say one thing to do:\n{brief}");
        assert!(!ledger.iter().any(|it| it == wanted[0]), "it was done already:\n{brief}");
        ledger.push(wanted[0].to_owned());
        report(&server, &run, wanted[0], "success");
        server.kill();
    }
    assert_eq!(ledger, LEDGER);
    assert_eq!(project.ask(&["run", "show", &run])["run"]["status"], "completed");
}

#[test]
fn an_artifact_that_was_changed_meanwhile_is_noticed() {
    let project = Project::new();
    let run = begin_ledger(&project);
    let server = serve(&project, Era::Modern);
    let resume = |arguments: Value| {
        let mut all = json!({"instance_id": run});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        server.call("resume_workflow", all)
    };
    let brief = word(&resume(json!({})).value["brief"]);
    assert!(!brief.contains("changed"), "{brief}");
    fs::write(project.path("cover.md"), "# Another cover\n").unwrap();
    let brief = word(&resume(json!({})).value["brief"]);
    assert!(brief.contains("cover.md") && brief.contains("changed"), "{brief}");
    let back = json!({
        "assumed_current_step_name": "sell",
        "report": {"step_id": "sell", "status": "success"},
    });
    let refused = resume(back.clone());
    assert!(refused.is_error, "{:#}", refused.value);
    assert_eq!(refused.value["refusal"]["code"], "artifacts_drifted");
    let mut forced = back;
    forced["force"] = json!(true);
    let taken = resume(forced);
    assert!(!taken.is_error, "{:#}", taken.value);
    assert_eq!(taken.value["next_step"]["step_name"], "count");
}
