//! How the run's branch stands in the repository: whether it is checked out, whether someone is in
//! the middle of something with it, and whether anything else holds on to its last commit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Repository;

/// What git leaves in its folder while it waits for someone to go on.
const UNDER_WAY: [(&str, &str); 7] = [
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_START", "a bisect"),
];

/// The commits that someone is in the middle of something with.
const HEADS: [&str; 4] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

/// The branch of a run, as it stands now.
pub(super) struct Branch {
    pub(super) name: String,
    /// `refs/heads/NAME`
    pub(super) full: String,
    /// Its last commit. `None`: it is checked out and has none so far.
    pub(super) tip: Option<String>,
    /// Whether it is checked out in this work tree.
    pub(super) is_here: bool,
}

impl Repository<'_> {
    /// Finds the branch of a run, or says what to do about it.
    pub(super) async fn find_branch(&self, name: &str) -> Result<Branch, String> {
        if name.is_empty() {
            return Err("no branch is checked out (the head is detached): check the one out that \
                        the run is to work on, then call again"
                .to_owned());
        }
        self.check_branch(name).await?;
        let full = format!("refs/heads/{name}");
        let tip = self.commit_of(&full).await?;
        let is_here = self.branch().await?.as_deref() == Some(name);
        if tip.is_none() && !is_here {
            return Err(format!(
                "there is no branch `{name}`, which is the run's: if it was renamed, give it its \
                 name back; else make it with `git branch {name} COMMIT`; then call again"
            ));
        }
        Ok(Branch { name: name.to_owned(), full, tip, is_here })
    }

    /// Refuses where another branch is checked out than the run's: its files are in the work tree.
    pub(super) async fn check_here(&self, branch: &Branch) -> Result<(), String> {
        if branch.is_here {
            return Ok(());
        }
        let name = &branch.name;
        let now = self.branch().await?.map_or_else(
            || "no branch is checked out (the head is detached)".to_owned(),
            |it| format!("`{it}` is checked out"),
        );
        Err(format!("{now}, and the run works on `{name}`: check `{name}` out, then call again"))
    }

    /// Refuses to move a branch that someone is in the middle of something with.
    pub(super) async fn check_quiet(&self, branch: &Branch) -> Result<(), String> {
        let name = &branch.name;
        if branch.is_here {
            self.check_nothing_under_way().await?;
        }
        for folder in self.git_folders().await? {
            for file in ["rebase-merge/head-name", "rebase-apply/head-name"] {
                let rebased = fs::read_to_string(folder.join(file)).unwrap_or_default();
                if rebased.trim() == branch.full {
                    return Err(format!("`{name}` is being rebased: finish that, then call again"));
                }
            }
        }
        let elsewhere = |it: &Tree| it.branch.as_ref() == Some(&branch.full);
        match self.other_trees().await?.into_iter().find(elsewhere) {
            Some(Tree { path, .. }) => Err(format!(
                "`{name}` is checked out in the work tree `{path}`: check another branch out \
                 there, then call again"
            )),
            None => Ok(()),
        }
    }

    /// Refuses while a merge or the like waits for someone to finish it in this work tree.
    pub(super) async fn check_nothing_under_way(&self) -> Result<(), String> {
        let folder = self.git_folder().await?;
        let found = UNDER_WAY.iter().find(|it| folder.join(it.0).exists());
        if let Some((_, what)) = found {
            return Err(format!("{what} is in progress: finish or abort it, then call again"));
        }
        if !self.git.say(["ls-files", "--unmerged"]).await?.is_empty() {
            return Err("some files have conflicts: resolve them, then call again".to_owned());
        }
        Ok(())
    }

    /// Returns whether anything but the branch, and what follows it at `remote`, holds a commit of
    /// it: another branch, a tag, a stash, a head that is detached or someone is merging.
    pub(super) async fn is_shared(
        &self,
        commit: &str,
        branch: &Branch,
        remote: &str,
    ) -> Result<bool, String> {
        let own = [branch.full.clone(), format!("refs/remotes/{remote}/{}", branch.name)];
        let holding = ["for-each-ref", "--format=%(refname)", "--contains", commit];
        let holding = self.git.say(holding).await?;
        if holding.lines().any(|it| !own.iter().any(|own| own == it)) {
            return Ok(true);
        }
        let mut heads: Vec<String> = self.detached_heads().await?;
        for head in HEADS {
            heads.extend(self.commit_of(head).await?);
        }
        for head in heads {
            if self.is_part_of(commit, &head).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the server itself moved the branch to a commit, as git noted it.
    pub(super) async fn is_made_here(&self, commit: &str, branch: &Branch) -> Result<bool, String> {
        let form = ["reflog", "show", "--format=%H %gs", &branch.full, "--"];
        let moved = format!("{commit} {MARK}");
        Ok(self.git.ask(form).await?.out.lines().any(|it| it.starts_with(&moved)))
    }

    /// Returns the commit that a name stands for.
    pub(super) async fn commit_of(&self, name: &str) -> Result<Option<String>, String> {
        let name = format!("{name}^{{commit}}");
        let asked = self.git.ask(["rev-parse", "--verify", "--quiet", &name]).await?;
        Ok(asked.is_well().then(|| asked.out.trim().to_owned()))
    }

    /// Returns whether a commit is another one, or comes before it.
    pub(super) async fn is_part_of(&self, commit: &str, later: &str) -> Result<bool, String> {
        let asked = self.git.ask(["merge-base", "--is-ancestor", commit, later]).await?;
        Ok(asked.is_well())
    }

    /// Returns the commits before a commit, on one line.
    pub(super) async fn parents(&self, commit: &str) -> Result<String, String> {
        let asked = ["log", "-1", "--no-show-signature", "--format=%P", commit, "--"];
        Ok(self.git.say(asked).await?.trim().to_owned())
    }

    /// Returns the folder in which git keeps this work tree.
    pub(super) async fn git_folder(&self) -> Result<PathBuf, String> {
        let folder = self.git.say(["rev-parse", "--absolute-git-dir"]).await?;
        Ok(PathBuf::from(folder.trim_end_matches('\n')))
    }

    /// Returns the folders in which git keeps each work tree of the repository.
    async fn git_folders(&self) -> Result<Vec<PathBuf>, String> {
        let common = self.git.say(["rev-parse", "--git-common-dir"]).await?;
        let common = self.top.join(common.trim_end_matches('\n'));
        let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten();
        let linked: Vec<PathBuf> = linked.flatten().map(|it| it.path()).collect();
        Ok([vec![common], linked].concat())
    }

    async fn detached_heads(&self) -> Result<Vec<String>, String> {
        let trees = self.trees().await?.into_iter();
        Ok(trees.filter(|it| it.branch.is_none()).filter_map(|it| it.head).collect())
    }

    async fn other_trees(&self) -> Result<Vec<Tree>, String> {
        let is_other =
            |it: &Tree| Path::new(&it.path).canonicalize().is_ok_and(|it| it != self.top);
        Ok(self.trees().await?.into_iter().filter(is_other).collect())
    }

    async fn trees(&self) -> Result<Vec<Tree>, String> {
        let listed = self.git.say(["worktree", "list", "--porcelain"]).await?;
        Ok(listed.split("\n\n").filter(|it| !it.trim().is_empty()).map(Tree::read).collect())
    }
}

/// What git notes of each move that the server makes of a branch.
pub(super) const MARK: &str = "milepost: ";

/// A work tree of the repository.
struct Tree {
    path: String,
    head: Option<String>,
    branch: Option<String>,
}

impl Tree {
    fn read(text: &str) -> Self {
        let find = |key: &str| {
            text.lines().find_map(|it| it.strip_prefix(key)).map(|it| it.trim().to_owned())
        };
        Self {
            path: find("worktree ").unwrap_or_default(),
            head: find("HEAD "),
            branch: find("branch "),
        }
    }
}
