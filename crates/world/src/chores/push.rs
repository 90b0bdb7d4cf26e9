//! Pushes the run's branch to its own name, and nothing else.
//!
//! What is at the remote is looked at first. Only a commit that the server itself pushed there, or
//! made, is ever replaced.

use std::collections::BTreeMap;

use engine::Pushed;

use super::{Done, Repository, Told, standing::Branch};

/// Shared branches, which are never pushed to; so is the default branch of a repository.
const PROTECTED: [&str; 10] = [
    "main",
    "master",
    "trunk",
    "develop",
    "development",
    "staging",
    "production",
    "stable",
    "release",
    "gh-pages",
];

/// Whom git notes as the one who pushed what the server did.
const PUSHER: &str = "milepost";

/// What a remote has.
pub(super) struct Far {
    pub(super) remote: String,
    /// The branch that it begins with.
    default: Option<String>,
    /// Commits and tags by their full names.
    refs: BTreeMap<String, String>,
}

impl Far {
    /// Returns where a branch stands there.
    pub(super) fn find(&self, branch: &Branch) -> Option<&String> {
        self.refs.get(&branch.full)
    }

    /// Returns whether anything there but the branch itself is just this commit.
    pub(super) fn has_elsewhere(&self, commit: &str, branch: &Branch) -> bool {
        self.refs.iter().any(|(name, it)| it == commit && *name != branch.full)
    }
}

impl Repository<'_> {
    pub(super) async fn push(&self, branch: &str, remote: &str) -> Done {
        self.check_remote(remote).await?;
        let branch = self.find_branch(branch).await?;
        let Some(tip) = &branch.tip else {
            return Err(format!("`{}` has no commit so far, so it cannot be pushed", branch.name));
        };
        let far = self.look_far(remote).await?;
        if far.find(&branch) == Some(tip) {
            return Ok(Told::new(format!("`{remote}` has `{}` as it is here", branch.name)));
        }
        self.check_pushable(&branch, &far).await?;
        self.check_contained(&branch, &far, tip).await?;
        self.send(&branch, &far, (tip, None)).await
    }

    /// Sends a commit of the branch. `replaced` is what it takes the place of at the remote.
    pub(super) async fn send(
        &self,
        branch: &Branch,
        far: &Far,
        (commit, replaced): (&str, Option<&str>),
    ) -> Done {
        let Branch { name, full, .. } = branch;
        let remote = &far.remote;
        let mut arguments = ["push", "--quiet", "--no-follow-tags", "--recurse-submodules=no"]
            .map(str::to_owned)
            .to_vec();
        if self.setting(&format!("branch.{name}.remote")).await?.is_none() {
            arguments.push("--set-upstream".to_owned());
        }
        arguments.extend(replaced.map(|it| format!("--force-with-lease={full}:{it}")));
        arguments.extend([remote.clone(), format!("{full}:{full}")]);
        // Git notes under this name that the branch at the remote was moved.
        let noting = vec![("GIT_COMMITTER_NAME", PUSHER.to_owned())];
        self.git.far().with_variables(noting).say(arguments).await?;
        let pushed = Pushed { remote: remote.clone(), commit: commit.to_owned() };
        Ok(Told { pushed: Some(pushed), ..Told::new(format!("pushed `{name}` to `{remote}`")) })
    }

    /// Returns whether git noted that the server, and nobody since, sent a commit to the branch at a
    /// remote.
    pub(super) async fn is_noted_as_sent(
        &self,
        commit: &str,
        branch: &Branch,
        far: &Far,
    ) -> Result<bool, String> {
        let followed = format!("refs/remotes/{}/{}", far.remote, branch.name);
        let form = ["reflog", "show", "--format=%H %gn %gs", &followed, "--"];
        let noted = self.git.ask(form).await?;
        let last = noted.out.lines().find_map(|it| it.strip_prefix(commit));
        Ok(last.is_some_and(|it| it.trim_start().starts_with(&format!("{PUSHER} "))))
    }

    /// Looks what a remote has.
    pub(super) async fn look_far(&self, remote: &str) -> Result<Far, String> {
        let asked = ["ls-remote", "--symref", "--", remote, "HEAD", "refs/heads/*", "refs/tags/*"];
        let said = self.git.far().say(asked).await?;
        let mut far = Far { remote: remote.to_owned(), default: None, refs: BTreeMap::new() };
        for (value, name) in said.lines().filter_map(|it| it.split_once('\t')) {
            match value.strip_prefix("ref: refs/heads/") {
                Some(branch) if name == "HEAD" => far.default = Some(branch.to_owned()),
                Some(_) => {}
                None if name == "HEAD" => {}
                None => drop(far.refs.insert(name.to_owned(), value.to_owned())),
            }
        }
        Ok(far)
    }

    /// Refuses the branches that are everybody's.
    pub(super) async fn check_pushable(&self, branch: &Branch, far: &Far) -> Result<(), String> {
        let name = &branch.name;
        let is_default = far.default.as_ref() == Some(name) || self.is_default(name).await?;
        if !is_default && !is_protected(name) {
            return Ok(());
        }
        let what = if is_default { "the default branch" } else { "a protected branch" };
        Err(format!(
            "`{name}` is {what}, which the server never pushes to: have the run work on a branch \
             of its own, or push it yourself, then call again"
        ))
    }

    /// Returns whether a repository, here or elsewhere, begins with a branch of that name.
    pub(super) async fn is_default(&self, name: &str) -> Result<bool, String> {
        let asked = ["for-each-ref", "--format=%(symref:lstrip=3)", "refs/remotes/*/HEAD"];
        let defaults = self.git.say(asked).await?;
        let usual = self.setting("init.defaultBranch").await?;
        Ok(defaults.lines().any(|it| it == name) || usual.as_deref() == Some(name))
    }

    /// Refuses where a remote has something on the branch that is not in `commit`.
    pub(super) async fn check_contained(
        &self,
        branch: &Branch,
        far: &Far,
        commit: &str,
    ) -> Result<(), String> {
        let Some(there) = far.find(branch) else { return Ok(()) };
        if self.is_part_of(there, commit).await? {
            return Ok(());
        }
        let (name, remote, short) = (&branch.name, &far.remote, there.get(..10).unwrap_or(there));
        Err(format!(
            "`{remote}` has `{name}` at {short}, which is not in the branch here and not what was \
             pushed for the run: bring them together (`git pull {remote} {name}`), then call again"
        ))
    }

    pub(super) async fn setting(&self, name: &str) -> Result<Option<String>, String> {
        let asked = self.git.ask(["config", "--get", name]).await?;
        let value = asked.out.trim().to_owned();
        Ok(Some(value).filter(|it| asked.is_well() && !it.is_empty() && !it.starts_with('-')))
    }
}

/// Returns whether a branch is one that many work on, by its name.
pub(super) fn is_protected(name: &str) -> bool {
    PROTECTED.contains(&name) || ["release/", "releases/"].iter().any(|it| name.starts_with(it))
}
