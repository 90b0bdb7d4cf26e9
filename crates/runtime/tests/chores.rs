//! Chores are done with the command that makes them due, once, and are never lost: not by a
//! failure, not by a crash, not by two who are at it at once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../store/tests/support/memory.rs"]
mod memory;
#[path = "support/chores.rs"]
mod support;
#[path = "support/world.rs"]
mod world;

use std::sync::Arc;

use engine::{
    Actor, Advance, ChoreOutcome, Command, ContextChange, Done, Event, GitDeed, Onward, Refusal,
    Report, ReportOptions, ReportStep, RunId, StartRun,
};
use memory::MemoryStore;
use runtime::{Chores, ExecuteError, Outcome, Request, Runtime, Settings, Target};
use serde_json::json;
use store::Store as _;
use support::{ActingWorld, Listed};

const INDEX: &str = "---
vars: {is_pushed: false, n: 0}
chores:
  - name: odd
    when: \"vars.n > 0\"
    checkout: {branch: main}
    set: {n: vars.n}
  - name: push
    when: \"step == 'b' and not vars.is_pushed\"
    push: {remote: origin}
    set: {is_pushed: 'true'}
  - name: publish
    when: \"step == 'c'\"
    publish: {files: [state.txt]}
    then: complete
    on_failure: warn
---
- [a](steps/a.md)
- [b](steps/b.md)
- [c](steps/c.md)
";
const STEP: &str = "# Orchestrator Guidance\nGo.\n# Client Instructions\nDo.\n";
const WORKFLOW: &[(&str, &str)] = &[
    ("W/index.md", INDEX),
    ("W/steps/a.md", STEP),
    ("W/steps/b.md", STEP),
    ("W/steps/c.md", STEP),
];

struct Bench {
    store: Arc<MemoryStore>,
    world: Arc<ActingWorld>,
    server: Runtime,
    run: RunId,
}

impl Bench {
    /// A run that is at step `a`.
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let world = ActingWorld::new(WORKFLOW);
        let server = serve(&store, &world);
        let command = Command::StartRun(Box::new(StartRun {
            goes_on: false,
            key: Some("k".to_owned()),
            flow: None,
            context: serde_json::Map::new(),
            vars: serde_json::Map::new(),
            root: "/root".to_owned(),
        }));
        let outcome = server.execute(request(Target::New("W".to_owned()), command)).await;
        let run = outcome.unwrap().view.state.run;
        Self { store, world, server, run }
    }

    async fn report(&self, step: &str) -> Result<Outcome, ExecuteError> {
        self.server.execute(request(Target::Run(self.run), report(step))).await
    }

    async fn kinds(&self) -> Vec<String> {
        let log = self.store.load(self.run, 0).await.unwrap().unwrap();
        log.events.iter().map(|it| it.event.kind().to_owned()).collect()
    }

    async fn count(&self, kind: &str) -> usize {
        self.kinds().await.iter().filter(|it| *it == kind).count()
    }
}

fn serve(store: &Arc<MemoryStore>, world: &Arc<ActingWorld>) -> Runtime {
    let settings = Settings {
        project: "p".to_owned(),
        root: "/root".to_owned(),
        bounds: engine::Bounds::default(),
        gates: None,
        policies: runtime::Policies::default(),
        has_model: false,
        fail_on_model_error: false,
        brief_tokens: 2500,
        wait_max: std::time::Duration::from_secs(1),
        states_max: 8,
        states_bytes_max: 16 << 20,
    };
    Runtime::new(store.clone(), world.clone(), settings)
        .with_projections(vec![Arc::new(Listed::default())])
}

fn request(target: Target, command: Command) -> Request {
    Request { target, command, actor: Actor::default(), request_id: None }
}

fn report(step: &str) -> Command {
    let report =
        Report { step_id: step.to_owned(), status: "success".to_owned(), ..Report::default() };
    Command::ReportStep(Box::new(ReportStep {
        part: None,
        report,
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    }))
}

/// Asks for nothing, so that only what is due is done.
async fn do_chores(server: &Runtime, run: RunId) -> Outcome {
    server.execute(request(Target::Run(run), Command::All(Vec::new()))).await.unwrap()
}

fn failure(reason: &str) -> ChoreOutcome {
    ChoreOutcome::Failed { reason: reason.to_owned() }
}

#[tokio::test]
async fn a_chore_is_done_with_the_command_that_makes_it_due() {
    let bench = Bench::new().await;
    let outcome = bench.report("a").await.unwrap();
    let kinds: Vec<&str> = outcome.events.iter().map(|it| it.event.kind()).collect();
    assert_eq!(kinds, ["StepCompleted", "StepEntered", "ChoreDone", "VarsChanged"]);
    assert_eq!(outcome.view.state.vars["is_pushed"], json!(true));
    assert_eq!(outcome.chores.warnings, ["chore `push`: odd"]);
    let push = GitDeed::Push {
        branch: "main".to_owned(),
        remote: "origin".to_owned(),
        base: None,
        is_taken: false,
    };
    assert_eq!(bench.world.deeds(), [push]);
    // A step whose only work is a chore is done with it, and so is the run.
    let outcome = bench.report("b").await.unwrap();
    assert_eq!(outcome.view.state.standing.as_str(), "completed");
}

#[tokio::test]
async fn a_run_that_waited_for_a_chore_goes_on_in_the_commit_that_records_it() {
    let bench = Bench::new().await;
    let (report, onward) = (Some(Done::default()), Some(Onward::default()));
    let advance = Advance { report, onward, ..Advance::default() };
    let command = Command::Advance(Box::new(advance));
    let outcome = bench.server.execute(request(Target::Run(bench.run), command)).await.unwrap();
    let mut commits: Vec<Vec<&str>> = Vec::new();
    let mut last = None;
    for recorded in &outcome.events {
        if last.replace(recorded.at) != Some(recorded.at) {
            commits.push(Vec::new());
        }
        commits.last_mut().unwrap().push(recorded.event.kind());
    }
    let reported = vec!["EntryRecorded", "StepCompleted", "StepEntered"];
    let went_on = vec!["ChoreDone", "VarsChanged", "StepStarted"];
    assert_eq!(commits, [reported, went_on]);
}

#[tokio::test]
async fn a_chore_that_fails_stays_due_and_is_tried_again() {
    let bench = Bench::new().await;
    bench.world.will(failure("no way"));
    let outcome = bench.report("a").await.unwrap();
    let told = outcome.chores.failure.unwrap();
    assert!(matches!(told, Refusal::ChoreDue { .. }), "{told}");
    assert_eq!(
        outcome.view.state.current.as_ref().unwrap().as_str(),
        "b",
        "what was reported stands"
    );
    bench.world.will(failure("no way"));
    match bench.report("b").await {
        Err(ExecuteError::Refused(Refusal::ChoreDue { problem, .. })) => {
            assert_eq!(problem, "no way");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.count("ChoreFailed").await, 1, "the same failure is told once");
    let outcome = bench.report("b").await.unwrap();
    assert_eq!(outcome.view.state.standing.as_str(), "completed");
    assert_eq!(bench.count("ChoreDone").await, 2);
    assert!(outcome.view.state.chores.is_empty());
}

#[tokio::test]
async fn a_chore_that_may_fail_lets_the_run_go_on() {
    let bench = Bench::new().await;
    bench.report("a").await.unwrap();
    bench.world.will(failure("no way"));
    let outcome = bench.report("b").await.unwrap();
    assert_eq!(outcome.view.state.standing.as_str(), "completed");
    assert!(outcome.chores.failure.is_none());
    assert!(outcome.chores.warnings.concat().ends_with("no way"), "{:?}", outcome.chores);
    assert_eq!(bench.count("ChoreFailed").await, 1);
}

#[tokio::test]
async fn a_chore_that_a_crash_left_unrecorded_is_done_once_more_and_recorded_once() {
    let bench = Bench::new().await;
    bench.world.crash_next();
    // A process of its own: what it has under way ends with it.
    let process = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let (server, run) = (serve(&bench.store, &bench.world), bench.run);
    drop(
        process.spawn(async move { server.execute(request(Target::Run(run), report("a"))).await }),
    );
    bench.world.crashed().await;
    process.shutdown_background();
    assert_eq!(bench.count("ChoreDone").await, 0);
    let server = serve(&bench.store, &bench.world);
    let Outcome { view, chores, .. } = do_chores(&server, bench.run).await;
    assert_eq!(view.state.vars["is_pushed"], json!(true));
    assert!(chores.failure.is_none());
    assert_eq!(bench.world.deeds().len(), 2);
    assert_eq!(bench.count("ChoreDone").await, 1);
    // There is nothing left to do.
    let chores = do_chores(&server, bench.run).await.chores;
    assert_eq!((bench.world.deeds().len(), chores), (2, Chores::default()));
}

#[tokio::test]
async fn two_who_are_at_it_at_once_do_it_once() {
    let bench = Bench::new().await;
    bench.world.will(failure("not yet"));
    bench.report("a").await.unwrap();
    let servers = [serve(&bench.store, &bench.world), serve(&bench.store, &bench.world)];
    let [one, two] = &servers;
    let (first, second) = tokio::join!(do_chores(one, bench.run), do_chores(two, bench.run));
    assert!(first.chores.failure.is_none() && second.chores.failure.is_none());
    assert_eq!(bench.world.deeds().len(), 2, "the one that failed, and the one that was done");
    assert_eq!(bench.count("ChoreDone").await, 1);
}

#[tokio::test]
async fn a_chore_that_would_be_due_without_end_is_not_done() {
    let bench = Bench::new().await;
    let set = serde_json::Map::from_iter([("n".to_owned(), json!(1))]);
    let command = Command::SetVars { set };
    let outcome = bench.server.execute(request(Target::Run(bench.run), command)).await.unwrap();
    let told = outcome.chores.failure.unwrap().to_string();
    assert!(told.contains("it would be due again as soon as it is done"), "{told}");
    assert_eq!(bench.world.deeds().len(), 0);
}

#[tokio::test]
async fn what_is_published_is_the_file_as_it_will_be() {
    let bench = Bench::new().await;
    bench.report("a").await.unwrap();
    bench.report("b").await.unwrap();
    let kinds = bench.kinds().await;
    assert_eq!(kinds.last().unwrap(), "RunCompleted");
    let times = bench.store.load(bench.run, 0).await.unwrap().unwrap().events;
    let last = times.last().unwrap().at;
    let foreseen = vec![("state.txt".to_owned(), format!("{} {last}", times.len()))];
    assert_eq!(bench.world.texts().last().unwrap(), &foreseen);
    let done = |it: &Event| matches!(it, Event::ChoreDone { detail, .. } if detail == "did it");
    assert!(times.iter().any(|it| done(&it.event)), "what was done is told all the same");
}

#[tokio::test]
async fn a_run_that_is_given_up_does_nothing_more() {
    let bench = Bench::new().await;
    bench.world.will(failure("no way"));
    bench.report("a").await.unwrap();
    let command = Command::CancelRun { reason: "enough".to_owned() };
    let outcome = bench.server.execute(request(Target::Run(bench.run), command)).await.unwrap();
    assert_eq!(outcome.view.state.standing.as_str(), "cancelled");
    assert_eq!(bench.world.deeds().len(), 1);
}

#[tokio::test]
async fn a_file_that_someone_is_just_writing_is_looked_at_when_they_are_done() {
    let bench = Bench::new().await;
    bench.world.write_slowly("state.txt", "words of a person", 0);
    bench.report("a").await.unwrap();
    // Nobody can make sense of them here, so they are kept.
    let kept = bench.world.files.lock().get("aside.txt").cloned();
    assert_eq!(kept.as_deref(), Some("words of a person"));
}
