//! The configuration: built-in defaults < the user's file < the project's file < the
//! environment < flags. A project's file has a limited say. It is read once, here, and passed down as
//! plain structs.

mod client;
mod dialects;
mod file;
mod model;
mod place;
mod sources;
pub(crate) mod table;
pub(crate) mod value;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use definition::Answers;
use engine::Bounds;
use file::Owner;
use sources::{Sources, find_test_clock, find_test_death};
use store::{SqliteSettings, Synchronous};
use table::{SETTINGS, Setting};
use tokio_util::sync::CancellationToken;
use value::Value;
use world::{ChoreTimes, ModelSettings, Secret, WorldSettings};

use crate::{
    commands::serve::connections,
    door,
    token::Tokens,
    trust::{Permitted, Trust},
};

pub(crate) use client::ClientPlaces;
pub(crate) use file::Wishes;
pub(crate) use place::{FOLDER, Named, Places, git_folder};
pub use sources::Surroundings;
pub(crate) use sources::{Flag, Ignored, Origin, Problem};

/// The path that means a database in memory.
pub(crate) const MEMORY: &str = ":memory:";
/// The variable with the token by which a person acts where there is no terminal. It is not a
/// setting: in a file it would be there for every agent too.
const APPROVE_TOKEN: &str = "MILEPOST_APPROVE_TOKEN";
/// The project of a database that is shared by folders without a project of their own.
pub(crate) const DEFAULT_PROJECT: &str = "default";

/// How much memory the runs that are kept folded may take, in bytes.
const STATES_BYTES_MAX: usize = 32 << 20;

/// What the program was told, and what was wrong with it.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) places: Places,
    /// Where clients keep their files.
    pub(crate) clients: ClientPlaces,
    /// The user's editor, if they named one.
    pub(crate) editor: Option<String>,
    /// The user at the terminal, as the system calls them.
    pub(crate) person: String,
    /// Variables that are set but have no meaning in this release.
    pub(crate) unused: Vec<&'static str>,
    pub(crate) problems: Vec<Problem>,
    /// Variables in the environment that look like ours, and that no setting has.
    pub(crate) strange: Vec<String>,
    /// Settings in the project's own file that have no effect.
    pub(crate) ignored: Vec<Ignored>,
    /// What of it needs the user's trust, whether or not it has that.
    pub(crate) wishes: Option<Wishes>,
    /// The user's own folder for what they have allowed, if there can be one.
    pub(crate) state: Option<PathBuf>,
    /// The token in the environment by which a person acts where there is no terminal.
    pub(crate) approve_token: Option<Secret>,
    /// The variable by which an agent marks the shells that it starts, if one is set.
    pub(crate) agent: Option<&'static str>,
    /// The language model, if one is configured.
    pub(crate) model: Option<ModelSettings>,
    /// What is missing for one, where something of it is set.
    pub(crate) model_missing: Option<String>,
    /// How far the wall clock is ahead of what the system says, in seconds. For tests.
    clock_ahead_s: i64,
    /// After how many appends the process dies. For tests.
    dies_after: Option<u64>,
    values: BTreeMap<&'static str, (Value, Origin)>,
}

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StorePlace {
    Memory,
    /// In the project's own folder.
    Project(PathBuf),
    /// Where the configuration says.
    Named(PathBuf),
}

impl Config {
    /// Reads every source. Problems are kept, so that they can all be told at once.
    pub(crate) fn load(around: &Surroundings, flags: &[Flag]) -> Self {
        let places = Places::find(&around.working, around.user.clone(), around.home.clone());
        let config = Self::read(around, flags, places);
        // Another project has settings of its own.
        match config.find_elsewhere() {
            Some(places) => Self::read(around, flags, places),
            None => config,
        }
    }

    fn read(around: &Surroundings, flags: &[Flag], places: Places) -> Self {
        let system = std::env::consts::OS;
        let clients = ClientPlaces::find(system, around.home.as_deref(), &around.environment);
        let mut sources = Sources { home: around.home.clone(), ..Sources::default() };
        for setting in SETTINGS {
            let value = setting.kind.parse(setting.default).unwrap_or(Value::Unset);
            sources.set(setting, value, Origin::Default);
        }
        if let Some(user) = &places.user {
            file::read(&user.join("config.toml"), &places, Owner::User, &mut sources);
        }
        let own = places.folder().join("config.toml");
        let trust = Trust::new(around.state.as_deref());
        let wishes = file::read(&own, &places, Owner::Project(&trust), &mut sources);
        sources.read_environment(&around.environment, &places.working);
        sources.read_flags(flags, &places.working);
        let environment = &around.environment;
        let named = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|it| environment.get(*it));
        let person = around.person.clone().or_else(|| named.cloned()).filter(|it| !it.is_empty());
        let unused = table::NOT_YET.iter().filter(|it| environment.contains_key(**it));
        let (model, model_missing) = match model::find(&mut sources) {
            Ok(model) => (model, None),
            Err(missing) => (None, Some(missing)),
        };
        Self {
            clients,
            editor: ["VISUAL", "EDITOR"].iter().find_map(|it| environment.get(*it)).cloned(),
            model,
            model_missing,
            person: person.unwrap_or_else(|| "someone".to_owned()),
            unused: unused.copied().collect(),
            clock_ahead_s: find_test_clock(environment),
            dies_after: find_test_death(environment),
            strange: sources.strange,
            problems: sources.problems,
            ignored: sources.ignored,
            wishes,
            state: around.state.clone(),
            approve_token: door::token_of(environment.get(APPROVE_TOKEN)),
            agent: door::find_agent(|name| environment.contains_key(name)),
            values: sources.values,
            places,
        }
    }

    /// Returns every setting with its value and where it comes from.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static Setting, &Value, &Origin)> {
        SETTINGS.iter().filter_map(|setting| {
            let (value, origin) = self.values.get(setting.name)?;
            Some((setting, value, origin))
        })
    }

    /// Returns a value as people read it.
    pub(crate) fn shown(&self, setting: &Setting, value: &Value) -> String {
        match value {
            Value::Unset => format!("({})", setting.unset),
            Value::Text(text) if Path::new(text).is_absolute() => {
                self.places.short(Path::new(text))
            }
            Value::List(list) => {
                let paths = list.iter().map(|it| self.places.short(Path::new(it)));
                paths.collect::<Vec<_>>().join(", ")
            }
            Value::Flag(_)
            | Value::Number(_)
            | Value::Duration(_)
            | Value::Text(_)
            | Value::Secret(_) => setting.kind.show(value),
        }
    }

    /// Returns where the database is.
    pub(crate) fn store_place(&self) -> StorePlace {
        match self.text("store.path") {
            "" => StorePlace::Project(self.places.folder().join("milepost.db")),
            MEMORY => StorePlace::Memory,
            path => StorePlace::Named(PathBuf::from(path)),
        }
    }

    /// Has the database in the project's own folder, whatever is set.
    pub(crate) fn with_own_store(mut self) -> Self {
        self.values.remove("store.path");
        self
    }

    /// Returns what the store is told.
    pub(crate) fn sqlite(&self) -> SqliteSettings {
        let synchronous = match self.text("store.synchronous") {
            "normal" => Synchronous::Normal,
            _ => Synchronous::Full,
        };
        let busy_wait_max = self.duration("store.busy_wait");
        let dies_after = self.dies_after;
        SqliteSettings { synchronous, busy_wait_max, dies_after, ..SqliteSettings::default() }
    }

    /// Returns what the world is told.
    pub(crate) fn world(&self) -> WorldSettings {
        WorldSettings {
            workflow_dirs: self
                .places
                .workflow_dirs(self.list("workflows.dirs"), self.text("devworkflow.directory")),
            has_builtin: self.flag("workflows.builtin"),
            permits: Arc::new(Permitted {
                trust: self.trust(),
                places: self.places.clone(),
                folders: self.folders(),
                checks: self.flag("checks.allow"),
            }),
            forbidden_chores: self.forbidden_chores(),
            chore_times: ChoreTimes {
                near: self.duration("chores.timeout"),
                far: self.duration("chores.network_timeout"),
            },
            model: self.model.clone(),
            clock_ahead_s: self.clock_ahead_s,
        }
    }

    /// Returns the folders that the settings name for files of the project. Each may be elsewhere.
    fn folders(&self) -> Vec<PathBuf> {
        let named = ["devworkflow.directory", "forge.specs", "generation.workspace"];
        named.into_iter().map(|it| self.places.root.join(self.text(it))).collect()
    }

    /// Returns what the user has allowed projects.
    pub(crate) fn trust(&self) -> Trust {
        Trust::new(self.state.as_deref())
    }

    /// Returns the tokens that the user has made.
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens::new(self.state.as_deref())
    }

    fn forbidden_chores(&self) -> Vec<String> {
        let allowed = self.list("chores.allow");
        let is_allowed = |word: &&str| allowed.iter().any(|it| it == word);
        table::CHORES.iter().filter(|it| !is_allowed(it)).map(|it| (*it).to_owned()).collect()
    }

    /// Returns the folders of workflows that a setting names.
    pub(crate) fn named_workflow_dirs(&self) -> &[String] {
        self.list("workflows.dirs")
    }

    /// Whether only a person's own answer counts at every gate.
    fn is_verified(&self) -> bool {
        self.text("gates.answers") == "verified"
    }

    /// Returns what the runtime is told, for runs of `project`, of which it keeps some folded.
    pub(crate) fn runtime(&self, project: String, states_max: usize) -> runtime::Settings {
        runtime::Settings {
            project,
            root: self.places.root.display().to_string(),
            bounds: Bounds {
                report_bytes_max: self.count("limits.report"),
                context_bytes_max: self.count("limits.context"),
                text_bytes_max: self.count("limits.text"),
                lease_s_max: self.duration("limits.lease").as_secs(),
                parts_max: self.count("limits.parts"),
                items_max: self.count("limits.items"),
                prompt_bytes_max: self.count("limits.prompt"),
            },
            gates: self.is_verified().then_some(Answers::Verified),
            policies: self.dialects().policies(),
            has_model: self.model.is_some(),
            fail_on_model_error: self.flag("model.fail_on_error"),
            brief_tokens: self.count("brief.tokens"),
            wait_max: self.duration("wait.max"),
            states_max,
            states_bytes_max: STATES_BYTES_MAX,
        }
    }

    /// Returns the files that are written from the logs of runs.
    pub(crate) fn projections(&self) -> Vec<Arc<dyn runtime::Projection>> {
        let workspace = match self.text("generation.workspace") {
            "" => {
                let root = self.places.nearest_with(mcp::WORKSPACE);
                mcp::StateFiles::within(&root.to_string_lossy())
            }
            path => {
                let path = Path::new(path);
                let inside = path.strip_prefix(&self.places.root).unwrap_or(path);
                mcp::StateFiles::new(&inside.to_string_lossy())
            }
        };
        let mcp::Dialects { devworkflow, forge } = self.dialects();
        let sessions = mcp::devworkflow::SessionFiles::new(&devworkflow);
        let files = mcp::WorkflowFiles::new(Arc::unwrap_or_clone(devworkflow.settings));
        let specs = ::dialects::forge::SpecFiles::new(&forge);
        vec![Arc::new(workspace), Arc::new(files), Arc::new(sessions), Arc::new(specs)]
    }

    /// Returns the toolsets that are offered.
    pub(crate) fn toolsets(&self) -> &[String] {
        self.list("mcp.toolsets")
    }

    /// Returns what the server for agents is told.
    pub(crate) fn mcp(&self, seal_key: [u8; 32]) -> mcp::Options {
        mcp::Options {
            toolsets: self.toolsets().to_vec(),
            dialects: self.dialects(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drain: self.duration("mcp.drain"),
            ask: self.duration("mcp.ask"),
            limits: mcp::Limits {
                call: self.duration("mcp.call_timeout"),
                calls: self.count("mcp.calls"),
                calls_per_client: self.count("mcp.calls_per_client"),
                streams: self.count("mcp.streams"),
                watched: self.count("mcp.watched"),
            },
            seal_key,
            ..mcp::Options::default()
        }
    }

    /// Returns what it is told where agents come over HTTP, asking for one of `hosts`.
    pub(crate) fn http(&self, hosts: Vec<String>, stop: CancellationToken) -> mcp::HttpOptions {
        mcp::HttpOptions {
            hosts,
            sessions_max: self.count("mcp.sessions"),
            session_idle: self.duration("mcp.session_idle"),
            silence_max: self.duration("mcp.ask").max(self.duration("wait.max")),
            body_max: self.count("mcp.body"),
            stop,
        }
    }

    /// Returns how many connections the server takes, and for how long.
    pub(crate) fn connections(&self) -> connections::Limits {
        connections::Limits {
            connections: self.count("serve.connections"),
            header: self.duration("serve.header_timeout"),
            idle: self.duration("serve.idle_timeout"),
            write: self.duration("serve.write_timeout"),
        }
    }

    /// Returns the names under which the server may be asked for, besides its own.
    pub(crate) fn hosts(&self) -> &[String] {
        self.list("serve.hosts")
    }

    /// Returns the file with the token that requests must carry.
    pub(crate) fn token_file(&self) -> Option<&Path> {
        Some(self.text("serve.token_file")).filter(|it| !it.is_empty()).map(Path::new)
    }

    /// Returns where the server listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.text("serve.address").parse().ok()
    }

    /// Returns how much is logged, and whether anyone said so.
    pub(crate) fn log_level(&self) -> (&str, bool) {
        let is_said = self.values.get("log.level").is_some_and(|it| it.1 != Origin::Default);
        (self.text("log.level"), is_said)
    }

    /// Returns the file that log lines go to as well.
    pub(crate) fn log_file(&self) -> Option<&Path> {
        Some(self.text("log.file")).filter(|it| !it.is_empty()).map(Path::new)
    }

    fn value(&self, name: &str) -> &Value {
        self.values.get(name).map_or(&Value::Unset, |it| &it.0)
    }

    fn text(&self, name: &str) -> &str {
        if let Value::Text(text) = self.value(name) { text } else { "" }
    }

    fn list(&self, name: &str) -> &[String] {
        if let Value::List(list) = self.value(name) { list } else { &[] }
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        *self.value(name) == Value::Flag(true)
    }

    fn count(&self, name: &str) -> usize {
        let Value::Number(number) = self.value(name) else { return 0 };
        usize::try_from(*number).unwrap_or(usize::MAX)
    }

    fn duration(&self, name: &str) -> Duration {
        if let Value::Duration(it) = self.value(name) { *it } else { Duration::ZERO }
    }
}
