//! The whole thing, killed and started again: nothing that was answered is lost, nothing is done
//! twice, and whoever comes next goes on from there.
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
mod server;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use project::Project;
use random::Random;
use server::{Answer, Era, Gone, Server};

/// How often the server is killed.
const KILLS: u32 = 200;
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
            kill_under_load(&project, &mut callers, &shared, (era, 1 + random.below(60)));
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
    let (resent, repeated) = callers.iter().fold((0, 0), |(resent, repeated), it| {
        (resent + it.resent, repeated + it.repeated)
    });
    println!(
        "seed {seed}: {KILLS} kills, {acknowledged} calls acknowledged, {resent} of them after \
         being sent again, {repeated} answered calls repeated; {noted} calls of another process \
         beside it"
    );
    assert!(usize::try_from(KILLS).unwrap() < acknowledged, "there was no load to speak of");
    check_logs(&project, &callers, (&shared, noted));
    project.ask(&["doctor"]);
}

/// Starts a server, has everyone call it, and kills it in the midst of that.
fn kill_under_load(
    project: &Project,
    callers: &mut [Caller],
    shared: &str,
    (era, after_ms): (Era, u64),
) {
    let mut command = project.milepost(&["mcp"]);
    let Ok(server) = Server::try_start(&mut command, Era::Modern) else { return };
    thread::scope(|scope| {
        for caller in callers {
            scope.spawn(|| caller.work(&server, shared));
        }
        thread::sleep(Duration::from_millis(after_ms));
        server.child.lock().unwrap().kill().unwrap();
    });
}
