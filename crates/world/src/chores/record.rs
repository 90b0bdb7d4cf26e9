//! Puts a commit together on an index beside the user's own, and moves the run's branch to it.
//!
//! ```text
//! copy of the index ──► hooks ──► tree ──► commit ──► user's index ──► branch, if it stands still
//! ```
//!
//! The branch is moved last and only from where it was seen, so a crash or a faster hand leaves no
//! half of a commit. Of the user's index only those entries change that said what the branch said.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{
    Repository,
    commit::is_in,
    standing::{Branch, MARK},
};
use crate::command::Tool;

/// What an entry is that was only announced, with `git add --intent-to-add`.
const EMPTY_BLOBS: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// An index beside the user's own, with what the branch has.
pub(super) struct Beside {
    pub(super) git: Tool,
    /// Holds the index, and is gone with this.
    folder: TempDir,
}

/// What a commit says and follows.
pub(super) enum Form {
    /// One more.
    Further { message: String },
    /// In the place of the last one, with the same words by the same author.
    Instead,
}

/// A path that a commit changes.
struct Change {
    path: String,
    /// Mode and object. `None`: not there.
    before: Option<(String, String)>,
    after: Option<(String, String)>,
}

impl Repository<'_> {
    /// Makes an index with what the branch has. The copy keeps what git knows of each file.
    pub(super) async fn index_beside(&self, branch: &Branch) -> Result<Beside, String> {
        let cannot = |error: std::io::Error| format!("the index cannot be copied: {error}");
        let folder = tempfile::Builder::new().prefix("milepost-").tempdir().map_err(cannot)?;
        let (own, index) = (self.git_folder().await?.join("index"), folder.path().join("index"));
        if own.exists() {
            copy(&own, &index).map_err(cannot)?;
        }
        let git = self.git.with_index(&index);
        match &branch.tip {
            Some(tip) => git.say(["read-tree", "--reset", tip]).await?,
            None => git.say(["read-tree", "--empty"]).await?,
        };
        Ok(Beside { git, folder })
    }

    /// Returns the paths in which an index beside differs from the branch.
    pub(super) async fn differing(
        &self,
        branch: &Branch,
        beside: &Beside,
    ) -> Result<Vec<String>, String> {
        let tip = self.tree_of(branch).await?;
        let asked = ["diff-index", "--cached", "--name-only", "--no-renames", "-z", &tip, "--"];
        let said = beside.git.say(asked).await?;
        Ok(said.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    /// Commits what an index beside has, and returns the commit.
    pub(super) async fn record(
        &self,
        branch: &Branch,
        beside: &Beside,
        form: &Form,
    ) -> Result<String, String> {
        self.run_first_hook(branch, beside).await?;
        let commit = self.make_commit(branch, beside, form).await?;
        let changed =
            if branch.is_here { self.changes(branch, &commit).await? } else { Vec::new() };
        let settled = self.settle_index(&changed).await?;
        let note = format!("{MARK}commit for a run");
        let before = branch.tip.as_deref().unwrap_or_default();
        let moved = ["update-ref", "-m", &note, &branch.full, &commit, before];
        if let Err(problem) = self.git.say(moved).await {
            let reverted: Vec<&Change> = settled;
            self.write_index(reverted.iter().map(|it| (&it.path, &it.before))).await?;
            return Err(format!("`{}` moved meanwhile: call again ({problem})", branch.name));
        }
        // Whatever the last hook says, the commit is made.
        if branch.is_here {
            drop(self.hook(&self.git, "post-commit", &[]).await);
        }
        Ok(commit)
    }

    /// Lets the user's own hook judge what is committed. It looks at what is checked out.
    async fn run_first_hook(&self, branch: &Branch, beside: &Beside) -> Result<(), String> {
        let name = &branch.name;
        if !branch.is_here && self.has_hook("pre-commit").await? {
            return Err(format!(
                "your hook `pre-commit` looks at the branch that is checked out: check `{name}` \
                 out, then call again"
            ));
        }
        self.hook(&beside.git, "pre-commit", &[]).await
    }

    async fn make_commit(
        &self,
        branch: &Branch,
        beside: &Beside,
        form: &Form,
    ) -> Result<String, String> {
        let tree = beside.git.say(["write-tree"]).await?;
        let mut git = self.git.clone();
        let (message, parents) = match (form, &branch.tip) {
            (Form::Instead, Some(tip)) => {
                git = git.with_variables(self.author(tip).await?);
                let words = ["log", "-1", "--no-show-signature", "--format=%B", tip, "--"];
                (self.git.say(words).await?, self.parents(tip).await?)
            }
            (Form::Further { message }, tip) => (message.clone(), tip.clone().unwrap_or_default()),
            (Form::Instead, None) => return Err("there is no commit so far".to_owned()),
        };
        let file = self.word(beside, message.trim_end()).await?;
        let mut arguments = vec!["commit-tree".to_owned(), tree.trim().to_owned()];
        arguments.extend(parents.split_whitespace().flat_map(|it| ["-p".into(), it.to_owned()]));
        arguments.extend(["-F".to_owned(), file.to_string_lossy().into_owned()]);
        let is_signed = self.git.ask(["config", "--type=bool", "commit.gpgsign"]).await?;
        arguments.extend((is_signed.out.trim() == "true").then(|| "-S".to_owned()));
        Ok(git.say(arguments).await?.trim().to_owned())
    }

    /// Writes what a commit says to a file, which the user's own hooks may change or refuse.
    async fn word(&self, beside: &Beside, message: &str) -> Result<PathBuf, String> {
        let file = beside.folder.path().join("COMMIT_EDITMSG");
        let written = fs::write(&file, format!("{message}\n"));
        written.map_err(|error| format!("the message cannot be written: {error}"))?;
        let path = file.to_string_lossy().into_owned();
        self.hook(&beside.git, "prepare-commit-msg", &[&path, "message"]).await?;
        self.hook(&beside.git, "commit-msg", &[&path]).await?;
        Ok(file)
    }

    /// Returns who wrote a commit, as git wants to be told.
    async fn author(&self, commit: &str) -> Result<Vec<(&'static str, String)>, String> {
        let form = "--format=%an%n%ae%n@%ad";
        let asked = ["log", "-1", "--no-show-signature", "--date=raw", form, commit, "--"];
        let said = self.git.say(asked).await?;
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"];
        Ok(names.into_iter().zip(said.lines().map(str::to_owned)).collect())
    }

    async fn hook(&self, git: &Tool, name: &str, arguments: &[&str]) -> Result<(), String> {
        if !self.has_hook(name).await? {
            return Ok(());
        }
        let run = [&["hook", "run", "--ignore-missing", name, "--"], arguments].concat();
        let said = git.ask(run).await?;
        if said.is_well() {
            return Ok(());
        }
        Err(format!("your hook `{name}` refused: {}", said.complaint()))
    }

    async fn has_hook(&self, name: &str) -> Result<bool, String> {
        let path = format!("hooks/{name}");
        let path = self.git.say(["rev-parse", "--git-path", &path]).await?;
        Ok(self.top.join(path.trim_end_matches('\n')).exists())
    }

    /// Returns the tree of a branch, which is empty before its first commit.
    async fn tree_of(&self, branch: &Branch) -> Result<String, String> {
        match &branch.tip {
            Some(tip) => Ok(tip.clone()),
            None => Ok(self.git.say(["mktree"]).await?.trim().to_owned()),
        }
    }

    /// Returns what a commit changes in what the branch has.
    async fn changes(&self, branch: &Branch, commit: &str) -> Result<Vec<Change>, String> {
        let before = self.tree_of(branch).await?;
        let asked = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
        let said = self.git.say([&asked[..], &[&before, commit, "--"]].concat()).await?;
        let mut parts = said.split('\0');
        let mut changes = Vec::new();
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            let mut words = head.trim_start_matches(':').split(' ');
            let mut word = || words.next().unwrap_or_default().to_owned();
            let (old_mode, new_mode, old, new) = (word(), word(), word(), word());
            let there = |mode: String, object| (mode != "000000").then_some((mode, object));
            let (before, after) = (there(old_mode, old), there(new_mode, new));
            changes.push(Change { path: path.to_owned(), before, after });
        }
        Ok(changes)
    }

    /// Has the user's index say what the commit says, where it said what the branch said: else the
    /// commit would look like something that the user wants undone. What they staged stays staged; what
    /// the run itself keeps is not theirs, and a server that was killed before it moved the branch may
    /// have staged it. Returns what was changed there.
    async fn settle_index<'a>(&self, changes: &'a [Change]) -> Result<Vec<&'a Change>, String> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let said = self.git.say(["ls-files", "--stage", "-z"]).await?;
        let staged: BTreeMap<&str, (&str, &str)> =
            said.split('\0').filter_map(read_entry).collect();
        let own = self.own();
        let is_untouched = |it: &&Change| match (staged.get(it.path.as_str()), &it.before) {
            _ if own.iter().any(|own| is_in(&it.path, own)) => true,
            (Some(now), Some((mode, object))) => *now == (mode.as_str(), object.as_str()),
            (Some((_, object)), None) => EMPTY_BLOBS.contains(object),
            (None, before) => before.is_none(),
        };
        let settled: Vec<&Change> = changes.iter().filter(is_untouched).collect();
        self.write_index(settled.iter().map(|it| (&it.path, &it.after))).await?;
        let there = settled.iter().filter(|it| it.after.is_some());
        let paths = there.map(|it| format!(":(literal){}", it.path));
        let refresh = ["add", "--refresh", "--ignore-errors", "--"].map(str::to_owned);
        // Git would find out by itself that these files are as they are in the index.
        drop(self.git.ask(refresh.into_iter().chain(paths)).await);
        Ok(settled)
    }

    async fn write_index<'a>(
        &self,
        entries: impl Iterator<Item = (&'a String, &'a Option<(String, String)>)>,
    ) -> Result<(), String> {
        let line = |(path, entry): (&String, &Option<(String, String)>)| match entry {
            Some((mode, object)) => format!("{mode} {object}\t{path}\0"),
            None => format!("0 {}\t{path}\0", "0".repeat(40)),
        };
        let lines: String = entries.map(line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.git.tell(["update-index", "-z", "--index-info"], &lines).await.map(drop)
    }
}

/// Copies an index with its time, by which git tells files that were changed just after it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let modified = from.metadata()?.modified()?;
    std::io::copy(&mut from, &mut to)?;
    to.set_modified(modified)
}

/// Reads `MODE OBJECT STAGE<tab>PATH`, unless it is one side of a conflict.
fn read_entry(line: &str) -> Option<(&str, (&str, &str))> {
    let (head, path) = line.split_once('\t')?;
    let mut words = head.split(' ');
    let (mode, object) = (words.next()?, words.next()?);
    (words.next()? == "0").then_some((path, (mode, object)))
}
