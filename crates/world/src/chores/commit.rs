//! Commits just these paths, whatever else was changed or staged.

use std::path::Path;

use super::{Done, Folders, Repository, Told, record::Form};
use crate::command::Tool;

/// The folder of a project that is ours.
const OURS: &str = ".milepost";
/// The file that a pipeline writes to keep its texts from the project's linters.
const LINT_IGNORE: &str = ".markdownlintignore";

/// How many paths a warning names.
const NAMED_MAX: usize = 5;

/// What is to be committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) paths: &'a [String],
    pub(super) message: &'a str,
    /// Whether everything that changed is committed where none of the paths is there.
    pub(super) or_changed: bool,
}

impl Repository<'_> {
    pub(super) async fn commit(&self, branch: &str, asked: Asked<'_>) -> Done {
        let branch = self.find_branch(branch).await?;
        self.check_here(&branch).await?;
        self.check_quiet(&branch).await?;
        let beside = self.index_beside(&branch).await?;
        let mut warnings = Vec::new();
        let mut chosen = self.choose(&beside.git, asked.paths, &mut warnings).await?;
        if chosen.is_empty() && asked.or_changed {
            let changed = self.changed(&mut warnings).await?;
            chosen = self.choose(&beside.git, &changed, &mut Vec::new()).await?;
        }
        warnings.extend(self.others(&chosen).await?);
        if chosen.is_empty() {
            warnings.push("there was nothing to commit".to_owned());
            return Ok(Told { warnings, ..Told::new("nothing was committed") });
        }
        beside.git.say(with(&["add", "--"], &chosen)).await?;
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

    /// Returns the paths that can be committed, as seen from the top, and says which cannot.
    async fn choose(
        &self,
        git: &Tool,
        paths: &[String],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, String> {
        let (mut chosen, mut missing): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let (mut outside, mut ignored): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(found) = self.normalise(&self.top, path) else {
                outside.push(path.clone());
                continue;
            };
            let is_tracked = is_tracked(git, &found).await?;
            if chosen.contains(&found) {
                continue;
            }
            // A file that was taken away is committed as such.
            if !is_tracked && self.top.join(&found).symlink_metadata().is_err() {
                missing.push(found);
            } else if !is_tracked && self.is_ignored(&found).await? {
                ignored.push(found);
            } else {
                chosen.push(found);
            }
        }
        for (paths, what) in [
            (missing, "not there"),
            (outside, "not in the repository"),
            (ignored, "ignored by git"),
        ] {
            if !paths.is_empty() {
                warnings.push(format!("{what}, so not committed: {}", named(&paths)));
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

    /// Returns the tracked files that differ from the last commit, but for those that are staged:
    /// someone chose them for a commit of their own.
    async fn changed(&self, warnings: &mut Vec<String>) -> Result<Vec<String>, String> {
        let staged = self.differing_from_head(&["--cached"]).await?;
        let mut changed = self.differing_from_head(&[]).await?;
        changed.retain(|it| !staged.contains(it));
        if !staged.is_empty() {
            warnings.push(format!("already staged, so left for you to commit: {}", named(&staged)));
        }
        Ok(changed)
    }

    async fn differing_from_head(&self, of: &[&str]) -> Result<Vec<String>, String> {
        let arguments = [&["diff", "--name-only", "-z"], of, &["HEAD"]].concat();
        let asked = self.git.ask(arguments).await?;
        if !asked.is_well() {
            return Ok(Vec::new());
        }
        Ok(asked.out.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    /// Says which files git does not know and will not know after this commit either. What the run
    /// itself keeps is nobody's work.
    async fn others(&self, chosen: &[String]) -> Result<Option<String>, String> {
        let listed = self.git.say(["ls-files", "--others", "--exclude-standard", "-z"]).await?;
        let own = self.own();
        let is_left_out = |path: &str| chosen.iter().chain(&own).any(|it| is_in(path, it));
        let others: Vec<String> = listed
            .split('\0')
            .filter(|it| !it.is_empty() && !is_left_out(it))
            .map(str::to_owned)
            .collect();
        let told = format!("not known to git, and not committed: {}", named(&others));
        Ok((!others.is_empty()).then_some(told))
    }

    /// Returns what is kept for the run, as seen from the top: its own folder, or the hidden one that
    /// it lies in with those of other runs; our own folder; and the list that keeps linters out.
    fn own(&self) -> Vec<String> {
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

async fn is_tracked(git: &Tool, path: &str) -> Result<bool, String> {
    let arguments = with(&["ls-files", "--error-unmatch", "--"], &[path.to_owned()]);
    Ok(git.ask(arguments).await?.is_well())
}

/// Whether a path is another one, or lies in it.
fn is_in(path: &str, other: &str) -> bool {
    let rest = path.strip_prefix(other);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/') || other.ends_with('/'))
}

/// Adds paths, which mean themselves whatever letters they are made of.
fn with(arguments: &[&str], paths: &[String]) -> Vec<String> {
    let paths = paths.iter().map(|it| format!(":(literal){it}"));
    arguments.iter().map(|it| (*it).to_owned()).chain(paths).collect()
}

pub(super) fn named(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
