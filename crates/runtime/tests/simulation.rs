//! Two servers share a store that fails, loses its answers and is raced, while the clock jumps.
//!
//! A seed picks everything; a failure prints it. Whatever happens: what was acknowledged is there
//! once, logs have no gaps, times never go back, and no step has two holders.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "../../store/tests/support/memory.rs"]
mod memory;
#[path = "support/world.rs"]
mod world;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use engine::{
    Actor, ClaimStep, Command, ContextChange, Entry, Event, Holder, Lease, Report, ReportStep,
    RunId, StartRun, Timestamp, fold,
};
use memory::MemoryStore;
use runtime::{ExecuteError, Outcome, Request, Runtime, Settings, Target};
use store::{
    Append, Deletion, FileFilter, FileMark, Filter, Hits, Length, Listing, Log, Pending, Search,
    Store, StoreError, Tailed, Touch,
};
use world::TestWorld;

const SEEDS: u64 = 40;
const TURNS: u64 = 120;

const WORKFLOW: &[(&str, &str)] = &[
    ("W/index.md", "- [a](steps/a.md)\n- [b](steps/b.md)\n"),
    (
        "W/steps/a.md",
        "---\nnext: [{to: a, when: \"steps.a.visits < 20\"}, b]\nlease: 5m\n---\n# Orchestrator Guidance\nGo.\n# Client Instructions\nDo.\n",
    ),
    ("W/steps/b.md", "# Orchestrator Guidance\nGo.\n# Client Instructions\nDo.\n"),
];

#[test]
fn nothing_acknowledged_is_lost_or_doubled() {
    for seed in 1..=SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        if let Err(problem) = runtime.block_on(simulate(seed)) {
            panic!("seed {seed}: {problem}");
        }
    }
}

async fn simulate(seed: u64) -> Result<(), String> {
    let chance = Arc::new(Chance(AtomicU64::new(seed)));
    let memory = Arc::new(MemoryStore::default());
    let faulty = Arc::new(FaultyStore { inner: memory.clone(), chance: chance.clone() });
    let world = TestWorld::new(WORKFLOW);
    let server = || Arc::new(Runtime::new(faulty.clone(), world.clone(), settings()));
    let mut servers = [server(), server()];
    let run = begin(&servers[0]).await;
    let mut acknowledged: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for turn in 0..TURNS {
        match chance.below(14) {
            0 => world.pass(400),
            1 => world.turn_clock(-200),
            3 => world.turn_clock(400),
            4 => world.turn_clock(30 * 24 * 60 * 60),
            // A crash: everything that the server had in memory is gone.
            2 => servers[0] = server(),
            _ => {}
        }
        let (one, two) = (pick(&chance, run, turn * 2), pick(&chance, run, turn * 2 + 1));
        let (first, second) = tokio::join!(
            send(&servers[0], one.clone(), &chance),
            send(&servers[1], two.clone(), &chance)
        );
        for (request, outcome) in [(one, first), (two, second)] {
            let Some(outcome) = outcome? else { continue };
            let seqs: Vec<u64> = outcome.events.iter().map(|it| it.seq).collect();
            acknowledged.insert(request.request_id.clone().unwrap(), seqs.clone());
            let again = send(&servers[0], request, &chance).await?;
            let repeated: Option<Vec<u64>> =
                again.map(|it| it.events.iter().map(|it| it.seq).collect());
            if repeated.as_ref().is_some_and(|it| *it != seqs) {
                return Err(format!("a repetition led to {repeated:?}, not {seqs:?}"));
            }
        }
    }
    check_log(&memory, run, &acknowledged).await
}

async fn begin(server: &Runtime) -> RunId {
    let command = Command::StartRun(Box::new(StartRun {
        goes_on: false,
        key: None,
        flow: None,
        context: serde_json::Map::new(),
        vars: serde_json::Map::new(),
        root: String::new(),
    }));
    for _ in 0..100 {
        let target = Target::New("W".to_owned());
        let request_id = Some("begin".to_owned());
        let actor = Actor::default();
        let request = Request { target, command: command.clone(), actor, request_id };
        if let Ok(outcome) = server.execute(request).await {
            return outcome.view.state.run;
        }
    }
    panic!("the store never let a run begin");
}

fn pick(chance: &Chance, run: RunId, number: u64) -> Request {
    let holder = if chance.below(2) == 0 { "ann" } else { "bob" }.to_owned();
    let report = |holder| {
        let report =
            Report { step_id: "a".to_owned(), status: "success".to_owned(), ..Report::default() };
        let context = ContextChange::default();
        Command::ReportStep(Box::new(ReportStep {
            part: None,
            report,
            context,
            next: None,
            holder,
            terms: engine::ReportOptions::default(),
        }))
    };
    let command = match chance.below(5) {
        0 => report(None),
        1 => report(Some(Holder { name: holder, generation: None })),
        2 => Command::ClaimStep(ClaimStep { step: None, part: None, holder, duration: None }),
        _ => Command::RecordEntry {
            step: None,
            entry: Entry::Note { text: format!("note {number}"), tags: vec![] },
        },
    };
    let request_id = Some(format!("request {number}"));
    Request { target: Target::Run(run), command, actor: Actor::default(), request_id }
}

/// Sends until the store answers. A refusal is an answer; `None` stands for it.
async fn send(
    server: &Runtime,
    request: Request,
    chance: &Chance,
) -> Result<Option<Outcome>, String> {
    for _ in 0..200 {
        if chance.below(2) == 0 {
            tokio::task::yield_now().await;
        }
        match server.execute(request.clone()).await {
            Ok(outcome) => return Ok(Some(outcome)),
            Err(ExecuteError::Refused(_)) => return Ok(None),
            Err(error) if error.is_retryable() => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the store failed two hundred times in a row".to_owned())
}

async fn check_log(
    store: &MemoryStore,
    run: RunId,
    acknowledged: &BTreeMap<String, Vec<u64>>,
) -> Result<(), String> {
    let log = store.load(run, 0).await.unwrap().unwrap();
    let mut last = (0, Timestamp(0));
    let mut holder: Option<Lease> = None;
    for recorded in &log.events {
        if recorded.seq != last.0 + 1 || recorded.at < last.1 {
            return Err(format!("event {} comes after event {}", recorded.seq, last.0));
        }
        last = (recorded.seq, recorded.at);
        if let Event::StepCompleted(_) = &recorded.event {
            holder = None;
        }
        if let Event::LeaseTaken(lease) = &recorded.event {
            let is_held =
                holder.is_some_and(|it| recorded.steady < it.until && it.holder != lease.holder);
            if is_held {
                return Err(format!("event {}: two hold step a", recorded.seq));
            }
            let until = lease.until.translate(recorded.at, recorded.steady);
            holder = Some(Lease { until, ..lease.clone() });
        }
    }
    let notes = fold(run, &log.events).entries.len();
    let written = log.events.iter().filter(|it| matches!(it.event, Event::EntryRecorded { .. }));
    if notes != written.count() {
        return Err("the fold lost a note".to_owned());
    }
    let mut seen = BTreeMap::new();
    for (request, seqs) in acknowledged {
        for seq in seqs {
            if log.length < *seq {
                return Err(format!("event {seq} of `{request}` was acknowledged, and is lost"));
            }
            if let Some(other) = seen.insert(*seq, request) {
                return Err(format!("event {seq} was acknowledged to `{request}` and `{other}`"));
            }
        }
    }
    Ok(())
}

fn settings() -> Settings {
    Settings {
        project: "p".to_owned(),
        root: String::new(),
        bounds: engine::Bounds::default(),
        gates: None,
        policies: runtime::Policies::default(),
        has_model: false,
        fail_on_model_error: false,
        brief_tokens: 2500,
        wait_max: std::time::Duration::from_secs(1),
        states_max: 8,
        states_bytes_max: 16 << 20,
    }
}

/// Numbers that look random and are not: the same seed gives the same ones.
struct Chance(AtomicU64);

impl Chance {
    fn below(&self, max: u64) -> u64 {
        let mut value = self.0.load(Ordering::Relaxed).wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.0.store(value, Ordering::Relaxed);
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ (value >> 31)) % max
    }
}

/// A store that is busy at times, and at times does what it is asked and loses its answer.
struct FaultyStore {
    inner: Arc<MemoryStore>,
    chance: Arc<Chance>,
}

impl Store for FaultyStore {
    fn append(&self, append: Append) -> Pending<'_, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match self.chance.below(8) {
                0 => Err(StoreError::Busy),
                1 => {
                    self.inner.append(append).await?;
                    // It is written, and the answer is lost.
                    Err(StoreError::Busy)
                }
                _ => self.inner.append(append).await,
            }
        })
    }

    fn load(&self, run: RunId, after: Length) -> Pending<'_, Option<Log>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.inner.load(run, after).await
        })
    }

    fn find_request<'a>(
        &'a self,
        project: &'a str,
        id: &'a str,
    ) -> Pending<'a, Option<store::Request>> {
        self.inner.find_request(project, id)
    }

    fn find_answer<'a>(
        &'a self,
        project: &'a str,
        id: &'a str,
    ) -> Pending<'a, Option<store::Answer>> {
        self.inner.find_answer(project, id)
    }

    fn find_definition<'a>(&'a self, digest: &'a str) -> Pending<'a, Option<String>> {
        self.inner.find_definition(digest)
    }

    fn list(&self, filter: Filter) -> Pending<'_, Listing> {
        self.inner.list(filter)
    }

    fn touch(&self, touch: Touch) -> Pending<'_, bool> {
        self.inner.touch(touch)
    }

    fn delete(&self, deletion: Deletion) -> Pending<'_, ()> {
        self.inner.delete(deletion)
    }

    fn files(&self, filter: FileFilter) -> Pending<'_, Vec<(RunId, FileMark)>> {
        self.inner.files(filter)
    }

    fn search(&self, search: Search) -> Pending<'_, Hits> {
        self.inner.search(search)
    }

    fn tail(&self, after: u64, count: u32) -> Pending<'_, Vec<Tailed>> {
        self.inner.tail(after, count)
    }

    fn changed(&self) -> tokio::sync::watch::Receiver<u64> {
        self.inner.changed()
    }
}
