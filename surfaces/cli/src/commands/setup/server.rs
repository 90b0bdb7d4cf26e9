//! `setup CLIENT`, `setup CLIENT --undo` and `setup remove`: our entry in a client's file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    ClientArgs, FileArgs, RemoveArgs, SERVER, asking,
    by_claude::ByClaude,
    change::{Change, Copy, Made},
    client::{Client, Reach, find_program},
    file::{self, Backups},
    notation::{Entry, Notation},
    typed_path,
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
pub(super) async fn set(
    client: Client,
    args: &ClientArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let place = Place::find(client, &args.file, &args.name, config)?;
    let entry = place.entry(args, config)?;
    let before = file::read(&place.path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = place.read(place.notation.set(text, place.name, &entry))?;
    let change = place.change(before, Some(after));
    let made = change.carry_out(args.consent, config, output).await?;
    let file = config.places.short(&place.path);
    let notes = place.notes(config);
    let undo = undoing(client, &place, &args.file.typed(config));
    let words = Words {
        action: "set",
        done: match &change.by {
            Some(_) => format!("Claude Code added the entry `{}` to {file}", place.name),
            None => format!("wrote the entry `{}` to {file}", place.name),
        },
        idle: format!("{file} has this entry `{}` already; nothing was changed", place.name),
        hint: format!("{}\n{DIM}{undo} takes it back.{DIM:#}", notes.join("\n")),
    };
    let reply = place.reply(&change, &made, &words, &config.places);
    let Reply { mut json, mut note, .. } = reply;
    if let Value::Object(map) = &mut json {
        map.insert("entry".to_owned(), json!({"command": entry.command, "args": entry.args}));
        map.insert("next".to_owned(), json!(notes));
    }
    // An entry that was there before may be the one that a person rejected.
    if change.before == change.after {
        note = Some(notes.join("\n"));
    }
    Ok(Reply { json, note, ..reply })
}

/// Puts back what the last change replaced.
pub(super) async fn undo(
    client: Client,
    args: &ClientArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let place = Place::find(client, &args.file, &args.name, config)?;
    let before = file::read(&place.path)?;
    let (after, copy) = place.earlier(before.as_deref(), config.state.as_deref())?;
    let file = config.places.short(&place.path);
    if before == after {
        let message = format!("there is nothing to undo in `{file}`");
        return Err(Failure::refused("nothing_to_undo", message)
            .with_hint("it has no entry of that name, or its newest copy has the same"));
    }
    let change = Change { copy, ..place.change(before, after) };
    let made = change.carry_out(args.consent, config, output).await?;
    let done = if change.by.is_some() {
        format!("Claude Code put the entry `{}` in {file} back", place.name)
    } else if change.after.is_some() {
        format!("{file} is as it was before")
    } else {
        format!("removed {file}, which held nothing else")
    };
    let hint = format!("Restart {}, or have it read its servers again.", client.title());
    let words = Words { action: "undo", done, idle: String::new(), hint };
    Ok(place.reply(&change, &made, &words, &config.places))
}

/// Takes an entry out of a file.
pub(super) async fn remove(
    args: &RemoveArgs,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let client = args.client;
    let place = Place::find(client, &args.file, &args.name, config)?;
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
    let made = change.carry_out(args.consent, config, output).await?;
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
    /// For whom the file counts; nothing if it was named.
    reach: Option<Reach>,
    path: PathBuf,
    notation: Notation,
    name: &'a str,
    /// The client's program, where that has to change the file.
    program: Option<PathBuf>,
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
    fn find(
        client: Client,
        file: &FileArgs,
        name: &'a str,
        config: &Config,
    ) -> Result<Self, Failure> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let message = "the name of an entry must be a text in one line";
            return Err(Failure::usage(message).with_hint("give another with `--name`"));
        }
        let (path, reach) = (file.find(client, config)?, file.reach(client));
        let is_claudes = client == Client::Claude && reach == Some(Reach::Global);
        let program = if is_claudes { client.find_program(&config.clients) } else { None };
        Ok(Self { client, reach, notation: client.notation(&path), path, name, program })
    }

    /// Returns the entry that is to be there.
    fn entry(&self, args: &ClientArgs, config: &Config) -> Result<Entry, Failure> {
        let mut words = vec!["mcp".to_owned()];
        if let Some(toolset) = &args.toolset {
            let names = toolset.split([',', ' ']).filter(|it| !it.is_empty());
            let names: Vec<String> = names.map(str::to_owned).collect();
            check_toolsets(&names)?;
            words.extend(["--toolset".to_owned(), names.join(",")]);
        }
        words
            .extend(self.folder(args, config)?.into_iter().flat_map(|it| ["--project".into(), it]));
        let is_whole = self.reach.is_some_and(|it| self.client.needs_path(it));
        Ok(Entry { command: command(&config.clients.programs, is_whole)?, args: words })
    }

    /// Returns the folder that the server has to be told, if it has to be.
    fn folder(&self, args: &ClientArgs, config: &Config) -> Result<Option<String>, Failure> {
        if let Some(dir) = &args.dir {
            let dir = config.places.working.join(dir);
            let found = dir.canonicalize().ok().filter(|it| it.is_dir());
            let found = found
                .ok_or_else(|| Failure::usage(format!("there is no folder `{}`", dir.display())))?;
            return Ok(Some(found.display().to_string()));
        }
        let (client, title) = (self.client, self.client.title());
        if client.needs_folder() {
            let message = format!("{title} starts servers in no project's folder");
            return Err(Failure::refused("folder_missing", message).with_hint(format!(
                "name the project: `milepost setup {} --dir .`",
                client.name()
            )));
        }
        // Cursor starts the user's servers in the home folder.
        let is_cursors = client == Client::Cursor && self.reach == Some(Reach::Global);
        Ok(is_cursors.then(|| "${workspaceFolder}".to_owned()))
    }

    /// Returns what a person should know after the entry was written.
    fn notes(&self, config: &Config) -> Vec<String> {
        let (client, reach) = (self.client, self.reach.unwrap_or(self.client.usual()));
        let mut notes = Vec::new();
        let rejected = asking::rejected(client, self.name, config);
        if let Some(file) = rejected.filter(|_| reach == Reach::Project) {
            notes.push(format!(
                "Claude Code does not start it: it was rejected before, says {file}. Run `claude \
                 mcp reset-project-choices`."
            ));
        }
        notes.extend(asking::next(client, reach).into_iter().map(str::to_owned));
        let ignored = client.ignored_file(reach, config).filter(|it| {
            let text = file::read(it).ok().flatten().unwrap_or_default();
            client.notation(it).find(&text, self.name).is_ok_and(|it| it.is_some())
        });
        if let Some(path) = ignored {
            let (title, name) = (client.title(), client.name());
            let (shown, path) = (config.places.short(&path), typed_path(&path, &config.places));
            notes.push(format!(
                "{title} does not read the entry that is in {shown}. `milepost setup remove \
                 {name} --config {path}` takes it out."
            ));
        }
        notes
    }

    /// Unwraps the result of reading the file, or says what is wrong with it.
    fn read<T>(&self, result: Result<T, String>) -> Result<T, Failure> {
        result.map_err(|reason| unreadable(&self.path, &reason))
    }

    fn change(&self, before: Option<String>, after: Option<String>) -> Change {
        let by = self.program.as_ref().map(|program| ByClaude {
            program: program.clone(),
            name: self.name.to_owned(),
            notation: self.notation,
        });
        Change { path: self.path.clone(), before, after, copy: Copy::Make, by }
    }

    /// Returns what the file said before the last change, as far as that can be told.
    ///
    /// If the newest copy differs from the file in our entry only, the file becomes the copy. If
    /// others have changed the file since, only our entry becomes as the copy has it.
    fn earlier(
        &self,
        now: Option<&str>,
        state: Option<&Path>,
    ) -> Result<(Option<String>, Copy), Failure> {
        let text = now.unwrap_or_default();
        self.read(self.notation.entries(text))?;
        let transplant = |from: &str, to: &str| self.notation.transplant(from, to, self.name);
        let Some(copy) = Backups::of(&self.path, state).newest()? else {
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
        Reply::new(json, said).with_note(words.hint.clone())
    }
}

/// Returns the command that undoes a change.
fn undoing(client: Client, place: &Place<'_>, file: &str) -> String {
    let name = if place.name == SERVER {
        String::new()
    } else {
        format!(" --name {}", text::word(place.name))
    };
    format!("`milepost setup {}{file}{name} --undo`", client.name())
}

fn unreadable(path: &Path, reason: &str) -> Failure {
    let message = format!("`{}` cannot be read: {reason}", path.display());
    Failure::refused("file_unreadable", message)
        .with_hint("nothing was written; correct the file, or name another with `--config`")
}

/// Returns what starts this very program: its name, where that finds it, or else its path. `is_whole`
/// asks for the path in any case.
fn command(programs: &[PathBuf], is_whole: bool) -> Result<String, Failure> {
    let own = std::env::current_exe()?;
    let real = |path: &Path| fs::canonicalize(path).ok();
    let named = find_program(&[PROGRAM], programs);
    let path = match named.filter(|it| real(it).is_some() && real(it) == real(&own)) {
        Some(_) if !is_whole => return Ok(PROGRAM.to_owned()),
        // The path by which it is found stays the same when another release is installed.
        Some(found) => found,
        None => own,
    };
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("`{}` is not UTF-8, so a file cannot hold it", path.display());
        Failure::refused("path_unusable", message).with_hint("install the program elsewhere")
    })
}
