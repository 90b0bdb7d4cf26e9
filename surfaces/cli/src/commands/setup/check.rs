//! `setup check`: whether the entries in clients' files can be used at all.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    CheckArgs, SERVER, asking,
    client::{Client, Reach, find_program},
    file,
    notation::Shape,
    typed_path,
};
use crate::{
    commands::mcp::check_toolsets,
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
    let is_named = args.file.scope().is_some() || args.file.config.is_some();
    let files = match args.client {
        Some(client) => vec![(client, args.file.find(client, config)?)],
        None if is_named => {
            return Err(Failure::usage("`--global`, `--scope` and `--config` need a client")
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
                    let judged = |(name, entry): (String, Value)| {
                        let problems = judge(client, &path, (&name, &entry), config);
                        (name, problems)
                    };
                    it.into_iter().map(judged).collect()
                };
                checked.push(Checked { client, found: entries.map(judged), path });
            }
            Err(failure) => checked.push(Checked { client, path, found: Err(failure.message) }),
        }
    }
    if args.client.is_none() {
        checked.extend(Reach::ALL.into_iter().flat_map(|it| ignored(it, config)));
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

/// Returns our entries in files that clients do not read, where earlier releases wrote them.
fn ignored(reach: Reach, config: &Config) -> Vec<Checked> {
    let found = Client::ALL.into_iter().filter_map(|client| {
        let path = client.ignored_file(reach, config)?;
        let text = file::read(&path).ok().flatten()?;
        client.notation(&path).find(&text, SERVER).ok().flatten()?;
        let (title, name) = (client.title(), client.name());
        let short = typed_path(&path, &config.places);
        let problem = format!(
            "{title} does not read this file: `milepost setup remove {name} --config {short}`"
        );
        Some(Checked { client, path, found: Ok(vec![(SERVER.to_owned(), vec![problem])]) })
    });
    found.collect()
}

fn missing(file: &str) -> Failure {
    Failure::refused("file_missing", format!("there is no file `{file}`"))
        .with_hint("`milepost setup` makes it, `--config` names another")
}

/// Returns what is wrong with an entry, which has a name.
fn judge(
    client: Client,
    path: &Path,
    (name, entry): (&str, &Value),
    config: &Config,
) -> Vec<String> {
    let shape = client.notation(path).shape();
    let mut problems = malformed(entry, shape);
    if client == Client::Claude && entry.get("url").is_some() && entry.get("type").is_none() {
        problems.push("it has a `url` but no `type`: Claude Code skips it".to_owned());
    }
    let words = shape.words(entry);
    if let Some(program) = words.first().filter(|_| problems.is_empty()) {
        let is_there = if Path::new(program).components().count() == 1 {
            find_program(&[program], &config.clients.programs).is_some()
        } else {
            program.contains('$') || config.places.root.join(program).is_file()
        };
        if !is_there {
            problems.push(format!("the program `{program}` is not found"));
        }
    }
    if name == SERVER {
        let toolsets = words.iter().skip_while(|it| *it != "--toolset").nth(1);
        let names = toolsets.map(|it| it.split(',').map(str::to_owned).collect::<Vec<_>>());
        let unknown = names.and_then(|it| check_toolsets(&it).err());
        problems.extend(unknown.map(|it| it.message));
    }
    let is_projects = client.file(Reach::Project, config).is_some_and(|it| it == path);
    if let Some(file) = asking::rejected(client, name, config).filter(|_| is_projects) {
        problems.push(format!(
            "it was rejected in Claude Code, says {file}: `claude mcp reset-project-choices`"
        ));
    }
    problems
}

/// Returns what is wrong with the form of an entry.
fn malformed(entry: &Value, shape: Shape) -> Vec<String> {
    let Some(entry) = entry.as_object() else { return vec!["it is not an object".to_owned()] };
    let mut problems = Vec::new();
    let is_text = |it: &Value| it.as_str().is_some_and(|it| !it.trim().is_empty());
    let are_texts = |it: &Value| it.as_array().is_some_and(|it| it.iter().all(Value::is_string));
    let address =
        ["url", "serverUrl", "httpUrl"].iter().find_map(|it| Some((*it, entry.get(*it)?)));
    if entry.get("command").is_none() && address.is_none() {
        problems.push("it has neither `command` nor `url`".to_owned());
    }
    match (shape, entry.get("command")) {
        (Shape::Separate, Some(command)) if !is_text(command) => {
            problems.push("`command` is empty or no text".to_owned());
        }
        (Shape::Together, Some(command)) if !are_texts(command) => {
            problems.push("`command` is not a list of strings".to_owned());
        }
        (Shape::Together, _) if !entry.get("type").is_some_and(is_text) => {
            problems.push("it has no `type`".to_owned());
        }
        (Shape::Separate | Shape::Together, _) => {}
    }
    if let Some((name, _)) = address.filter(|it| !is_text(it.1)) {
        problems.push(format!("`{name}` is empty or no text"));
    }
    if entry.get("args").is_some_and(|it| !are_texts(it)) {
        problems.push("`args` is not a list of strings".to_owned());
    }
    let are_named = |it: &Value| it.as_object().is_some_and(|it| it.values().all(Value::is_string));
    for name in ["env", "environment"] {
        if entry.get(name).is_some_and(|it| !are_named(it)) {
            problems.push(format!("`{name}` holds something else than texts"));
        }
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
