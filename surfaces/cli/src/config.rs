//! What the program was told: built-in defaults < the user's file < the project's file < the
//! environment < flags. A project's file says only what it may. Read once, here only, and passed down as plain structs.

mod client;
mod dialects;
mod file;
mod model;
mod place;
pub(crate) mod table;
pub(crate) mod value;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use definition::Answers;
use engine::Bounds;
use etcetera::BaseStrategy as _;
use file::Owner;
use store::{SqliteSettings, Synchronous};
use table::{Class, SETTINGS, Setting};
use tokio_util::sync::CancellationToken;
use value::Value;
use world::{ChoreTimes, ModelSettings, Secret, WorldSettings};

use crate::{
    commands::serve::connections,
    door,
    failure::Failure,
    token::Tokens,
    trust::{Permitted, Trust},
};

pub(crate) use client::ClientPlaces;
pub(crate) use file::Wishes;
pub(crate) use place::{FOLDER, Named, Places, git_folder};

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
    /// The user at the terminal, as the system calls them.
    pub(crate) person: String,
    /// Variables that are set but have no meaning in this release.
    pub(crate) unused: Vec<&'static str>,
    pub(crate) problems: Vec<Problem>,
    /// What the project's own file says in vain.
    pub(crate) ignored: Vec<Ignored>,
    /// What of it needs the user's trust, whether or not it has that.
    pub(crate) wishes: Option<Wishes>,
    /// The user's own folder for what they have allowed, if there can be one.
    pub(crate) state: Option<PathBuf>,
    /// The token in the environment by which a person acts where there is no terminal.
    pub(crate) approve_token: Option<Secret>,
    /// The language model, if one is configured.
    pub(crate) model: Option<ModelSettings>,
    /// What is missing for one, where something of it is set.
    pub(crate) model_missing: Option<String>,
    /// How far the wall clock is ahead of what the system says, in seconds. For tests.
    clock_ahead_s: i64,
    values: BTreeMap<&'static str, (Value, Origin)>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(String),
}

/// Something wrong in one of the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) place: String,
    /// The line of a file, to sort by.
    line: usize,
    pub(crate) text: String,
}

/// A setting of a project's own file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignored {
    pub(crate) setting: &'static str,
    pub(crate) place: String,
    pub(crate) why: &'static str,
}

/// A value that a flag gives to a setting.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    pub(crate) flag: String,
    pub(crate) setting: String,
    pub(crate) value: String,
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

/// The values so far, and what was wrong.
#[derive(Debug, Default)]
struct Sources {
    values: BTreeMap<&'static str, (Value, Origin)>,
    problems: Vec<Problem>,
    ignored: Vec<Ignored>,
}

/// Says how far the wall clock of a build for tests is ahead, in seconds.
const TEST_CLOCK: &str = "MILEPOST_TEST_CLOCK_AHEAD_S";

/// What of the process's surroundings is read, all at once.
#[derive(Debug, Default)]
pub struct Surroundings {
    pub working: PathBuf,
    /// The user's own folder of settings and workflows.
    pub user: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Where the user's programs keep what they must remember.
    pub state: Option<PathBuf>,
    pub environment: BTreeMap<String, String>,
    /// The user that calls, as the system calls them.
    pub person: Option<String>,
}

impl Surroundings {
    /// Looks around. `working` replaces the working directory.
    pub(crate) fn look(working: Option<&Path>) -> Result<Self, Failure> {
        let here = std::env::current_dir()?;
        let working = working.map_or_else(|| here.clone(), |it| here.join(it));
        if !working.is_dir() {
            return Err(Failure::usage(format!("there is no folder `{}`", working.display())));
        }
        let text = |it: OsString| it.into_string().ok();
        let pairs =
            std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        let base = etcetera::choose_base_strategy().ok();
        let user = base.as_ref().map(|it| it.config_dir().join("milepost"));
        let home = base.as_ref().map(|it| it.home_dir().to_owned());
        let state = base.as_ref().map(|it| it.state_dir().unwrap_or_else(|| it.data_dir()));
        let state = state.map(|it| it.join("milepost"));
        let (environment, person) = (pairs.collect(), find_person());
        Ok(Self { working, user, home, state, environment, person })
    }
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
        let mut sources = Sources::default();
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
            model,
            model_missing,
            person: person.unwrap_or_else(|| "someone".to_owned()),
            unused: unused.copied().collect(),
            clock_ahead_s: find_test_clock(environment),
            problems: sources.problems,
            ignored: sources.ignored,
            wishes,
            state: around.state.clone(),
            approve_token: door::token_of(environment.get(APPROVE_TOKEN)),
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
        SqliteSettings { synchronous, busy_wait_max, ..SqliteSettings::default() }
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
            ..WorldSettings::default()
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
        let mcp::Dialects { devworkflow, forge, .. } = self.dialects();
        let sessions = mcp::devworkflow::SessionFiles::new(&devworkflow);
        let files = mcp::WorkflowFiles::new(devworkflow.settings);
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

    fn flag(&self, name: &str) -> bool {
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

/// Returns whether a variable is for tests. Only a build for tests knows it; a release refuses it like
/// every variable that no setting has.
fn is_for_tests(name: &str) -> bool {
    cfg!(debug_assertions) && name == TEST_CLOCK
}

fn find_test_clock(environment: &BTreeMap<String, String>) -> i64 {
    let said = environment.get(TEST_CLOCK).filter(|_| is_for_tests(TEST_CLOCK));
    said.and_then(|it| it.parse().ok()).unwrap_or_default()
}

impl Sources {
    fn set(&mut self, setting: &Setting, value: Value, origin: Origin) {
        // Nobody who starts the program makes it laxer than a file says.
        let known = self.values.get(setting.name).map(|(value, _)| value);
        if let Class::HardenOnly(strict) = setting.class
            && known == Some(&Value::Text(strict.to_owned()))
        {
            return;
        }
        self.values.insert(setting.name, (value, origin));
    }

    fn read_environment(&mut self, environment: &BTreeMap<String, String>, base: &Path) {
        for setting in SETTINGS {
            let said = setting.variables().find_map(|it| environment.get_key_value(&it));
            let Some((name, text)) = said.filter(|it| !it.1.trim().is_empty()) else { continue };
            match setting.kind.parse(&in_unit(name, text)) {
                Ok(value) => {
                    let value = value.based_on(setting.kind, base);
                    self.set(setting, value, Origin::Environment(name.clone()));
                }
                Err(text) => {
                    self.problems.push(Problem {
                        place: format!("environment {name}"),
                        line: 0,
                        text,
                    });
                }
            }
        }
        let known: Vec<String> = SETTINGS.iter().flat_map(Setting::variables).collect();
        let ours = environment.keys().filter(|it| it.starts_with("MILEPOST_") && !is_for_tests(it));
        for name in ours.filter(|it| !known.contains(it) && *it != APPROVE_TOKEN) {
            let nearest = table::nearest(name, known.iter().map(String::as_str));
            let hint = nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            let text = format!("no setting has this variable{hint}");
            self.problems.push(Problem { place: format!("environment {name}"), line: 0, text });
        }
    }

    fn read_flags(&mut self, flags: &[Flag], base: &Path) {
        for Flag { flag, setting, value } in flags {
            let place = format!("flag {flag}");
            let Some(known) = table::find(setting) else {
                let nearest = table::nearest(setting, SETTINGS.iter().map(|it| it.name));
                let hint = nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
                let text = format!("there is no setting `{setting}`{hint}");
                self.problems.push(Problem { place, line: 0, text });
                continue;
            };
            match known.kind.parse(value) {
                Ok(value) => {
                    let value = value.based_on(known.kind, base);
                    self.set(known, value, Origin::Flag(flag.clone()));
                }
                Err(text) => self.problems.push(Problem { place, line: 0, text }),
            }
        }
    }
}

/// Returns a plain number with the unit that its variable's name ends with.
fn in_unit(variable: &str, text: &str) -> String {
    let is_number = !text.trim().is_empty() && text.trim().chars().all(|it| it.is_ascii_digit());
    let unit = if variable.ends_with("_MS") && is_number { "ms" } else { "" };
    format!("{}{unit}", text.trim())
}

impl Origin {
    /// Returns the kind of source, as a stable word.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File(_) => "file",
            Self::Environment(_) => "environment",
            Self::Flag(_) => "flag",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Environment(name) => write!(out, "environment {name}"),
            Self::Flag(flag) => write!(out, "flag {flag}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.text)
    }
}

/// Returns what the system's own list calls the user of this process. Unlike a variable, it does
/// not change with what a caller says.
#[cfg(unix)]
fn find_person() -> Option<String> {
    let own = rustix::process::getuid().as_raw().to_string();
    let list = std::fs::read_to_string("/etc/passwd").ok()?;
    let is_own = |line: &&str| line.split(':').nth(2) == Some(own.as_str());
    list.lines().find(is_own)?.split(':').next().map(str::to_owned)
}

#[cfg(not(unix))]
fn find_person() -> Option<String> {
    None
}
