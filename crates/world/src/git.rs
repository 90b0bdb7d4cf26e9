//! Asks git how things stand, by the user's own `git` and configuration.
//!
//! A look runs nothing that the repository names: no filter, no transport, nothing in a submodule.

use std::{collections::BTreeMap, ffi::OsStr, path::Path, time::Duration};

use engine::{Git, Standpoint};
use runtime::Kept;

use crate::{
    ChoreTimes,
    beneath::{Root, absent},
    command::Tool,
};

/// A repository that takes longer is treated as none, rather than holding a report up.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How the state of the work tree is asked for. A submodule has a configuration of its own, so git
/// does not look for changes in it.
const STATUS: [&str; 5] =
    ["--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignore-submodules=dirty"];

/// The largest configuration that is read here rather than by git.
const CONFIG_MAX: u64 = 64 * 1024;

/// Where the configuration is from that is the user's own.
const USERS: [&str; 3] = ["system", "global", "command"];

/// Returns the folder that git finds the repository of a folder by. What is asked there does not
/// depend on the folder, which may look like a bare repository itself. A process costs milliseconds,
/// so a folder that is surely in no repository is not asked about.
pub(crate) fn find_repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|it| it.join(".git").exists())
}

pub(crate) async fn look(root: &Path) -> Option<Git> {
    let root = find_repository(root)?;
    let listed = match names_no_filter(root) {
        true => String::new(),
        false => ask(root, &["config", "--list", "--show-scope", "-z"]).await?,
    };
    let filters = find_named_filters(&listed)?;
    let variable = |at: usize| format!("MILEPOST_GIT_CONFIG_{at}");
    let overridden = filters.keys().enumerate();
    let mut arguments: Vec<String> =
        overridden.map(|(at, key)| format!("--config-env={key}={}", variable(at))).collect();
    arguments.extend(STATUS.map(str::to_owned));
    let values = filters.values().enumerate();
    let values = values.map(|(at, value)| (variable(at), (*value).to_owned())).collect();
    Some(parse(&ask_with(root, &arguments, values).await?))
}

/// Whether the configuration of a repository surely names no filter, so that git need not be asked for
/// it: a process costs milliseconds. A work tree that shares the configuration of another is not read
/// here, nor is a configuration that includes others.
fn names_no_filter(root: &Path) -> bool {
    let Ok(folder) = Root::project(root).and_then(|it| it.enter(Path::new(".git"))) else {
        return false;
    };
    let is_absent = |name| matches!(folder.find_kind(Path::new(name)), Ok(None));
    let is_plain = |name| match absent(folder.read_text(Path::new(name), CONFIG_MAX)) {
        Ok(text) => {
            let text = text.unwrap_or_default().to_ascii_lowercase();
            !text.contains("filter") && !text.contains("include")
        }
        Err(_) => false,
    };
    is_absent("commondir") && is_plain("config") && is_plain("config.worktree")
}

/// Returns what the repository's own configuration says of filters, each with the value that the
/// user's has instead. `None` where that cannot be told. A file that is not filtered counts as
/// changed once it was touched.
fn find_named_filters(listed: &str) -> Option<BTreeMap<&str, &str>> {
    let mut named = BTreeMap::new();
    let mut users = BTreeMap::new();
    let mut parts = listed.split('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        if !key.starts_with("filter.") {
            continue;
        }
        if USERS.contains(&scope) {
            users.insert(key, value);
        } else if key.contains(char::REPLACEMENT_CHARACTER) {
            return None;
        } else {
            named.insert(key, "");
        }
    }
    for (key, value) in &mut named {
        *value = users.get(key).copied().unwrap_or_default();
    }
    Some(named)
}

/// Returns the name of a branch without what all branches begin with. Git's own `--short` names one
/// that has the name of a tag in another way.
pub(crate) fn short(full: &str) -> Option<&str> {
    full.strip_prefix("refs/heads/")
}

/// Returns where a branch stands, or the one that is checked out.
pub(crate) async fn find_branch(root: &Path, name: Option<&str>) -> Option<Standpoint> {
    let root = find_repository(root)?;
    let line = |it: String| Some(it.trim().to_owned()).filter(|it| !it.is_empty());
    let head = ask(root, &["symbolic-ref", "--quiet", "HEAD"]).await.and_then(line);
    let now = head.as_deref().and_then(short);
    let name = name.or(now)?.to_owned();
    // A folder without a repository has no branch, whatever it is called.
    ask(root, &["rev-parse", "--git-dir"]).await?;
    let full = format!("refs/heads/{name}^{{commit}}");
    let verify = |it: String| async move {
        ask(root, &["rev-parse", "--verify", "--quiet", &it]).await.and_then(line)
    };
    let found = verify(full).await;
    let is_elsewhere = found.is_some() && now != Some(name.as_str());
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
    ask_with(root, arguments, Vec::new()).await
}

async fn ask_with(
    root: &Path,
    arguments: &[impl AsRef<OsStr>],
    mut variables: Vec<(String, String)>,
) -> Option<String> {
    // What a partial clone lacks is not fetched.
    variables.push(("GIT_ALLOW_PROTOCOL".to_owned(), String::new()));
    let git = Tool::git(root, ChoreTimes { near: TIMEOUT, far: TIMEOUT });
    let said = git.with_variables(variables).ask(arguments).await.ok()?;
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
    use std::fs;

    use super::{CONFIG_MAX, find_named_filters, names_no_filter, parse};

    #[test]
    fn git_is_asked_for_its_configuration_unless_that_surely_names_no_filter() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join(".git");
        assert!(!names_no_filter(folder.path()), "it is no repository");
        fs::create_dir(&inner).unwrap();
        assert!(names_no_filter(folder.path()), "git has no configuration there either");
        let large = " ".repeat(usize::try_from(CONFIG_MAX).unwrap() + 1);
        let plain = "[core]\n\tbare = false\n";
        for (name, text, expected) in [
            ("config", plain, true),
            ("config", "[Filter \"x\"]\n\tclean = evil\n", false),
            ("config", "[includeIf \"gitdir:/\"]\n\tpath = x\n", false),
            ("config", large.as_str(), false),
            ("config.worktree", "[filter \"x\"]\n\tclean = evil\n", false),
            ("commondir", "../other\n", false),
        ] {
            fs::write(inner.join("config"), plain).unwrap();
            fs::write(inner.join(name), text).unwrap();
            let shown: String = text.chars().take(40).collect();
            assert_eq!(names_no_filter(folder.path()), expected, "{name}: {shown}");
            fs::remove_file(inner.join(name)).unwrap();
        }
    }

    #[test]
    fn a_filter_of_the_repository_gives_way_to_that_of_the_user() {
        let listed = "global\0filter.lfs.clean\nlfs\0local\0filter.lfs.clean\nevil\0\
                      worktree\0filter.x.process\0local\0core.bare\nfalse\0\
                      global\0filter.y.clean\nmine\0";
        let found = find_named_filters(listed).unwrap();
        let found: Vec<_> = found.into_iter().collect();
        assert_eq!(found, [("filter.lfs.clean", "lfs"), ("filter.x.process", "")]);
        assert_eq!(find_named_filters("local\0filter.\u{fffd}.clean\nevil\0"), None);
    }

    #[test]
    fn the_status_is_read() {
        let git = parse("# branch.oid abc\n# branch.head main\n1 .M N... x\n? new\n");
        assert_eq!((git.head.as_str(), git.branch.as_str(), git.dirty), ("abc", "main", 2));
    }
}
