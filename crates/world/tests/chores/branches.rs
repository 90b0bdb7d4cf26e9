//! Only the run's own branch is moved, only its own commits are replaced, and only to its own name
//! anything is pushed, whatever the person does with the repository meanwhile.

use std::fs;

use engine::{GitDeed, Pushed, RunBranch};

use crate::bench::{BRANCH, Bench, commit, done, failed, git, push};

/// A run with a commit of its agent, whose summary is written. The person works on `main` again, with
/// a commit that nobody has, something staged and something changed.
fn left_for_main() -> Bench {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.write("summary.md", "# Done\n");
    bench.git(&["checkout", "--quiet", "main"]);
    bench.work_on("private.txt");
    bench.write("staged.txt", "staged");
    bench.git(&["add", "staged.txt"]);
    bench.write("first.txt", "changed");
    bench
}

#[test]
fn a_batch_is_committed_only_while_the_branch_of_the_run_is_checked_out() {
    let bench = left_for_main();
    bench.write("b.rs", "b");
    let before = (bench.belongings(&[]), bench.tip(BRANCH));
    let reason = failed(bench.do_it(&commit(&["b.rs"])));
    let told = "`main` is checked out, and the run works on `feature/x`: check `feature/x` out, \
                then call again";
    assert_eq!(reason, told);
    assert_eq!((bench.belongings(&[]), bench.tip(BRANCH)), before);
    bench.git(&["checkout", "--quiet", "--detach"]);
    let reason = failed(bench.do_it(&commit(&["b.rs"])));
    assert!(reason.starts_with("no branch is checked out (the head is detached), and"), "{reason}");
}

#[test]
fn a_branch_is_pushed_whatever_is_checked_out() {
    let bench = left_for_main();
    let before = bench.belongings(&[]);
    done(bench.do_it(&push("origin")));
    assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
    assert_eq!(bench.far("main"), bench.base, "nobody asked for a push of `main`");
    assert_eq!(bench.belongings(&[]), before);
}

#[test]
fn a_run_is_published_whatever_is_checked_out() {
    let bench = left_for_main();
    let work = bench.tip(BRANCH);
    done(bench.do_it(&push("origin")));
    let before = bench.belongings(&[]);
    let (detail, _) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "added `summary.md` to the last commit; pushed `feature/x` to `origin`");
    assert_eq!(bench.belongings(&[]), before);
    assert_ne!(bench.tip(BRANCH), work);
    assert_eq!(bench.tip("feature/x^"), bench.base);
    assert_eq!((bench.far(BRANCH), bench.far("main")), (bench.tip(BRANCH), bench.base));
}

#[test]
fn what_was_there_before_the_run_is_not_amended() {
    let bench = Bench::new();
    bench.write("summary.md", "# Done\n");
    let (detail, _) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "committed `summary.md`; pushed `feature/x` to `origin`");
    assert_eq!((bench.tip("HEAD^"), bench.count().as_str()), (bench.base.clone(), "2"));
    assert_eq!(bench.git(&["log", "-1", "--format=%s"]), "chore: add summary.md");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_commit_that_anything_else_holds_is_not_amended() {
    let holds: [(&str, &[&[&str]]); 7] = [
        ("a branch", &[&["branch", "mine"]]),
        ("a tag", &[&["tag", "v1"]]),
        (
            "a later tag",
            &[
                &["commit", "--quiet", "--allow-empty", "-m", "later"],
                &["tag", "v1"],
                &["reset", "--quiet", "--hard", "HEAD^"],
            ],
        ),
        ("a stash", &[&["stash", "push", "--quiet", "--include-untracked", "--", "left.txt"]]),
        ("a detached head", &[&["checkout", "--quiet", "--detach"]]),
        ("another work tree", &[&["worktree", "add", "--quiet", "--detach", "../tree"]]),
        (
            "another remote",
            &[
                &["remote", "add", "other", "../remote.git"],
                &["push", "--quiet", "other", "HEAD:feature/x"],
                &["push", "--quiet", "other", "HEAD:mine"],
                &["push", "--quiet", "other", ":feature/x"],
            ],
        ),
    ];
    for (name, commands) in holds {
        let bench = Bench::new();
        bench.work_on("a.rs");
        bench.write("left.txt", "left");
        let work = bench.tip(BRANCH);
        commands.iter().for_each(|it| drop(bench.git(it)));
        bench.write("summary.md", "# Done\n");
        let before = bench.git(&["for-each-ref", "--exclude=refs/heads/feature"]);
        let (detail, _) = done(bench.do_it(&bench.publish(None)));
        assert!(detail.starts_with("committed `summary.md`; "), "{name}: {detail}");
        assert_eq!(bench.tip("feature/x^"), work, "{name}");
        let after = bench.git(&["for-each-ref", "--exclude=refs/heads/feature"]);
        assert!(after.starts_with(&before) || after.contains("origin/feature/x"), "{name}");
    }
}

#[test]
fn a_commit_that_somebody_else_pushed_is_not_replaced() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.git(&["push", "--quiet", "origin", BRANCH]);
    let work = bench.tip(BRANCH);
    assert_eq!(done(bench.do_it(&push("origin"))).0, "`origin` has `feature/x` as it is here");
    bench.write("summary.md", "# Done\n");
    done(bench.do_it(&bench.publish(None)));
    assert_eq!(bench.tip("HEAD^"), work);
    assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
}

#[test]
fn a_branch_that_was_rewritten_is_not_forced_over_what_was_pushed() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.work_on("b.rs");
    done(bench.do_it(&push("origin")));
    let sent = bench.far(BRANCH);
    bench.git(&["reset", "--quiet", "--hard", "HEAD^"]);
    bench.work_on("c.rs");
    bench.work_on("d.rs");
    bench.write("summary.md", "# Done\n");
    let before = bench.tip(BRANCH);
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.contains("`git pull origin feature/x`"), "{reason}");
    assert_eq!((bench.far(BRANCH), bench.tip(BRANCH)), (sent, before));
    let reason = failed(bench.do_it(&push("origin")));
    assert!(reason.contains("`git pull origin feature/x`"), "{reason}");
}

#[test]
fn default_and_protected_branches_are_never_pushed_to() {
    for name in ["main", "master", "develop", "release/1.2", "usual"] {
        let bench = Bench::new();
        bench.git(&["push", "--quiet", "origin", "main:usual"]);
        git(&bench.remote(), &["symbolic-ref", "HEAD", "refs/heads/usual"]);
        bench.git(&["checkout", "--quiet", "-B", name]);
        bench.work_on("a.rs");
        bench.write("summary.md", "# Done\n");
        let (before, far) = (bench.belongings(&[]), git(&bench.remote(), &["for-each-ref"]));
        let deed = GitDeed::Push {
            branch: name.to_owned(),
            remote: "origin".to_owned(),
            base: None,
            is_taken: false,
        };
        for deed in [deed, bench.publish_on(name, None)] {
            let reason = failed(bench.do_it(&deed));
            assert!(reason.contains("which the server never pushes to"), "{name}: {reason}");
        }
        assert_eq!(bench.belongings(&[]), before);
        assert_eq!(git(&bench.remote(), &["for-each-ref"]), far);
    }
}

#[test]
fn a_branch_that_follows_another_is_pushed_to_its_own_name() {
    let bench = Bench::new();
    bench.git(&["branch", "--quiet", "--set-upstream-to=origin/main"]);
    bench.git(&["config", "push.followTags", "true"]);
    bench.git(&["config", "push.default", "upstream"]);
    bench.work_on("a.rs");
    bench.git(&["tag", "-a", "-m", "mine", "v1", "HEAD^"]);
    done(bench.do_it(&push("origin")));
    bench.write("summary.md", "# Done\n");
    done(bench.do_it(&bench.publish(None)));
    let refs = git(&bench.remote(), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/feature/x\nrefs/heads/main");
    assert_eq!((bench.far("main"), bench.far(BRANCH)), (bench.base.clone(), bench.tip(BRANCH)));
    assert_eq!(bench.git(&["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/main");
}

#[test]
fn a_branch_that_someone_is_in_the_middle_of_something_with_is_left_alone() {
    let bench = Bench::new();
    bench.write("first.txt", "ours");
    bench.git(&["commit", "--quiet", "--all", "-m", "ours"]);
    bench.git(&["checkout", "--quiet", "-b", "theirs", "main"]);
    bench.write("first.txt", "theirs");
    bench.git(&["commit", "--quiet", "--all", "-m", "theirs"]);
    bench.git(&["checkout", "--quiet", BRANCH]);
    bench.write("a.rs", "a");
    bench.write("summary.md", "# Done\n");
    for (start, abort, told) in [
        ("merge", "merge", "a merge is in progress"),
        ("rebase", "rebase", "is being rebased"),
        ("cherry-pick", "cherry-pick", "a cherry-pick is in progress"),
    ] {
        bench.fumble(&[start, "theirs"]);
        let before = (bench.belongings(&[]), bench.tip(BRANCH));
        let reason = failed(bench.do_it(&bench.publish(None)));
        assert!(reason.contains(told), "{start}: {reason}");
        let reason = failed(bench.do_it(&commit(&["a.rs"])));
        assert!(reason.ends_with("then call again"), "{start}: {reason}");
        assert_eq!((bench.belongings(&[]), bench.tip(BRANCH)), before, "{start}");
        bench.git(&[abort, "--abort"]);
    }
    done(bench.do_it(&commit(&["a.rs"])));
}

#[test]
fn a_branch_that_is_checked_out_in_another_work_tree_is_not_moved_under_it() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    bench.git(&["checkout", "--quiet", "main"]);
    bench.git(&["worktree", "add", "--quiet", "../tree", BRANCH]);
    bench.write("summary.md", "# Done\n");
    let before = bench.tip(BRANCH);
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.contains("is checked out in the work tree `"), "{reason}");
    assert_eq!(bench.tip(BRANCH), before);
    done(bench.do_it(&push("origin")));
    assert_eq!(bench.far(BRANCH), before, "a push moves nothing here");
}

#[test]
fn what_the_person_staged_stays_staged_also_of_what_is_committed() {
    let bench = Bench::new();
    bench.write("first.txt", "staged");
    bench.write("new.txt", "announced");
    bench.git(&["add", "first.txt"]);
    bench.git(&["add", "--intent-to-add", "new.txt"]);
    bench.write("first.txt", "newer");
    done(bench.do_it(&commit(&["first.txt", "new.txt"])));
    assert_eq!(bench.git(&["show", "HEAD:first.txt"]), "newer");
    assert_eq!(bench.git(&["show", ":first.txt"]), "staged");
    assert_eq!(bench.git(&["status", "--porcelain"]), "MM first.txt");
}

#[test]
fn a_change_of_the_same_length_within_a_second_is_not_missed() {
    let bench = Bench::new();
    for number in 0..8 {
        bench.write("a.rs", &number.to_string());
        done(bench.do_it(&commit(&["a.rs"])));
        assert_eq!(bench.git(&["show", "HEAD:a.rs"]), number.to_string());
    }
}

#[test]
fn a_crash_in_the_middle_of_publishing_leaves_one_commit() {
    // Neither what was committed nor what was pushed is recorded, and time goes on.
    for is_work_there in [false, true] {
        let bench = Bench::new();
        if is_work_there {
            bench.work_on("a.rs");
        }
        done(bench.do_it(&push("origin")));
        let recorded = bench.pushed.borrow().clone();
        for time in ["1", "2", "3"] {
            bench.pushed.replace(recorded.clone());
            let texts = [("state.json".to_owned(), format!("{{\"at\": {time}}}\n"))];
            done(bench.do_with(&bench.publish(None), &texts));
            assert_eq!(bench.count(), "2");
            assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
        }
        assert_eq!(bench.git(&["show", "HEAD:state.json"]), "{\"at\": 3}");
    }
}

#[test]
fn a_crash_between_the_commit_and_the_push_leaves_one_commit() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    done(bench.do_it(&push("origin")));
    bench.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n");
    bench.make_executable(".git/hooks/pre-push");
    let texts = |time| [("state.json".to_owned(), format!("{{\"at\": {time}}}\n"))];
    let reason = failed(bench.do_with(&bench.publish(None), &texts(1)));
    assert!(reason.starts_with("`git push` failed"), "{reason}");
    fs::remove_file(bench.work().join(".git/hooks/pre-push")).unwrap();
    done(bench.do_with(&bench.publish(None), &texts(2)));
    assert_eq!((bench.count().as_str(), bench.far(BRANCH)), ("2", bench.tip(BRANCH)));
}

#[test]
fn a_push_that_was_recorded_elsewhere_is_no_reason_to_force_one() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    done(bench.do_it(&push("origin")));
    let commit = bench.tip(BRANCH);
    bench.pushed.replace(Some(Pushed { remote: "other".to_owned(), commit: commit.clone() }));
    bench.write("summary.md", "# Done\n");
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.starts_with("there is no remote `other`"), "{reason}");
    bench.git(&["remote", "add", "other", "../remote.git"]);
    bench.git(&["fetch", "--quiet", "other"]);
    done(bench.do_it(&bench.publish(None)));
    assert_eq!(bench.tip("HEAD^"), commit, "`origin` has it too");
}

#[test]
fn a_hook_that_looks_at_what_is_checked_out_is_not_passed_over() {
    let bench = left_for_main();
    bench.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    bench.make_executable(".git/hooks/pre-commit");
    let reason = failed(bench.do_it(&bench.publish(None)));
    assert!(reason.contains("check `feature/x` out"), "{reason}");
    bench.git(&["stash", "push", "--quiet"]);
    bench.git(&["checkout", "--quiet", BRANCH]);
    done(bench.do_it(&bench.publish(None)));
}

#[test]
fn hooks_see_what_is_committed_and_may_change_its_message() {
    let bench = Bench::new();
    let seen = "#!/bin/sh\ngit diff --cached --name-only > ../seen\n";
    bench.write(".git/hooks/pre-commit", seen);
    bench.write(".git/hooks/commit-msg", "#!/bin/sh\necho 'Change-Id: I1' >> \"$1\"\n");
    bench.write(".git/hooks/post-commit", "#!/bin/sh\ngit rev-parse HEAD > ../after\n");
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        bench.make_executable(&format!(".git/hooks/{hook}"));
    }
    bench.write("a.rs", "a");
    bench.write("staged.txt", "staged");
    bench.git(&["add", "staged.txt"]);
    done(bench.do_it(&commit(&["a.rs"])));
    let noted = |it: &str| fs::read_to_string(bench.folder.path().join(it)).unwrap();
    assert_eq!(noted("seen"), "a.rs\n");
    assert_eq!(noted("after").trim(), bench.tip("HEAD"));
    assert_eq!(bench.git(&["log", "-1", "--format=%B"]), "chore: batch\nChange-Id: I1");
}

#[test]
fn a_commit_that_is_amended_keeps_its_author_and_its_words() {
    let bench = Bench::new();
    bench.write("a.rs", "a");
    bench.git(&["add", "a.rs"]);
    let by = ["-c", "user.name=Ben Ö", "-c", "user.email=ben@example.org"];
    let date = "--date=2001-02-03T04:05:06+0700";
    let words = ["commit", "--quiet", date, "-m", "feat: ä\n\n# no comment\n\nbody"];
    bench.git(&[&by[..], &words].concat());
    let form = "--format=%an <%ae> %ad %B";
    let before = bench.git(&["log", "-1", form]);
    bench.write("summary.md", "# Done\n");
    done(bench.do_it(&bench.publish(None)));
    assert_eq!(bench.git(&["log", "-1", form]), before);
    assert_eq!(bench.git(&["log", "-1", "--format=%cn"]), "Ann");
}

#[test]
fn a_first_commit_is_made_where_there_is_none() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "--orphan", "feature/y"]);
    bench.git(&["rm", "--quiet", "-r", "--cached", "."]);
    bench.write("a.rs", "a");
    let GitDeed::Commit { paths, message, or_changed, .. } = commit(&["a.rs"]) else { panic!() };
    let branch = "feature/y".to_owned();
    done(bench.do_it(&GitDeed::Commit {
        branch,
        paths,
        message,
        or_changed,
        base: None,
        is_taken: false,
    }));
    assert_eq!((bench.count().as_str(), bench.last()), ("1", vec!["a.rs".to_owned()]));
    assert_eq!(bench.git(&["status", "--porcelain"]), "?? first.txt");
}

#[test]
fn unfinished_work_is_not_carried_to_another_branch() {
    let deed = GitDeed::Checkout { branch: BRANCH.to_owned(), from: None };
    let bench = left_for_main();
    let before = bench.belongings(&[]);
    let reason = failed(bench.do_it(&deed));
    assert!(reason.contains("with changes that are not committed"), "{reason}");
    assert_eq!(bench.belongings(&[]), before);
    bench.git(&["stash", "push", "--quiet"]);
    bench.git(&["checkout", "--quiet", "--detach"]);
    assert!(failed(bench.do_it(&deed)).starts_with("the head is detached"));
    bench.git(&["checkout", "--quiet", "main"]);
    done(bench.do_it(&deed));
    assert_eq!(bench.git(&["branch", "--show-current"]), BRANCH);
}

#[test]
fn a_branch_that_was_named_later_is_moved_only_if_another_one_has_its_commits() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "-b", "alice/wip", "main"]);
    bench.work_on("private.rs");
    let base = Some(bench.tip("alice/wip"));
    bench.write("first.txt", "two");
    let branch = RunBranch {
        name: "alice/wip".to_owned(),
        base: base.clone(),
        is_taken: true,
        pushed: None,
    };
    let GitDeed::Publish { files, body, closes, .. } = bench.publish(None) else { panic!() };
    let push = GitDeed::Push {
        branch: "alice/wip".to_owned(),
        remote: "origin".to_owned(),
        base: base.clone(),
        is_taken: true,
    };
    let commit = GitDeed::Commit {
        branch: "alice/wip".to_owned(),
        paths: vec!["first.txt".to_owned()],
        message: "chore: batch".to_owned(),
        or_changed: false,
        base,
        is_taken: true,
    };
    let publish = GitDeed::Publish { branch, files, body, closes };
    for is_published in [false, true] {
        if is_published {
            // A person who published it works on it.
            bench.git(&["push", "--quiet", "origin", "alice/wip"]);
        }
        let before = bench.belongings(&[]);
        for deed in [&commit, &push, &publish] {
            let reason = failed(bench.do_it(deed));
            assert!(reason.contains("Name a branch that is made for the run"), "{reason}");
            assert_eq!(bench.belongings(&[]), before);
        }
    }
    bench.git(&["branch", "other", "alice/wip"]);
    done(bench.do_it(&commit));
    done(bench.do_it(&push));
    assert_eq!(bench.far("alice/wip"), bench.tip("alice/wip"));
}

#[test]
fn a_branch_that_stands_for_another_is_not_moved() {
    let bench = Bench::new();
    bench.git(&["checkout", "--quiet", "-b", "priv", "main"]);
    bench.work_on("private.rs");
    bench.git(&["checkout", "--quiet", "main"]);
    bench.git(&["branch", "--quiet", "-D", BRANCH]);
    bench.git(&["symbolic-ref", "refs/heads/feature/x", "refs/heads/priv"]);
    bench.write("summary.md", "# Done\n");
    let (private, far) = (bench.tip("priv"), git(&bench.remote(), &["for-each-ref"]));
    for deed in [push("origin"), bench.publish(None)] {
        let reason = failed(bench.do_it(&deed));
        assert!(reason.contains("`feature/x` only stands for `priv`"), "{reason}");
    }
    assert_eq!((bench.tip("priv"), git(&bench.remote(), &["for-each-ref"])), (private, far));
}

#[test]
fn a_branch_without_the_commit_that_the_run_began_with_is_another_one() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    let base = Some(bench.tip(BRANCH));
    bench.git(&["checkout", "--quiet", "-B", BRANCH, "main"]);
    bench.work_on("private.rs");
    let (branch, remote) = (BRANCH.to_owned(), "origin".to_owned());
    let deed = GitDeed::Push { branch, remote, base, is_taken: false };
    let far = git(&bench.remote(), &["for-each-ref"]);
    let reason = failed(bench.do_it(&deed));
    assert!(reason.contains("does not have the commit that the run began with"), "{reason}");
    assert_eq!(git(&bench.remote(), &["for-each-ref"]), far);
    bench.git(&["branch", "--quiet", "kept"]);
    done(bench.do_it(&deed));
}

#[test]
fn a_commit_from_before_the_run_is_not_replaced_though_the_server_pushed_it() {
    let mut bench = Bench::new();
    bench.work_on("mine.rs");
    bench.base = bench.tip(BRANCH);
    done(bench.do_it(&push("origin")));
    bench.write("summary.md", "# Done\n");
    done(bench.do_it(&bench.publish(None)));
    assert_eq!(bench.git(&["rev-parse", "feature/x^"]), bench.base);
    assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
}
