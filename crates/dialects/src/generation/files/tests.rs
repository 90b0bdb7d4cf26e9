//! The rendered file beside what release 0.1 wrote, which folded each event into the text: a seeded
//! player drives both, and each difference that is wanted has a name.

mod compare;
mod play;
mod play_edits;
mod release_0_1;

use std::collections::{BTreeMap, BTreeSet};

use self::{compare::Difference, play::Player};

/// How many runs are played.
const SEEDS: u64 = 2_000;
/// How many commands a run is played for.
const COMMANDS: u32 = 25;

/// How much of what went wrong is shown.
const SHOWN: usize = 6;

#[test]
fn a_rendered_file_says_what_was_written_event_by_event() {
    let mut met = BTreeMap::<Difference, u64>::new();
    let mut wrong = BTreeMap::<String, (u64, u64, String)>::new();
    for seed in 0..SEEDS {
        let mut player = Player::new(seed);
        let mut known = BTreeSet::new();
        for _ in 0..COMMANDS {
            if !player.play() {
                continue;
            }
            match compare::check(&player, &known) {
                Ok(differences) => known.extend(differences),
                Err(problem) => {
                    let words = |it: &str| it.split(':').next().unwrap_or_default().to_owned();
                    let kind = problem.lines().map(words).collect::<Vec<_>>().join(" ");
                    let told = format!("{problem}\n{}", player.story());
                    let kept = wrong.entry(kind).or_insert((0, seed, told.clone()));
                    kept.0 += 1;
                    if told.len() < kept.2.len() {
                        (kept.1, kept.2) = (seed, told);
                    }
                    break;
                }
            }
        }
        known.into_iter().for_each(|it| *met.entry(it).or_default() += 1);
    }
    let mut wrong: Vec<_> = wrong.into_values().collect();
    wrong.sort_by_key(|it| it.2.len());
    let total: u64 = wrong.iter().map(|it| it.0).sum();
    let shown =
        wrong.iter().take(SHOWN).map(|it| format!("## {} times, seed {}\n{}", it.0, it.1, it.2));
    let shown: Vec<String> = shown.collect();
    assert!(wrong.is_empty(), "{total} runs differ\n{}", shown.join("\n"));
    let unmet: Vec<_> = Difference::ALL.iter().filter(|it| !met.contains_key(it)).collect();
    assert!(unmet.is_empty(), "never met: {unmet:?}; met: {met:?}");
}
