//! `config set`, `config unset` and `config edit`: one value in a configuration file, or the file
//! itself. Comments and order stay.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;
use tokio::process::Command as Program;
use toml_edit::{Array, DocumentMut, Item, Table, value};
use world::beneath::{Care, Root, read_named};

use crate::{
    config::{
        Config,
        table::{self, Class, Setting},
        value::{Kind, Value},
    },
    failure::Failure,
    output::{GOOD, Output, Reply, text},
};

/// The largest file that is edited.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Whose file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    /// Yours, for all projects
    User,
    /// The project's, for everyone who works in it
    Project,
}

/// What `config set` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SetArgs {
    /// The setting, as `config show` names it
    #[arg(value_name = "NAME")]
    name: String,
    /// Its value; several with commas
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    #[command(flatten)]
    file: FileArgs,
}

/// What `config unset` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct UnsetArgs {
    /// The setting, as `config show` names it
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    file: FileArgs,
}

/// Which file is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// Whose file
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: Scope,
}

/// Sets a value.
pub(super) fn set(args: &SetArgs, config: &Config) -> Result<Reply, Failure> {
    let setting = find(&args.name)?;
    let parsed = setting.kind.parse(&args.value).map_err(|problem| {
        Failure::refused("value_invalid", format!("`{}`: {problem}", setting.name))
    })?;
    if parsed == Value::Unset {
        return Err(Failure::usage("the value is empty")
            .with_hint(format!("`milepost config unset {}` takes it out", setting.name)));
    }
    check_scope(setting, &parsed, args.file.scope)?;
    let file = Edited::load(&args.file, config)?;
    let mut document = file.document.clone();
    let (section, key) = setting.name.split_once('.').unwrap_or((setting.name, ""));
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = table
        .as_table_like_mut()
        .ok_or_else(|| file.unreadable(&format!("`{section}` is not a section")))?;
    let item = written(setting.kind, &parsed, args.value.trim());
    match table.get_mut(key) {
        Some(existing) => *existing = item,
        None => drop(table.insert(key, item)),
    }
    file.write(&document)?;
    let shown = text::line(&setting.kind.show(&parsed));
    let said = format!("{GOOD}set{GOOD:#} {} to {shown} in {}", setting.name, file.shown(config));
    let needs_trust = args.file.scope == Scope::Project && setting.class == Class::NeedsTrust;
    let note = needs_trust.then(|| {
        "It has an effect only after `milepost trust`: each user allows the change.".to_owned()
    });
    let json = json!({
        "name": setting.name,
        "value": parsed.to_json(),
        "file": file.path.display().to_string(),
    });
    Ok(Reply::new(json, said).with_note(note))
}

/// Takes a value out, so that the default or another source counts again.
pub(super) fn unset(args: &UnsetArgs, config: &Config) -> Result<Reply, Failure> {
    let setting = find(&args.name)?;
    let file = Edited::load(&args.file, config)?;
    let mut document = file.document.clone();
    let (section, key) = setting.name.split_once('.').unwrap_or((setting.name, ""));
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    let is_there = table.is_some_and(|it| it.remove(key).is_some());
    let shown = file.shown(config);
    if !is_there {
        let message = format!("`{}` is not set in {shown}", setting.name);
        return Err(Failure::refused("value_missing", message)
            .with_hint("`milepost config show` says where each value comes from"));
    }
    let is_empty = document.get(section).and_then(Item::as_table).is_some_and(Table::is_empty);
    if is_empty {
        document.remove(section);
    }
    file.write(&document)?;
    let json = json!({"name": setting.name, "file": file.path.display().to_string()});
    Ok(Reply::new(json, format!("{GOOD}took{GOOD:#} {} out of {shown}", setting.name)))
}

/// Opens the file in the user's editor.
pub(super) async fn edit(
    args: &FileArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let path = path(args.scope, config)?;
    let editor = config.editor.as_deref().unwrap_or("vi");
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    if !output.is_interactive() {
        return Err(Failure::refused("terminal_missing", "there is no terminal to edit on")
            .with_hint(format!("edit `{}`, or use `milepost config set`", path.display())));
    }
    // An editor does not make the folder.
    let folder = path.parent().unwrap_or(&path);
    Root::make(&config.places.project, folder, Care::Plain)?;
    let status = Program::new(program).args(words).arg(&path).status().await;
    let status = status.map_err(|error| {
        Failure::refused("editor_missing", format!("`{editor}` cannot be started: {error}"))
            .with_hint("set VISUAL or EDITOR")
    })?;
    if !status.success() {
        return Err(Failure::refused("editor_failed", format!("`{editor}` ended with an error")));
    }
    let json = json!({"file": path.display().to_string()});
    Ok(Reply::new(json, "")
        .with_note("`milepost config show` says whether all of it counts.".to_owned()))
}

fn find(name: &str) -> Result<&'static Setting, Failure> {
    table::find(name).ok_or_else(|| {
        Failure::refused("setting_unknown", table::unknown(name))
            .with_hint("`milepost config show` lists all settings")
    })
}

/// Refuses what would have no effect in a project's file.
fn check_scope(setting: &Setting, value: &Value, scope: Scope) -> Result<(), Failure> {
    let is_heard = match setting.class {
        _ if scope == Scope::User => true,
        Class::Harmless | Class::NeedsTrust => true,
        Class::HardenOnly(strict) => *value == Value::Text(strict.to_owned()),
        Class::UserOnly => false,
    };
    if is_heard {
        return Ok(());
    }
    let message = format!("a project's own file cannot set `{}` to this", setting.name);
    Err(Failure::refused("scope_invalid", message).with_hint("leave out `--scope project`"))
}

/// Returns a value as a file has it: what was typed, where that says more than what it means.
fn written(kind: Kind, parsed: &Value, typed: &str) -> Item {
    match parsed {
        Value::Flag(flag) => value(*flag),
        Value::Number(number) if typed.chars().all(|it| it.is_ascii_digit()) => {
            i64::try_from(*number).map_or_else(|_| value(typed), value)
        }
        Value::List(items) => value(items.iter().map(String::as_str).collect::<Array>()),
        Value::Text(text) if !matches!(kind, Kind::Path) => value(text.as_str()),
        Value::Number(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::Secret(_)
        | Value::Unset => value(typed),
    }
}

fn path(scope: Scope, config: &Config) -> Result<PathBuf, Failure> {
    match scope {
        Scope::Project => Ok(config.places.folder().join("config.toml")),
        Scope::User => {
            let folder = config.places.user.as_ref().ok_or_else(|| {
                Failure::refused("home_missing", "your configuration folder is unknown")
            })?;
            Ok(folder.join("config.toml"))
        }
    }
}

/// A configuration file that is edited.
struct Edited {
    project: PathBuf,
    path: PathBuf,
    document: DocumentMut,
}

impl Edited {
    fn load(args: &FileArgs, config: &Config) -> Result<Self, Failure> {
        let path = path(args.scope, config)?;
        let project = config.places.project.clone();
        let file = Self { project, path, document: DocumentMut::new() };
        let text = match read_named(&file.path, FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(file),
            Err(error) => return Err(file.unreadable(&error.to_string())),
        };
        let parsed: Result<DocumentMut, _> = text.parse();
        match parsed {
            Ok(document) => Ok(Self { document, ..file }),
            Err(error) => Err(file.unreadable(&text::line(error.message()))),
        }
    }

    fn write(&self, document: &DocumentMut) -> Result<(), Failure> {
        let text = document.to_string();
        let folder = self.path.parent().unwrap_or(&self.path);
        let folder = Root::make(&self.project, folder, Care::Plain)?;
        let name = Path::new("config.toml");
        Ok(folder.replace(name, text.as_bytes(), Care::Durable).map(drop)?)
    }

    fn shown(&self, config: &Config) -> String {
        text::line(&config.places.short(&self.path))
    }

    fn unreadable(&self, reason: &str) -> Failure {
        let message = format!("`{}` cannot be read: {reason}", self.path.display());
        Failure::refused("file_unreadable", message)
            .with_hint("nothing was written; `milepost config edit` opens it")
    }
}
