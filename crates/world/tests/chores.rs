//! Chores are done in real repositories with a remote of their own, and can be done once more.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use engine::{ChoreOutcome, GitDeed};
use runtime::World as _;
use tempfile::TempDir;
use world::{ChoreTimes, RealWorld, WorldSettings};

/// A repository with one commit on `main`, and a bare one that it calls `origin`.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.work()).unwrap();
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.git(&["config", "user.name", "Ann"]);
        bench.git(&["config", "user.email", "ann@example.org"]);
        bench.git(&["config", "commit.gpgsign", "false"]);
        bench.write("first.txt", "one");
        bench.git(&["add", "."]);
        bench.git(&["commit", "--quiet", "-m", "first"]);
        let remote = bench.folder.path().join("remote.git");
        let remote = remote.to_str().unwrap();
        bench.git(&["init", "--quiet", "--bare", remote]);
        bench.git(&["remote", "add", "origin", remote]);
        bench
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.work(), arguments)
    }

    /// The files that the last commit changed.
    fn last(&self) -> Vec<String> {
        let shown = self.git(&["show", "--name-only", "--format=", "HEAD"]);
        shown.lines().map(str::to_owned).collect()
    }

    fn count(&self) -> String {
        self.git(&["rev-list", "--count", "HEAD"])
    }

    fn do_it(&self, deed: &GitDeed) -> ChoreOutcome {
        self.do_with(deed, &[])
    }

    fn do_with(&self, deed: &GitDeed, texts: &[(String, String)]) -> ChoreOutcome {
        do_in(&self.work(), deed, texts, ChoreTimes::default())
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn do_in(
    root: &Path,
    deed: &GitDeed,
    texts: &[(String, String)],
    chore_times: ChoreTimes,
) -> ChoreOutcome {
    do_at((root, root), deed, texts, chore_times)
}

/// Does a chore of a run with a root and a folder of its own.
fn do_at(
    (root, home): (&Path, &Path),
    deed: &GitDeed,
    texts: &[(String, String)],
    chore_times: ChoreTimes,
) -> ChoreOutcome {
    let world = RealWorld::new(WorldSettings { chore_times, ..WorldSettings::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folders = (root.to_str().unwrap(), home.to_str().unwrap());
    runtime.block_on(world.do_chore(folders, deed, texts)).unwrap()
}

fn done(outcome: ChoreOutcome) -> (String, Vec<String>) {
    match outcome {
        ChoreOutcome::Done { detail, warnings } => (detail, warnings),
        ChoreOutcome::Failed { reason } => panic!("failed: {reason}"),
    }
}

fn failed(outcome: ChoreOutcome) -> String {
    match outcome {
        ChoreOutcome::Failed { reason } => reason,
        ChoreOutcome::Done { detail, .. } => panic!("done: {detail}"),
    }
}

fn rename(from: &str, to: &str) -> GitDeed {
    GitDeed::RenameBranch { from: from.to_owned(), to: to.to_owned() }
}

fn commit(paths: &[&str]) -> GitDeed {
    let paths = paths.iter().map(|it| (*it).to_owned()).collect();
    GitDeed::Commit { paths, message: "chore: batch".to_owned(), or_changed: false }
}

fn push(remote: &str) -> GitDeed {
    GitDeed::Push { remote: remote.to_owned() }
}

fn publish(body: Option<&str>) -> GitDeed {
    GitDeed::Publish {
        files: vec!["state.json".to_owned(), "summary.md".to_owned(), "absent.md".to_owned()],
        body: body.map(str::to_owned),
        closes: Some("12".to_owned()),
    }
}

#[test]
fn a_branch_is_renamed_once() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "-b", "feature/x"]);
    let deed = rename("feature/x", "fix/x");
    assert_eq!(done(bench.do_it(&deed)).0, "renamed branch `feature/x` to `fix/x`");
    assert_eq!(bench.git(&["branch", "--show-current"]), "fix/x");
    assert_eq!(done(bench.do_it(&deed)).0, "branch `feature/x` was renamed to `fix/x` before");
}

#[test]
fn a_branch_is_not_renamed_over_another_or_from_nothing() {
    let bench = Bench::new();
    bench.git(&["branch", "other"]);
    let reason = failed(bench.do_it(&rename("main", "other")));
    assert_eq!(reason, "there is a branch `other` already beside `main`");
    assert_eq!(failed(bench.do_it(&rename("a", "b"))), "there is no branch `a`");
    for wrong in ["-D", "--force", "a b", "a..b", "", "x;rm", "~"] {
        let outcome = bench.do_it(&rename("main", wrong));
        if wrong == "x;rm" {
            // Strange, but a name: no shell sees it.
            assert_eq!(done(outcome).0, "renamed branch `main` to `x;rm`");
            bench.git(&["branch", "-m", "x;rm", "main"]);
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
fn what_changed_is_committed_where_no_path_is_there() {
    let bench = Bench::new();
    bench.write("first.txt", "two");
    bench.write("new.txt", "new");
    let deed = GitDeed::Commit {
        paths: vec!["gone".to_owned()],
        message: "m".to_owned(),
        or_changed: true,
    };
    done(bench.do_it(&deed));
    assert_eq!(bench.last(), ["first.txt"]);
}

#[test]
fn a_message_or_a_path_is_never_a_command() {
    let bench = Bench::new();
    bench.write("$(touch x).txt", "a");
    bench.write("-f", "b");
    bench.write(":(top)c", "c");
    let deed = GitDeed::Commit {
        paths: vec!["$(touch x).txt".to_owned(), "-f".to_owned(), ":(top)c".to_owned()],
        message: "--amend; `touch y` $(touch z)".to_owned(),
        or_changed: false,
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
    assert_eq!(reason, "`git commit` failed: no such luck");
    fs::remove_file(hook).unwrap();
    done(bench.do_it(&commit(&["a.rs"])));
    assert_eq!(bench.last(), ["a.rs"]);
}

#[test]
fn a_branch_is_pushed_and_followed() {
    let bench = Bench::new();
    assert_eq!(done(bench.do_it(&push("origin"))).0, "pushed `main` to `origin`");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    done(bench.do_it(&push("origin")));
}

#[test]
fn a_push_needs_a_remote_by_its_name_and_a_branch() {
    let bench = Bench::new();
    for wrong in ["elsewhere", "--mirror", "https://example.org/x.git", ""] {
        let reason = failed(bench.do_it(&push(wrong)));
        assert!(reason.starts_with(&format!("there is no remote `{wrong}`")), "{reason}");
    }
    bench.git(&["checkout", "--quiet", "--detach"]);
    let reason = failed(bench.do_it(&push("origin")));
    assert_eq!(reason, "no branch is checked out (the head is detached): check one out");
}

#[test]
fn the_last_commit_gets_the_files_as_they_will_be() {
    let bench = Bench::new();
    done(bench.do_it(&push("origin")));
    bench.write("state.json", "{\"at\": \"last\"}\n");
    bench.write("summary.md", "# Done\n");
    bench.write("staged.txt", "staged");
    bench.git(&["add", "staged.txt"]);
    let texts = [("state.json".to_owned(), "{\"at\": \"end\"}\n".to_owned())];
    let (detail, warnings) = done(bench.do_with(&publish(Some("summary.md")), &texts));
    assert_eq!(
        detail,
        "added `state.json`, `summary.md` to the last commit; pushed `main` to `origin`"
    );
    // There is no pull request, or no `gh`.
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings.concat().contains("the pull request was not described"), "{warnings:?}");
    assert_eq!(bench.count(), "1");
    assert_eq!(bench.git(&["show", "HEAD:state.json"]), "{\"at\": \"end\"}");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    // Now it is recorded, and the file is written.
    bench.write("state.json", "{\"at\": \"end\"}\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "A  staged.txt");
    assert!(!bench.work().join(".git/milepost-index").exists());
    let (detail, _) = done(bench.do_with(&publish(None), &texts));
    assert_eq!(detail, "all was published");
}

#[test]
fn a_push_that_failed_is_made_up_for() {
    let bench = Bench::new();
    done(bench.do_it(&push("origin")));
    bench.write("summary.md", "# Done\n");
    let remote = bench.folder.path().join("remote.git");
    let away = bench.folder.path().join("away.git");
    fs::rename(&remote, &away).unwrap();
    let reason = failed(bench.do_it(&publish(None)));
    assert!(reason.starts_with("`git push` failed: "), "{reason}");
    fs::rename(&away, &remote).unwrap();
    assert_eq!(done(bench.do_it(&publish(None))).0, "pushed `main` to `origin`");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), git(&remote, &["rev-parse", "main"]));
}

#[test]
fn what_is_ignored_is_not_published() {
    let bench = Bench::new();
    bench.write(".gitignore", "state.json\n");
    bench.write("state.json", "{}");
    bench.write("summary.md", "# Done\n");
    let (detail, warnings) = done(bench.do_it(&publish(None)));
    assert_eq!(detail, "added `summary.md` to the last commit; pushed `main` to `origin`");
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn a_branch_that_follows_no_other_is_published_and_follows_its_own_then() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "-b", "feature/x"]);
    // Somebody pushed it without having it follow; the commit is replaced there.
    bench.git(&["push", "--quiet", "origin", "feature/x"]);
    bench.write("summary.md", "# Done\n");
    let (detail, warnings) = done(bench.do_it(&publish(None)));
    assert_eq!(detail, "added `summary.md` to the last commit; pushed `feature/x` to `origin`");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.git(&["rev-parse", "@{upstream}"]));
    assert_eq!(bench.git(&["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/feature/x");
    assert_eq!(done(bench.do_it(&publish(None))).0, "all was published");
}

#[test]
fn without_a_remote_or_a_branch_nothing_is_published() {
    let bench = Bench::new();
    bench.write("summary.md", "# Done\n");
    let before = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["remote", "rename", "origin", "elsewhere"]);
    let reason = failed(bench.do_it(&publish(None)));
    let told = "there is no remote `origin`: add it with `git remote add origin ADDRESS`";
    assert_eq!(reason, told);
    bench.git(&["remote", "rename", "elsewhere", "origin"]);
    bench.git(&["checkout", "--quiet", "--detach"]);
    let reason = failed(bench.do_it(&publish(None)));
    assert_eq!(reason, "no branch is checked out (the head is detached): check one out");
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), before, "nothing was amended either");
}

#[test]
fn what_others_sent_to_the_branch_is_never_written_over() {
    for is_fetched in [false, true] {
        for follows in [false, true] {
            let bench = Bench::new();
            let arguments: &[&str] = if follows { &["-u"] } else { &[] };
            bench.git(&[&["push", "--quiet"], arguments, &["origin", "main"]].concat());
            let other = bench.folder.path().join("other");
            git(bench.folder.path(), &["clone", "--quiet", "remote.git", "other"]);
            git(&other, &["checkout", "--quiet", "-B", "main", "origin/main"]);
            let ben = ["-c", "user.name=Ben", "-c", "user.email=ben@example.org"];
            let commit = ["commit", "--quiet", "--allow-empty", "-m", "theirs"];
            git(&other, &[&ben[..], &commit].concat());
            git(&other, &["push", "--quiet", "origin", "main"]);
            if is_fetched {
                bench.git(&["fetch", "--quiet", "origin"]);
            }
            bench.write("summary.md", "# Done\n");
            let reason = failed(bench.do_it(&publish(None)));
            assert!(reason.starts_with("`git push` failed: "), "{reason}");
            let remote = bench.folder.path().join("remote.git");
            assert_eq!(git(&remote, &["log", "-1", "--format=%s", "main"]), "theirs");
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
    done(do_in(&root, &publish(None), &[], ChoreTimes::default()));
    assert_eq!(bench.last(), [".specs/x/summary.md", "src/a.rs"]);
}

#[test]
fn a_branch_is_checked_out_again() {
    let bench = Bench::new();
    bench.git(&["branch", "feature/x"]);
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
    bench.git(&["branch", "feature/x"]);
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
