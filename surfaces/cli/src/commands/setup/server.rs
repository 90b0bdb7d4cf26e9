//! `setup CLIENT`, `setup CLIENT --undo` and `setup remove`: our entry in a client's file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    ClientArgs, RemoveArgs, SERVER,
    change::{Change, Copy, Made},
    client::Client,
    file,
    notation::{Entry, Notation},
};
use crate::{
    commands::mcp::check_toolsets,
    config::{Config, Places},
    failure::Failure,
    output::{DIM, GOOD, Output, Reply, diff, text},
};

/// The name of the program, as it is typed.
const PROGRAM: &str = "milepost";

/// Adds our entry, or brings it up to date.
pub(super) fn set(
    client: Client,
    args: &ClientArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let entry = entry(args, config)?;
    let place = Place::find(client, args.file.find(client, config)?, &args.name)?;
    let before = file::read(&place.path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = place.read(place.notation.set(text, place.name, &entry))?;
    let change = place.change(before, Some(after));
    let made = change.carry_out(args.consent, &config.places, output)?;
    let file = config.places.short(&place.path);
    let words = Words {
        action: "set",
        done: format!("wrote the entry `{}` to {file}", place.name),
        idle: format!("{file} has this entry `{}` already; nothing was changed", place.name),
        hint: format!(
            "Restart {}, or have it read its servers again. {} takes it back.",
            client.title(),
            undoing(client, &place, &args.file.typed(config)),
        ),
    };
    let reply = place.reply(&change, &made, &words, &config.places);
    let Reply { mut json, .. } = reply;
    if let Value::Object(map) = &mut json {
        map.insert("entry".to_owned(), json!({"command": entry.command, "args": entry.args}));
    }
    Ok(Reply { json, ..reply })
}

/// Puts back what the last change replaced.
pub(super) fn undo(
    client: Client,
    args: &ClientArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let place = Place::find(client, args.file.find(client, config)?, &args.name)?;
    let before = file::read(&place.path)?;
    let (after, copy) = place.earlier(before.as_deref())?;
    let file = config.places.short(&place.path);
    if before == after {
        let message = format!("there is nothing to undo in `{file}`");
        return Err(Failure::refused("nothing_to_undo", message)
            .with_hint("it has no entry of that name, or its newest copy has the same"));
    }
    let change = Change { copy, ..place.change(before, after) };
    let made = change.carry_out(args.consent, &config.places, output)?;
    let done = if change.after.is_some() {
        format!("{file} is as it was before")
    } else {
        format!("removed {file}, which held nothing else")
    };
    let hint = format!("Restart {}, or have it read its servers again.", client.title());
    let words = Words { action: "undo", done, idle: String::new(), hint };
    Ok(place.reply(&change, &made, &words, &config.places))
}

/// Takes an entry out of a file.
pub(super) fn remove(args: &RemoveArgs, config: &Config, output: Output) -> Result<Reply, Failure> {
    let client = args.client;
    let place = Place::find(client, args.file.find(client, config)?, &args.name)?;
    let file = config.places.short(&place.path);
    let Some(before) = file::read(&place.path)? else {
        return Err(Failure::refused("file_missing", format!("there is no file `{file}`"))
            .with_hint("`milepost setup list` shows where entries are"));
    };
    let entries = place.read(place.notation.entries(&before))?;
    if !entries.iter().any(|it| it.0 == place.name) {
        let names: Vec<String> = entries.iter().map(|it| format!("`{}`", it.0)).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let message = format!("`{file}` has no entry `{}`", place.name);
        return Err(Failure::refused("entry_missing", message)
            .with_hint(format!("it has: {known}; `--name` says which one is meant")));
    }
    let after = place.read(place.notation.remove(&before, place.name))?;
    let change = place.change(Some(before), Some(after));
    let made = change.carry_out(args.consent, &config.places, output)?;
    let words = Words {
        action: "remove",
        done: format!("took the entry `{}` out of {file}", place.name),
        idle: String::new(),
        hint: format!("{} puts it back.", undoing(client, &place, &args.file.typed(config))),
    };
    Ok(place.reply(&change, &made, &words, &config.places))
}

/// The entry that is meant: which file, how that is written, which name.
struct Place<'a> {
    client: Client,
    path: PathBuf,
    notation: Notation,
    name: &'a str,
}

/// What is said of a change.
struct Words {
    action: &'static str,
    done: String,
    /// What is said if there was nothing to change.
    idle: String,
    hint: String,
}

impl<'a> Place<'a> {
    fn find(client: Client, path: PathBuf, name: &'a str) -> Result<Self, Failure> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let message = "the name of an entry must be a text in one line";
            return Err(Failure::usage(message).with_hint("give another with `--name`"));
        }
        Ok(Self { client, notation: client.notation(&path), path, name })
    }

    /// Unwraps the result of reading the file, or says what is wrong with it.
    fn read<T>(&self, result: Result<T, String>) -> Result<T, Failure> {
        result.map_err(|reason| unreadable(&self.path, &reason))
    }

    fn change(&self, before: Option<String>, after: Option<String>) -> Change {
        Change { path: self.path.clone(), before, after, copy: Copy::Make }
    }

    /// Returns what the file said before the last change, as far as that can be told.
    ///
    /// If the newest copy differs from the file in our entry only, the file becomes the copy. If
    /// others have changed the file since, only our entry becomes as the copy has it.
    fn earlier(&self, now: Option<&str>) -> Result<(Option<String>, Copy), Failure> {
        let text = now.unwrap_or_default();
        self.read(self.notation.entries(text))?;
        let transplant = |from: &str, to: &str| self.notation.transplant(from, to, self.name);
        let Some(copy) = file::newest_backup(&self.path)? else {
            let Some(now) = now else { return Ok((None, Copy::Spare)) };
            let is_ours = transplant(now, "").is_ok_and(|it| it == now);
            let has_entry = self.notation.remove(now, self.name).is_ok_and(|it| it != now);
            if is_ours && has_entry {
                return Ok((None, Copy::Spare));
            }
            let without = self.read(self.notation.remove(now, self.name))?;
            return Ok((Some(without), Copy::Spare));
        };
        let old = file::read(&copy)?.unwrap_or_default();
        self.notation.entries(&old).map_err(|reason| unreadable(&copy, &reason))?;
        if old != text && transplant(text, &old).is_ok_and(|it| it == text) {
            return Ok((Some(old), Copy::UseUp(copy)));
        }
        let put_back = self.read(transplant(&old, text))?;
        Ok((Some(put_back).filter(|it| now.is_some() || !it.is_empty()), Copy::Spare))
    }

    fn reply(&self, change: &Change, made: &Made, words: &Words, places: &Places) -> Reply {
        let is_changed = change.before != change.after;
        let backup = made.backup.as_ref().map(|it| it.display().to_string());
        let json = json!({
            "client": self.client.name(),
            "file": self.path.display().to_string(),
            "name": self.name,
            "action": words.action,
            "is_changed": is_changed,
            "is_written": made.is_written,
            "backup": backup,
            "diff": made.diff,
        });
        if !is_changed {
            return Reply::new(json, text::lines(&words.idle));
        }
        let mut said = if made.is_shown { String::new() } else { diff::painted(&made.diff) };
        if !made.is_written {
            let note = format!("{DIM}Nothing was written.{DIM:#}");
            return Reply::new(json, said).with_note(note);
        }
        said.push_str(&format!("{GOOD}{}{GOOD:#}\n", text::lines(&words.done)));
        if let Some(backup) = &made.backup {
            let backup = text::lines(&places.short(backup));
            said.push_str(&format!("{DIM}what was there is in {backup}{DIM:#}\n"));
        }
        Reply::new(json, said).with_note(format!("{DIM}{}{DIM:#}", words.hint))
    }
}

/// Returns the command that undoes a change.
fn undoing(client: Client, place: &Place<'_>, file: &str) -> String {
    let name =
        if place.name == SERVER { String::new() } else { format!(" --name '{}'", place.name) };
    format!("`milepost setup {}{file}{name} --undo`", client.name())
}

fn unreadable(path: &Path, reason: &str) -> Failure {
    let message = format!("`{}` cannot be read: {reason}", path.display());
    Failure::refused("file_unreadable", message)
        .with_hint("nothing was written; correct the file, or name another with `--config`")
}

fn entry(args: &ClientArgs, config: &Config) -> Result<Entry, Failure> {
    let mut words = vec!["mcp".to_owned()];
    if let Some(toolset) = &args.toolset {
        let names = toolset.split([',', ' ']).filter(|it| !it.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        check_toolsets(&names)?;
        words.extend(["--toolset".to_owned(), names.join(",")]);
    }
    if let Some(dir) = &args.dir {
        let dir = config.places.working.join(dir);
        let dir = dir
            .canonicalize()
            .ok()
            .filter(|it| it.is_dir())
            .ok_or_else(|| Failure::usage(format!("there is no folder `{}`", dir.display())))?;
        words.extend(["--project".to_owned(), dir.display().to_string()]);
    }
    Ok(Entry { command: command(&config.clients.programs)?, args: words })
}

/// Returns what starts this very program: its name, where that finds it, or else its path.
fn command(programs: &[PathBuf]) -> Result<String, Failure> {
    let own = std::env::current_exe()?;
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let first = programs.iter().map(|it| it.join(&name)).find(|it| it.is_file());
    let real = |path: &Path| fs::canonicalize(path).ok();
    if first.is_some_and(|it| real(&it).is_some() && real(&it) == real(&own)) {
        return Ok(PROGRAM.to_owned());
    }
    own.into_os_string().into_string().map_err(|path| {
        let message = format!("`{}` is not UTF-8, so a file cannot hold it", path.display());
        Failure::refused("path_unusable", message).with_hint("install the program elsewhere")
    })
}
