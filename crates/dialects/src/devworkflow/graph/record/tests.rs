//! The rendered file of a session beside what release 0.1 wrote, which changed the record with each
//! event: a seeded player drives both.

mod play;
mod release_0_1;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::play::{Player, workflows};

const SEEDS: u64 = 1_000;
/// How many things happen in one run.
const STEPS: usize = 25;
/// How much of what went wrong is shown.
const SHOWN: usize = 4;

#[test]
fn a_rendered_session_says_what_was_written_event_by_event() {
    let workflows = workflows();
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let at = usize::try_from(seed).unwrap() % workflows.len();
        let mut player = Player::new(&workflows[at], seed);
        for _ in 0..STEPS {
            if let Err(problem) = check(&player) {
                wrong.push(format!("## seed {seed}\n{problem}\n{}", player.story()));
                break;
            }
            player.play();
        }
    }
    wrong.sort_by_key(String::len);
    let shown: Vec<&str> = wrong.iter().take(SHOWN).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} runs differ\n{}", wrong.len(), shown.join("\n"));
}

/// Returns where the two texts differ.
fn check(player: &Player) -> Result<(), String> {
    let (written, rendered) = (player.page.text(), player.rendered());
    if written == rendered {
        return Ok(());
    }
    let [before, after] =
        [&written, &rendered].map(|it| serde_json::from_str::<Value>(it).unwrap());
    let keys = [&before, &after].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
    let keys = keys.collect::<BTreeSet<_>>().into_iter().filter(|it| before[*it] != after[*it]);
    let keys: Vec<String> =
        keys.map(|it| format!("{it}: {} -> {}", before[it], after[it])).collect();
    Err(if keys.is_empty() { format!("{written}\n{rendered}") } else { keys.join("\n") })
}
