//! What the stages of `devworkflow` have beyond those of every dialect.
//!
//! Every answer is checked on the way in: a classic tool says its text and, beside it, where the
//! work stands; a graph tool says the same as text and as structured content.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::{
    dialect::{self, Dialect},
    file_text::FileText,
    fixtures::{CONFIG, TINY_FILES},
    project::Project,
    said::Said,
};

impl Said {
    /// Checks that it was refused with the dialect's own `code`.
    #[track_caller]
    pub(crate) fn code(&self, code: &str) -> &Self {
        assert!(self.is_error, "not refused:\n{}", self.text);
        assert_eq!(self.value["error_code"], code, "{:#}", self.value);
        self
    }

    /// Returns the tools that may come next.
    pub(crate) fn next(&self) -> Vec<&str> {
        let next = self.value["next"].as_array().map(Vec::as_slice).unwrap_or_default();
        next.iter().map(|it| it["tool"].as_str().unwrap_or_default()).collect()
    }

    /// Returns the parameters that `tool` should be called with next.
    #[track_caller]
    pub(crate) fn next_params(&self, tool: &str) -> &Value {
        let next = self.value["next"].as_array().map(Vec::as_slice).unwrap_or_default();
        let found = next.iter().find(|it| it["tool"] == tool);
        found.map_or_else(|| panic!("`{tool}` is not next: {:#}", self.value), |it| &it["params"])
    }

    pub(crate) fn warnings(&self) -> &[Value] {
        self.value["warnings"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the phase and the status that the answer names.
    pub(crate) fn stands(&self) -> (&str, &str) {
        let word = |key: &str| self.value[key].as_str().unwrap_or_default();
        (word("phase"), word("status"))
    }

    /// Returns the id of the session that the answer is about.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        let id = self.value["session_id"].as_str();
        id.unwrap_or_else(|| panic!("no session in {:#}", self.value)).to_owned()
    }
}

/// Whether a tool answers by the rules of the classic ones.
fn is_classic(tool: &str) -> bool {
    let is_graph = ["workflow_guidance", "workflow_creation_guidance"].contains(&tool);
    tool == "hello_workflow" || (tool.ends_with("_guidance") && !is_graph)
}

/// Every refusal has a code, a message and a way out.
fn check_refusal(tool: &str, said: &Said) {
    for key in ["code", "message", "hint"] {
        let word = said.value["refusal"][key].as_str().unwrap_or_default();
        assert!(!word.is_empty(), "`{tool}` refused without a {key}: {:#}", said.value);
    }
}

fn check_classic(tool: &str, said: Said) -> Said {
    if said.is_error {
        return said;
    }
    assert_eq!(said.value["tool"], tool, "{:#}", said.value);
    for key in ["phase", "status", "current_item"] {
        let part = said.value.get(key);
        let fits = part.is_some_and(|it| it.is_string() || it.is_null());
        assert!(fits, "`{tool}` does not say its {key}: {:#}", said.value);
    }
    assert!(said.value["warnings"].is_array(), "{:#}", said.value);
    let next = said.value["next"].as_array().unwrap_or_else(|| panic!("{:#}", said.value));
    for it in next {
        assert!(it["when"].is_string() && it["params"].is_object(), "{it:#}");
        let name = it["tool"].as_str().unwrap_or_else(|| panic!("{it:#}"));
        assert!(said.text.contains(name), "the text does not name `{name}`:\n{}", said.text);
    }
    said
}

fn check_graph(tool: &str, said: Said) -> Said {
    let read: Value = serde_json::from_str(&said.text).unwrap_or_else(|error| {
        panic!("`{tool}` answered with a text that is not JSON: {error}: {}", said.text)
    });
    assert_eq!(read, said.value, "`{tool}`: text and structured content differ");
    let Some(content) = said.value["content"].as_str() else {
        assert!(said.is_error || said.value["status"].is_string(), "{:#}", said.value);
        return said;
    };
    assert_eq!(said.value["ok"], !said.is_error, "{:#}", said.value);
    let id = said.value.get("session_id");
    assert!(id.is_some_and(|it| it.is_string() || it.is_null()), "{:#}", said.value);
    Said { text: content.to_owned(), ..said }
}

/// The dialect `devworkflow`.
pub(crate) struct DevWorkflow;

pub(crate) type Stage = dialect::Stage<DevWorkflow>;

impl Dialect for DevWorkflow {
    const FLAGS: &'static [&'static str] = &["--toolset", "devworkflow"];

    /// A folder with a `project_config.md` that has the required sections, and nothing else.
    fn project() -> Project {
        project(&[])
    }

    /// Of a graph tool that answers with a text, `text` is that text.
    fn check(tool: &str, said: Said) -> Said {
        if said.is_error {
            check_refusal(tool, &said);
        } else {
            assert_eq!(said.value["refusal"], Value::Null, "{:#}", said.value);
        }
        if is_classic(tool) { check_classic(tool, said) } else { check_graph(tool, said) }
    }

    /// A classic tool must say what is in the file.
    #[track_caller]
    fn compare(stage: &Stage, tool: &str, _arguments: &Value, said: &Said) {
        if is_classic(tool) && tool != "hello_workflow" && stage.state_path().is_file() {
            let state = stage.state();
            let stands = (said.value["phase"].as_str(), said.value["status"].as_str());
            assert_eq!(stands, (Some(state.phase.as_str()), Some(state.status.as_str())));
            assert_eq!(said.value["current_item"].as_str(), state.item.as_deref());
        }
    }

    fn files(project: &Project) -> Vec<(PathBuf, Vec<u8>)> {
        dialect::files_below(project.path(""), |_| true)
    }
}

impl Stage {
    /// The usual project, with settings.
    pub(crate) fn set(settings: &[(&str, &str)]) -> Self {
        Self::over(project(settings))
    }

    /// Starts with a state file that someone wrote.
    pub(crate) fn with_state(text: &str) -> Self {
        Self::set_with_state(&[], text)
    }

    pub(crate) fn set_with_state(settings: &[(&str, &str)], text: &str) -> Self {
        let project = project(settings);
        project.write("workflow_state.md", text);
        Self::over(project)
    }

    /// Starts with the workflows `Tiny` and `Other`, and with settings.
    pub(crate) fn graph(settings: &[(&str, &str)]) -> Self {
        let project = project(settings);
        project.write_all(TINY_FILES);
        Self::over(project)
    }

    /// Ends the server, takes the database away, and starts another.
    pub(crate) fn restart_without_database(self) -> Self {
        let project = self.end();
        fs::remove_dir_all(project.path(".milepost")).unwrap();
        Self::over(project)
    }

    /// Returns where the state file is: in our folder, or else in the root.
    pub(crate) fn state_path(&self) -> PathBuf {
        let own = self.project.path(".accordo/workflow_state.md");
        if own.is_file() { own } else { self.project.path("workflow_state.md") }
    }

    /// Returns the text of the state file.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.state_path()).unwrap()
    }

    /// Returns what the state file says now.
    #[track_caller]
    pub(crate) fn state(&self) -> FileText {
        FileText::read(&self.text())
    }

    /// Changes the state file as an editor does, and returns what is then in it.
    #[track_caller]
    pub(crate) fn edit(&self, change: impl FnOnce(String) -> String) -> String {
        let before = self.text();
        let after = change(before.clone());
        assert_ne!(before, after, "nothing was edited");
        fs::write(self.state_path(), &after).unwrap();
        after
    }

    /// Returns the text of the project configuration.
    pub(crate) fn config(&self) -> String {
        fs::read_to_string(self.project.path("project_config.md")).unwrap()
    }

    /// Returns everything that was archived: the section, and the whole logs in their folder.
    pub(crate) fn archived(&self) -> String {
        let mut all = self.state().archive;
        for (path, bytes) in self.files() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("log-") && path.parent().unwrap().ends_with("archive") {
                all.push('\n');
                all.push_str(&String::from_utf8(bytes).unwrap());
            }
        }
        all
    }
}

/// Returns a project with a configuration file and with settings of the toolset.
pub(crate) fn project(settings: &[(&str, &str)]) -> Project {
    let mut project = Project::new();
    for (key, value) in settings {
        let name = format!("MILEPOST_DEVWORKFLOW_{}", key.to_uppercase());
        project = project.with(&name, value);
    }
    project.write("project_config.md", CONFIG);
    project
}
