//! Laws of promised files: what is owed, what was written, and who is late.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use store::{Append, FileFilter, FileMark, Store, Touch};

use crate::support::{append, run};

pub(crate) async fn a_file_is_owed_with_the_append(store: &dyn Store) {
    store.append(owing(append(run(1), 0, &["one", "two"]), &["b.json", "a.md"])).await.unwrap();
    assert_eq!(all(store).await, [owed(1, "a.md", 2), owed(1, "b.json", 2)]);
    store.append(owing(append(run(1), 2, &["three"]), &["b.json"])).await.unwrap();
    store.append(append(run(1), 3, &["four"])).await.unwrap();
    assert_eq!(all(store).await, [owed(1, "a.md", 2), owed(1, "b.json", 3)]);
}

pub(crate) async fn a_refused_append_owes_nothing(store: &dyn Store) {
    store.append(owing(append(run(1), 0, &["one"]), &["a"])).await.unwrap();
    store.append(owing(append(run(1), 5, &["stale"]), &["a", "b"])).await.unwrap_err();
    assert_eq!(all(store).await, [owed(1, "a", 1)]);
}

pub(crate) async fn a_mark_says_what_was_written(store: &dyn Store) {
    store.append(owing(append(run(1), 0, &["one", "two"]), &["a", "b"])).await.unwrap();
    // What is owed never shrinks.
    assert!(mark(store, 1, &[written("a", 0, 2, "first")]).await);
    assert_eq!(all(store).await, [(run(1), written("a", 2, 2, "first")), owed(1, "b", 2)]);
    assert_eq!(left(store).await, [owed(1, "b", 2)]);
    // At the same length, what is said last: someone touched the file.
    let touched = FileMark { size: 7, modified: -3, ..written("a", 2, 2, "first") };
    assert!(mark(store, 1, std::slice::from_ref(&touched)).await);
    assert_eq!(all(store).await, [(run(1), touched), owed(1, "b", 2)]);
    // An append owes it again, and what was written is still known.
    store.append(owing(append(run(1), 2, &["three"]), &["a"])).await.unwrap();
    assert!(mark(store, 1, &[written("a", 3, 2, "first"), written("b", 2, 2, "b")]).await);
    assert_eq!(left(store).await, [(run(1), written("a", 3, 2, "first"))]);
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 3);
}

pub(crate) async fn a_file_that_was_not_owed_may_be_marked(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    assert!(mark(store, 1, &[written("a", 1, 1, "x"), written("b", 4, 0, "")]).await);
    assert_eq!(left(store).await, [(run(1), written("b", 4, 0, ""))]);
    assert_eq!(all(store).await.len(), 2);
}

pub(crate) async fn a_late_mark_changes_nothing(store: &dyn Store) {
    store.append(owing(append(run(1), 0, &["one", "two"]), &["a"])).await.unwrap();
    assert!(mark(store, 1, &[written("a", 2, 2, "second")]).await);
    assert!(mark(store, 1, &[written("a", 1, 1, "first, and far longer")]).await);
    assert_eq!(all(store).await, [(run(1), written("a", 2, 2, "second"))]);
}

pub(crate) async fn a_mark_of_no_run_is_refused(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    assert!(!mark(store, 2, &[written("a", 1, 1, "x")]).await);
    assert_eq!(all(store).await, []);
}

pub(crate) async fn files_are_picked_by_run_project_and_workflow(store: &dyn Store) {
    for (number, project, workflow) in [(3, "one", "a"), (1, "one", "b"), (2, "two", "a")] {
        let mut append = owing(append(run(number), 0, &["begin"]), &["x", "y"]);
        append.project = project.to_owned();
        append.summary.workflow = workflow.to_owned();
        store.append(append).await.unwrap();
        assert!(mark(store, number, &[written("x", 1, 1, "x")]).await);
    }
    let text = |text: &str| Some(text.to_owned());
    let any = FileFilter::default;
    for (filter, expected) in [
        (any(), vec![1, 2, 3]),
        (FileFilter { project: text("one"), ..any() }, vec![1, 3]),
        (FileFilter { workflow: text("a"), ..any() }, vec![2, 3]),
        (FileFilter { project: text("one"), workflow: text("a"), ..any() }, vec![3]),
        (FileFilter { run: Some(run(2)), ..any() }, vec![2]),
        (FileFilter { run: Some(run(2)), project: text("one"), ..any() }, vec![]),
        (FileFilter { run: Some(run(2)), workflow: text("b"), ..any() }, vec![]),
        (FileFilter { run: Some(run(9)), ..any() }, vec![]),
    ] {
        let wanted = |paths: &[&str]| -> Vec<_> {
            let each = |number| paths.iter().map(move |path| (run(number), (*path).to_owned()));
            expected.iter().copied().flat_map(each).collect()
        };
        let owed = FileFilter { is_owed: true, ..filter.clone() };
        assert_eq!(paths(store, filter.clone()).await, wanted(&["x", "y"]), "{filter:?}");
        assert_eq!(paths(store, owed).await, wanted(&["y"]), "{filter:?}");
    }
    // A run that is renamed takes its files with it.
    let mut renamed = append(run(3), 1, &["renamed"]);
    renamed.summary.workflow = "c".to_owned();
    store.append(renamed).await.unwrap();
    let renamed = FileFilter { workflow: text("c"), ..any() };
    assert_eq!(paths(store, renamed).await.len(), 2);
}

pub(crate) async fn files_may_have_any_path(store: &dyn Store) {
    let names = ["", "a 'quoted' \"name\"", "größe/日本語.json", "nul \0 in it"];
    store.append(owing(append(run(1), 0, &["one"]), &names)).await.unwrap();
    assert!(mark(store, 1, &names.map(|name| written(name, 1, 1, name))).await);
    let expected = names.map(|name| (run(1), written(name, 1, 1, name)));
    assert_eq!(all(store).await, expected);
}

fn owing(append: Append, paths: &[&str]) -> Append {
    Append { owes: paths.iter().map(|path| (*path).to_owned()).collect(), ..append }
}

/// A file that was never written.
fn owed(number: u128, path: &str, owed: u64) -> (engine::RunId, FileMark) {
    (run(number), FileMark { path: path.to_owned(), owed, ..FileMark::default() })
}

fn written(path: &str, owed: u64, written: u64, text: &str) -> FileMark {
    let (path, sha256) = (path.to_owned(), format!("digest of {text}"));
    FileMark { path, owed, written, sha256, size: text.len() as u64, modified: i64::MAX }
}

async fn mark(store: &dyn Store, number: u128, marks: &[FileMark]) -> bool {
    store.touch(Touch::Files(run(number), marks.to_vec())).await.unwrap()
}

async fn all(store: &dyn Store) -> Vec<(engine::RunId, FileMark)> {
    store.files(FileFilter::default()).await.unwrap()
}

async fn left(store: &dyn Store) -> Vec<(engine::RunId, FileMark)> {
    store.files(FileFilter { is_owed: true, ..FileFilter::default() }).await.unwrap()
}

async fn paths(store: &dyn Store, filter: FileFilter) -> Vec<(engine::RunId, String)> {
    let files = store.files(filter).await.unwrap();
    files.into_iter().map(|(run, mark)| (run, mark.path)).collect()
}
