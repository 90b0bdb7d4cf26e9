//! Reads one configuration file: sections and keys in, settings and problems out.

use std::{io, path::Path};

use toml::de::{DeTable, DeValue};
use world::beneath::read_named;

use super::{Origin, Places, Problem, Sources, table, value::Kind, value::Value};

/// The largest configuration file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the file at `path` into `sources`, if there is one.
pub(super) fn read(path: &Path, places: &Places, scope: table::Scope, sources: &mut Sources) {
    let text = match read_named(path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            let place = places.short(path);
            let text = format!("it cannot be read: {error}");
            sources.problems.push(Problem { place, line: 0, text });
            return;
        }
    };
    let file = File { path, text: &text, places, scope };
    let before = sources.problems.len();
    let (document, errors) = DeTable::parse_recoverable(&text);
    for error in errors {
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
                let name = section.get_ref();
                file.unknown(name, section.span().start, sources);
            }
        }
    }
    // In the order of the lines; the table has them in the order of the names.
    if let Some(told) = sources.problems.get_mut(before..) {
        told.sort_by_key(|it| it.line);
    }
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
    places: &'a Places,
    scope: table::Scope,
}

impl File<'_> {
    fn take(&self, name: &str, start: usize, value: &DeValue<'_>, sources: &mut Sources) {
        let Some(setting) = table::find(name) else { return self.unknown(name, start, sources) };
        if setting.scope == table::Scope::Project && self.scope == table::Scope::Everywhere {
            let text = format!(
                "`{name}` counts only for one project: set it in `.milepost/config.toml` there"
            );
            return self.problem(start, text, sources);
        }
        if setting.scope == table::Scope::User && self.scope == table::Scope::Project {
            let text = format!(
                "`{name}` is not taken from a project: set it in your own `config.toml`, or in the \
                 environment"
            );
            return self.problem(start, text, sources);
        }
        match to_value(setting.kind, value) {
            Ok(value) => {
                let value = value.based_on(setting.kind, &self.places.project);
                sources.set(setting, value, Origin::File(self.path.to_owned()));
            }
            Err(text) => self.problem(start, format!("`{name}`: {text}"), sources),
        }
    }

    fn unknown(&self, name: &str, start: usize, sources: &mut Sources) {
        let known = table::SETTINGS.iter().map(|it| it.name);
        let hint = table::nearest(name, known).map(|it| format!("; did you mean `{it}`?"));
        let text = format!("there is no setting `{name}`{}", hint.unwrap_or_default());
        self.problem(start, text, sources);
    }

    fn problem(&self, start: usize, text: String, sources: &mut Sources) {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let place = format!("{}:{line}", self.places.short(self.path));
        sources.problems.push(Problem { place, line, text });
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
