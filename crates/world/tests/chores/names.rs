//! Names that mean two things, and commits that look like the server's.

use std::fs;

use crate::bench::{BRANCH, Bench, commit, done, git, push};

#[test]
fn a_tag_with_the_name_of_the_branch_is_nothing_but_a_tag() {
    let bench = Bench::new();
    bench.git(&["tag", BRANCH, "main"]);
    bench.write("a.rs", "a");
    done(bench.do_it(&commit(&["a.rs"])));
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    done(bench.do_it(&push("origin")));
    let texts = ["state.json", "summary.md"].map(|it| (it.to_owned(), "done\n".to_owned()));
    let (detail, _) = done(bench.do_with(&bench.publish(None), &texts));
    assert!(detail.starts_with("added `state.json`, `summary.md`"), "{detail}");
    for (file, text) in &texts {
        bench.write(file, text);
    }
    assert_eq!(bench.git(&["status", "--porcelain"]), "", "nothing is staged to undo it");
    let tip = bench.tip("refs/heads/feature/x");
    assert_eq!(bench.far("refs/heads/feature/x"), tip);
    assert_eq!(bench.tip("refs/tags/feature/x"), bench.base);
    assert_eq!(git(&bench.remote(), &["tag", "--list"]), "");
}

#[test]
fn what_a_person_pushed_is_not_replaced_also_if_the_server_made_it() {
    let bench = Bench::new();
    bench.write("a.rs", "a");
    done(bench.do_it(&commit(&["a.rs"])));
    bench.git(&["push", "--quiet", "origin", BRANCH]);
    let theirs = bench.tip(BRANCH);
    assert_eq!(done(bench.do_it(&push("origin"))).0, "`origin` has `feature/x` as it is here");
    bench.write("summary.md", "# Done\n");
    let (detail, _) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "committed `summary.md`; pushed `feature/x` to `origin`");
    assert_eq!(bench.tip("HEAD^"), theirs);
    assert_eq!(bench.far(BRANCH), bench.tip(BRANCH));
}

#[test]
fn a_crash_after_the_first_push_leaves_one_commit() {
    let bench = Bench::new();
    bench.work_on("a.rs");
    done(bench.do_it(&push("origin")));
    bench.pushed.replace(None);
    fs::write(bench.work().join("summary.md"), "# Done\n").unwrap();
    let (detail, _) = done(bench.do_it(&bench.publish(None)));
    assert_eq!(detail, "added `summary.md` to the last commit; pushed `feature/x` to `origin`");
}
