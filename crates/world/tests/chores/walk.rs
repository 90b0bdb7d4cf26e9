//! A person does this and that with git between the chores of a run. After each chore everything of
//! theirs is where they put it, and every commit that was anywhere is there still.

use std::collections::BTreeMap;

use engine::ChoreOutcome;

use crate::bench::{BRANCH, Bench, commit, git, push};

/// How much a person and a run do together.
const TURNS: usize = 40;
/// How many times it is played.
const SEEDS: u64 = 12;
/// What the run writes itself.
const OWN: [&str; 3] = ["state.json", "summary.md", "batch.rs"];

/// What there is before and after a chore.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EvalContext {
    belongings: String,
    /// Without the paths that the run writes itself.
    kept: String,
    tip: Option<String>,
    remote: BTreeMap<String, String>,
}

struct Walk {
    bench: Bench,
    chance: u64,
    turn: usize,
    /// What was done, to be told when it went wrong.
    story: Vec<String>,
    done: usize,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let (bench, story) = (Bench::new(), vec![format!("seed {seed}")]);
        bench.git(&["branch", "mine"]);
        Self { bench, chance: seed, turn: 0, story, done: 0 }
    }

    /// Returns a number below `end`: `SplitMix64`.
    fn below(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let at = self.below(all.len() as u64);
        all[usize::try_from(at).unwrap()]
    }

    /// A person runs git, which may refuse.
    fn person(&mut self) {
        let branch = self.pick(&[BRANCH, BRANCH, "main", "mine", "other"]);
        let file = self.pick(&["first.txt", "second.txt", "batch.rs", "summary.md"]);
        let (name, text) = (format!("v{}", self.turn), format!("person {}\n", self.turn));
        let remote_branch = format!("HEAD:refs/heads/{}", self.pick(&["main", "theirs", BRANCH]));
        let commands: &[&[&str]] = match self.below(30) {
            0..=5 => &[&["checkout", "--quiet", branch]],
            6 => &[&["checkout", "--quiet", "--detach"]],
            7 => &[&["checkout", "--quiet", "-b", "other"]],
            8..=10 => {
                self.bench.write(file, &text);
                &[&["add", file]]
            }
            11 | 12 => {
                self.bench.write(file, &text);
                &[]
            }
            13..=15 => {
                self.bench.write(file, &text);
                &[&["add", file], &["commit", "--quiet", "-m", &name]]
            }
            16 => &[&["commit", "--quiet", "--amend", "--allow-empty", "-m", &name]],
            17 => &[&["stash", "push", "--quiet"]],
            18 => &[&["stash", "pop", "--quiet"]],
            19 => &[&["tag", &name]],
            20 => &[&["push", "--quiet", "origin", &remote_branch]],
            21 => &[&["push", "--quiet", "--force", "origin", &remote_branch]],
            22 => &[&["reset", "--quiet", "--hard", "HEAD~1"]],
            23 => &[&["reset", "--quiet", "--soft", "HEAD~1"]],
            24 => &[&["merge", "--quiet", "--no-edit", branch]],
            25 => &[&["rebase", "--quiet", branch]],
            26 => &[&["merge", "--abort"], &["rebase", "--abort"]],
            27 => &[&["fetch", "--quiet"]],
            28 => &[&["worktree", "add", "--quiet", "../tree", branch]],
            _ => &[&["worktree", "remove", "--force", "../tree"]],
        };
        for command in commands {
            let went = if self.bench.fumble(command) { "" } else { " (refused)" };
            self.story.push(format!("git {}{went}", command.join(" ")));
        }
    }

    fn look(&self) -> EvalContext {
        let listed = ["for-each-ref", "--format=%(refname) %(objectname)"];
        let remote = git(&self.bench.remote(), &listed);
        let pair = |it: &str| it.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let tip = ["for-each-ref", "--format=%(objectname)", "refs/heads/feature/x"];
        EvalContext {
            belongings: self.bench.belongings(&[]),
            kept: self.bench.belongings(&OWN),
            tip: Some(self.bench.git(&tip)).filter(|it| !it.is_empty()),
            remote: remote.lines().filter_map(pair).collect(),
        }
    }

    /// The server does a chore.
    fn chore(&mut self) {
        let deed = match self.below(4) {
            0 => {
                let text = format!("batch {}\n", self.turn);
                self.bench.write("batch.rs", &text);
                commit(&["batch.rs"])
            }
            1 => push("origin"),
            _ => self.bench.publish(None),
        };
        let texts = [("state.json".to_owned(), format!("{{\"at\": {}}}\n", self.turn))];
        let before = self.look();
        let outcome = self.bench.do_with(&deed, &texts);
        self.story.push(format!("{}: {outcome:?}", deed.word()));
        let after = self.look();
        match outcome {
            ChoreOutcome::Failed { .. } => assert_eq!(after, before, "{}", self.tell()),
            ChoreOutcome::Done { .. } => {
                self.done += 1;
                self.check(&before, &after);
            }
        }
    }

    fn check(&self, before: &EvalContext, after: &EvalContext) {
        let story = self.tell();
        assert_eq!(after.kept, before.kept, "{story}");
        let others = |it: &EvalContext| {
            let mut remote = it.remote.clone();
            remote.remove("refs/heads/feature/x");
            remote
        };
        assert_eq!(others(after), others(before), "{story}");
        if let (Some(old), Some(new)) = (&before.tip, &after.tip) {
            self.check_kept(old, new);
        }
        let far = |it: &EvalContext| it.remote.get("refs/heads/feature/x").cloned();
        if let (Some(old), Some(new)) = (far(before), far(after)) {
            self.check_kept(&old, &new);
        }
    }

    /// Checks that a commit is part of what came in its place, or that only files of the run were
    /// added to it, and that it was neither there before the run nor anybody else's.
    fn check_kept(&self, old: &str, new: &str) {
        if self.bench.fumble(&["merge-base", "--is-ancestor", old, new]) {
            return;
        }
        let story = self.tell();
        let said = |it: &str| self.bench.git(&["log", "-1", "--format=%P %an %ae %ad %B", it]);
        assert_eq!(said(old), said(new), "{story}");
        let changed = self.bench.git(&["diff", "--name-only", old, new]);
        assert!(changed.lines().all(|it| OWN.contains(&it)), "{changed}\n{story}");
        assert_ne!(old, self.bench.base, "{story}");
        let holding = self.bench.git(&["for-each-ref", "--format=%(refname)", "--contains", old]);
        assert_eq!(holding, "", "{story}");
    }

    fn tell(&self) -> String {
        self.story.join("\n")
    }
}

/// Returns the seeds of this run: `MILEPOST_TEST_SEED` alone, to repeat a failure.
#[expect(clippy::disallowed_methods, reason = "a test has no configuration but this")]
fn seeds() -> Vec<u64> {
    let given = std::env::var("MILEPOST_TEST_SEED").ok().and_then(|it| it.parse().ok());
    given.map_or_else(|| (0..SEEDS).collect(), |it| vec![it])
}

#[test]
fn whatever_a_person_does_between_the_chores_everything_of_theirs_is_where_it_was() {
    let mut done = 0;
    for seed in seeds() {
        let mut walk = Walk::new(seed);
        for turn in 0..TURNS {
            walk.turn = turn;
            if walk.below(3) == 0 { walk.chore() } else { walk.person() }
        }
        done += walk.done;
    }
    assert!(0 < done, "no chore was ever done");
}
