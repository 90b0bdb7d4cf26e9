//! Agents that play by a script, and a client that goes through a whole run with them.
//!
//! A script says what is written to a file, or answered at a checkpoint, at a certain visit.
//! Whatever it does not mention is done as well as can be. The client can be made to lose its server
//! again and again, always at the same moment of an action.

use std::{collections::BTreeMap, fs, path::Path, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    random::Random,
    said::Said,
    stage::{Stage, answer, done, word, words},
};

/// The most turns that a run may take.
const TURNS_MAX: usize = 120;

/// What to write to a file, or to answer at a checkpoint, at the visit of that number.
pub(crate) type Cue = (&'static str, usize, &'static str);

/// When the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    Never,
    /// While the agents are at work. The next process must tell the same to do.
    AgentsWork,
    /// When they are done and nobody was told yet. The next process is.
    BeforeReport,
    /// In the midst of the report, so that nobody knows whether it was taken.
    InReport,
}

/// A client that plays every agent.
pub(crate) struct Player<'a> {
    pub(crate) stage: &'a mut Stage,
    script: &'a [Cue],
    kill: Kill,
    random: Random,
    visits: BTreeMap<String, usize>,
    /// What was to be done, in order.
    pub(crate) seen: Vec<Value>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(stage: &'a mut Stage, script: &'a [Cue]) -> Self {
        let visits = BTreeMap::new();
        Self { stage, script, kill: Kill::Never, random: Random::new(1), visits, seen: Vec::new() }
    }

    /// Has the server killed at a moment of every action.
    pub(crate) fn killing(self, kill: Kill, seed: u64) -> Self {
        Self { kill, random: Random::new(seed), ..self }
    }

    /// Goes on until there is nothing to do, and returns each action as a line.
    #[track_caller]
    pub(crate) fn play(mut self) -> Vec<String> {
        self.play_until(|_| false);
        self.lines()
    }

    /// Goes on until an action is the one that is looked for, or the run is over.
    #[track_caller]
    pub(crate) fn play_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut action = self.stage.go(json!({}));
        for _ in 0..TURNS_MAX {
            // A report that led to a revision is answered without an action.
            if action["type"] == "" {
                assert_eq!(action["report_result"]["next_action_hint"], "revision_required");
                action = self.stage.go(json!({}));
                continue;
            }
            self.seen.push(action.clone());
            if is_it(&action) || action["type"] == "done" {
                return action;
            }
            action = self.take(&action);
        }
        panic!("no end after {TURNS_MAX} turns:\n{}", self.lines().join("\n"));
    }

    /// Does what an action asks, says so, and returns what is next.
    #[track_caller]
    fn take(&mut self, action: &Value) -> Value {
        match action["type"].as_str().unwrap() {
            "checkpoint" | "human_gate" => {
                let said = self.decide(action);
                if self.kill != Kill::Never {
                    self.stage.kill();
                }
                self.stage.go(naming(answer(&said), action))
            }
            "spawn_agent" | "write_file" | "exec" => {
                if self.kill == Kill::AgentsWork {
                    self.stage.kill();
                    let again = self.stage.go(json!({}));
                    assert_eq!(gist(&again), gist(action), "another action after the crash");
                }
                self.act(action);
                self.tell(action)
            }
            other => panic!("`{other}` must not come out: {action:#}"),
        }
    }

    /// Reports that the agents are done.
    #[track_caller]
    fn tell(&mut self, action: &Value) -> Value {
        if self.kill == Kill::BeforeReport {
            self.stage.kill();
        }
        if self.kill != Kill::InReport {
            return self.stage.go(naming(done(), action));
        }
        self.kill_in_report(action);
        // Whether it was taken or not, the same report again is the same report.
        self.stage.go(naming(done(), action))
    }

    fn kill_in_report(&mut self, action: &Value) {
        let after_ms = self.random.below(40);
        let mut arguments = naming(done(), action);
        arguments["workspace"] = json!(self.stage.workspace());
        let server = &self.stage.server;
        thread::scope(|scope| {
            let told = scope.spawn(|| Said::hear(server, "pipeline_next_action", arguments));
            thread::sleep(Duration::from_millis(after_ms));
            server.kill();
            drop(told.join().unwrap());
        });
        self.stage.kill();
    }

    /// Plays the agents: writes every file that is expected of them.
    pub(crate) fn act(&mut self, action: &Value) {
        if action["type"] == "write_file" {
            let path = Path::new(action["path"].as_str().unwrap());
            let is_of_project = path.starts_with(".specs");
            let root =
                if is_of_project { self.stage.project.path("") } else { self.stage.path("") };
            fs::write(root.join(path), action["content"].as_str().unwrap()).unwrap();
        }
        for file in outputs(action) {
            let text = self.cue(&file).unwrap_or_else(|| usual(&file));
            self.stage.write(&file, text);
            self.implement(&file);
        }
    }

    /// Writes the files that belong to a task, if it names any.
    fn implement(&self, file: &str) {
        let number = file.strip_prefix("impl-").and_then(|it| it.strip_suffix(".md"));
        let Some(number) = number else { return };
        let visit = self.visits[file];
        for path in words(&self.stage.state()["tasks"][number]["files"]) {
            self.stage.project.write(&path, &format!("task {number}, visit {visit}\n"));
        }
    }

    /// Answers as a person does.
    fn decide(&mut self, action: &Value) -> String {
        let options = words(&action["options"]);
        let usual = ["proceed", "done", "approve", "skip"];
        let usual = usual.into_iter().find(|it| options.iter().any(|option| option == it));
        let name = word(&action["name"]);
        self.cue(&name).or(usual).unwrap_or_else(|| panic!("no way on: {action:#}")).to_owned()
    }

    /// Counts a visit, and returns what the script has for it.
    fn cue(&mut self, at: &str) -> Option<&'static str> {
        let visit = self.visits.entry(at.to_owned()).or_default();
        *visit += 1;
        let found = self.script.iter().find(|it| it.0 == at && it.1 == *visit);
        found.map(|it| it.2)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen.iter().map(line).collect()
    }
}

/// Says which action is reported or answered, as the skill does.
pub(crate) fn naming(mut arguments: Value, action: &Value) -> Value {
    arguments["action_id"] = action["action_id"].clone();
    arguments
}

/// Returns the files that an action expects.
pub(crate) fn outputs(action: &Value) -> Vec<String> {
    let tasks = action["parallel_tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut found: Vec<String> = tasks.iter().map(|it| word(&it["output_file"])).collect();
    found.extend(action["output_file"].as_str().map(ToOwned::to_owned));
    found
}

/// Returns who is to do what. A crash may change what there is to read for it, but not that.
fn gist(action: &Value) -> (String, String, Vec<String>) {
    (word(&action["phase"]), word(&action["agent"]), outputs(action))
}

/// Returns what an agent writes if nothing else is said.
fn usual(file: &str) -> &'static str {
    match file {
        "design.md" => "# D\n\n## A\n",
        "review-design.md" | "review-tasks.md" => "## Verdict: APPROVE\n",
        "tasks.md" => "# T\n\n## Task 1: Implement\nmode: sequential\n",
        _ if file.starts_with("review-") => "## Verdict: PASS\n",
        _ => "This is done.\n",
    }
}

/// Returns an action as one line: what, where, who, from which files to which.
pub(crate) fn line(action: &Value) -> String {
    let kind = word(&action["type"]);
    let list = |value: &Value| words(value).join(", ");
    match kind.as_str() {
        "spawn_agent" => format!(
            "{} {} [{}] -> {}",
            word(&action["phase"]),
            word(&action["agent"]),
            list(&action["input_files"]),
            outputs(action).join(", ")
        ),
        "checkpoint" | "human_gate" => {
            format!("{kind} {} [{}]", word(&action["name"]), list(&action["options"]))
        }
        "done" => format!("done {}", word(&action["summary"])),
        _ => format!("{kind} {}", word(&action["phase"])),
    }
}
