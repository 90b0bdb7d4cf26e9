//! Asks git how things stand, by the user's own `git` and configuration.

use std::{path::Path, process::Stdio, time::Duration};

use engine::Git;
use tokio::process::Command;

/// A repository that takes longer is treated as none, rather than holding a report up.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn look(root: &Path) -> Option<Git> {
    // A process costs milliseconds, so a folder that is surely in no repository is not asked about.
    if !root.ancestors().any(|it| it.join(".git").exists()) {
        return None;
    }
    let asked = Command::new("git")
        .args(["--no-optional-locks", "status", "--porcelain=v2", "--branch"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TIMEOUT, asked).await.ok()?.ok()?;
    output.status.success().then(|| parse(&String::from_utf8_lossy(&output.stdout)))
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
