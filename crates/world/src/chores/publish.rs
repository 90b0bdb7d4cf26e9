//! The last commit of a run: its files go into the commit that is there, and that is sent again.
//!
//! A file that changes when the run is recorded as done goes in as it will be then, so that the
//! work tree is clean afterwards. This is done on an index beside the user's own, so that nothing
//! else that is staged gets in.

use std::{fs, path::Path};

use super::{Done, Repository, Told, commit::named};
use crate::{
    beneath::Root,
    command::{Lost, Tool},
};

/// Where a branch goes that was never sent anywhere.
const REMOTE: &str = "origin";
/// The largest file that is published.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where the branch is sent to.
struct Destination {
    branch: String,
    remote: String,
    /// The branch there that it follows. `None`: it is to follow one of its own name.
    target: Option<String>,
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
        files: &[String],
        (body, closes): (Option<&str>, Option<&str>),
        texts: &[(String, String)],
    ) -> Done {
        let destination = self.find_destination().await?;
        let mut warnings = Vec::new();
        if let Some(body) = body {
            warnings.extend(self.describe(body, closes).await);
        }
        let leaves = self.gather(files, texts, &mut warnings).await?;
        let amended = if leaves.is_empty() { Vec::new() } else { self.amend(&leaves).await? };
        let sent = self.send_again(&destination).await?;
        let mut said = Vec::new();
        if !amended.is_empty() {
            said.push(format!("added {} to the last commit", named(&amended)));
        }
        said.extend(sent);
        let detail = if said.is_empty() { "all was published".to_owned() } else { said.join("; ") };
        Ok(Told { detail, warnings })
    }

    /// Makes a file the description of the pull request. That it is not is only told.
    async fn describe(&self, body: &str, closes: Option<&str>) -> Option<String> {
        let mut text = self.read_inside(body)?;
        if let Some(closes) = closes {
            let is_number = closes.bytes().all(|it| it.is_ascii_digit());
            let mark = if is_number { "#" } else { "" };
            text = format!("{}\n\nCloses {mark}{closes}\n", text.trim_end());
        }
        let gh = Tool::gh(&self.top, self.git.times());
        match gh.run(["pr", "edit", "--body-file", "-"], &text).await {
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
    async fn gather(
        &self,
        files: &[String],
        texts: &[(String, String)],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Leaf>, String> {
        let mut leaves = Vec::new();
        for file in files {
            let root = self.folders.home.canonicalize().map_err(|error| error.to_string())?;
            let Some(path) = self.normalise(&root, file) else {
                warnings.push(format!("`{file}` is not in the repository"));
                continue;
            };
            let known = texts.iter().find(|(it, _)| it == file).map(|(_, text)| text.clone());
            let there = || self.read_inside(file);
            let Some(text) = known.or_else(there) else { continue };
            if self.is_ignored(&path).await? {
                continue;
            }
            let filter = format!("--path={path}");
            let arguments = ["hash-object", "-w", "--stdin", &filter];
            let said = self.git.run(arguments, &text).await;
            let said = said.map_err(|_| "`git hash-object` cannot be run".to_owned())?;
            if !said.is_well() {
                return Err(format!("`git hash-object` failed: {}", said.complaint()));
            }
            leaves.push(Leaf { path, blob: said.out.trim().to_owned() });
        }
        Ok(leaves)
    }

    /// Puts files into the last commit, if it does not have them so. Returns which.
    async fn amend(&self, leaves: &[Leaf]) -> Result<Vec<String>, String> {
        let folder = self.git.say(["rev-parse", "--absolute-git-dir"]).await?;
        let index = Path::new(folder.trim_end_matches('\n')).join("milepost-index");
        let amended = self.amend_by(&index, leaves).await;
        // It may never have been made.
        drop(fs::remove_file(&index));
        amended
    }

    async fn amend_by(&self, index: &Path, leaves: &[Leaf]) -> Result<Vec<String>, String> {
        let aside = self.git.with_index(index);
        aside.say(["read-tree", "HEAD"]).await?;
        for leaf in leaves {
            let entry = format!("100644,{},{}", leaf.blob, leaf.path);
            aside.say(["update-index", "--add", "--cacheinfo", &entry]).await?;
        }
        let differing = aside.say(["diff", "--cached", "--name-only", "-z", "HEAD"]).await?;
        let differing: Vec<String> =
            differing.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        if !differing.is_empty() {
            aside.say(["commit", "--quiet", "--amend", "--no-edit"]).await?;
        }
        // The user's own index says the same of these files, and nothing else of others.
        for leaf in leaves {
            let entry = format!("100644,{},{}", leaf.blob, leaf.path);
            self.git.say(["update-index", "--add", "--cacheinfo", &entry]).await?;
        }
        Ok(differing)
    }

    /// Returns where the branch was sent before; where it was not, the place for new ones.
    async fn find_destination(&self) -> Result<Destination, String> {
        let branch = self.branch_to_push().await?;
        let remote = self.setting(&format!("branch.{branch}.remote")).await?;
        let target = self.setting(&format!("branch.{branch}.merge")).await?;
        if let (Some(remote), Some(target)) = (remote, target) {
            return Ok(Destination { branch, remote, target: Some(target) });
        }
        self.check_remote(REMOTE).await?;
        Ok(Destination { branch, remote: REMOTE.to_owned(), target: None })
    }

    /// Sends the branch, unless it is there as it is. The commit may have been sent before it got
    /// its last files, so it is replaced, but only where nothing came to it that was not here.
    async fn send_again(&self, destination: &Destination) -> Result<Option<String>, String> {
        let Destination { branch, remote, target } = destination;
        let there = self.git.ask(["rev-parse", "--verify", "--quiet", "@{upstream}"]).await?;
        let here = self.git.say(["rev-parse", "HEAD"]).await?;
        if target.is_some() && there.is_well() && there.out == here {
            return Ok(None);
        }
        let to = target.as_ref().map_or_else(|| "HEAD".to_owned(), |it| format!("HEAD:{it}"));
        let mut arguments = vec!["push", "--force-with-lease", "--force-if-includes"];
        arguments.extend(target.is_none().then_some("--set-upstream"));
        arguments.extend([remote.as_str(), to.as_str()]);
        self.git.far().say(arguments).await?;
        Ok(Some(format!("pushed `{branch}` to `{remote}`")))
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, String> {
        let asked = self.git.ask(["config", "--get", name]).await?;
        let value = asked.out.trim().to_owned();
        Ok(Some(value).filter(|it| asked.is_well() && !it.is_empty() && !it.starts_with('-')))
    }
}
