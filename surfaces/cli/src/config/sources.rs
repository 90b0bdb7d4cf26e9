//! The sources of settings: the environment, flags, and what the system says. Files are read in `file.rs`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy as _;

use super::{
    APPROVE_TOKEN,
    table::{self, Class, SETTINGS, Setting},
    value::Value,
};
use crate::failure::Failure;

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
    pub(super) line: usize,
    pub(crate) text: String,
}

/// A setting of a project's own file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignored {
    pub(crate) setting: &'static str,
    pub(crate) place: String,
    pub(crate) why: String,
}

/// A value that a flag gives to a setting.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    pub(crate) flag: String,
    pub(crate) setting: String,
    pub(crate) value: String,
}

/// The values so far, and what was wrong.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) values: BTreeMap<&'static str, (Value, Origin)>,
    pub(super) problems: Vec<Problem>,
    pub(super) ignored: Vec<Ignored>,
    /// Variables that look like ours and are not, with what was most likely meant.
    pub(super) strange: Vec<String>,
    /// What `~` stands for in a path.
    pub(super) home: Option<PathBuf>,
}

/// Says how far the wall clock of a build for tests is ahead, in seconds.
const TEST_CLOCK: &str = "MILEPOST_TEST_CLOCK_AHEAD_S";
/// Says after which commit the process of a build for tests dies, before anyone hears of it.
const TEST_DEATH: &str = "TEST_DIES_AFTER_COMMIT";

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

/// Returns whether a variable is for tests. Only a build for tests knows it; a release warns of it like
/// of every variable that no setting has.
fn is_for_tests(name: &str) -> bool {
    cfg!(debug_assertions) && name == TEST_CLOCK
}

pub(super) fn find_test_clock(environment: &BTreeMap<String, String>) -> i64 {
    let said = environment.get(TEST_CLOCK).filter(|_| is_for_tests(TEST_CLOCK));
    said.and_then(|it| it.parse().ok()).unwrap_or_default()
}

pub(super) fn find_test_death(environment: &BTreeMap<String, String>) -> Option<u64> {
    environment.get(TEST_DEATH).filter(|_| cfg!(debug_assertions))?.parse().ok()
}

impl Sources {
    pub(super) fn set(&mut self, setting: &Setting, value: Value, origin: Origin) {
        // The environment and flags cannot make it less strict than a file says.
        let known = self.values.get(setting.name).map(|(value, _)| value);
        if let Class::HardenOnly(strict) = setting.class
            && known == Some(&Value::Text(strict.to_owned()))
        {
            return;
        }
        self.values.insert(setting.name, (value, origin));
    }

    /// Notes something wrong that is not in a line of a file.
    pub(super) fn refuse(&mut self, place: impl Into<String>, text: String) {
        self.problems.push(Problem { place: place.into(), line: 0, text });
    }

    pub(super) fn read_environment(&mut self, environment: &BTreeMap<String, String>, base: &Path) {
        for setting in SETTINGS {
            let said = setting.variables().find_map(|it| environment.get_key_value(&it));
            let Some((name, text)) = said.filter(|it| !it.1.trim().is_empty()) else { continue };
            let origin = Origin::Environment(name.clone());
            self.read_text(setting, &in_unit(name, text), origin, base);
        }
        let known: Vec<String> = SETTINGS.iter().flat_map(Setting::variables).collect();
        let ours = environment.keys().filter(|it| it.starts_with("MILEPOST_") && !is_for_tests(it));
        for name in ours.filter(|it| !known.contains(it) && *it != APPROVE_TOKEN) {
            let hint = table::did_you_mean(name, known.iter().map(String::as_str));
            self.strange.push(format!("`{name}`: no setting has this variable{hint}"));
        }
    }

    pub(super) fn read_flags(&mut self, flags: &[Flag], base: &Path) {
        for Flag { flag, setting, value } in flags {
            match table::find(setting) {
                Some(known) => self.read_text(known, value, Origin::Flag(flag.clone()), base),
                None => self.refuse(format!("flag {flag}"), table::unknown(setting)),
            }
        }
    }

    fn read_text(&mut self, setting: &Setting, text: &str, origin: Origin, base: &Path) {
        match setting.kind.parse(text) {
            Ok(value) => {
                let value = value.based_on(setting.kind, base, self.home.as_deref());
                self.set(setting, value, origin);
            }
            Err(text) => self.refuse(origin.to_string(), text),
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
