//! A repository with a remote of its own, and the chores that are done in it.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use engine::{ChoreOutcome, GitDeed, Pushed, RunBranch};
use runtime::World as _;
use tempfile::TempDir;
use world::{ChoreTimes, RealWorld, WorldSettings};

/// The branch of the run that chores are done for.
pub(crate) const BRANCH: &str = "feature/x";

/// A repository with one commit on `main`, a bare one that it calls `origin` and that has it too, and
/// a run that has just begun on a branch of its own.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    /// The commit that the run began with.
    pub(crate) base: String,
    pub(crate) pushed: RefCell<Option<Pushed>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = Self { folder, base: String::new(), pushed: RefCell::default() };
        fs::create_dir(bench.work()).unwrap();
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.git(&["config", "user.name", "Ann"]);
        bench.git(&["config", "user.email", "ann@example.org"]);
        bench.git(&["config", "commit.gpgsign", "false"]);
        bench.write("first.txt", "one");
        bench.git(&["add", "."]);
        bench.git(&["commit", "--quiet", "-m", "first"]);
        bench.base = bench.git(&["rev-parse", "HEAD"]);
        git(bench.folder.path(), &["init", "--quiet", "--bare", "-b", "main", "remote.git"]);
        bench.git(&["remote", "add", "origin", "../remote.git"]);
        bench.git(&["push", "--quiet", "origin", "main"]);
        bench.git(&["checkout", "--quiet", "-b", BRANCH]);
        bench
    }

    /// Commits something as an agent does.
    pub(crate) fn work_on(&self, path: &str) {
        self.write(path, "worked on");
        self.git(&["add", path]);
        self.git(&["commit", "--quiet", "-m", path]);
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.folder.path().join("remote.git")
    }

    /// What is published of the run.
    pub(crate) fn publish(&self, body: Option<&str>) -> GitDeed {
        self.publish_on(BRANCH, body)
    }

    pub(crate) fn publish_on(&self, name: &str, body: Option<&str>) -> GitDeed {
        let (base, pushed) = (Some(self.base.clone()), self.pushed.borrow().clone());
        GitDeed::Publish {
            branch: RunBranch { name: name.to_owned(), base, is_taken: false, pushed },
            files: vec!["state.json".to_owned(), "summary.md".to_owned(), "absent.md".to_owned()],
            body: body.map(str::to_owned),
            closes: Some("12".to_owned()),
        }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.work(), arguments)
    }

    /// Everything of the person that a chore must leave as it is: the head, what is staged and
    /// what is not, the text of each file, and every ref but those of the run's own branch.
    pub(crate) fn belongings(&self, except: &[&str]) -> String {
        let own = ["refs/heads/feature/x ", "refs/remotes/origin/feature/x "];
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let refs = refs.lines().filter(|it| !own.iter().any(|own| it.starts_with(own)));
        let except: Vec<String> = except.iter().map(|it| format!(":(exclude){it}")).collect();
        let asked = |words: &[&str]| {
            let except = except.iter().map(String::as_str);
            self.git(&words.iter().copied().chain(["--", "."]).chain(except).collect::<Vec<_>>())
        };
        [
            fs::read_to_string(self.work().join(".git/HEAD")).unwrap(),
            asked(&["status", "--porcelain=v2"]),
            asked(&["diff", "--cached"]),
            refs.collect::<Vec<_>>().join("\n"),
            self.git(&["stash", "list"]),
            self.texts(),
        ]
        .join("\n--\n")
    }

    /// Every file of the work tree with its text.
    fn texts(&self) -> String {
        let listed = fs::read_dir(self.work()).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<PathBuf> = listed.filter(|it| it.is_file()).collect();
        files.sort();
        let told = |it: &PathBuf| format!("{}: {:?}", it.display(), fs::read(it).unwrap());
        files.iter().map(told).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn tip(&self, name: &str) -> String {
        self.git(&["rev-parse", name])
    }

    /// Where a branch stands at the remote.
    pub(crate) fn far(&self, name: &str) -> String {
        git(&self.remote(), &["rev-parse", "--verify", name])
    }

    /// Runs git where it may fail.
    pub(crate) fn fumble(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("git");
        let command = command.args(arguments).current_dir(self.work());
        command.env("GIT_EDITOR", "true").output().unwrap().status.success()
    }

    pub(crate) fn make_executable(&self, path: &str) {
        Command::new("chmod").arg("+x").arg(self.work().join(path)).status().unwrap();
    }

    /// The files that the last commit changed.
    pub(crate) fn last(&self) -> Vec<String> {
        let shown = self.git(&["show", "--name-only", "--format=", "HEAD"]);
        shown.lines().map(str::to_owned).collect()
    }

    pub(crate) fn count(&self) -> String {
        self.git(&["rev-list", "--count", "HEAD"])
    }

    pub(crate) fn do_it(&self, deed: &GitDeed) -> ChoreOutcome {
        self.do_with(deed, &[])
    }

    pub(crate) fn do_with(&self, deed: &GitDeed, texts: &[(String, String)]) -> ChoreOutcome {
        let outcome = do_in(&self.work(), deed, texts, ChoreTimes::default());
        if let ChoreOutcome::Done { pushed: Some(pushed), .. } = &outcome {
            self.pushed.replace(Some(pushed.clone()));
        }
        outcome
    }
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn do_in(
    root: &Path,
    deed: &GitDeed,
    texts: &[(String, String)],
    chore_times: ChoreTimes,
) -> ChoreOutcome {
    do_at((root, root), deed, texts, chore_times)
}

/// Does a chore of a run with a root and a folder of its own.
pub(crate) fn do_at(
    (root, home): (&Path, &Path),
    deed: &GitDeed,
    texts: &[(String, String)],
    chore_times: ChoreTimes,
) -> ChoreOutcome {
    let world = RealWorld::new(WorldSettings { chore_times, ..WorldSettings::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folders = (root.to_str().unwrap(), home.to_str().unwrap());
    runtime.block_on(world.do_chore(folders, deed, texts, None)).unwrap()
}

pub(crate) fn done(outcome: ChoreOutcome) -> (String, Vec<String>) {
    match outcome {
        ChoreOutcome::Done { detail, warnings, .. } => (detail, warnings),
        ChoreOutcome::Failed { reason } => panic!("failed: {reason}"),
    }
}

pub(crate) fn failed(outcome: ChoreOutcome) -> String {
    match outcome {
        ChoreOutcome::Failed { reason } => reason,
        ChoreOutcome::Done { detail, .. } => panic!("done: {detail}"),
    }
}

pub(crate) fn rename(from: &str, to: &str) -> GitDeed {
    GitDeed::RenameBranch { from: from.to_owned(), to: to.to_owned(), base: None }
}

pub(crate) fn commit(paths: &[&str]) -> GitDeed {
    let paths = paths.iter().map(|it| (*it).to_owned()).collect();
    let branch = BRANCH.to_owned();
    GitDeed::Commit {
        branch,
        paths,
        message: "chore: batch".to_owned(),
        or_changed: false,
        base: None,
        is_taken: false,
    }
}

pub(crate) fn push(remote: &str) -> GitDeed {
    GitDeed::Push {
        branch: BRANCH.to_owned(),
        remote: remote.to_owned(),
        base: None,
        is_taken: false,
    }
}
