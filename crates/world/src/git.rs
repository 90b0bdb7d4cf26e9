//! Asks git how things stand, by the user's own `git` and configuration.

use std::{path::Path, time::Duration};

use engine::{Git, Standpoint};
use runtime::Kept;

use crate::{ChoreTimes, command::Tool};

/// A repository that takes longer is treated as none, rather than holding a report up.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the folder that git finds the repository of a folder by. What is asked there does not
/// depend on the folder, which may look like a bare repository itself. A process costs milliseconds,
/// so a folder that is surely in no repository is not asked about.
pub(crate) fn find_repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|it| it.join(".git").exists())
}

pub(crate) async fn look(root: &Path) -> Option<Git> {
    let root = find_repository(root)?;
    let text = ask(root, &["--no-optional-locks", "status", "--porcelain=v2", "--branch"]).await?;
    Some(parse(&text))
}

/// Returns where a branch stands, or the one that is checked out.
pub(crate) async fn find_branch(root: &Path, name: Option<&str>) -> Option<Standpoint> {
    let root = find_repository(root)?;
    let line = |it: String| Some(it.trim().to_owned()).filter(|it| !it.is_empty());
    let name = match name {
        Some(name) => name.to_owned(),
        None => ask(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]).await.and_then(line)?,
    };
    // A folder without a repository has no branch, whatever it is called.
    ask(root, &["rev-parse", "--git-dir"]).await?;
    let full = format!("refs/heads/{name}^{{commit}}");
    let verify = |it: String| async move {
        ask(root, &["rev-parse", "--verify", "--quiet", &it]).await.and_then(line)
    };
    let found = verify(full).await;
    let now = ask(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]).await.and_then(line);
    let is_elsewhere = found.is_some() && now.as_ref() != Some(&name);
    let commit = match found {
        None => verify("HEAD^{commit}".to_owned()).await,
        found => found,
    };
    Some(Standpoint { name, commit, is_elsewhere })
}

/// Returns which files and remote branches a repository has.
pub(crate) async fn kept(root: &Path) -> Option<Kept> {
    find_repository(root)?;
    let files = ask(root, &["ls-files", "-z"]).await?;
    let form = "--format=%(refname:lstrip=3)";
    let branches = ask(root, &["for-each-ref", form, "refs/remotes"]).await.unwrap_or_default();
    let split = |text: &str, at: char| -> Vec<String> {
        text.split(at).filter(|it| !it.is_empty()).map(ToOwned::to_owned).collect()
    };
    Some(Kept { files: split(&files, '\0'), branches: split(&branches, '\n') })
}

async fn ask(root: &Path, arguments: &[&str]) -> Option<String> {
    let git = Tool::git(root, ChoreTimes { near: TIMEOUT, far: TIMEOUT });
    let said = git.ask(arguments).await.ok()?;
    said.is_well().then_some(said.out)
}

fn parse(text: &str) -> Git {
    let header = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let dirty = text.lines().filter(|line| !line.starts_with('#')).count();
    Git { head: header("# branch.oid"), branch: header("# branch.head"), dirty: dirty as u64 }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_status_is_read() {
        let git = parse("# branch.oid abc\n# branch.head main\n1 .M N... x\n? new\n");
        assert_eq!((git.head.as_str(), git.branch.as_str(), git.dirty), ("abc", "main", 2));
    }
}
