//! The last commit of a run: its files go into the commit that is there, or into one more, and the
//! branch is pushed again.
//!
//! A file that changes when the run is recorded as done goes in as it will be then, so that the
//! work tree is clean afterwards. Nothing of the work tree gets in, so the run's branch need not be
//! checked out. A commit is replaced only if it was made during the run and exists nowhere else.

use std::path::Path;

use engine::RunBranch;

use super::{
    Done, Repository, Told,
    commit::named,
    push::Far,
    record::{Beside, Form},
    standing::Branch,
};
use crate::{
    beneath::Root,
    command::{Lost, Tool},
};

/// Where a branch goes that was never sent anywhere.
const REMOTE: &str = "origin";
/// The largest file that is published.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The files that go into the commit, and what is odd about others.
pub(super) struct Gathered {
    leaves: Vec<Leaf>,
    warnings: Vec<String>,
}

/// A file as it goes into the commit.
struct Leaf {
    /// Seen from the top.
    path: String,
    /// Of its text, in git's own store.
    blob: String,
}

impl Repository<'_> {
    pub(super) async fn publish(
        &self,
        run: &RunBranch,
        Gathered { leaves, mut warnings }: Gathered,
        (body, closes): (Option<&str>, Option<&str>),
    ) -> Done {
        let mut branch = self.find_branch(&run.name).await?;
        let far = self.look_far(&self.find_remote(run).await?).await?;
        self.check_pushable(&branch, &far).await?;
        self.find_replaced(run, (&branch, &far), &leaves).await?;
        let mut said = Vec::new();
        if let Some((commit, done)) = self.add(run, (&branch, &far), &leaves).await? {
            branch.tip = Some(commit);
            said.push(done);
        }
        let sent = self.send_again(run, (&branch, &far), &leaves).await?;
        said.extend(sent.as_ref().map(|it| it.detail.clone()));
        if let Some(body) = body {
            warnings.extend(self.describe(&branch, body, closes).await);
        }
        let detail = if said.is_empty() { "all was published".to_owned() } else { said.join("; ") };
        Ok(Told { detail, warnings, pushed: sent.and_then(|it| it.pushed) })
    }

    /// Makes a file the description of the pull request. That it is not is only told.
    async fn describe(&self, branch: &Branch, body: &str, closes: Option<&str>) -> Option<String> {
        let mut text = self.read_inside(body)?;
        if let Some(closes) = closes {
            let is_number = closes.bytes().all(|it| it.is_ascii_digit());
            let mark = if is_number { "#" } else { "" };
            text = format!("{}\n\nCloses {mark}{closes}\n", text.trim_end());
        }
        let gh = Tool::gh(&self.top, self.git.times());
        match gh.run(["pr", "edit", &branch.name, "--body-file", "-"], &text).await {
            Ok(said) if said.is_well() => None,
            Ok(said) => Some(format!("the pull request was not described: {}", said.complaint())),
            Err(Lost::NotThere) => {
                Some("`gh` is not installed, so the pull request was not described".to_owned())
            }
            Err(Lost::Problem(problem)) => {
                Some(format!("the pull request was not described: {problem}"))
            }
        }
    }

    /// Returns the text of a file of the run's folder, if it is in it.
    fn read_inside(&self, path: &str) -> Option<String> {
        let folder = Root::of(&self.folders.root, &self.folders.home).ok()?;
        folder.read_text(Path::new(path), FILE_BYTES_MAX).ok()
    }

    /// Returns the files that are there, or will be, and that git does not ignore.
    pub(super) async fn gather(
        &self,
        files: &[String],
        texts: &[(String, String)],
    ) -> Result<Gathered, String> {
        let mut gathered = Gathered { leaves: Vec::new(), warnings: Vec::new() };
        for file in files {
            let root = self.folders.home.canonicalize().map_err(|error| error.to_string())?;
            let Some(path) = self.normalise(&root, file) else {
                gathered.warnings.push(format!("`{file}` is not in the repository"));
                continue;
            };
            let known = texts.iter().find(|(it, _)| it == file).map(|(_, text)| text.clone());
            let there = || self.read_inside(file);
            let Some(text) = known.or_else(there) else { continue };
            if self.is_ignored(&path).await? {
                continue;
            }
            let filter = format!("--path={path}");
            let blob = self.git.tell(["hash-object", "-w", "--stdin", &filter], &text).await?;
            gathered.leaves.push(Leaf { path, blob: blob.trim().to_owned() });
        }
        Ok(gathered)
    }

    /// Commits files, unless the branch has them so. Returns the commit, and what was done.
    async fn add(
        &self,
        run: &RunBranch,
        (branch, far): (&Branch, &Far),
        leaves: &[Leaf],
    ) -> Result<Option<(String, String)>, String> {
        let beside = self.index_beside(branch).await?;
        put(&beside, leaves).await?;
        let differing = self.differing(branch, &beside).await?;
        if differing.is_empty() {
            return Ok(None);
        }
        self.check_quiet(branch).await?;
        let (form, done) = if self.may_replace(run, branch, far).await? {
            (Form::Instead, format!("added {} to the last commit", named(&differing)))
        } else {
            let name = |it: &String| it.rsplit('/').next().unwrap_or(it).to_owned();
            let names: Vec<String> = differing.iter().map(name).collect();
            let message = format!("chore: add {}", names.join(", "));
            (Form::Further { message }, format!("committed {}", named(&differing)))
        };
        Ok(Some((self.record(branch, &beside, &form).await?, done)))
    }

    /// Returns whether the last commit may be replaced: it came to be during the run, nothing else
    /// has it, and a remote has it only because the server sent it there.
    async fn may_replace(
        &self,
        run: &RunBranch,
        branch: &Branch,
        far: &Far,
    ) -> Result<bool, String> {
        let Some(tip) = &branch.tip else { return Ok(false) };
        if let Some(base) = &run.base
            && self.is_part_of(tip, base).await?
        {
            return Ok(false);
        }
        if self.is_shared(tip, branch, &far.remote).await? || far.has_elsewhere(tip, branch) {
            return Ok(false);
        }
        if let Some(there) = far.find(branch)
            && self.is_part_of(tip, there).await?
        {
            return Ok(there == tip && self.is_sent_by_us(run, branch, far, tip).await?);
        }
        if self.is_made_here(tip, branch).await? {
            return Ok(true);
        }
        match &run.base {
            Some(base) => self.is_part_of(base, tip).await,
            None => Ok(false),
        }
    }

    /// Returns whether a commit is at the remote because the server sent it there. Where it was not
    /// recorded, because of a crash, git noted who did.
    async fn is_sent_by_us(
        &self,
        run: &RunBranch,
        branch: &Branch,
        far: &Far,
        commit: &str,
    ) -> Result<bool, String> {
        let sent = run.pushed.as_ref();
        let is_sent = sent.is_some_and(|it| it.remote == far.remote && it.commit == commit);
        Ok(is_sent || self.is_noted_as_sent(commit, branch, far).await?)
    }

    /// Returns where the branch was sent before; where it was not, the place for new ones.
    async fn find_remote(&self, run: &RunBranch) -> Result<String, String> {
        let followed = self.setting(&format!("branch.{}.remote", run.name)).await?;
        let sent = run.pushed.as_ref().map(|it| it.remote.clone());
        let remote = sent.or(followed.filter(|it| it != ".")).unwrap_or_else(|| REMOTE.to_owned());
        self.check_remote(&remote).await?;
        Ok(remote)
    }

    /// Returns the commit at the remote that the last one here takes the place of, if that is one
    /// which the server sent there. Refuses where the remote has anything else that is not here.
    async fn find_replaced<'a>(
        &self,
        run: &RunBranch,
        (branch, far): (&Branch, &'a Far),
        leaves: &[Leaf],
    ) -> Result<Option<&'a str>, String> {
        let (Some(tip), Some(there)) = (&branch.tip, far.find(branch)) else { return Ok(None) };
        if self.is_twin(there, tip, leaves).await?
            && self.is_sent_by_us(run, branch, far, there).await?
        {
            return Ok(Some(there));
        }
        self.check_contained(branch, far, tip).await?;
        Ok(None)
    }

    /// Returns whether two commits are the same but for the run's own files.
    async fn is_twin(&self, one: &str, other: &str, leaves: &[Leaf]) -> Result<bool, String> {
        if one == other || self.commit_of(one).await?.is_none() {
            return Ok(false);
        }
        let form = "--format=%P%n%an%n%ae%n%ad%n%B";
        let told = |it: String| async move {
            self.git.say(["log", "-1", "--no-show-signature", "--date=raw", form, &it, "--"]).await
        };
        if told(one.to_owned()).await? != told(other.to_owned()).await? {
            return Ok(false);
        }
        let asked = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other, "--"];
        let differing = self.git.say(asked).await?;
        let is_own = |path: &str| path.is_empty() || leaves.iter().any(|it| it.path == path);
        Ok(differing.split('\0').all(is_own))
    }

    /// Sends the branch, unless it is there as it is.
    async fn send_again(
        &self,
        run: &RunBranch,
        (branch, far): (&Branch, &Far),
        leaves: &[Leaf],
    ) -> Result<Option<Told>, String> {
        let Some(tip) = &branch.tip else { return Ok(None) };
        if far.find(branch) == Some(tip) {
            return Ok(None);
        }
        let replaced = self.find_replaced(run, (branch, far), leaves).await?;
        self.send(branch, far, (tip, replaced)).await.map(Some)
    }
}

/// Puts files into an index.
async fn put(beside: &Beside, leaves: &[Leaf]) -> Result<(), String> {
    for leaf in leaves {
        let entry = format!("100644,{},{}", leaf.blob, leaf.path);
        beside.git.say(["update-index", "--add", "--cacheinfo", &entry]).await?;
    }
    Ok(())
}
