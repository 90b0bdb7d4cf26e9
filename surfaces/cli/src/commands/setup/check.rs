//! `setup check`: whether the entries in clients' files can be used at all.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    CheckArgs,
    client::{Client, Reach},
    file,
};
use crate::{
    config::{Config, Places},
    failure::Failure,
    output::{BAD, GOOD, Reply, text},
};

/// A file that was looked at.
struct Checked {
    client: Client,
    path: PathBuf,
    /// The entries with what is wrong with each, or why the file cannot be read.
    found: Result<Vec<(String, Vec<String>)>, String>,
}

/// Checks them.
pub(super) fn perform(args: &CheckArgs, config: &Config) -> Result<Reply, Failure> {
    let is_named = args.file.global || args.file.config.is_some();
    let files = match args.client {
        Some(client) => vec![(client, args.file.find(client, config)?)],
        None if is_named => {
            return Err(Failure::usage("`--global` and `--config` need a client")
                .with_hint("say whose file it is: `milepost setup check cursor --global`"));
        }
        None => every_file(config),
    };
    let mut checked = Vec::new();
    for (client, path) in files {
        match file::read(&path) {
            Ok(None) if args.client.is_none() => {}
            Ok(None) => return Err(missing(&config.places.short(&path))),
            Ok(Some(text)) => {
                let entries = client.notation(&path).entries(&text);
                let judged = |it: Vec<(String, Value)>| {
                    it.into_iter().map(|(name, entry)| (name, problems(&entry))).collect()
                };
                checked.push(Checked { client, path, found: entries.map(judged) });
            }
            Err(failure) => checked.push(Checked { client, path, found: Err(failure.message) }),
        }
    }
    if checked.is_empty() {
        return Err(Failure::refused("file_missing", "no client has a file here")
            .with_hint("`milepost setup list` shows where they would be"));
    }
    Ok(reply(&checked, &config.places))
}

fn every_file(config: &Config) -> Vec<(Client, PathBuf)> {
    let files = Client::ALL.into_iter().flat_map(|client| {
        Reach::ALL.into_iter().filter_map(move |it| Some((client, client.file(it, config)?)))
    });
    files.collect()
}

fn missing(file: &str) -> Failure {
    Failure::refused("file_missing", format!("there is no file `{file}`"))
        .with_hint("`milepost setup` makes it, `--config` names another")
}

/// Returns what is wrong with an entry.
fn problems(entry: &Value) -> Vec<String> {
    let Some(entry) = entry.as_object() else { return vec!["it is not an object".to_owned()] };
    let mut problems = Vec::new();
    let is_text = |it: &Value| it.as_str().is_some_and(|it| !it.trim().is_empty());
    match (entry.get("command"), entry.get("url")) {
        (None, None) => problems.push("it has neither `command` nor `url`".to_owned()),
        (command, url) => {
            for (name, value) in [("command", command), ("url", url)] {
                if value.is_some_and(|it| !is_text(it)) {
                    problems.push(format!("`{name}` is empty or no text"));
                }
            }
        }
    }
    let are_texts = |it: &Value| it.as_array().is_some_and(|it| it.iter().all(Value::is_string));
    if entry.get("args").is_some_and(|it| !are_texts(it)) {
        problems.push("`args` is not a list of strings".to_owned());
    }
    let are_named = |it: &Value| it.as_object().is_some_and(|it| it.values().all(Value::is_string));
    if entry.get("env").is_some_and(|it| !are_named(it)) {
        problems.push("`env` holds something else than texts".to_owned());
    }
    problems
}

fn reply(checked: &[Checked], places: &Places) -> Reply {
    let mut said = String::new();
    let mut files = Vec::new();
    let mut is_fine = true;
    for Checked { client, path, found } in checked {
        let file = text::line(&places.short(path));
        let mut add = |name: &str, problems: &[String]| {
            let about = format!("{}  {file}", text::pad(client.name(), 14));
            let name = text::line(name);
            if problems.is_empty() {
                said.push_str(&format!("{GOOD}✓{GOOD:#} {about}  {name}\n"));
                return;
            }
            is_fine = false;
            said.push_str(&format!("{BAD}✗{BAD:#} {about}  {name}\n"));
            for problem in problems {
                said.push_str(&format!("    {}\n", text::line(problem)));
            }
        };
        match found {
            Ok(entries) if entries.is_empty() => add("no servers", &[]),
            Ok(entries) => entries.iter().for_each(|(name, problems)| add(name, problems)),
            Err(reason) => add("cannot be read", std::slice::from_ref(reason)),
        }
        let entries = found.as_ref().map(Vec::as_slice).unwrap_or_default();
        let entries = entries.iter().map(|(name, problems)| {
            json!({"name": name, "is_fine": problems.is_empty(), "problems": problems})
        });
        files.push(json!({
            "client": client.name(),
            "file": path.display().to_string(),
            "problem": found.as_ref().err(),
            "entries": entries.collect::<Vec<_>>(),
        }));
    }
    Reply { is_fine, ..Reply::new(json!({"is_fine": is_fine, "files": files}), said) }
}
