//! A project in a folder of its own, and the binary that is tried in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use cli::Surroundings;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// A token with the scope `approve`, by which tests act as the person whose project it is.
const APPROVE_TOKEN: &str = "a-token-that-approves-for-tests";
/// What is kept of it: its SHA-256.
const APPROVE_DIGEST: &str = "c96543141430a2fab5c675e18ad42332100a32df142593541f9880a4c6a7b7ea";

/// A folder with nothing around it: no settings, no database and no workflows but the built-in.
pub(crate) struct Project {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["home", "work"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        Self { folder, variables: Vec::new() }
    }

    /// Adds a variable to the environment of everything that is started here.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns where `relative` is, seen from the folder that is worked in.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join("work").join(relative)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the files of `text`, in which a line `== PATH` begins each.
    pub(crate) fn write_all(&self, text: &str) {
        for file in format!("\n{text}").split("\n== ").skip(1) {
            let (path, content) = file.split_once('\n').unwrap();
            self.write(path.trim(), &format!("{content}\n"));
        }
    }

    /// Returns the binary with `arguments`, to be started here.
    pub(crate) fn milepost(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_milepost"));
        command.args(arguments);
        self.place(&mut command);
        command
    }

    /// Has `command` started here, and with nothing of the outside in its environment.
    pub(crate) fn place(&self, command: &mut Command) {
        let home = self.folder.path().join("home");
        command.current_dir(self.path("")).env_clear();
        command.env("PATH", Path::new("/usr/local/bin:/usr/bin:/bin")).env("HOME", &home);
        // Times are shown where the user is.
        command.env("TZ", "UTC");
        command.envs(self.variables.iter().cloned());
    }

    /// Returns what a server finds that is not a process of its own: the same as one that is placed
    /// here.
    pub(crate) fn surroundings(&self) -> Surroundings {
        let home = self.folder.path().join("home");
        Surroundings {
            working: self.folder.path().join("work"),
            user: Some(home.join(".config/milepost")),
            state: Some(home.join(".local/state/milepost")),
            home: Some(home),
            environment: self.variables.iter().cloned().collect(),
            person: Some("tester".to_owned()),
        }
    }

    /// Returns a token by which the person whose project it is acts, and makes it known.
    pub(crate) fn approve_token(&self) -> &'static str {
        let known = r#"{"version": 1, "name": "tests", "scope": "approve", "at": "today"}"#;
        let tokens = "../home/.local/state/milepost/tokens";
        self.write(&format!("{tokens}/{APPROVE_DIGEST}.json"), known);
        APPROVE_TOKEN
    }

    /// Has the person whose project it is run a command, which must work, and returns what it
    /// answers as JSON. It is done in this process, as the binary does it.
    #[track_caller]
    pub(crate) fn ask(&self, arguments: &[&str]) -> Value {
        let (value, is_fine) = self.look(arguments);
        assert!(is_fine, "{arguments:?}: {value:#}");
        value
    }

    /// The same for a command that may find something wrong: returns also whether it found nothing.
    #[track_caller]
    pub(crate) fn look(&self, arguments: &[&str]) -> (Value, bool) {
        let mut around = self.surroundings();
        let token = self.approve_token().to_owned();
        around.environment.insert("MILEPOST_APPROVE_TOKEN".to_owned(), token);
        let tokio = Builder::new_current_thread().enable_all().build().unwrap();
        let answer = tokio.block_on(cli::answer(around, arguments));
        answer.unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }
}
