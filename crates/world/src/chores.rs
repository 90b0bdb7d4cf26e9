//! Does chores in a repository: by the user's own `git`, and `gh` if it is there, each with a list
//! of arguments and never through a shell.
//!
//! What is done already is found to be done, so that a chore can be done once more after a crash.

mod commit;
mod publish;
mod push;
mod record;
mod standing;

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use commit::Asked;
use engine::{ChoreOutcome, GitDeed, Pushed};
use runtime::{LINT_IGNORE, LINT_IGNORE_TEXT};
use tempfile::NamedTempFile;

use crate::{
    ChoreTimes,
    beneath::Root,
    command::Tool,
    file_system::LockFile,
    git::{find_repository, short},
};
use push::is_protected;

/// What was done, or why it could not be.
type Done = Result<Told, String>;

/// What was done, in a line, and what was odd about it.
#[derive(Debug, Default)]
struct Told {
    detail: String,
    warnings: Vec<String>,
    pushed: Option<Pushed>,
}

impl Told {
    fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..Self::default() }
    }
}

/// Where a run is worked on.
pub(crate) struct Folders {
    /// The folder of its project.
    pub(crate) root: PathBuf,
    /// The folder with the run's own files, which may be the same.
    pub(crate) home: PathBuf,
}

/// A repository, and the folders in it that a run is worked on in.
struct Repository<'a> {
    folders: &'a Folders,
    /// The top of the work tree.
    top: PathBuf,
    git: Tool,
}

/// Does what is to be done.
pub(crate) async fn run(
    folders: &Folders,
    deed: &GitDeed,
    texts: &[(String, String)],
    (times, held): (ChoreTimes, Option<Arc<LockFile>>),
) -> ChoreOutcome {
    let done = match find_top(&folders.home, times).await {
        Ok(Some(top)) => {
            let git = Tool::git(&top, times).holding(held);
            Repository { folders, top, git }.run(deed, texts).await
        }
        Ok(None) => {
            let skipped = "there is no repository here, so nothing was done";
            Ok(Told { warnings: vec![skipped.to_owned()], ..Told::new(skipped) })
        }
        Err(problem) => Err(problem),
    };
    match done {
        Ok(Told { detail, warnings, pushed }) => ChoreOutcome::Done { detail, warnings, pushed },
        Err(reason) => ChoreOutcome::Failed { reason },
    }
}

/// Returns the top of the work tree that `root` lies in, if it lies in one.
async fn find_top(root: &Path, times: ChoreTimes) -> Result<Option<PathBuf>, String> {
    let Some(repository) = find_repository(root) else { return Ok(None) };
    let top = Tool::git(repository, times).say(["rev-parse", "--show-toplevel"]).await?;
    let top = PathBuf::from(top.trim_end_matches('\n'));
    top.canonicalize().map(Some).map_err(|error| error.to_string())
}

impl Repository<'_> {
    async fn run(&self, deed: &GitDeed, texts: &[(String, String)]) -> Done {
        match deed {
            GitDeed::RenameBranch { from, to, base } => {
                self.rename(from, to, base.as_deref()).await
            }
            GitDeed::Commit { branch, paths, message, or_changed, base, is_taken } => {
                self.check_ours(branch, base.as_deref(), *is_taken).await?;
                let asked = Asked { paths, message, names_changed: *or_changed };
                self.commit(branch, asked).await
            }
            GitDeed::Push { branch, remote, base, is_taken } => {
                self.check_ours(branch, base.as_deref(), *is_taken).await?;
                self.push(branch, remote).await
            }
            GitDeed::Publish { branch, files, body, closes } => {
                self.check_ours(&branch.name, branch.base.as_deref(), branch.is_taken).await?;
                let files = self.gather(files, texts).await?;
                self.publish(branch, files, (body.as_deref(), closes.as_deref())).await
            }
            GitDeed::Checkout { branch, from } => self.check_out(branch, from.as_deref()).await,
        }
    }

    async fn rename(&self, from: &str, to: &str, base: Option<&str>) -> Done {
        self.check_branch(from).await?;
        self.check_branch(to).await?;
        let (has_from, has_to) = (self.has_branch(from).await?, self.has_branch(to).await?);
        match (has_from, has_to) {
            _ if from == to => Ok(Told::new(format!("branch `{to}` is called so already"))),
            (false, true) if self.was_renamed(from, to).await? => {
                Ok(Told::new(format!("branch `{from}` was renamed to `{to}` before")))
            }
            (false, true) => Err(format!(
                "there is no branch `{from}`, and `{to}` is another one: give the run's branch its \
                 name `{from}` back, then call again"
            )),
            (true, true) => Err(format!("there is a branch `{to}` already beside `{from}`")),
            (false, false) => Err(format!("there is no branch `{from}`")),
            (true, false) if is_protected(from) || self.is_default(from).await? => {
                Err(format!("`{from}` is not renamed: others rely on it"))
            }
            (true, false) if !self.was_new(from, base).await? => Err(format!(
                "`{from}` is not renamed: it held commits of its own before the run. Name a branch \
                 that is made for the run, or begin the run on the current branch"
            )),
            (true, false) => {
                self.git.say(["branch", "-m", from, to]).await?;
                Ok(Told::new(format!("renamed branch `{from}` to `{to}`")))
            }
        }
    }

    /// Refuses a branch that is not the one that the run began with, if it has commits that nothing
    /// else has: someone may not have published them yet.
    async fn check_ours(
        &self,
        branch: &str,
        base: Option<&str>,
        is_taken: bool,
    ) -> Result<(), String> {
        let full = format!("refs/heads/{branch}");
        if let Some(other) = self.target_of(&full).await? {
            let other = short(&other).unwrap_or(&other);
            return Err(format!(
                "`{branch}` only stands for `{other}`, and the server moves no branch by another \
                 name. Name the run's own branch, then call again"
            ));
        }
        let (Some(base), Some(tip)) = (base, self.commit_of(&full).await?) else { return Ok(()) };
        let (at, what) = if !self.is_part_of(base, &tip).await? {
            (tip.as_str(), "does not have the commit that the run began with, and has")
        } else if is_taken {
            (base, "was not made for the run, and had")
        } else {
            return Ok(());
        };
        if self.was_new(branch, Some(at)).await? {
            return Ok(());
        }
        Err(format!(
            "`{branch}` {what} commits that no other branch has. They may be someone else's \
             work. Name a branch that is made for the run, then call again"
        ))
    }

    /// Returns whether the commit that a branch stood at before the run is held by another one too, so
    /// that the branch was new then.
    async fn was_new(&self, branch: &str, base: Option<&str>) -> Result<bool, String> {
        let Some(base) = base else { return Ok(true) };
        let asked = ["for-each-ref", "--format=%(refname)", "--contains", base];
        // A remote has the branch itself under its own name.
        let own = format!("refs/heads/{branch}");
        let is_own = |it: &str| {
            let remote = it.strip_prefix("refs/remotes/").and_then(|it| it.split_once('/'));
            it == own || remote.is_some_and(|(_, name)| name == branch)
        };
        let holders = self.git.say(asked).await?;
        Ok(holders.lines().any(|it| !is_own(it) && !it.starts_with("refs/stash")))
    }

    /// Returns whether git noted that a branch had another name, or it has no commit to note it with.
    async fn was_renamed(&self, from: &str, to: &str) -> Result<bool, String> {
        let full = format!("refs/heads/{to}");
        let asked = self.git.ask(["reflog", "show", "--format=%gs", &full, "--"]).await?;
        let noted = format!("renamed refs/heads/{from} to {full}");
        let is_noted = asked.out.lines().any(|it| it.ends_with(&noted));
        Ok(is_noted || self.commit_of(&full).await?.is_none())
    }

    async fn check_out(&self, branch: &str, from: Option<&str>) -> Done {
        self.check_branch(branch).await?;
        let now = self.branch().await?;
        if now.as_deref() == Some(branch) {
            return Ok(Told::new(format!("`{branch}` is checked out already")));
        }
        self.check_leavable(now.as_deref(), branch).await?;
        let spared = self.spare_lint_ignore()?;
        let git = match &spared {
            Some(file) => self.git.with_variables(excluding(file.path())),
            None => self.git.clone(),
        };
        if !self.has_branch(branch).await? {
            let Some(from) = from else { return Err(format!("there is no branch `{branch}`")) };
            return self.make_branch(&git, branch, from).await;
        }
        git.say(["checkout", branch, "--"]).await?;
        let now = now.unwrap_or_else(|| "a detached head".to_owned());
        let left = format!("`{now}` was checked out, and not `{branch}`");
        Ok(Told { warnings: vec![left], ..Told::new(format!("checked `{branch}` out")) })
    }

    /// Refuses to check out another branch while someone has unfinished work in the work tree.
    async fn check_leavable(&self, now: Option<&str>, branch: &str) -> Result<(), String> {
        let Some(now) = now else {
            return Err(format!("the head is detached: check `{branch}` out yourself"));
        };
        self.check_nothing_under_way().await?;
        let asked =
            ["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--", "."];
        // What the server writes for runs is nobody's unfinished work. A tracked list for linters is
        // a person's: the server writes none.
        let own = self.own().into_iter().filter(|it| !it.ends_with(LINT_IGNORE));
        let own = own.map(|it| format!(":(exclude,literal){it}"));
        let asked = asked.into_iter().map(str::to_owned).chain(own);
        if !self.git.say(asked).await?.is_empty() {
            return Err(format!(
                "`{now}` is checked out, with changes that are not committed: commit or stash \
                 them, and check `{branch}` out"
            ));
        }
        Ok(())
    }

    /// Lists what a branch may replace that has a file of the same name: the server's own list for
    /// linters, as long as nobody changed it.
    fn spare_lint_ignore(&self) -> Result<Option<NamedTempFile>, String> {
        let root = &self.folders.root;
        let most = LINT_IGNORE_TEXT.len() as u64;
        let read = Root::open(root).and_then(|it| it.read_text(Path::new(LINT_IGNORE), most));
        let seen = root.strip_prefix(&self.top).ok().and_then(Path::to_str).unwrap_or_default();
        // Other letters could mean something in a pattern.
        let is_plain = seen.chars().all(|it| it.is_alphanumeric() || "/._-".contains(it));
        if !is_plain || read.ok().as_deref() != Some(LINT_IGNORE_TEXT) {
            return Ok(None);
        }
        let pattern = Path::new("/").join(seen).join(LINT_IGNORE);
        let write = || {
            let file = tempfile::Builder::new().prefix("milepost-").tempfile()?;
            std::fs::write(file.path(), format!("{}\n", pattern.display()))?;
            Ok(file)
        };
        write().map(Some).map_err(|error: std::io::Error| error.to_string())
    }

    /// Makes a branch of another one, and checks it out.
    async fn make_branch(&self, git: &Tool, branch: &str, from: &str) -> Done {
        self.check_branch(from).await?;
        if !self.has_branch(from).await? {
            return Err(format!("there is no branch `{branch}`, nor `{from}` to make it of"));
        }
        let full = format!("refs/heads/{from}");
        git.say(["checkout", "--no-track", "-b", branch, &full, "--"]).await?;
        Ok(Told::new(format!("made branch `{branch}` of `{from}`, and checked it out")))
    }

    /// Refuses what is not a name that was set up by the user, such as an address from elsewhere.
    async fn check_remote(&self, remote: &str) -> Result<(), String> {
        let remotes = self.git.say(["remote"]).await?;
        if remotes.lines().any(|it| it == remote) {
            return Ok(());
        }
        Err(format!("there is no remote `{remote}`: add it with `git remote add {remote} ADDRESS`"))
    }

    /// Returns the branch that is checked out; `None` with a detached head.
    async fn branch(&self) -> Result<Option<String>, String> {
        let target = self.target_of("HEAD").await?;
        Ok(target.as_deref().and_then(short).map(str::to_owned))
    }

    /// Returns the full name of the ref that a symbolic one stands for.
    async fn target_of(&self, name: &str) -> Result<Option<String>, String> {
        let asked = self.git.ask(["symbolic-ref", "--quiet", name]).await?;
        Ok(asked.is_well().then(|| asked.out.trim().to_owned()))
    }

    /// Returns whether there is a branch, or it is checked out without a commit so far.
    async fn has_branch(&self, name: &str) -> Result<bool, String> {
        let full = format!("refs/heads/{name}");
        let asked = self.git.ask(["show-ref", "--verify", "--quiet", &full]).await?;
        Ok(asked.is_well() || self.branch().await?.as_deref() == Some(name))
    }

    /// Refuses what cannot name a branch, or could be taken for an option.
    async fn check_branch(&self, name: &str) -> Result<(), String> {
        let full = format!("refs/heads/{name}");
        let is_option = name.starts_with('-');
        if is_option || !self.git.ask(["check-ref-format", &full]).await?.is_well() {
            return Err(format!("`{name}` cannot name a branch"));
        }
        Ok(())
    }

    /// Returns a path as seen from the top, if it lies in the work tree.
    fn normalise(&self, base: &Path, path: &str) -> Option<String> {
        let mut whole = PathBuf::new();
        for part in base.join(path).components() {
            match part {
                Component::ParentDir => {
                    whole.pop();
                }
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                    whole.push(part);
                }
            }
        }
        // What leads here by a link lies here; a file that is gone has only its letters.
        let parent = whole.parent().and_then(|it| it.canonicalize().ok());
        let real = parent.zip(whole.file_name()).map(|(parent, name)| parent.join(name));
        let inside = |it: &Path| it.strip_prefix(&self.top).ok().map(Path::to_path_buf);
        let found = real.as_deref().map_or_else(|| inside(&whole), inside)?;
        let text = found.to_str()?.replace('\\', "/");
        Some(text).filter(|it| !it.is_empty() && !it.starts_with(".git/") && it != ".git")
    }
}

/// Has git treat the files of a list as ignored, which it replaces where a branch has them.
fn excluding(list: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", "core.excludesFile".to_owned()),
        ("GIT_CONFIG_VALUE_0", list.to_string_lossy().into_owned()),
    ]
}
