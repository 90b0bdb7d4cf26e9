//! Runs a program with a list of arguments: without a shell, in a folder, with a time limit, and
//! without prompts.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};

use crate::{ChoreTimes, checks::APPROVE_TOKEN, file_system::LockFile};

/// How much of what a program printed is told: the end, where the errors are.
const TOLD_CHARS_MAX: usize = 600;

/// How long a program has to clean up once its time is over.
const GRACE: Duration = Duration::from_secs(5);

/// What keeps `git` from running a program that a repository names: one that lies in the files of
/// another does not count, and nobody is asked which files changed.
const CAREFUL: [&str; 4] = ["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"];

/// What would point `git` at another repository than the one it is run in.
const FOREIGN: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"];

/// A program in a folder.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    program: &'static str,
    folder: PathBuf,
    times: ChoreTimes,
    timeout: Duration,
    index: Option<PathBuf>,
    variables: Vec<(String, String)>,
    /// A lock, which the program keeps until it has ended, even if this process ends before.
    held: Option<Arc<LockFile>>,
}

/// What a program said, and how it ended.
#[derive(Debug, Default)]
pub(crate) struct Said {
    code: Option<i32>,
    pub(crate) out: String,
    err: String,
}

impl Said {
    pub(crate) fn is_well(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns the exit code, if it ended by itself.
    pub(crate) fn code(&self) -> Option<i32> {
        self.code
    }

    /// Returns the end of what it complained of, in a line; how it ended, where it said nothing.
    pub(crate) fn complaint(&self) -> String {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return match self.code {
                Some(code) => format!("it gave no reason, and ended with code {code}"),
                None => "it gave no reason, and was ended from outside".to_owned(),
            };
        }
        let surplus = line.chars().count().saturating_sub(TOLD_CHARS_MAX);
        line.chars().skip(surplus).collect()
    }
}

/// Why a program did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    NotThere,
    Problem(String),
}

impl Tool {
    pub(crate) fn git(folder: &Path, times: ChoreTimes) -> Self {
        Self::new("git", folder, times)
    }

    /// GitHub's own program.
    pub(crate) fn gh(folder: &Path, times: ChoreTimes) -> Self {
        Self::new("gh", folder, times).far()
    }

    fn new(program: &'static str, folder: &Path, times: ChoreTimes) -> Self {
        let (folder, timeout) = (folder.to_owned(), times.near);
        Self { program, folder, times, timeout, index: None, variables: Vec::new(), held: None }
    }

    /// Returns the same for what goes over a network.
    pub(crate) fn far(&self) -> Self {
        Self { timeout: self.times.far, ..self.clone() }
    }

    /// Returns the same for a program that keeps a lock as long as it runs.
    pub(crate) fn holding(self, held: Option<Arc<LockFile>>) -> Self {
        Self { held, ..self }
    }

    /// Returns the same for another index than the user's.
    pub(crate) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// Returns the same with more in its environment.
    pub(crate) fn with_variables(
        &self,
        variables: impl IntoIterator<Item = (impl Into<String>, String)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { variables, ..self.clone() }
    }

    pub(crate) fn times(&self) -> ChoreTimes {
        self.times
    }

    /// Runs the program, and returns what it printed. That it ended badly is a problem.
    pub(crate) async fn say<I, S>(&self, arguments: I) -> Result<String, String>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.tell(arguments, "").await
    }

    /// Runs the program with a text as its input, and returns what it printed.
    pub(crate) async fn tell<I, S>(&self, arguments: I, input: &str) -> Result<String, String>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let arguments: Vec<S> = arguments.into_iter().collect();
        let first = arguments.first().map(|it| it.as_ref().to_string_lossy().into_owned());
        let said = self.run(arguments, input).await.map_err(|it| self.explain(it))?;
        if said.is_well() {
            return Ok(said.out);
        }
        let verb = first.unwrap_or_default();
        Err(format!("`{} {verb}` failed: {}", self.program, said.complaint()))
    }

    /// Runs the program, however it ends.
    pub(crate) async fn ask<I, S>(&self, arguments: I) -> Result<Said, String>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.run(arguments, "").await.map_err(|it| self.explain(it))
    }

    /// Returns an input that is empty. A lock is an empty file, and a program has its input open
    /// until it ends.
    fn no_input(&self) -> Stdio {
        let held = self.held.as_ref().and_then(|it| it.try_clone().ok());
        held.map_or_else(Stdio::null, Stdio::from)
    }

    fn explain(&self, lost: Lost) -> String {
        match lost {
            Lost::NotThere => format!("`{}` is not installed", self.program),
            Lost::Problem(problem) => problem,
        }
    }

    /// Runs the program with a text as its input.
    pub(crate) async fn run<I, S>(&self, arguments: I, input: &str) -> Result<Said, Lost>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = Command::new(self.program);
        command.args(CAREFUL.iter().filter(|_| self.program == "git"));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GH_PROMPT_DISABLED", "1")
            .env("LC_ALL", "C")
            .stdin(if input.is_empty() { self.no_input() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in FOREIGN.iter().chain([&APPROVE_TOKEN]) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        let cannot = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return Lost::NotThere;
            }
            Lost::Problem(format!("`{}` cannot be run: {error}", self.program))
        };
        let child = command.spawn().map_err(cannot)?;
        let id = child.id();
        let running = finish(child, input);
        tokio::pin!(running);
        match tokio::time::timeout(self.timeout, &mut running).await {
            Err(_) => {
                end(id).await;
                // It cleans up and exits, or is killed.
                drop(tokio::time::timeout(GRACE, &mut running).await);
                let (program, seconds) = (self.program, self.timeout.as_secs());
                Err(Lost::Problem(format!("`{program}` took longer than {seconds} seconds")))
            }
            Ok(finished) => finished.map_err(cannot),
        }
    }
}

/// Gives a program its input, and waits for its end.
async fn finish(mut child: Child, input: &str) -> std::io::Result<Said> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read all of it says why.
        drop(stdin.write_all(input.as_bytes()).await);
    }
    let output = child.wait_with_output().await?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) })
}

/// Asks a program to end, so that it takes its locks away: those of `git` would stand in the way
/// of everything that is done later.
async fn end(id: Option<u32>) {
    let Some(id) = id else { return };
    let mut kill = Command::new("kill");
    kill.arg(id.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(kill.status().await);
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, TryLockError},
        process::Command,
        sync::Arc,
    };

    use super::{Said, Tool};
    use crate::ChoreTimes;

    #[test]
    fn a_program_that_outlives_the_server_keeps_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("lock")).unwrap();
        let held = open();
        held.lock().unwrap();
        let tool = Tool::git(folder.path(), ChoreTimes::default()).holding(Some(Arc::new(held)));
        let spawn = |stdin| Command::new("tail").args(["-f", "/dev/null"]).stdin(stdin).spawn();
        let mut program = spawn(tool.no_input()).unwrap();
        drop(tool);
        assert!(matches!(open().try_lock(), Err(TryLockError::WouldBlock)));
        program.kill().unwrap();
        program.wait().unwrap();
        open().try_lock().unwrap();
    }

    #[test]
    fn a_program_that_says_nothing_is_told_by_how_it_ended() {
        let said = |code, out: &str, err: &str| {
            Said { code, out: out.to_owned(), err: err.to_owned() }.complaint()
        };
        assert_eq!(said(Some(1), "out", "no  such\nluck\n"), "no such luck");
        assert_eq!(said(Some(1), "out", "\n"), "out");
        assert_eq!(said(Some(4), "", " \n"), "it gave no reason, and ended with code 4");
        assert_eq!(said(None, "", ""), "it gave no reason, and was ended from outside");
    }
}
