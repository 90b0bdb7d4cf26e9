//! The rendered file beside what release 0.1 wrote, which changed the text with each event: a seeded
//! player drives both, and each difference that is wanted has a name.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine::{Command, Entry, RunState};
use serde_json::Map;

use super::{
    super::{super::state_file::StateFile, ROWS},
    player::{Player, workflow},
};

const SEEDS: u64 = 2_000;
/// How many things happen in one run.
const STEPS: usize = 25;
/// How much of what went wrong is shown.
const SHOWN: usize = 4;

/// A difference that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {}

impl Difference {
    const ALL: &[Self] = &[];
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
            match check(&player, &known) {
                Ok(differences) => known.extend(differences),
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
            drop(player.make(row.tool.name(), &params));
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

/// Returns the differences between the two texts that are wanted, or where they differ else.
fn check(player: &Player<'_>, known: &BTreeSet<Difference>) -> Result<Vec<Difference>, String> {
    let (written, rendered) = (player.page.text(), player.text().unwrap_or_default());
    if player.state == RunState::new(player.state.run) || written == rendered {
        return Ok(Vec::new());
    }
    name(player, known, (&written, &rendered)).map(|it| vec![it]).ok_or_else(|| {
        let base = player.state.history.placed.as_ref().map(|it| it.text.as_str());
        format!("{base:?}\n-- written\n{written:?}\n-- rendered\n{rendered:?}")
    })
}

/// Returns why the texts differ, if they may.
fn name(
    _player: &Player<'_>,
    _known: &BTreeSet<Difference>,
    (written, rendered): (&str, &str),
) -> Option<Difference> {
    let _ = [written, rendered].map(StateFile::parse);
    None
}
