//! A project with a policy, in which a request is made.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anstream::ColorChoice;
use clap::Parser as _;
use engine::{Actor, Event, RunId, Standing};
use mcp::{Call, Dialects, Person, Scope, Tools};
use runtime::{RunFilter, View};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::script::{Deed, Door, Scene};
use crate::{
    args::{Args, Command},
    commands::{gate, run},
    config::{Config, Surroundings},
    join::{Access, Joined},
    output::Output,
    token::{Issued, Tokens},
};

/// Where the built-in workflows are.
const WORKFLOWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows");
/// What a definition of the project's own says of its first step, beside what the built-in one says.
const CRITERION: &str = "criteria: {seen: It was looked at.}\nevidence: ";

pub(super) struct World {
    folder: TempDir,
    joined: Joined,
    tools: Tools,
    dialects: Dialects,
    /// The run that the request is about.
    run: String,
    story: String,
    /// The code and the words of the last answer.
    last: (String, String),
}

impl World {
    /// Returns a project with these settings. `definition.evidence` is said by the project's own
    /// definitions.
    pub(super) async fn new(policy: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [work, home, state] = ["work", "home", "state"].map(|it| folder.path().join(it));
        for folder in [&work, &home, &state] {
            fs::create_dir(folder).unwrap();
        }
        fs::create_dir_all(work.join(".specs/20260101-x")).unwrap();
        let (name, at) = ("tests".to_owned(), "today".to_owned());
        let issued = Issued { name, scope: Scope::Approve, at };
        let token = Tokens::new(Some(&state)).issue(&issued).unwrap();
        let mut environment = BTreeMap::from([
            ("MILEPOST_STORE_PATH".to_owned(), ":memory:".to_owned()),
            ("MILEPOST_FORGE_POLL".to_owned(), "1".to_owned()),
            ("MILEPOST_APPROVE_TOKEN".to_owned(), token),
        ]);
        for said in policy {
            let (name, value) = said.split_once(" = ").unwrap();
            if name == "definition.evidence" {
                define(&work, "scene-generation", "title: File System Check", value);
                define(&work, "forge", "title: Situation Analysis", value);
                continue;
            }
            let name = format!("MILEPOST_{}", name.replace('.', "_").to_uppercase());
            environment.insert(name, value.to_owned());
        }
        let (user, person) = (None, Some("ann".to_owned()));
        let (home, state) = (Some(home), Some(state));
        let around = Surroundings { working: work, user, home, state, environment, person };
        let config = Config::load(&around, &[]);
        assert!(config.problems.is_empty(), "{:?}", config.problems);
        let dialects = config.dialects();
        let joined = Joined::open(config, Access::Create).await.unwrap();
        let toolsets = mcp::TOOLSETS.iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
        let tools = Tools::new(&toolsets).unwrap();
        let (run, story, last) = Default::default();
        Self { folder, joined, tools, dialects, run, story, last }
    }

    /// Makes the request, and returns what it leads to.
    pub(super) async fn play(mut self, scene: &Scene, door: &Door) -> &'static str {
        for deed in &scene.deeds {
            self.act(deed).await;
            if !self.last.0.is_empty() {
                eprintln!("`{}` cannot be asked for\n{}", scene.what, self.story);
                return "unclear";
            }
        }
        for deed in &door.deeds {
            self.act(deed).await;
        }
        self.judge(scene, door).await
    }

    async fn act(&mut self, deed: &Deed) {
        match deed {
            Deed::Call(tool, arguments) => self.call(tool, arguments).await,
            Deed::Type(typed) => self.type_in(typed).await,
            Deed::Write(path, text) => fs::write(self.path(path), text).unwrap(),
            Deed::Merge(path, members) => {
                let path = self.find(path);
                let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                let members: Map<String, Value> = serde_json::from_str(members).unwrap();
                value.as_object_mut().unwrap().extend(members);
                fs::write(path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
            }
            Deed::Replace(path, old, new) => {
                let path = self.find(path);
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.contains(old), "no `{old}` in {text}");
                fs::write(path, text.replace(old, new)).unwrap();
            }
        }
    }

    async fn call(&mut self, tool: &str, arguments: &str) {
        let call = Call {
            runtime: &self.joined.runtime,
            actor: Actor::default(),
            person: Person::OutOfReach,
            takes_tasks: false,
            options: &self.dialects,
            request_id: None,
            is_stale: false,
        };
        let text = arguments
            .replace("$RUN", &self.run)
            .replace("$WORK", &self.path("").display().to_string());
        let arguments =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let reply = self.tools.call(tool, &call, arguments).unwrap().await;
        let code = reply.body["refusal"]["code"].as_str().unwrap_or_default();
        let text = format!("{}\n{}", reply.text, reply.body["warnings"]);
        self.last = (code.to_owned(), text);
        self.story += &format!("> {tool}\n{}\n", self.last.1);
        if self.run.is_empty() {
            let filter = RunFilter { limit: 1, ..RunFilter::default() };
            let rows = self.joined.runtime.list_runs(filter).await.unwrap().rows;
            self.run = rows.first().map(|it| it.run.to_string()).unwrap_or_default();
        }
    }

    /// Has a person give a command.
    async fn type_in(&mut self, typed: &str) {
        let typed = typed.replace("$RUN", &self.run);
        let output = Output::new(true, ColorChoice::Never);
        let command = Args::try_parse_from(typed.split(' ')).unwrap().command;
        let reply = if let Command::Gate(args) = command {
            gate::perform(&self.joined, args, output).await
        } else if let Command::Run(command) = command {
            run::perform(&self.joined, command, output).await
        } else {
            panic!("no door is made for `{typed}`")
        };
        self.last = match reply {
            Ok(reply) => (String::new(), reply.text),
            Err(failure) => (failure.code, failure.message),
        };
        self.story += &format!("$ {typed}\n{}\n", self.last.1);
    }

    async fn judge(&self, scene: &Scene, door: &Door) -> &'static str {
        let run = self.joined.runtime.find_run(&self.run).await.unwrap();
        let View { state, .. } = self.joined.runtime.view(run, None).await.unwrap();
        let at = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_there = (state.standing == Standing::Completed && scene.target.is_empty())
            || (state.standing == Standing::Running && at == scene.target);
        let (code, text) = &self.last;
        let has = |word: &str| text.to_lowercase().contains(word);
        match code.as_str() {
            _ if is_there => "goes on",
            it if it.contains("evidence") => "evidence",
            "" if self.has_replaced(run, "evidence").await => "evidence",
            "" if self.has_replaced(run, "person").await => "person",
            _ if matches!(state.standing, Standing::Waiting(_)) => "person",
            "next_not_allowed" | "move_not_allowed" => "order",
            it if it.contains("approval") || it.starts_with("gate_") => "person",
            "illegal_transition" if has("approval") => "person",
            _ => {
                let (what, call, standing) = (&scene.what, &door.call, &state.standing);
                eprintln!("`{what}` by `{call}`: at `{at}`, {standing:?}\n{}", self.story);
                "unclear"
            }
        }
    }

    /// Whether a file was put back, with a problem in these words.
    async fn has_replaced(&self, run: RunId, word: &str) -> bool {
        let events = self.joined.runtime.history(run, None, 100).await.unwrap().events;
        let mut problems = events.iter().filter_map(|it| {
            if let Event::FileReplaced { problem, .. } = &it.event { Some(problem) } else { None }
        });
        problems.any(|it| it.contains(word))
    }

    /// Returns a path; of one that ends with `*`, the first file that begins so.
    fn find(&self, path: &str) -> PathBuf {
        let Some((folder, _)) = path.split_once('*') else { return self.path(path) };
        let entries = fs::read_dir(self.path(folder)).unwrap();
        entries.map(|it| it.unwrap().path()).find(|it| it.is_file()).unwrap()
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join("work").join(relative)
    }
}

/// Gives the project a built-in workflow as its own, with a criterion in the step of this title.
fn define(work: &Path, name: &str, title: &str, evidence: &str) {
    for part in ["", "steps"] {
        let from = Path::new(WORKFLOWS).join(name).join(part);
        let to = work.join(".milepost/workflows").join(name).join(part);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(|it| it.unwrap()) {
            if entry.path().extension().is_some_and(|it| it == "md") {
                let text = fs::read_to_string(entry.path()).unwrap();
                let own = format!("{title}\n{CRITERION}{evidence}");
                fs::write(to.join(entry.file_name()), text.replace(title, &own)).unwrap();
            }
        }
    }
}
