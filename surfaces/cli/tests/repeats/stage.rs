//! A project, servers over it, and everything that is written down in it.

use std::{cell::RefCell, fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    project::Project,
    row::{Row, Step},
    server::{Era, Server},
};

/// The workflows of the rows.
const WORKFLOWS: &str = include_str!("workflows.txt");
/// A scene that has only its end before it.
const DONE: &str = include_str!("done.json");

/// What a tool said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) is_error: bool,
}

/// A project for the calls of a toolset.
pub(crate) struct Stage {
    project: Project,
    toolset: String,
    /// The run that was begun last.
    run: RefCell<String>,
}

/// A server, and the stage it is on.
pub(crate) struct Serving<'a> {
    stage: &'a Stage,
    server: Server,
}

impl Stage {
    pub(crate) fn new(toolset: &str) -> Self {
        let project = Project::new()
            .with("LOG_LEVEL", "error")
            .with("MILEPOST_FORGE_POLL", "1")
            .with("GIT_CONFIG_NOSYSTEM", "1");
        project.write_all(WORKFLOWS);
        project.write(".gitignore", ".milepost\n.specs\n");
        fs::create_dir_all(project.path(".specs")).unwrap();
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "one", "--allow-empty"],
        ] {
            let mut git = Command::new("git");
            project.place(&mut git);
            assert!(git.args(arguments).status().unwrap().success());
        }
        Self { project, toolset: toolset.to_owned(), run: RefCell::default() }
    }

    /// Starts a server.
    pub(crate) fn serve(&self) -> Serving<'_> {
        let flags = ["--toolset", self.toolset.as_str()];
        Serving { stage: self, server: Server::inside(&self.project, &flags, Era::Legacy) }
    }

    /// Starts the binary as a server that dies right after it made so many commits.
    pub(crate) fn serve_until(&self, commits: u32) -> Serving<'_> {
        let mut command = self.project.milepost(&["mcp", "--toolset", &self.toolset]);
        command.env("TEST_DIES_AFTER_COMMIT", commits.to_string());
        Serving { stage: self, server: Server::start(&mut command, Era::Legacy) }
    }

    /// Does what comes before the call of a row.
    #[track_caller]
    pub(crate) fn prepare(&self, row: &Row) -> Serving<'_> {
        let serving = self.serve();
        for step in &row.before {
            match step {
                Step::Write(path, text) => {
                    let text = text.replace("$DONE", DONE).replace("\\n", "\n");
                    self.project.write(path, &format!("{}\n", text.trim_end()));
                }
                Step::Call(tool, arguments) => {
                    let params = json!({"name": tool, "arguments": self.fill(arguments)});
                    let said = serving.hear(params).unwrap();
                    assert!(!said.is_error, "{}: `{tool}`: {said:#?}", row.tool);
                    let begun = ["instance_id", "session_id"].map(|it| said.value[it].as_str());
                    if let Some(run) = begun.into_iter().flatten().next() {
                        self.run.replace(run.to_owned());
                    }
                }
            }
        }
        serving
    }

    fn fill(&self, arguments: &str) -> Value {
        let work = self.project.path("");
        let text = arguments.replace("$WORK/", work.to_str().unwrap());
        serde_json::from_str(&text.replace("$RUN", &self.run.borrow())).unwrap()
    }

    /// Returns every event of every run, and every file with its text.
    pub(crate) fn picture(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for run in self.runs() {
            for event in self.events(&run) {
                lines.push(format!("{run}: {event}"));
            }
        }
        files(&self.project.path(""), &mut lines);
        lines.sort();
        lines
    }

    /// Returns what happened, without what differs from one project to the next.
    pub(crate) fn gist(&self) -> Vec<String> {
        let kinds = |run: &String| -> String {
            let events = self.events(run);
            let kinds: Vec<&str> = events.iter().filter_map(|it| it["kind"].as_str()).collect();
            kinds.join(" ")
        };
        let mut lines: Vec<String> = self.runs().iter().map(kinds).collect();
        lines.sort();
        lines
    }

    fn runs(&self) -> Vec<String> {
        if !self.project.path(".milepost/milepost.db").exists() {
            return Vec::new();
        }
        let listed = self.project.ask(&["run", "list", "--limit", "100"]);
        let rows = listed["runs"].as_array().unwrap_or_else(|| panic!("{listed:#}"));
        rows.iter().map(|it| it["run"].as_str().unwrap().to_owned()).collect()
    }

    fn events(&self, run: &str) -> Vec<Value> {
        let told = self.project.ask(&["run", "history", run, "--limit", "100000"]);
        told["events"].as_array().unwrap_or_else(|| panic!("{told:#}")).clone()
    }
}

impl Serving<'_> {
    /// Makes the call of a row, which must be answered.
    #[track_caller]
    pub(crate) fn send(&self, row: &Row, id: &str) -> Said {
        self.try_send(row, id)
            .unwrap_or_else(|| panic!("{}: the server is gone:\n{}", row.tool, self.server.talk()))
    }

    /// Makes the call of a row; `None` where the server died of it.
    pub(crate) fn try_send(&self, row: &Row, id: &str) -> Option<Said> {
        self.hear(json!({
            "name": row.tool,
            "arguments": self.stage.fill(&row.arguments),
            "_meta": {"milepost/request_id": id},
        }))
    }

    fn hear(&self, params: Value) -> Option<Said> {
        let message = self.server.request("tools/call", params).ok()?;
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
        let value = result["structuredContent"].clone();
        Some(Said { text: text.to_owned(), value, is_error: result["isError"] == true })
    }

    /// Returns the tools that do not only look.
    pub(crate) fn list_changing(&self) -> std::collections::BTreeSet<String> {
        let listed = self.server.request("tools/list", json!({})).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let changes = |it: &&Value| it["annotations"]["readOnlyHint"] != true;
        tools.iter().filter(changes).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Adds every file that people see.
fn files(folder: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if [".milepost", ".git"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            files(&path, lines);
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            lines.push(format!("{}: {text}", path.display()));
        }
    }
}
