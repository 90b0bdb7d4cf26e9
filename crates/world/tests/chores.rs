//! Chores are done in real repositories with a remote of their own, and can be done once more.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "chores/bench.rs"]
mod bench;
#[path = "chores/branches.rs"]
mod branches;
#[path = "chores/names.rs"]
mod names;
#[path = "chores/paths.rs"]
mod paths;
#[path = "chores/walk.rs"]
mod walk;

use std::{fs, path::Path, process::Command, time::Duration};

use bench::{BRANCH, Bench, commit, do_at, do_in, done, failed, git, push, rename};
use engine::GitDeed;
use world::ChoreTimes;

#[test]
fn a_branch_is_renamed_once() {
    let bench = Bench::new();
    let deed = rename("feature/x", "fix/x");
    assert_eq!(done(bench.do_it(&deed)).0, "renamed branch `feature/x` to `fix/x`");
    assert_eq!(bench.git(&["branch", "--show-current"]), "fix/x");
    assert_eq!(done(bench.do_it(&deed)).0, "branch `feature/x` was renamed to `fix/x` before");
}

#[test]
fn a_branch_is_not_renamed_over_another_or_from_nothing() {
    let bench = Bench::new();
    bench.git(&["branch", "other"]);
    let reason = failed(bench.do_it(&rename(BRANCH, "other")));
    assert_eq!(reason, "there is a branch `other` already beside `feature/x`");
    let reason = failed(bench.do_it(&rename("main", "mine")));
    assert_eq!(reason, "`main` is not renamed: others rely on it");
    let reason = failed(bench.do_it(&rename("gone", "other")));
    assert!(reason.contains("`other` is another one"), "{reason}");
    assert_eq!(failed(bench.do_it(&rename("a", "b"))), "there is no branch `a`");
    for wrong in ["-D", "--force", "a b", "a..b", "", "x;rm", "~"] {
        let outcome = bench.do_it(&rename(BRANCH, wrong));
        if wrong == "x;rm" {
            // Strange, but a name: no shell sees it.
            assert_eq!(done(outcome).0, "renamed branch `feature/x` to `x;rm`");
            bench.git(&["branch", "-m", "x;rm", BRANCH]);
        } else {
            assert_eq!(failed(outcome), format!("`{wrong}` cannot name a branch"));
        }
    }
}

#[test]
fn only_the_paths_of_a_batch_are_committed() {
    let bench = Bench::new();
    bench.write("src/a.rs", "a");
    bench.write("src/b.rs", "b");
    bench.write("staged.txt", "staged");
    bench.git(&["add", "staged.txt"]);
    bench.write("first.txt", "two");
    bench.write("left.txt", "left");
    let absolute = bench.work().join("src/b.rs");
    let paths = ["./src/../src/a.rs", absolute.to_str().unwrap(), "gone.rs", "/etc/passwd", "../x"];
    let (detail, warnings) = done(bench.do_it(&commit(&paths)));
    assert!(detail.starts_with("committed `src/a.rs`, `src/b.rs` as "), "{detail}");
    assert_eq!(
        warnings,
        [
            "not there, so not committed: `gone.rs`",
            "not in the repository, so not committed: `/etc/passwd`, `../x`",
            "not known to git, and not committed: `left.txt`",
        ]
    );
    assert_eq!(bench.last(), ["src/a.rs", "src/b.rs"]);
    // What else was staged is staged still.
    let status = bench.git(&["status", "--porcelain"]);
    assert_eq!(status, "M first.txt\nA  staged.txt\n?? left.txt");
}

#[test]
fn what_a_run_keeps_for_itself_is_not_told_as_left_behind() {
    for (home, is_told) in [(".specs/x", false), ("deep/.specs/x", false), ("plain/x", true)] {
        let bench = Bench::new();
        let beside = Path::new(home).parent().unwrap().join("index.json");
        bench.write(&format!("{home}/state.json"), "{}");
        bench.write(beside.to_str().unwrap(), "[]");
        bench.write(".milepost/lock", "");
        bench.write(".markdownlintignore", ".specs/\n");
        bench.write("a.rs", "a");
        bench.write("left.txt", "left");
        let folders = (bench.work(), bench.work().join(home));
        let times = ChoreTimes::default();
        let outcome = do_at((&folders.0, &folders.1), &commit(&["a.rs"]), &[], times);
        let plain = if is_told { ", `plain/index.json`" } else { "" };
        let told = format!("not known to git, and not committed: `left.txt`{plain}");
        assert_eq!(done(outcome).1, [told]);
    }
}

#[test]
fn nothing_to_commit_is_no_failure() {
    let bench = Bench::new();
    bench.write("a.rs", "a");
    done(bench.do_it(&commit(&["a.rs"])));
    // The crash came before it was recorded.
    let (detail, warnings) = done(bench.do_it(&commit(&["a.rs"])));
    assert_eq!(detail, "nothing was committed");
    assert_eq!(warnings, ["nothing changed in `a.rs`"]);
    let (_, warnings) = done(bench.do_it(&commit(&[])));
    assert_eq!(warnings, ["there was nothing to commit"]);
    assert_eq!(bench.count(), "2");
}

#[test]
fn a_path_of_which_nothing_can_be_committed_does_not_hold_up_the_others() {
    let bench = Bench::new();
    fs::create_dir(bench.work().join("empty")).unwrap();
    bench.write("lib/a.rs", "a");
    bench.write("lib/b.rs", "b");
    let (detail, _) = done(bench.do_it(&commit(&["empty", "first.txt", "lib"])));
    assert!(detail.starts_with("committed `lib` as "), "{detail}");
    assert_eq!(bench.last(), ["lib/a.rs", "lib/b.rs"]);
}

#[test]
fn a_file_that_was_taken_away_is_committed_as_such() {
    let bench = Bench::new();
    fs::remove_file(bench.work().join("first.txt")).unwrap();
    done(bench.do_it(&commit(&["first.txt"])));
    assert_eq!(bench.git(&["ls-files"]), "");
}

#[test]
fn a_message_or_a_path_is_never_a_command() {
    let bench = Bench::new();
    bench.write("$(touch x).txt", "a");
    bench.write("-f", "b");
    bench.write(":(top)c", "c");
    let deed = GitDeed::Commit {
        branch: BRANCH.to_owned(),
        paths: vec!["$(touch x).txt".to_owned(), "-f".to_owned(), ":(top)c".to_owned()],
        message: "--amend; `touch y` $(touch z)".to_owned(),
        or_changed: false,
        base: None,
        is_taken: false,
    };
    done(bench.do_it(&deed));
    assert_eq!(bench.git(&["log", "-1", "--format=%s"]), "--amend; `touch y` $(touch z)");
    assert_eq!(bench.count(), "2");
    assert!(!bench.work().join("x").exists() && !bench.work().join("z").exists());
}

#[test]
fn ignored_files_are_left_alone() {
    let bench = Bench::new();
    bench.write(".gitignore", "*.log\n");
    bench.write("a.log", "a");
    let (_, warnings) = done(bench.do_it(&commit(&["a.log", ".gitignore"])));
    assert_eq!(warnings, ["ignored by git, so not committed: `a.log`"]);
    assert_eq!(bench.last(), [".gitignore"]);
}

#[test]
fn a_hook_that_refuses_keeps_the_commit_due() {
    let bench = Bench::new();
    bench.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'no such luck' >&2\nexit 1\n");
    let hook = bench.work().join(".git/hooks/pre-commit");
    Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    bench.write("a.rs", "a");
    let reason = failed(bench.do_it(&commit(&["a.rs"])));
    assert_eq!(reason, "your hook `pre-commit` refused: no such luck");
    fs::remove_file(hook).unwrap();
    done(bench.do_it(&commit(&["a.rs"])));
    assert_eq!(bench.last(), ["a.rs"]);
}

#[test]
fn a_branch_is_pushed_and_followed() {
    let bench = Bench::new();
    assert_eq!(done(bench.do_it(&push("origin"))).0, "pushed `feature/x` to `origin`");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    let again = done(bench.do_it(&push("origin"))).0;
    assert_eq!(again, "`origin` has `feature/x` as it is here");
}

#[test]
fn a_push_needs_a_remote_by_its_name_and_a_branch() {
    let bench = Bench::new();
    for wrong in ["elsewhere", "--mirror", "https://example.org/x.git", ""] {
        let reason = failed(bench.do_it(&push(wrong)));
        assert!(reason.starts_with(&format!("there is no remote `{wrong}`")), "{reason}");
    }
    let unknown = GitDeed::Push {
        branch: String::new(),
        remote: "origin".to_owned(),
        base: None,
        is_taken: false,
    };
    let reason = failed(bench.do_it(&unknown));
    assert!(reason.starts_with("no branch is checked out (the head is detached)"), "{reason}");
}

#[test]
fn the_last_commit_gets_the_files_as_they_will_be() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    done(bench.do_it(&push("origin")));
    bench.write("state.json", "{\"at\": \"last\"}\n");
    bench.write("summary.md", "# Done\n");
    bench.write("staged.txt", "staged");
    bench.git(&["add", "staged.txt"]);
    let texts = [("state.json".to_owned(), "{\"at\": \"end\"}\n".to_owned())];
    let (detail, warnings) = done(bench.do_with(&bench.publish(Some("summary.md")), &texts));
    assert_eq!(
        detail,
        "added `state.json`, `summary.md` to the last commit; pushed `feature/x` to `origin`"
    );
    // There is no pull request, or no `gh`.
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings.concat().contains("the pull request was not described"), "{warnings:?}");
    assert_eq!(bench.count(), "2");
    assert_eq!(bench.git(&["show", "HEAD:state.json"]), "{\"at\": \"end\"}");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    // Now it is recorded, and the file is written.
    bench.write("state.json", "{\"at\": \"end\"}\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "A  staged.txt");
    let (detail, _) = done(bench.do_with(&bench.publish(None), &texts));
    assert_eq!(detail, "all was published");
}

#[test]
fn a_push_that_failed_is_made_up_for() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    done(bench.do_it(&push("origin")));
    bench.write("summary.md", "# Done\n");
    let remote = bench.remote();
    let away = bench.folder.path().join("away.git");
    fs::rename(&remote, &away).unwrap();
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.starts_with("`git ls-remote` failed: "), "{reason}");
    fs::rename(&away, &remote).unwrap();
    let told = "added `summary.md` to the last commit; pushed `feature/x` to `origin`";
    assert_eq!(done(bench.do_it(&bench.publish(None))).0, told);
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), git(&remote, &["rev-parse", BRANCH]));
}

#[test]
fn what_is_ignored_is_not_published() {
    let bench = Bench::new();
    bench.write(".gitignore", "state.json\n");
    bench.write("state.json", "{}");
    bench.write("summary.md", "# Done\n");
    let (detail, warnings) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "committed `summary.md`; pushed `feature/x` to `origin`");
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn a_branch_that_follows_no_other_is_published_and_follows_its_own_then() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.write("summary.md", "# Done\n");
    let (detail, warnings) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "added `summary.md` to the last commit; pushed `feature/x` to `origin`");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    assert_eq!(bench.git(&["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/feature/x");
    assert_eq!(done(bench.do_it(&bench.publish(None))).0, "all was published");
}

#[test]
fn without_a_remote_or_a_branch_nothing_is_published() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.write("summary.md", "# Done\n");
    let before = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["remote", "rename", "origin", "elsewhere"]);
    let reason = failed(bench.do_it(&bench.publish(None)));
    let told = "there is no remote `origin`: add it with `git remote add origin ADDRESS`";
    assert_eq!(reason, told);
    bench.git(&["remote", "rename", "elsewhere", "origin"]);
    bench.git(&["branch", "-m", "renamed"]);
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.starts_with("there is no branch `feature/x`"), "{reason}");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), before, "nothing was amended either");
}

#[test]
fn what_others_sent_to_the_branch_is_never_written_over() {
    for is_fetched in [false, true] {
        for is_sent_by_us in [false, true] {
            let bench = Bench::new();
            bench.work_on("a.rs");
            if is_sent_by_us {
                done(bench.do_it(&push("origin")));
            } else {
                bench.git(&["push", "--quiet", "origin", BRANCH]);
            }
            let other = bench.folder.path().join("other");
            git(bench.folder.path(), &["clone", "--quiet", "remote.git", "other"]);
            git(&other, &["checkout", "--quiet", BRANCH]);
            let ben = ["-c", "user.name=Ben", "-c", "user.email=ben@example.org"];
            let commit = ["commit", "--quiet", "--allow-empty", "-m", "theirs"];
            git(&other, &[&ben[..], &commit].concat());
            git(&other, &["push", "--quiet", "origin", BRANCH]);
            if is_fetched {
                bench.git(&["fetch", "--quiet", "origin"]);
            }
            bench.write("summary.md", "# Done\n");
            let before = bench.git(&["rev-parse", "HEAD"]);
            let reason = failed(bench.do_it(&bench.publish(None)));
            assert!(reason.contains("`git pull origin feature/x`"), "{reason}");
            assert_eq!(bench.git(&["rev-parse", "HEAD"]), before, "nothing is committed either");
            assert_eq!(git(&bench.remote(), &["log", "-1", "--format=%s", BRANCH]), "theirs");
        }
    }
}

#[test]
fn the_root_may_be_a_folder_of_the_repository() {
    let bench = Bench::new();
    bench.write(".specs/x/summary.md", "# Done\n");
    bench.write("src/a.rs", "a");
    let root = bench.work().join(".specs/x");
    done(do_in(&root, &commit(&["src/a.rs"]), &[], ChoreTimes::default()));
    assert_eq!(bench.last(), ["src/a.rs"]);
    done(do_in(&root, &bench.publish(None), &[], ChoreTimes::default()));
    assert_eq!(bench.last(), [".specs/x/summary.md", "src/a.rs"]);
}

#[test]
fn a_branch_is_checked_out_again() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "main"]);
    let deed = |name: &str| GitDeed::Checkout { branch: name.to_owned(), from: None };
    let (detail, warnings) = done(bench.do_it(&deed("feature/x")));
    assert_eq!(detail, "checked `feature/x` out");
    assert_eq!(warnings, ["`main` was checked out, and not `feature/x`"]);
    assert_eq!(done(bench.do_it(&deed("feature/x"))).1, Vec::<String>::new());
    assert_eq!(failed(bench.do_it(&deed("nowhere"))), "there is no branch `nowhere`");
    assert_eq!(failed(bench.do_it(&deed("--force"))), "`--force` cannot name a branch");
}

#[test]
fn a_branch_that_is_not_there_is_made_of_another() {
    let bench = Bench::new();
    let deed = |name: &str, from: &str| {
        let (branch, from) = (name.to_owned(), Some(from.to_owned()));
        GitDeed::Checkout { branch, from }
    };
    let told = "made branch `feature/y` of `feature/x`, and checked it out";
    assert_eq!(done(bench.do_it(&deed("feature/y", "feature/x"))).0, told);
    let again = done(bench.do_it(&deed("feature/y", "nowhere"))).0;
    assert_eq!(again, "`feature/y` is checked out already");
    let reason = failed(bench.do_it(&deed("feature/z", "nowhere")));
    assert_eq!(reason, "there is no branch `feature/z`, nor `nowhere` to make it of");
    assert_eq!(failed(bench.do_it(&deed("z", "-x"))), "`-x` cannot name a branch");
}

#[test]
fn without_a_repository_nothing_is_done_and_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_, warnings) = done(do_in(folder.path(), &push("origin"), &[], ChoreTimes::default()));
    assert_eq!(warnings, ["there is no repository here, so nothing was done"]);
}

#[test]
fn a_program_that_takes_too_long_is_given_up() {
    let bench = Bench::new();
    bench.write(".git/hooks/pre-commit", "#!/bin/sh\nsleep 5\n");
    Command::new("chmod")
        .arg("+x")
        .arg(bench.work().join(".git/hooks/pre-commit"))
        .status()
        .unwrap();
    bench.write("a.rs", "a");
    let times = ChoreTimes { near: Duration::from_secs(1), ..ChoreTimes::default() };
    let reason = failed(do_in(&bench.work(), &commit(&["a.rs"]), &[], times));
    assert_eq!(reason, "`git` took longer than 1 seconds");
    // It left no lock behind.
    fs::remove_file(bench.work().join(".git/hooks/pre-commit")).unwrap();
    done(bench.do_it(&commit(&["a.rs"])));
}

#[test]
fn a_branch_that_held_commits_of_its_own_before_the_run_keeps_its_name() {
    let bench = Bench::new();
    let rename = |from: &str, base: String| GitDeed::RenameBranch {
        from: from.to_owned(),
        to: "fix/other".to_owned(),
        base: Some(base),
    };
    bench.git(&["checkout", "-q", "-b", "bob/wip"]);
    bench.write("first.txt", "bob");
    bench.git(&["commit", "-q", "-am", "wip"]);
    let base = bench.git(&["rev-parse", "HEAD"]);
    let told = failed(bench.do_it(&rename("bob/wip", base)));
    assert!(told.contains("held commits of its own"), "{told}");
    let base = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["checkout", "-q", "-b", "feature/new"]);
    done(bench.do_it(&rename("feature/new", base)));
}
