//! Trees of files: what is found below a folder, and what is read.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    ops::ControlFlow,
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use runtime::{Tree as _, Walk, Walked};
use tempfile::TempDir;
use world::{RealWorld, WorldSettings};

struct Stage {
    folder: TempDir,
    world: RealWorld,
    /// Whether nobody waits any more.
    is_stopped: bool,
}

impl Stage {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Self { folder, world: RealWorld::new(WorldSettings::default()), is_stopped: false }
    }

    fn root(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Looks for files that end with `.go`, but not in folders called `vendor`.
    async fn walk(&self, root: &str, files_max: usize) -> Result<Walked, String> {
        let files = Arc::new(|it: &str| Path::new(it).extension().is_some_and(|it| it == "go"));
        let folders = Arc::new(|it: &str| it != "vendor");
        let (root, folder) = (self.root().to_owned(), root.to_owned());
        let stop = Arc::new(AtomicBool::new(self.is_stopped));
        self.world.walk(Walk { root, folder, files, folders, files_max, stop }).await
    }

    /// Returns what is seen of each file.
    async fn visit(&self, paths: &[&str], bytes_max: u64) -> Vec<Result<String, String>> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let visit = Box::new(move |_: &str, text: Result<&str, &str>| {
            kept.lock().unwrap().push(text.map(str::to_owned).map_err(str::to_owned));
            if text == Ok("enough") { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let paths = paths.iter().map(|it| (*it).to_owned()).collect();
        self.world.visit((self.root(), ""), paths, bytes_max, visit).await.unwrap();
        seen.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn files_are_found_in_order_and_only_where_they_are_wanted() {
    let stage = Stage::new(&[
        ("b.go", b""),
        ("a/z.go", b""),
        ("a/y/x.go", b""),
        ("a/y/x.txt", b""),
        ("vendor/v.go", b""),
        ("a/vendor/v.go", b""),
        (".gitignore", b"# what is made\nout/\n/gen\na/deep\n*.log\n"),
        ("a/out/o.go", b""),
        ("gen/g.go", b""),
        ("a/gen/g.go", b""),
        ("a/deep/d.go", b""),
        ("a/y/.gitignore", b"own"),
        ("a/y/own/o.go", b""),
        ("own/o.go", b""),
    ]);
    let walked = stage.walk(stage.root(), 10).await.unwrap();
    assert_eq!(walked.files, ["a/gen/g.go", "a/y/x.go", "a/z.go", "b.go", "own/o.go"]);
    assert_eq!((walked.unreadable, walked.is_cut), (0, false));

    let walked = stage.walk(stage.root(), 2).await.unwrap();
    assert_eq!((walked.files, walked.is_cut), (vec!["a/z.go".to_owned(), "b.go".to_owned()], true));
    let root = format!("{}/vendor", stage.root());
    assert_eq!(stage.walk(&root, 2).await.unwrap().files, ["v.go"]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    let stage = Stage::new(&[("a/b.go", b"")]);
    let at = |path: &str| stage.folder.path().join(path);
    std::os::unix::fs::symlink(at("a"), at("a/loop")).unwrap();
    std::os::unix::fs::symlink(at("a/b.go"), at("a/c.go")).unwrap();
    assert_eq!(stage.walk(stage.root(), 9).await.unwrap().files, ["a/b.go"]);
    // But for the folder that was named.
    std::os::unix::fs::symlink(at("a"), at("d")).unwrap();
    let root = format!("{}/d", stage.root());
    assert_eq!(stage.walk(&root, 9).await.unwrap().files, ["b.go"]);
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_an_error() {
    let stage = Stage::new(&[("file", b"")]);
    let problem = stage.walk(&format!("{}/nothing", stage.root()), 9).await.unwrap_err();
    assert_eq!(problem, "it is not there");
    let problem = stage.walk(&format!("{}/file", stage.root()), 9).await.unwrap_err();
    assert_eq!(problem, "it is not a folder");
}

#[tokio::test]
async fn files_are_seen_one_by_one_until_it_is_enough() {
    let stage = Stage::new(&[
        ("a", b"one"),
        ("b", b"\xff two"),
        ("c", b"too long"),
        ("d/e", b"enough"),
        ("f", b"never"),
    ]);
    let absolute = format!("{}/a", stage.root());
    let seen = stage.visit(&["a", &absolute, "b", "c", "d", "x", "d/e", "f"], 6).await;
    let expected = [
        Ok("one"),
        Ok("one"),
        Ok("\u{fffd} two"),
        Err("it has 8 bytes, and at most 6 are read"),
        Err("`d` is a folder, not a regular file; move it away, or put a file in its place"),
        Err("it is not there"),
        Ok("enough"),
    ];
    let seen: Vec<Result<&str, &str>> =
        seen.iter().map(|it| it.as_deref().map_err(String::as_str)).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_walk_that_nobody_waits_for_ends() {
    let stage = Stage { is_stopped: true, ..Stage::new(&[("a.go", b""), ("b/c.go", b"")]) };
    let expected = Walked { files: Vec::new(), unreadable: 0, is_cut: true };
    assert_eq!(stage.walk("", 9).await, Ok(expected));
}
