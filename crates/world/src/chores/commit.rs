//! Commits just these paths, whatever else was changed or staged.

use std::path::Path;

use runtime::LINT_IGNORE;

use super::{Done, Folders, Repository, Told, record::Form};
use crate::command::Tool;

/// The folder of a project that is ours.
const OURS: &str = ".milepost";

/// How many paths a warning names.
const NAMED_MAX: usize = 5;

/// What is to be committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) paths: &'a [String],
    pub(super) message: &'a str,
    /// Whether the files that changed are named where none of the paths can be committed.
    pub(super) names_changed: bool,
}

/// A path in an index.
struct Entry {
    path: String,
    /// Whether it is a submodule.
    is_link: bool,
    /// Whether someone has git not look at it: `skip-worktree` or `assume-unchanged`.
    is_hidden: bool,
}

impl Entry {
    /// Reads `TAG MODE OBJECT STAGE<tab>PATH`.
    fn read(line: &str) -> Option<Self> {
        let (head, path) = line.split_once('\t')?;
        let (tag, rest) = head.split_once(' ')?;
        let is_hidden = tag == "S" || tag.starts_with(|it: char| it.is_ascii_lowercase());
        Some(Self { path: path.to_owned(), is_link: rest.starts_with("160000 "), is_hidden })
    }
}

/// What git found before a commit.
struct Found {
    /// The user's own index.
    own: Vec<Entry>,
    /// What the branch has.
    there: Vec<Entry>,
    /// What neither has. A repository in the work tree has `/` at the end.
    unknown: Vec<String>,
}

impl Found {
    /// Returns the repositories in the work tree that are not submodules.
    fn embedded(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().filter_map(|it| it.strip_suffix('/'))
    }

    fn embedded_in(&self, paths: &[String]) -> impl Iterator<Item = &str> {
        self.embedded().filter(|it| paths.iter().any(|path| is_in(it, path)))
    }

    /// Returns whether a path belongs to another repository: it is in a submodule, or is or lies in
    /// a nested repository that is not a submodule.
    fn is_foreign(&self, path: &str) -> bool {
        let mut links = self.own.iter().chain(&self.there).filter(|it| it.is_link);
        links.any(|it| it.path != path && is_in(path, &it.path))
            || self.embedded().any(|it| is_in(path, it))
    }

    /// Returns the arguments that add paths to an index, without the repositories in them.
    fn addition(&self, paths: &[String]) -> Vec<String> {
        // Where git is not to look at some files, it refuses a folder that has no others.
        let is_sparse = self.own.iter().any(|it| it.is_hidden);
        let sparse = is_sparse.then(|| "--sparse".to_owned());
        let literal = paths.iter().map(|it| format!(":(literal){it}"));
        let embedded = self.embedded_in(paths).map(|it| format!(":(exclude,literal){it}"));
        let words = ["add".to_owned()].into_iter().chain(sparse).chain(["--".to_owned()]);
        words.chain(literal).chain(embedded).collect()
    }
}

impl Repository<'_> {
    pub(super) async fn commit(&self, branch: &str, asked: Asked<'_>) -> Done {
        let branch = self.find_branch(branch).await?;
        self.check_here(&branch).await?;
        self.check_quiet(&branch).await?;
        let beside = self.index_beside(&branch).await?;
        let found = Found {
            own: list(&self.git).await?,
            there: list(&beside.git).await?,
            unknown: self.unknown().await?,
        };
        let mut warnings = Vec::new();
        let mut chosen = self.choose(&found, asked.paths, &mut warnings).await?;
        if chosen.is_empty() {
            if asked.names_changed {
                warnings.extend(self.unlisted().await?);
            }
            warnings.push("there was nothing to commit".to_owned());
            return Ok(Told { warnings, ..Told::new("nothing was committed") });
        }
        beside.git.say(found.addition(&chosen)).await?;
        let changed = self.differing(&branch, &beside).await?;
        if changed.is_empty() {
            warnings.push(format!("nothing changed in {}", named(&chosen)));
            return Ok(Told { warnings, ..Told::new("nothing was committed") });
        }
        chosen.retain(|it| changed.iter().any(|path| is_in(path, it)));
        let form = Form::Further { message: asked.message.to_owned() };
        let commit = self.record(&branch, &beside, &form).await?;
        let commit = self.git.say(["rev-parse", "--short", &commit]).await?;
        let detail = format!("committed {} as {}", named(&chosen), commit.trim());
        Ok(Told { warnings, ..Told::new(detail) })
    }

    /// Returns the paths that can be committed, as seen from the top, and says what cannot.
    async fn choose(
        &self,
        found: &Found,
        paths: &[String],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, String> {
        let (mut chosen, mut missing): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut outside, mut ignored): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut foreign, mut hidden): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(path) = self.normalise(&self.top, path) else {
                outside.push(path.clone());
                continue;
            };
            if chosen.contains(&path) {
                continue;
            }
            // A file that was taken away is committed as such.
            let is_tracked = found.there.iter().any(|it| is_in(&it.path, &path));
            if found.is_foreign(&path) {
                foreign.push(path);
            } else if found.own.iter().any(|it| it.is_hidden && it.path == path) {
                hidden.push(path);
            } else if !is_tracked && self.top.join(&path).symlink_metadata().is_err() {
                missing.push(path);
            } else if !is_tracked && self.is_ignored(&path).await? {
                ignored.push(path);
            } else {
                chosen.push(path);
            }
        }
        foreign.extend(found.embedded_in(&chosen).map(str::to_owned));
        let others = self.others(&found.unknown, &[&chosen, &foreign]);
        for (paths, what) in [
            (missing, "not there, so not committed"),
            (outside, "not in the repository, so not committed"),
            (foreign, "in another repository, so not committed"),
            (hidden, "marked as skip-worktree or assume-unchanged, so not committed"),
            (ignored, "ignored by git, so not committed"),
            (others, "not known to git, and not committed"),
        ] {
            if !paths.is_empty() {
                warnings.push(format!("{what}: {}", named(&paths)));
            }
        }
        Ok(chosen)
    }

    pub(super) async fn is_ignored(&self, path: &str) -> Result<bool, String> {
        // This one knows no `:(literal)`, and takes nothing that begins with a dot for magic.
        let path = format!("./{path}");
        let asked = self.git.ask(["check-ignore", "--quiet", "--", &path]).await?;
        match asked.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(format!("`git check-ignore` failed: {}", asked.complaint())),
        }
    }

    /// Says which tracked files changed. A person may have changed them while the run was worked on,
    /// so only a person can say whose they are.
    async fn unlisted(&self) -> Result<Option<String>, String> {
        let asked = self.git.ask(["diff", "--name-only", "-z", "HEAD", "--"]).await?;
        let changed =
            if asked.is_well() { self.others(&split(&asked.out), &[]) } else { Vec::new() };
        let told =
            format!("changed but not listed, so left for you to commit: {}", named(&changed));
        Ok((!changed.is_empty()).then_some(told))
    }

    /// Returns the files that git does not know, and repositories in the work tree with `/` at the
    /// end.
    async fn unknown(&self) -> Result<Vec<String>, String> {
        Ok(split(&self.git.say(["ls-files", "--others", "--exclude-standard", "-z"]).await?))
    }

    /// Returns the paths that are not in those that were told of. What the run itself keeps is
    /// nobody's work.
    fn others(&self, paths: &[String], told: &[&[String]]) -> Vec<String> {
        let own = self.own();
        let is_other =
            |path: &&String| !told.iter().copied().flatten().chain(&own).any(|it| is_in(path, it));
        paths.iter().filter(is_other).cloned().collect()
    }

    /// Returns what is kept for the run, as seen from the top: its own folder, or the hidden one that
    /// it lies in with those of other runs; our own folder; and the list that keeps linters out.
    pub(super) fn own(&self) -> Vec<String> {
        let Folders { root, home } = self.folders;
        let seen = |folder: &Path| folder.strip_prefix(&self.top).ok()?.to_str().map(str::to_owned);
        let hidden = |home: String| {
            let mut parts: Vec<&str> = home.split('/').collect();
            let is_hidden = |it: &&str| it.starts_with('.');
            parts.truncate(parts.iter().position(is_hidden).map_or(parts.len(), |it| it + 1));
            parts.join("/")
        };
        let home = seen(home).filter(|_| home != root).map(hidden);
        let ours = [OURS, LINT_IGNORE].into_iter().filter_map(|it| seen(&root.join(it)));
        home.into_iter().chain(ours).collect()
    }
}

/// Lists an index.
async fn list(git: &Tool) -> Result<Vec<Entry>, String> {
    let said = git.say(["ls-files", "-v", "--stage", "-z"]).await?;
    Ok(said.split('\0').filter_map(Entry::read).collect())
}

fn split(listed: &str) -> Vec<String> {
    listed.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Whether a path is another one, or lies in it.
pub(super) fn is_in(path: &str, other: &str) -> bool {
    let rest = path.strip_prefix(other);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/') || other.ends_with('/'))
}

pub(super) fn named(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
