//! What the stages of `generation` have beyond those of every dialect.
//!
//! Every answer is checked on the way in: the text is also in the structured content, and what is
//! refused says so in both.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    dialect::{self, Dialect},
    fixtures::TITLES,
    project::Project,
    said::Said,
};

impl Said {
    /// Checks that the text has `parts`, each after the one before it.
    #[track_caller]
    pub(crate) fn has_in_order(&self, parts: &[&str]) -> &Self {
        let mut rest = self.text.as_str();
        for part in parts {
            let Some((_, after)) = rest.split_once(part) else {
                panic!("no `{part}`, or not in its place, in:\n{}", self.text)
            };
            rest = after;
        }
        self
    }

    /// Returns the lines that begin with `start`, blanks before them apart.
    pub(crate) fn lines(&self, start: &str) -> Vec<&str> {
        self.text.lines().map(str::trim_start).filter(|it| it.starts_with(start)).collect()
    }
}

/// The dialect `generation`.
pub(crate) struct Generation;

pub(crate) type Stage = dialect::Stage<Generation>;

impl Dialect for Generation {
    const FLAGS: &'static [&'static str] = &["--toolset", "generation"];

    fn project() -> Project {
        Project::new()
    }

    fn check(tool: &str, said: Said) -> Said {
        let Said { text, value, is_error, .. } = &said;
        assert_eq!(value["result"], text.as_str(), "`{tool}`: text and structured content differ");
        assert!(value["ok"].is_boolean(), "`{tool}` does not say whether it did it: {value:#}");
        if *is_error {
            assert_eq!(value["ok"], false, "{value:#}");
            let code = value["refusal"]["code"].as_str().unwrap_or_default();
            assert!(!code.is_empty(), "`{tool}` refused without a code: {value:#}");
        } else {
            assert_eq!(value["refusal"], Value::Null, "{value:#}");
        }
        said
    }

    #[track_caller]
    fn compare(stage: &Stage, tool: &str, arguments: &Value, said: &Said) {
        assert_eq!(said.value["ok"], true, "`{tool}` did not do it: {}", said.text);
        let scene = arguments["scene_id"].as_str().unwrap_or_default();
        if stage.path(scene).is_file() {
            let state = stage.state(scene);
            assert_eq!(said.value["scene_id"], scene, "{:#}", said.value);
            assert_eq!(said.value["workflow_status"], state["workflow_status"], "{}", said.text);
            let number = |it: &Value| it["current_step"].as_u64().unwrap_or(0);
            assert_eq!(number(&said.value), number(&state), "{:#}", said.value);
        }
    }

    /// Returns every state file of the workspace, those in sessions and backups too.
    fn files(project: &Project) -> Vec<(PathBuf, Vec<u8>)> {
        let is_state = |it: &Path| it.extension().is_some_and(|it| it == "json");
        dialect::files_below(project.path("workspace"), is_state)
    }
}

impl Stage {
    /// Starts with the state files of `states`.
    pub(crate) fn with(states: &[Value]) -> Self {
        let project = Project::new();
        for state in states {
            let scene = state["scene_id"].as_str().unwrap();
            project.write(&place(scene), &pretty(state));
        }
        Self::over(project)
    }

    /// Starts with one file, whatever is in it.
    pub(crate) fn with_text(scene: &str, text: &str) -> Self {
        let project = Project::new();
        project.write(&place(scene), text);
        Self::over(project)
    }

    pub(crate) fn path(&self, scene: &str) -> PathBuf {
        self.project.path(&place(scene))
    }

    pub(crate) fn bytes(&self, scene: &str) -> Vec<u8> {
        fs::read(self.path(scene)).unwrap()
    }

    /// Returns what the state file of a scene says now.
    #[track_caller]
    pub(crate) fn state(&self, scene: &str) -> Value {
        let bytes = self.bytes(scene);
        serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            panic!("{error} in the file of {scene}: {}", String::from_utf8_lossy(&bytes))
        })
    }

    /// Writes a state over the file of its scene, as an editor does.
    pub(crate) fn edit(&self, scene: &str, change: impl FnOnce(&mut Value)) -> String {
        let mut state = self.state(scene);
        change(&mut state);
        let text = pretty(&state);
        self.project.write(&place(scene), &text);
        text
    }

    /// Starts a generation.
    #[track_caller]
    pub(crate) fn begin(&self, scene: &str) {
        let blueprint = format!("acts/act-1/scene-{scene}-blueprint.md");
        self.done("start_generation", json!({"scene_id": scene, "blueprint_path": blueprint}));
    }

    /// Starts a step by its number, with what the README gives.
    #[track_caller]
    pub(crate) fn start(&self, scene: &str, step: usize) -> Said {
        self.done("start_step", start_of(scene, step))
    }

    /// Completes a step by its number.
    #[track_caller]
    pub(crate) fn complete(&self, scene: &str, step: usize, seconds: f64) -> Said {
        let arguments =
            json!({"scene_id": scene, "step_number": step, "duration_seconds": seconds});
        self.done("complete_step", arguments)
    }

    /// Starts and completes `steps`, each in as many seconds as its number.
    #[track_caller]
    pub(crate) fn work(&self, scene: &str, steps: impl IntoIterator<Item = usize>) {
        for step in steps {
            self.start(scene, step);
            self.complete(scene, step, f64::from(u32::try_from(step).unwrap()));
        }
    }
}

/// Returns the arguments that start a step by its number.
pub(crate) fn start_of(scene: &str, step: usize) -> Value {
    json!({"scene_id": scene, "step_number": step, "phase_name": TITLES[step - 1]})
}

/// Returns where the state of a scene is kept, seen from the project.
pub(crate) fn place(scene: &str) -> String {
    format!("workspace/generation-state-{scene}.json")
}

pub(crate) fn pretty(state: &Value) -> String {
    serde_json::to_string_pretty(state).unwrap()
}
