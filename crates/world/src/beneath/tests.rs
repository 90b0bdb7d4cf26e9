//! What can be opened beneath a root, and what is refused by which words.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::ErrorKind,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    thread,
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::{Care, Kind, Root, absent, read_named};

/// A folder that is the root, and one beside it with a secret.
struct Stage {
    folder: TempDir,
    root: Root,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [("in/a/b.md", "text"), ("out/secret.md", "secret")] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::project(&folder.path().join("in")).unwrap();
        Self { folder, root }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.root.read_text(Path::new(path), 9).map_err(|error| error.to_string())
    }

    fn fifo(&self, path: &str) {
        mknodat(CWD, self.at(path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
}

#[test]
fn a_path_in_the_root_is_read_by_any_of_its_names() {
    let stage = Stage::new();
    symlink(stage.at("in"), stage.at("way")).unwrap();
    symlink("b.md", stage.at("in/a/near")).unwrap();
    symlink("a", stage.at("in/folder")).unwrap();
    symlink(stage.at("in/a/b.md"), stage.at("in/absolute")).unwrap();
    symlink(stage.at("way/a"), stage.at("in/over")).unwrap();
    let whole = stage.at("in/a/b.md").display().to_string();
    for path in ["a/b.md", "a/../a/./b.md", "a/near", "folder/b.md", "absolute", &whole] {
        assert_eq!(stage.read(path), Ok("text".to_owned()), "{path}");
    }
    // The root itself may be reached through a link, and go by both names.
    let root = Root::project(&stage.at("way")).unwrap();
    let reading = |path: &Path| root.read_text(path, 9).ok();
    for path in ["a/b.md", "absolute", "over/b.md"] {
        assert_eq!(reading(Path::new(path)).as_deref(), Some("text"), "{path}");
    }
    for path in [stage.at("in/a/b.md"), stage.at("way/a/b.md")] {
        assert_eq!(reading(&path).as_deref(), Some("text"), "{path:?}");
    }
}

#[test]
fn what_leads_out_is_refused_and_the_link_is_named() {
    let stage = Stage::new();
    symlink("../out", stage.at("in/way")).unwrap();
    symlink("../../out/secret.md", stage.at("in/a/link.md")).unwrap();
    symlink(stage.at("out/secret.md"), stage.at("in/absolute")).unwrap();
    symlink("a/link.md", stage.at("in/first")).unwrap();
    let through = |path: &str, link: &str| {
        format!(
            "`{path}` leads outside of the project through the link `{link}`; put the file itself \
             in its place"
        )
    };
    assert_eq!(stage.read("way/secret.md"), Err(through("way/secret.md", "way")));
    assert_eq!(stage.read("a/link.md"), Err(through("a/link.md", "a/link.md")));
    assert_eq!(stage.read("absolute"), Err(through("absolute", "absolute")));
    assert_eq!(stage.read("first"), Err(through("first", "first")));
    let whole = stage.at("out/secret.md").display().to_string();
    for path in ["../out/secret.md", "a/../../out/secret.md", &whole] {
        let expected = format!("`{path}` is outside of the project; name a path in it");
        assert_eq!(stage.read(path), Err(expected));
    }
    assert!(stage.root.enter(Path::new("way")).is_err());
    assert!(stage.root.stat(Path::new("absolute")).is_err());
}

#[test]
fn a_loop_of_links_is_an_error() {
    let stage = Stage::new();
    symlink("round", stage.at("in/round")).unwrap();
    assert!(stage.read("round").is_err());
    assert!(stage.root.replace(Path::new("round"), b"x", Care::Plain).is_err());
}

#[test]
fn only_regular_files_are_opened_and_nothing_waits() {
    let stage = Stage::new();
    stage.fifo("in/fifo");
    let _listener = UnixListener::bind(stage.at("in/socket")).unwrap();
    let refused = |path: &str, kind: &str| {
        format!("`{path}` is {kind}, not a regular file; move it away, or put a file in its place")
    };
    for (path, kind) in [("fifo", "a FIFO"), ("socket", "a socket"), ("a", "a folder")] {
        let expected = refused(path, kind);
        let path = Path::new(path);
        assert_eq!(stage.read(path.to_str().unwrap()), Err(expected.clone()));
        let told = [
            stage.root.stat(path).map(drop),
            stage.root.open_append(path).map(drop),
            stage.root.open_lock(path).map(drop),
            stage.root.replace(path, b"x", Care::Plain).map(drop),
        ];
        for (number, told) in told.into_iter().enumerate() {
            assert_eq!(told.unwrap_err().to_string(), expected, "{number}");
        }
    }
    assert_eq!(
        read_named(Path::new("/dev/null"), 9).unwrap_err().to_string(),
        refused("/dev/null", "a device")
    );
    assert_eq!(stage.root.find_kind(Path::new("fifo")).unwrap(), Some(Kind::Other));
}

#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let stage = Stage::new();
    let expected = "`a/b.md` is not a folder; move it away, or put a folder in its place";
    let path = Path::new("a/b.md/c/d.md");
    let told = [
        stage.root.read_text(path, 9).map(drop),
        stage.root.stat(path).map(drop),
        stage.root.find_kind(path).map(drop),
        stage.root.open_append(path).map(drop),
        stage.root.replace(path, b"x", Care::Plain).map(drop),
        stage.root.place_new(path, b"x", Care::Plain).map(drop),
        stage.root.remove(path),
        stage.root.rename(path, Path::new("e.md")),
        stage.root.rename(Path::new("a/b.md"), path),
        stage.root.enter(Path::new("a/b.md")).map(drop),
    ];
    for (number, told) in told.into_iter().enumerate() {
        let error = told.unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, ErrorKind::NotADirectory),
            "{number}"
        );
    }
    let file = stage.at("in/a/b.md");
    let refused = Root::open(&file.join("c")).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("`{}` is not a folder", file.display())), "{refused}");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let stage = Stage::new();
    let path = Path::new("a/b.md");
    assert_eq!(stage.root.read(path, 4).unwrap().0, b"text");
    let error = stage.root.read(path, 3).unwrap_err();
    assert_eq!(error.to_string(), "it has 4 bytes, and at most 3 are read");
    assert!(absent(stage.root.read(Path::new("a/none"), 3)).unwrap().is_none());
}

#[test]
fn a_write_never_follows_a_link_out() {
    let stage = Stage::new();
    symlink(stage.at("out/secret.md"), stage.at("in/link.md")).unwrap();
    symlink("../out", stage.at("in/way")).unwrap();
    // A draft that was left, or put there.
    symlink(stage.at("out/secret.md"), stage.at("in/.new.md.tmp")).unwrap();
    for path in ["link.md", "way/new.md", "way/deep/new.md", "../out/new.md"] {
        let path = Path::new(path);
        assert!(stage.root.replace(path, b"x", Care::Durable).is_err(), "{path:?}");
        assert!(stage.root.open_append(path).is_err(), "{path:?}");
        assert!(stage.root.open_lock(path).is_err(), "{path:?}");
    }
    assert!(stage.root.place_new(Path::new("way/new.md"), b"x", Care::Plain).is_err());
    assert!(stage.root.rename(Path::new("a/b.md"), Path::new("way/b.md")).is_err());
    stage.root.replace(Path::new("new.md"), b"new", Care::Plain).unwrap();
    assert_eq!(fs::read_to_string(stage.at("in/new.md")).unwrap(), "new");
    stage.root.remove(Path::new("link.md")).unwrap();
    assert_eq!(fs::read_to_string(stage.at("out/secret.md")).unwrap(), "secret");
    assert_eq!(fs::read_dir(stage.at("out")).unwrap().count(), 1);
}

#[test]
fn a_link_to_a_file_in_the_root_stays_one_when_that_is_replaced() {
    let stage = Stage::new();
    symlink("a/b.md", stage.at("in/near")).unwrap();
    symlink(stage.at("in/a/new.md"), stage.at("in/dangling")).unwrap();
    for path in ["near", "dangling"] {
        stage.root.replace(Path::new(path), b"newer", Care::Durable).unwrap();
        assert!(fs::symlink_metadata(stage.at("in").join(path)).unwrap().is_symlink());
        assert_eq!(stage.read(path), Ok("newer".to_owned()));
    }
    assert_eq!(stage.read("a/b.md"), Ok("newer".to_owned()));
    assert_eq!(stage.root.enter(Path::new("a")).unwrap().names().unwrap(), ["b.md", "new.md"]);
}

#[test]
fn a_new_file_is_placed_once() {
    let stage = Stage::new();
    let path = Path::new("deep/new.md");
    assert!(stage.root.place_new(path, b"one", Care::Durable).unwrap());
    assert!(!stage.root.place_new(path, b"two", Care::Durable).unwrap());
    assert_eq!(stage.read("deep/new.md"), Ok("one".to_owned()));
    assert_eq!(stage.root.enter(Path::new("deep")).unwrap().names().unwrap(), ["new.md"]);
}

#[test]
fn a_folder_that_the_settings_name_elsewhere_is_a_root_of_its_own() {
    let stage = Stage::new();
    symlink("../out", stage.at("in/way")).unwrap();
    let of = |folder: &str| Root::of(&stage.at("in"), &stage.at(folder));
    assert!(of("out").unwrap().read(Path::new("secret.md"), 9).is_ok());
    assert!(of("in/../out").unwrap().read(Path::new("secret.md"), 9).is_ok());
    assert!(of("in/a").unwrap().read(Path::new("b.md"), 9).is_ok());
    assert!(of("in/way").is_err(), "a link in the project is not a setting");
    assert!(Root::make(&stage.at("none"), &stage.at("none/a"), Care::Plain).is_err());
    assert!(Root::make(Path::new("/"), &stage.at("new/deep"), Care::Plain).is_ok());
}

#[test]
fn many_threads_place_one_file() {
    let stage = Stage::new();
    for round in 0..20 {
        let name = format!("new-{round}");
        let place = || stage.root.place_new(Path::new(&name), b"whole", Care::Plain).unwrap();
        let made = thread::scope(|scope| {
            let placing: Vec<_> = (0..8).map(|_| scope.spawn(place)).collect();
            placing.into_iter().map(|it| it.join().unwrap()).filter(|it| *it).count()
        });
        assert_eq!((made, stage.read(&name)), (1, Ok("whole".to_owned())));
    }
}
