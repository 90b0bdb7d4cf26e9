//! A look at a repository runs nothing that it names.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

use engine::{Fact, Git, Question, Standpoint};
use runtime::World as _;
use tempfile::TempDir;
use world::{RealWorld, WorldSettings};

fn git(folder: &Path, arguments: &[&str]) {
    let ann = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    let mut command = Command::new("git");
    let output = command.args(ann).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

/// A repository with a file that is filtered.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    fs::write(folder.path().join(".gitattributes"), "*.txt filter=a=b\n").unwrap();
    fs::write(folder.path().join("a.txt"), "one").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    folder
}

fn look(folder: &Path, question: &Question) -> Fact {
    let world = RealWorld::new(WorldSettings::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let path = folder.to_str().unwrap();
    runtime.block_on(world.look((path, path), question)).unwrap()
}

fn status(folder: &Path) -> Git {
    let Fact::Git(Some(git)) = look(folder, &Question::Git) else { panic!("git says nothing") };
    git
}

#[test]
fn no_filter_runs_that_the_repository_names() {
    for key in ["filter.a=b.clean", "filter.a=b.process"] {
        let folder = repository();
        let ran = folder.path().join(".git/ran");
        git(folder.path(), &["config", key, &format!("touch {}; cat", ran.display())]);
        git(folder.path(), &["config", "filter.a=b.required", "true"]);
        fs::write(folder.path().join("a.txt"), "two").unwrap();
        assert_eq!(status(folder.path()).dirty, 1);
        assert!(!ran.exists(), "{key}");
    }
}

#[test]
fn no_filter_runs_that_a_submodule_names() {
    let (folder, inner) = (repository(), repository());
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    git(folder.path(), &[&add[..], &[inner.path().to_str().unwrap(), "inner"]].concat());
    git(folder.path(), &["commit", "--quiet", "-m", "inner"]);
    let (ran, inner) = (folder.path().join(".git/ran"), folder.path().join("inner"));
    git(&inner, &["config", "filter.a=b.clean", &format!("touch {}; cat", ran.display())]);
    fs::write(inner.join("a.txt"), "two").unwrap();
    assert_eq!(status(folder.path()).dirty, 0);
    assert!(!ran.exists());
}

#[test]
fn a_branch_with_the_name_of_a_tag_is_called_as_it_is() {
    let folder = repository();
    git(folder.path(), &["tag", "main"]);
    assert_eq!(status(folder.path()).branch, "main");
    let Fact::Branch(Some(found)) = look(folder.path(), &Question::Branch(None)) else { panic!() };
    let Standpoint { name, is_elsewhere, .. } = found;
    assert_eq!((name.as_str(), is_elsewhere), ("main", false));
}
