//! Which paths of a batch are committed: never those of a person, or of another repository. And what
//! the server itself wrote is never in its own way.

use std::{fs, path::Path};

use engine::{ChoreOutcome, GitDeed};
use runtime::LINT_IGNORE_TEXT;
use world::ChoreTimes;

use super::bench::{BRANCH, Bench, commit, do_at, done, failed, git, push};

/// The list for linters.
const LIST: &str = ".markdownlintignore";

fn commit_or_name(paths: &[&str]) -> GitDeed {
    let mut deed = commit(paths);
    if let GitDeed::Commit { or_changed, .. } = &mut deed {
        *or_changed = true;
    }
    deed
}

/// Makes a repository in the work tree, with a commit.
fn embed(bench: &Bench, path: &str) {
    let folder = bench.work().join(path);
    bench.write(&format!("{path}/theirs.txt"), "theirs");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    let ann = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    git(&folder, &[&ann[..], &["commit", "--quiet", "-m", "theirs"]].concat());
}

fn check_out(bench: &Bench) -> ChoreOutcome {
    let home = bench.work().join(".specs/x");
    fs::create_dir_all(&home).unwrap();
    let deed = GitDeed::Checkout { branch: BRANCH.to_owned(), from: None };
    do_at((&bench.work(), &home), &deed, &[], ChoreTimes::default())
}

/// Commits a file on the branch, and goes back to `main`, which has none.
fn leave_on_branch(bench: &Bench, path: &str, text: &str) {
    bench.write(path, text);
    bench.git(&["add", path]);
    bench.git(&["commit", "--quiet", "-m", path]);
    bench.git(&["checkout", "--quiet", "main"]);
}

#[test]
fn what_changed_is_only_named_where_no_path_is_there() {
    let bench = Bench::new();
    bench.write("first.txt", "a person's");
    bench.write("second.txt", "staged");
    bench.git(&["add", "second.txt"]);
    let before = bench.belongings(&[]);
    for (paths, missing) in [(&["gone"][..], true), (&[], false)] {
        let (detail, warnings) = done(bench.do_it(&commit_or_name(paths)));
        assert_eq!(detail, "nothing was committed");
        let told = [
            "not there, so not committed: `gone`",
            "changed but not listed, so left for you to commit: `first.txt`, `second.txt`",
            "there was nothing to commit",
        ];
        assert_eq!(warnings, told[usize::from(!missing)..]);
    }
    assert_eq!((bench.count().as_str(), bench.belongings(&[])), ("1", before));
}

#[test]
fn a_path_in_a_submodule_is_left_out() {
    let bench = Bench::new();
    embed(&bench, "sub");
    bench.git(&["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
    bench.git(&["commit", "--quiet", "-m", "sub"]);
    bench.write("sub/new.txt", "new");
    bench.write("a.rs", "a");
    let told = ["in another repository, so not committed: `sub/new.txt`"];
    assert_eq!(done(bench.do_it(&commit(&["sub/new.txt", "a.rs"]))).1, told);
    assert_eq!(bench.last(), ["a.rs"]);
    // The same where nobody fetched it.
    fs::remove_dir_all(bench.work().join("sub/.git")).unwrap();
    bench.write("b.rs", "b");
    assert_eq!(done(bench.do_it(&commit(&["sub/new.txt", "b.rs"]))).1, told);
    assert_eq!(bench.last(), ["b.rs"]);
}

#[test]
fn a_submodule_that_a_batch_names_is_committed() {
    let bench = Bench::new();
    embed(&bench, "sub");
    bench.git(&["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
    let (detail, warnings) = done(bench.do_it(&commit(&["sub"])));
    assert!(detail.starts_with("committed `sub` as "), "{detail} {warnings:?}");
}

#[test]
fn a_repository_in_the_work_tree_is_left_out() {
    let bench = Bench::new();
    embed(&bench, "vendor/lib");
    // One without a commit, which git could not even add.
    bench.write("vendor/bare/x.txt", "x");
    git(&bench.work().join("vendor/bare"), &["init", "--quiet"]);
    bench.write("vendor/ours.txt", "ours");
    let named = ["vendor/lib", "vendor/lib/theirs.txt", "vendor/bare/", "first.txt"];
    let (detail, warnings) = done(bench.do_it(&commit(&named)));
    assert_eq!(detail, "nothing was committed");
    let told = "`vendor/lib`, `vendor/lib/theirs.txt`, `vendor/bare`";
    assert_eq!(
        warnings,
        [
            format!("in another repository, so not committed: {told}"),
            "not known to git, and not committed: `vendor/ours.txt`".to_owned(),
            "nothing changed in `first.txt`".to_owned(),
        ]
    );
    let (_, warnings) = done(bench.do_it(&commit(&["vendor"])));
    assert_eq!(warnings, ["in another repository, so not committed: `vendor/bare`, `vendor/lib`"]);
    assert_eq!(bench.last(), ["vendor/ours.txt"]);
}

#[test]
fn a_file_that_git_is_not_to_look_at_is_left_out() {
    for mark in ["--skip-worktree", "--assume-unchanged"] {
        let bench = Bench::new();
        bench.write("lib/b.rs", "b");
        done(bench.do_it(&commit(&["lib"])));
        bench.git(&["update-index", mark, "first.txt", "lib/b.rs"]);
        bench.write("first.txt", "only here");
        bench.write("a.rs", "a");
        let (_, warnings) = done(bench.do_it(&commit(&["first.txt", "a.rs", "lib"])));
        let told = "marked as skip-worktree or assume-unchanged, so not committed: `first.txt`";
        assert_eq!(warnings, [told]);
        assert_eq!(bench.last(), ["a.rs"]);
    }
}

#[test]
fn a_new_file_outside_of_a_sparse_checkout_is_committed() {
    let bench = Bench::new();
    bench.write("in/a.rs", "a");
    bench.write("out/b.rs", "b");
    done(bench.do_it(&commit(&["in", "out"])));
    bench.git(&["sparse-checkout", "set", "in"]);
    bench.write("out/new.rs", "new");
    done(bench.do_it(&commit(&["out/new.rs"])));
    assert_eq!(bench.last(), ["out/new.rs"]);
}

#[test]
fn a_folder_that_looks_like_a_repository_is_one_of_the_repository_around_it() {
    let bench = Bench::new();
    let home = bench.work().join(".specs/x");
    for folder in ["refs", "objects"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    bench.write(".specs/x/HEAD", "ref: refs/heads/main\n");
    bench.write(".specs/x/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n");
    let outcome = do_at((&bench.work(), &home), &push("origin"), &[], ChoreTimes::default());
    assert_eq!(done(outcome).0, "pushed `feature/x` to `origin`");
    assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
}

#[test]
fn what_the_server_keeps_for_runs_does_not_keep_it_from_a_branch() {
    let bench = Bench::new();
    bench.write(".specs/patterns.json", "[]");
    bench.write(LIST, "mine\n");
    bench.git(&["add", ".specs", LIST]);
    bench.git(&["commit", "--quiet", "-m", "specs"]);
    bench.git(&["checkout", "--quiet", "-B", "main"]);
    bench.write(".specs/patterns.json", "[1]");
    for theirs in ["first.txt", LIST] {
        bench.write(theirs, "a person's");
        assert!(failed(check_out(&bench)).contains("changes that are not committed"));
        bench.git(&["checkout", "--quiet", theirs]);
    }
    assert_eq!(done(check_out(&bench)).0, "checked `feature/x` out");
    let kept = fs::read_to_string(bench.work().join(".specs/patterns.json")).unwrap();
    assert_eq!(kept, "[1]");
}

#[test]
fn the_list_for_linters_gives_way_to_that_of_a_branch_unless_somebody_changed_it() {
    for (text, gives_way) in [(LINT_IGNORE_TEXT, true), ("mine\n.specs/\n", false)] {
        let bench = Bench::new();
        leave_on_branch(&bench, LIST, "of the branch\n");
        bench.write(LIST, text);
        let outcome = check_out(&bench);
        let read = fs::read_to_string(bench.work().join(LIST)).unwrap();
        if gives_way {
            assert_eq!(done(outcome).0, "checked `feature/x` out");
            assert_eq!(read, "of the branch\n");
        } else {
            assert!(failed(outcome).contains(LIST));
            assert_eq!(read, text);
        }
    }
    // It is only that one file that gives way.
    let bench = Bench::new();
    let other = Path::new("docs").join(LIST);
    leave_on_branch(&bench, other.to_str().unwrap(), "of the branch\n");
    bench.write(LIST, LINT_IGNORE_TEXT);
    bench.write(other.to_str().unwrap(), "mine\n");
    assert!(failed(check_out(&bench)).contains(LIST));
    assert_eq!(fs::read_to_string(bench.work().join(other)).unwrap(), "mine\n");
}

#[test]
fn a_file_of_the_run_that_a_killed_server_staged_is_not_left_staged() {
    let bench = Bench::new();
    let home = bench.work().join(".specs/x");
    let state = ".specs/x/state.json";
    bench.write(state, "first");
    bench.git(&["add", state]);
    bench.git(&["commit", "--quiet", "-m", "state"]);
    // It was killed before it moved the branch to the commit that had this text.
    bench.write(state, "second");
    bench.git(&["add", state]);
    let publish = bench.publish(None);
    let texts = [("state.json".to_owned(), "third".to_owned())];
    done(do_at((&bench.work(), &home), &publish, &texts, ChoreTimes::default()));
    bench.write(state, "third");
    assert_eq!(bench.git(&["status", "--porcelain", "--", state]), "");
}
