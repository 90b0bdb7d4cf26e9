//! Claude Code's own file is changed by Claude Code itself where that is installed: one that runs
//! would write the file again from what it remembers.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::process::Command;

use super::{file, notation::Notation};
use crate::{failure::Failure, output::text};

/// How long one call may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The entry of one name in the user's own file.
#[derive(Debug)]
pub(super) struct ByClaude {
    pub(super) program: PathBuf,
    pub(super) name: String,
    pub(super) notation: Notation,
}

impl ByClaude {
    /// Makes the entry what it is in `after`. Nothing else of that text counts.
    pub(super) async fn apply(
        &self,
        path: &Path,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<(), Failure> {
        let entry = |text: Option<&str>| {
            self.notation.find(text.unwrap_or_default(), &self.name).ok().flatten()
        };
        let (old, new) = (entry(before), entry(after));
        if old.is_some() {
            self.run(&["mcp", "remove", "--scope", "user", "--", &self.name]).await?;
        }
        if let Some(new) = &new {
            let json = new.to_string();
            self.run(&["mcp", "add-json", "--scope", "user", "--", &self.name, &json]).await?;
        }
        let now = file::read(path)?;
        if means_the_same(entry(now.as_deref()).as_ref(), new.as_ref()) {
            return Ok(());
        }
        Err(self.failed(path, "it did not change the entry"))
    }

    async fn run(&self, arguments: &[&str]) -> Result<(), Failure> {
        let running = Command::new(&self.program)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let verb = arguments.get(1).copied().unwrap_or_default();
        let problem = match tokio::time::timeout(TIMEOUT, running).await {
            Ok(Ok(output)) if output.status.success() => return Ok(()),
            Ok(Ok(output)) => {
                let said = [output.stderr, output.stdout].concat();
                text::cut(&text::line(&String::from_utf8_lossy(&said)), 300)
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} seconds", TIMEOUT.as_secs()),
        };
        Err(self.failed(Path::new(".claude.json"), &format!("`mcp {verb}` failed: {problem}")))
    }

    fn failed(&self, path: &Path, problem: &str) -> Failure {
        let message = format!("`{}`: {problem}", self.program.display());
        let path = path.display();
        Failure::refused("client_failed", message).with_hint(format!(
            "run the command by hand to see why; `--config {path}` edits the file without it"
        ))
    }
}

/// Returns whether two entries start the same, whatever Claude Code adds to one.
fn means_the_same(now: Option<&Value>, wanted: Option<&Value>) -> bool {
    match (now, wanted) {
        (None, None) => true,
        (Some(now), Some(wanted)) => {
            ["command", "args", "url"].iter().all(|it| now.get(it) == wanted.get(it))
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}
