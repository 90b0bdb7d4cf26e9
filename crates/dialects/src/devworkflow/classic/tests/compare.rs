//! The rendered file beside what release 0.1 wrote, which changed the text with each event: a seeded
//! player drives both, and each difference that is wanted has a name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use engine::{
    Actor, Command, Entry, Event, Recorded, RunId, RunState, Standing, Timestamp, evolve,
};
use serde_json::{Map, Value};

use super::{
    super::{
        super::{files::render, state_file::StateFile},
        rows::ROWS,
    },
    player::{Player, workflow},
    release_0_1::Page,
};

const SEEDS: u64 = 1_000;
/// How many things happen in one run.
const STEPS: usize = 25;
/// How much of what went wrong is shown.
const SHOWN: usize = 4;

/// A difference that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// D1: a section that is empty again has what stood there while it was empty before, and not
    /// always our remark that it is empty.
    Remark,
    /// D2: a value that is again what the text says has the form that it has in the text.
    Form,
}

impl Difference {
    const ALL: &[Self] = &[Self::Remark, Self::Form];
}

#[test]
fn a_rendered_file_says_what_was_written_event_by_event() {
    let workflow = Arc::new(workflow());
    let mut met = BTreeMap::<Difference, u64>::new();
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let mut player = Player::new(&workflow, seed);
        let mut known = BTreeSet::new();
        for _ in 0..STEPS {
            happen(&mut player);
            match check(&player) {
                Ok(difference) => known.extend(difference),
                Err(problem) => {
                    wrong.push(format!("## seed {seed}\n{problem}\n{}", player.story()));
                    break;
                }
            }
        }
        known.into_iter().for_each(|it| *met.entry(it).or_default() += 1);
    }
    wrong.sort_by_key(String::len);
    let shown: Vec<&str> = wrong.iter().take(SHOWN).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} runs differ\n{}", wrong.len(), shown.join("\n"));
    let unmet: Vec<_> = Difference::ALL.iter().filter(|it| !met.contains_key(it)).collect();
    assert!(unmet.is_empty(), "never met: {unmet:?}; met: {met:?}");
}

/// The runs of that release that had no file had no journal either. Here they have both.
#[test]
fn a_stored_history_is_rendered_as_it_was_written() {
    let path = "../../crates/engine/tests/histories/0.1.0-dev-workflow.jsonl";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut state = RunState::new(RunId::from_bytes([7; 16]));
    let mut page = Page::blank();
    for line in fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let at = Timestamp::parse(line["at"].as_str().unwrap()).unwrap();
        let version = u32::try_from(line["v"].as_u64().unwrap()).unwrap();
        let mut event = Event::decode(version, &line["event"].to_string()).unwrap();
        if let Event::RunStarted(started) = &mut event {
            started.journal = true;
        }
        let (seq, by) = (state.length + 1, Actor::default());
        let recorded = Recorded { seq, at, steady: at, by, event };
        page.apply(&recorded);
        state = evolve(state, &recorded);
        assert_eq!(render(&state), page.text(), "after {recorded:?}");
    }
    assert_eq!(state.standing, Standing::Completed);
}

/// Something happens: a call, an answer, an edit, or what tools of another dialect do.
fn happen(player: &mut Player<'_>) {
    match player.draw(20) {
        0 => player.answer(true),
        1 => player.answer(false),
        2 => player.change_settings(),
        3 => player.edit(),
        4..=5 => player.edit_oddly(),
        6..=7 => {
            let command = other(player.odd_text(), player.draw(8));
            drop(player.decide(&command));
        }
        _ => {
            let row = &ROWS[player.draw(ROWS.len())];
            let mut params = player.params();
            for name in ["plan", "log_entry"] {
                if params.contains_key(name) && player.draw(3) == 0 {
                    params.insert(name.to_owned(), player.odd_text().into());
                }
            }
            drop(player.make(row.name, &params));
        }
    }
}

fn other(text: &str, which: usize) -> Command {
    let (question, answer) = (text.to_owned(), "so".to_owned());
    let (message, severity, details) = (text.to_owned(), None, Map::new());
    let entry = match which {
        0 => return Command::AddItem { text: text.to_owned() },
        1 => return Command::CloseItem { id: 1 },
        2 => return Command::CancelRun { reason: text.to_owned() },
        3 => return Command::ReopenRun { reason: text.to_owned(), force: true },
        4 => Entry::Question { question, answer, answered_at: None },
        5 => Entry::Error { message, severity, details },
        _ => Entry::Note { text: text.to_owned(), tags: Vec::new() },
    };
    Command::RecordEntry { step: None, entry }
}

/// Returns the difference between the two texts if it is wanted, else the texts.
fn check(player: &Player<'_>) -> Result<Option<Difference>, String> {
    let (written, rendered) = (player.page.text(), player.text().unwrap_or_default());
    if player.state == RunState::new(player.state.run) || written == rendered {
        return Ok(None);
    }
    let base = player.state.history.placed.as_ref().map_or("", |it| &it.text);
    name(base, (&written, &rendered))
        .map(Some)
        .ok_or_else(|| format!("{base:?}\n-- written\n{written:?}\n-- rendered\n{rendered:?}"))
}

/// Returns why the texts differ, if they may.
fn name(base: &str, (written, rendered): (&str, &str)) -> Option<Difference> {
    let [before, after] = [written, rendered].map(without_remarks);
    if before == after {
        return Some(Difference::Remark);
    }
    let [one, two] = [written, rendered].map(StateFile::parse);
    let is_same = one.phase() == two.phase()
        && one.status() == two.status()
        && one.current_item() == two.current_item()
        && (one.plan(), one.rules(), one.items()) == (two.plan(), two.rules(), two.items())
        && (one.log(), one.archive_log()) == (two.log(), two.archive_log())
        && one.own_sections() == two.own_sections()
        && one.date() == two.date();
    let base = without_remarks(base);
    let mut others = after.iter().filter(|it| !before.contains(it));
    (is_same && others.all(|it| base.contains(it))).then_some(Difference::Form)
}

/// Returns the lines of a file without blank ones and comments.
fn without_remarks(text: &str) -> Vec<&str> {
    let is_remark = |it: &str| it.is_empty() || it.starts_with("<!--") && it.ends_with("-->");
    text.lines().map(str::trim).filter(|it| !is_remark(it)).collect()
}
