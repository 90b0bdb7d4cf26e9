//! The rendered file of a session beside what release 0.1 wrote, which changed the record with each
//! event: a seeded player drives both, and each difference that is wanted has a name.

mod play;
mod release_0_1;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::play::{Player, workflows};

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
fn a_rendered_session_says_what_was_written_event_by_event() {
    let workflows = workflows();
    let mut met = BTreeMap::<Difference, u64>::new();
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let at = usize::try_from(seed).unwrap() % workflows.len();
        let mut player = Player::new(&workflows[at], seed);
        let mut known = BTreeSet::new();
        for _ in 0..STEPS {
            match check(&player, &known) {
                Ok(differences) => known.extend(differences),
                Err(problem) => {
                    wrong.push(format!("## seed {seed}\n{problem}\n{}", player.story()));
                    break;
                }
            }
            player.play();
        }
        known.into_iter().for_each(|it| *met.entry(it).or_default() += 1);
    }
    wrong.sort_by_key(String::len);
    let shown: Vec<&str> = wrong.iter().take(SHOWN).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} runs differ\n{}", wrong.len(), shown.join("\n"));
    let unmet: Vec<_> = Difference::ALL.iter().filter(|it| !met.contains_key(it)).collect();
    assert!(unmet.is_empty(), "never met: {unmet:?}; met: {met:?}");
}

/// Returns the differences between the two texts that are wanted, or where they differ else.
fn check(player: &Player, known: &BTreeSet<Difference>) -> Result<Vec<Difference>, String> {
    let (written, rendered) = (player.page.text(), player.rendered());
    if written == rendered {
        return Ok(Vec::new());
    }
    let [before, after] =
        [&written, &rendered].map(|it| serde_json::from_str::<Value>(it).unwrap());
    let keys: BTreeSet<&String> =
        [&before, &after].into_iter().filter_map(Value::as_object).flat_map(|it| it.keys()).collect();
    let (mut wanted, mut wrong) = (Vec::new(), Vec::new());
    for key in keys.into_iter().filter(|it| before[*it] != after[*it]) {
        match name(player, known, key) {
            Some(difference) => wanted.push(difference),
            None => wrong.push(format!("{key}: {} -> {}", before[key], after[key])),
        }
    }
    if wanted.is_empty() && wrong.is_empty() {
        wrong.push(format!("-- written\n{written}\n-- rendered\n{rendered}"));
    }
    if wrong.is_empty() { Ok(wanted) } else { Err(wrong.join("\n")) }
}

/// Returns why a value differs, if it may.
fn name(_player: &Player, _known: &BTreeSet<Difference>, _key: &str) -> Option<Difference> {
    None
}
