//! Reads one configuration file: sections and keys in, settings and problems out.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use definition::Digest;
use toml::de::{DeTable, DeValue};
use world::beneath::read_named;

use super::{
    Ignored, Origin, Places, Problem,
    sources::Sources,
    table::{self, Class, Setting},
    value::{Kind, Value},
};
use crate::trust::Trust;

/// The largest configuration file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the file at `path` into `sources`, if there is one. Returns what a project's own file says
/// that needs the user's trust.
pub(super) fn read(
    path: &Path,
    places: &Places,
    owner: Owner<'_>,
    sources: &mut Sources,
) -> Option<Wishes> {
    let text = match read_named(path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            sources.refuse(places.short(path), format!("it cannot be read: {error}"));
            return None;
        }
    };
    let digest = Digest::of(text.as_bytes());
    let trust = match owner {
        Owner::User => None,
        Owner::Project(trust) => Some(Trusted::find(trust, &places.project, &digest)),
    };
    let mut file = File { path, text: &text, places, trust, wishes: Vec::new() };
    let before = sources.problems.len();
    let (document, errors) = DeTable::parse_recoverable(&text);
    // The innermost mistake of a line comes last, and the others of the line only follow from it: an
    // array is not closed because a text in it is not.
    for error in errors.iter().rev() {
        let start = error.span().map_or(0, |it| it.start);
        let message = error.message().trim().replace('\n', ", ");
        file.problem(start, message, sources);
    }
    for (section, value) in document.get_ref() {
        match value.get_ref() {
            DeValue::Table(keys) => {
                // A key without a name has been told of as a mistake in the text.
                for (key, value) in keys.iter().filter(|it| !it.0.get_ref().is_empty()) {
                    let name = format!("{}.{}", section.get_ref(), key.get_ref());
                    file.take(&name, key.span().start, value.get_ref(), sources);
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => {
                let text = table::unknown(section.get_ref());
                file.problem(section.span().start, text, sources);
            }
        }
    }
    // In the order of the lines; the table has them in the order of the names.
    let mut told = sources.problems.split_off(before);
    told.sort_by_key(|it| it.line);
    if !errors.is_empty() {
        told.dedup_by_key(|it| it.line);
    }
    sources.problems.append(&mut told);
    let settings = file.wishes;
    (!settings.is_empty()).then_some(Wishes { digest, settings })
}

/// Whose file it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner<'a> {
    User,
    /// A project's, with what the user has allowed.
    Project(&'a Trust),
}

/// What a project's own file says that needs the user's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Of the whole text.
    pub(crate) digest: Digest,
    /// As they are shown.
    pub(crate) settings: Vec<String>,
}

/// Whether the user trusts a project's file as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trusted {
    Yes,
    Changed,
    No,
}

impl Trusted {
    fn find(trust: &Trust, project: &Path, digest: &Digest) -> Self {
        match trust.find(project) {
            None => Self::No,
            Some(allowed) if allowed.powers.config.as_ref() == Some(digest) => Self::Yes,
            Some(_) => Self::Changed,
        }
    }
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
    places: &'a Places,
    /// Of a project's file.
    trust: Option<Trusted>,
    /// What of it needs trust.
    wishes: Vec<String>,
}

impl File<'_> {
    fn take(&mut self, name: &str, start: usize, value: &DeValue<'_>, sources: &mut Sources) {
        let Some(setting) = table::find(name) else {
            return self.problem(start, table::unknown(name), sources);
        };
        if self.trust.is_some() && setting.class == Class::UserOnly {
            // The value is not even read, because it has no effect.
            let why = "a project does not say this: set it in your own `config.toml`, in the \
                       environment or by a flag";
            return self.ignore(setting, start, why, sources);
        }
        let home = self.places.home.as_deref();
        let value = match to_value(setting.kind, value) {
            Ok(value) => value.based_on(setting.kind, &self.places.project, home),
            Err(text) if self.trust.is_some() => {
                return self.ignore_unfit(setting, start, &text, sources);
            }
            Err(text) => return self.problem(start, format!("`{name}`: {text}"), sources),
        };
        if let Some(why) = self.find_objection(setting, &value) {
            return self.ignore(setting, start, why, sources);
        }
        sources.set(setting, value, Origin::File(self.path.to_owned()));
    }

    /// Returns why a project's file may not say this.
    fn find_objection(&mut self, setting: &Setting, value: &Value) -> Option<&'static str> {
        let trust = self.trust?;
        if !is_inside(setting.kind, value, self.places) {
            return Some("it leads out of the project: set it in your own `config.toml`");
        }
        match setting.class {
            Class::Harmless => return None,
            Class::HardenOnly(strict) if *value == Value::Text(strict.to_owned()) => return None,
            Class::HardenOnly(_) => return Some("a project can make this stricter, not laxer"),
            Class::UserOnly => return Some("a project does not say this"),
            Class::NeedsTrust => {}
        }
        self.wishes.push(format!("{} = {value}", setting.name));
        match trust {
            Trusted::Yes => None,
            Trusted::Changed => Some(
                "the file has changed since you allowed it: look at it again with `milepost trust` \
                 in a terminal",
            ),
            Trusted::No => Some(
                "the project is not trusted: a person can allow it with `milepost trust` in a \
                 terminal",
            ),
        }
    }

    /// Goes on without a value of a project's file that does not fit: a project that someone else wrote
    /// must not keep Milepost from starting. Where a project can only be stricter, it is meant to be.
    fn ignore_unfit(&self, setting: &Setting, start: usize, why: &str, sources: &mut Sources) {
        let Class::HardenOnly(strict) = setting.class else {
            return self.ignore(setting, start, why, sources);
        };
        let origin = Origin::File(self.path.to_owned());
        sources.set(setting, Value::Text(strict.to_owned()), origin);
        self.ignore(setting, start, &format!("{why}; `{strict}` counts instead"), sources);
    }

    fn ignore(&self, setting: &Setting, start: usize, why: &str, sources: &mut Sources) {
        let (setting, place, why) = (setting.name, self.place(start).0, why.to_owned());
        sources.ignored.push(Ignored { setting, place, why });
    }

    fn problem(&self, start: usize, text: String, sources: &mut Sources) {
        let (place, line) = self.place(start);
        sources.problems.push(Problem { place, line, text });
    }

    fn place(&self, start: usize) -> (String, usize) {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        (format!("{}:{line}", self.places.short(self.path)), line)
    }
}

/// Returns whether every path of a value lies in the project, links followed.
fn is_inside(kind: Kind, value: &Value, places: &Places) -> bool {
    let roots = [&places.project, &places.root];
    let is_in = |path: &String| {
        let path = Path::new(path);
        let is_climbing = path.components().any(|it| it == Component::ParentDir);
        // What is not there yet will be made in what is.
        let found = path.ancestors().find_map(|it| it.canonicalize().ok());
        let is_below = |root: &&PathBuf| {
            let root = root.canonicalize();
            root.is_ok_and(|root| found.as_ref().is_some_and(|it| it.starts_with(&root)))
        };
        !is_climbing && roots.iter().any(is_below)
    };
    match (kind, value) {
        (Kind::Path, Value::Text(path)) => path == super::MEMORY || is_in(path),
        (Kind::Paths, Value::List(paths)) => paths.iter().all(is_in),
        _ => true,
    }
}

fn to_value(kind: Kind, value: &DeValue<'_>) -> Result<Value, String> {
    match value {
        DeValue::String(text) => kind.parse(text),
        DeValue::Integer(number) => kind.parse(&number.to_string()),
        DeValue::Boolean(flag) => kind.parse(&flag.to_string()),
        DeValue::Array(items) => {
            let texts = items.iter().map(|it| it.get_ref().as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            kind.parse_list(texts.ok_or("it must be a list of texts")?)
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => {
            Err(format!("it must be {}", kind.describe()))
        }
    }
}
