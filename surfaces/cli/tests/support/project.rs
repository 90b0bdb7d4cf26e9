//! A project in a folder of its own, and the binary that is tried in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

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
        command.envs(self.variables.iter().cloned());
    }

    /// Returns a token by which the person whose project it is acts, and makes it known.
    pub(crate) fn approve_token(&self) -> &'static str {
        let known = r#"{"version": 1, "name": "tests", "scope": "approve", "at": "today"}"#;
        let tokens = "../home/.local/state/milepost/tokens";
        self.write(&format!("{tokens}/{APPROVE_DIGEST}.json"), known);
        APPROVE_TOKEN
    }

    /// Has the person whose project it is run a command, which must work, and returns what it
    /// answers as JSON.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Value {
        let mut command = self.milepost(arguments);
        command.arg("--json").stdin(Stdio::null());
        command.env("MILEPOST_APPROVE_TOKEN", self.approve_token());
        let output = command.output().unwrap();
        let (out, talk) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{out}\n{talk}", output.status);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
