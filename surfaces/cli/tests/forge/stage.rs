//! What the stages of `forge` have beyond those of every dialect: a repository with its specs and stub
//! agents.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::{
    dialect::{self, Dialect},
    fixtures::AGENTS,
    project::Project,
    said::Said,
};

/// The server sees the settings of the person who runs the tests, unless the repository has its own.
const GIT_CONFIG: &str = "\
[user]
\tname = Tester
\temail = tester@example.com
[commit]
\tgpgsign = false
";

impl Said {
    /// Returns the text as the JSON that it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("no JSON: {error}: {}", self.text))
    }

    /// Checks that a guard held it back.
    #[track_caller]
    pub(crate) fn blocked(&self) -> &Self {
        assert!(self.is_error && self.text.starts_with("BLOCKED:"), "not blocked: {}", self.text);
        self
    }
}

/// The dialect `forge`.
pub(crate) struct Forge;

pub(crate) type Stage = dialect::Stage<Forge>;

impl Dialect for Forge {
    const FLAGS: &'static [&'static str] = &["--toolset", "forge"];

    fn project() -> Project {
        world(&[])
    }

    fn check(_tool: &str, said: Said) -> Said {
        said
    }

    fn compare(_stage: &Stage, _tool: &str, _arguments: &Value, _said: &Said) {}

    /// Returns every file in the workspaces.
    fn files(project: &Project) -> Vec<(PathBuf, Vec<u8>)> {
        let folders = entries(&project.path(".specs"));
        let files = folders.iter().flat_map(|it| entries(it));
        let mut found: Vec<(PathBuf, Vec<u8>)> =
            files.map(|it| (it.clone(), settled(fs::read(&it).unwrap_or_default()))).collect();
        found.sort();
        found
    }
}

impl Stage {
    /// The usual world, with more in the environment.
    pub(crate) fn set(variables: &[(&str, &str)]) -> Self {
        Self::over(world(variables))
    }

    /// Starts a run of `effort` right away, with the usual flags.
    #[track_caller]
    pub(crate) fn begun(effort: &str) -> Self {
        let stage = Self::new();
        stage.init(effort);
        stage
    }

    /// Returns the workspace that the scenarios are about.
    pub(crate) fn workspace(&self) -> String {
        self.specs("20260101-x")
    }

    /// Returns the path of something among the specs.
    pub(crate) fn specs(&self, name: &str) -> String {
        self.project.path(".specs").join(name).to_str().unwrap().to_owned()
    }

    /// Returns where a file of the workspace is.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(self.workspace()).join(file)
    }

    /// Calls a tool on the workspace.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Said {
        self.done(tool, self.on_workspace(arguments))
    }

    /// Calls a tool on the workspace that must refuse.
    #[track_caller]
    pub(crate) fn error(&self, tool: &str, arguments: Value) -> Said {
        self.refused(tool, self.on_workspace(arguments))
    }

    /// Calls a tool on the workspace that must fail on the way. What came before that is done.
    #[track_caller]
    pub(crate) fn stumble(&self, tool: &str, arguments: Value) -> Said {
        let said = self.call(tool, self.on_workspace(arguments));
        assert!(said.is_error, "`{tool}` did not fail: {}", said.text);
        said
    }

    pub(crate) fn on_workspace(&self, mut arguments: Value) -> Value {
        arguments["workspace"] = json!(self.workspace());
        arguments
    }

    /// Makes the workspace with the plain tool, and nothing but its state in it.
    #[track_caller]
    pub(crate) fn bare(&self) {
        fs::create_dir_all(self.workspace()).unwrap();
        let said = self.ok("init", json!({"spec_name": "demo", "validated": true}));
        assert_eq!(said.text, "ok");
    }

    #[track_caller]
    pub(crate) fn init(&self, effort: &str) -> Value {
        self.init_with(effort, json!({"skip_pr": true}))
    }

    /// Confirms a run of `effort` in the workspace.
    #[track_caller]
    pub(crate) fn init_with(&self, effort: &str, flags: Value) -> Value {
        let mut arguments = json!({"task_text": "Add thing xx"});
        arguments["flags"] = flags;
        arguments["user_confirmation"] = json!({"effort": effort, "use_current_branch": true});
        let said = self.ok("pipeline_init_with_context", arguments).json();
        assert_eq!(said["ready"], true, "{said:#}");
        said
    }

    /// Asks what to do next.
    #[track_caller]
    pub(crate) fn go(&self, arguments: Value) -> Value {
        let action = self.ok("pipeline_next_action", arguments).json();
        let summary = action["summary"].as_str().unwrap_or_default();
        assert!(!summary.starts_with("skip:"), "a skip came out: {action:#}");
        action
    }

    /// Reports a phase.
    #[track_caller]
    pub(crate) fn report(&self, phase: &str) -> Value {
        self.ok("pipeline_report_result", json!({"phase": phase, "tokens_used": 1})).json()
    }

    /// Reads one field by the plain tool.
    #[track_caller]
    pub(crate) fn field(&self, field: &str) -> String {
        self.ok("get", json!({"field": field})).text
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::create_dir_all(self.workspace()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    /// Writes a file of the workspace, and says how many seconds after a fixed day it was.
    pub(crate) fn write_at(&self, file: &str, text: &str, seconds: u64) {
        self.write(file, text);
        self.touch(file, seconds);
    }

    pub(crate) fn touch(&self, file: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000 + seconds);
        let file = File::options().write(true).open(self.path(file)).unwrap();
        file.set_modified(time).unwrap();
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.path(file).is_file()
    }

    /// Returns what `state.json` says now.
    #[track_caller]
    pub(crate) fn state(&self) -> Value {
        let bytes = fs::read(self.path("state.json")).unwrap();
        serde_json::from_slice(&bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
    }

    /// Returns the current phase and its status.
    #[track_caller]
    pub(crate) fn stands(&self) -> (String, String) {
        let state = self.state();
        (word(&state["currentPhase"]), word(&state["currentPhaseStatus"]))
    }

    #[track_caller]
    pub(crate) fn is_at(&self, phase: &str, status: &str) {
        assert_eq!(self.stands(), (phase.to_owned(), status.to_owned()));
    }

    /// Returns the phase and the model of each entry of the log.
    #[track_caller]
    pub(crate) fn log(&self) -> Vec<(String, String)> {
        let state = self.state();
        let log = state["phaseLog"].as_array().unwrap();
        log.iter().map(|it| (word(&it["phase"]), word(&it["model"]))).collect()
    }

    /// Merges `members` into `state.json`, as someone with an editor does.
    #[track_caller]
    pub(crate) fn fixture(&self, members: Value) {
        let mut state = self.state();
        let Value::Object(members) = members else { panic!("no members: {members}") };
        state.as_object_mut().unwrap().extend(members);
        self.write("state.json", &serde_json::to_string_pretty(&state).unwrap());
    }

    /// Puts the run into a phase by the file. Unless something else is said, it is worked on.
    #[track_caller]
    pub(crate) fn put(&self, phase: &str, mut members: Value) {
        members["currentPhase"] = json!(phase);
        if members.get("currentPhaseStatus").is_none() {
            members["currentPhaseStatus"] = json!("in_progress");
        }
        self.fixture(members);
    }

    /// Returns what was told of the workspace so far: event, phase and outcome of each.
    pub(crate) fn events(&self) -> Vec<(String, String, String)> {
        let text = fs::read_to_string(self.project.path("events.jsonl")).unwrap_or_default();
        let read = |line: &str| {
            let it: Value = serde_json::from_str(line).unwrap();
            (word(&it["event"]), word(&it["phase"]), word(&it["outcome"]))
        };
        text.lines().map(read).collect()
    }

    /// Runs git in the repository, and returns what it says.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.project, arguments)
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()).collect()
}

/// Leaves out of a state file what the contract does not name: that someone's edit is written out
/// in full is not a change.
fn settled(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(Value::Object(mut state)) = serde_json::from_slice(&bytes) else { return bytes };
    state.retain(|key, _| !["status", "phases", "timestamps"].contains(&key.as_str()));
    Value::Object(state).to_string().into_bytes()
}

/// What is said when the agents of an action are done.
pub(crate) fn done() -> Value {
    json!({
        "previous_action_complete": true,
        "previous_tokens": 1000,
        "previous_duration_ms": 2000,
    })
}

/// What is said when a person has answered.
pub(crate) fn answer(word: &str) -> Value {
    json!({"user_response": word})
}

/// A task as `state.json` has it.
pub(crate) fn task(mode: &str, implemented: &str, reviewed: &str) -> Value {
    json!({
        "title": "t", "executionMode": mode, "depends_on": null, "files": null,
        "implStatus": implemented, "reviewStatus": reviewed, "implRetries": 0, "reviewRetries": 0,
    })
}

/// Returns a word, or nothing if there is none.
pub(crate) fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the words of a list.
pub(crate) fn words(value: &Value) -> Vec<String> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(word).collect()
}

/// Makes a repository with one commit, an empty folder for the specs, and the stub agents.
pub(crate) fn world(variables: &[(&str, &str)]) -> Project {
    let mut project = Project::new();
    let at = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let own = [
        ("FORGE_SPECS_DIR", at(".specs")),
        ("FORGE_AGENTS_PATH", at("../agents")),
        ("FORGE_EVENTS_LOG", at("events.jsonl")),
        ("MILEPOST_FORGE_POLL", "1".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("TZ", "UTC".to_owned()),
    ];
    for (name, value) in own {
        let given = variables.iter().find(|it| it.0 == name);
        project = project.with(name, given.map_or(&value, |it| it.1));
    }
    for (name, value) in variables.iter().filter(|it| !it.0.starts_with("FORGE_")) {
        project = project.with(name, value);
    }
    for name in AGENTS {
        let text = format!(
            "AGENT {name} ws={{workspace}} br={{branch}} sp={{spec-name}} n={{N}} keep={{foo}}"
        );
        project.write(&format!("../agents/{name}.md"), &text);
    }
    fs::create_dir(project.path(".specs")).unwrap();
    project.write("a.txt", "a\n");
    git(&project, &["init", "-q", "-b", "main"]);
    let mut config = File::options().append(true).open(project.path(".git/config")).unwrap();
    config.write_all(GIT_CONFIG.as_bytes()).unwrap();
    git(&project, &["add", "a.txt"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    project
}

/// Runs git in `project`, where it must work, and returns what it says.
pub(crate) fn git(project: &Project, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    project.place(&mut command);
    let output = command.args(arguments).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {talk}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}
