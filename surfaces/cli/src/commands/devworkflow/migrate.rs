//! Moves the files of the project's root into the dialect's own folder. Nothing is written over.

use std::{
    io,
    path::{Component, Path},
};

use mcp::devworkflow::{CONFIG_FILE, Options, STATE_FILE, STATE_JSON, WORKFLOW};
use serde_json::{Value, json};
use world::beneath::{Care, Kind, Root};

use crate::{
    failure::Failure,
    join::Joined,
    output::{ALERT, DIM, GOOD, Reply, text},
};

/// How many backups of one name there can be.
const BACKUPS_MAX: usize = 1000;

/// One file to be moved. Paths are seen from the project's root.
struct Step {
    from: &'static str,
    to: String,
    /// Where that which is there already goes.
    backup: Option<String>,
    /// The runs that end with the move.
    ended: Vec<String>,
}

/// What is to be done.
struct Plan {
    steps: Vec<Step>,
    /// What stays where it is, and why.
    left: Vec<(String, String)>,
}

/// Moves the files, or only says what would be moved.
pub(super) async fn perform(
    joined: &Joined,
    options: &Options,
    is_dry: bool,
) -> Result<Reply, Failure> {
    let root = Root::project(&joined.config.places.root)?;
    let directory = find_directory(&root, options)?;
    let mut plan = plan(&root, &directory, options)?;
    if !is_dry {
        for step in &mut plan.steps {
            carry_out(joined, &root, step).await?;
        }
    }
    Ok(reply(&plan, is_dry))
}

/// Returns the folder that files are moved into, seen from the root.
fn find_directory(root: &Root, options: &Options) -> Result<String, Failure> {
    let directory = options.directory.trim_end_matches('/').to_owned();
    let mut parts = Path::new(&directory).components().peekable();
    let is_inside = parts.peek().is_some() && parts.all(|it| matches!(it, Component::Normal(_)));
    // A link may lead out of the project.
    let is_taken = || {
        let entered = root.enter(Path::new(&directory));
        entered.is_err_and(|it| it.kind() != io::ErrorKind::NotFound)
    };
    if !is_inside || is_taken() {
        let message = format!("`{directory}` is not a folder inside of the project");
        return Err(Failure::refused("directory_invalid", message)
            .with_hint("set `devworkflow.directory` to a folder in the project, as `.accordo`"));
    }
    Ok(directory)
}

/// Finds out what is to be moved, and what stays where it is and why.
fn plan(root: &Root, directory: &str, options: &Options) -> Result<Plan, Failure> {
    let settings = [
        (CONFIG_FILE, "project_config", options.project_config.as_str()),
        (STATE_FILE, "state_file", options.state_file.as_str()),
        (STATE_JSON, "state_file", ""),
    ];
    let (mut steps, mut left) = (Vec::new(), Vec::new());
    for (name, setting, named) in settings {
        let Some(kind) = find_kind(root, name)? else { continue };
        if kind != Kind::File {
            left.push((name.to_owned(), "it does not have a file of its own".to_owned()));
        } else if !named.is_empty() {
            let why =
                format!("the setting `devworkflow.{setting}` says that the file is `{named}`");
            left.push((name.to_owned(), why));
        } else {
            let to = format!("{directory}/{name}");
            let is_there = find_kind(root, &to)?.is_some();
            let backup = if is_there { Some(find_backup(root, &to)?) } else { None };
            steps.push(Step { from: name, to, backup, ended: Vec::new() });
        }
    }
    Ok(Plan { steps, left })
}

/// Returns what is at a path, without following a link.
fn find_kind(root: &Root, path: &str) -> Result<Option<Kind>, Failure> {
    root.find_kind(Path::new(path)).map_err(|error| not_moved(path, &error))
}

/// Returns a name beside a file that nothing has yet.
fn find_backup(root: &Root, path: &str) -> Result<String, Failure> {
    for number in 0..BACKUPS_MAX {
        let name = match number {
            0 => format!("{path}.backup"),
            number => format!("{path}.backup.{number}"),
        };
        if find_kind(root, &name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Failure::refused("backups_full", format!("there are too many backups of `{path}`"))
        .with_hint("delete some of them"))
}

/// Moves one file. A run that is made from it is over before, so that it is not written again.
async fn carry_out(joined: &Joined, root: &Root, step: &mut Step) -> Result<(), Failure> {
    // The locks keep other processes from writing until the file is moved.
    let mut held = Vec::new();
    if step.from == STATE_FILE {
        let moved = format!("its file was moved to `{}`", step.to);
        let kept = step.backup.as_deref().unwrap_or(&step.to);
        let replaced = format!("its file made room for that of the root, and is `{kept}` now");
        for (key, reason) in [(step.from, moved), (step.to.as_str(), replaced)] {
            let told = (reason, joined.actor());
            let released = joined.runtime.release(WORKFLOW, key, told).await?;
            step.ended.extend(released.iter().map(|it| it.run.short()));
            held.extend(released);
        }
    }
    let (from, to) = (Path::new(step.from), Path::new(&step.to));
    let folder = to.parent().unwrap_or(Path::new(""));
    let made = root.make_folder(folder, Care::Plain);
    made.map_err(|error| not_moved(&step.to, &error))?;
    // A run that was owed its file may have written it just now.
    step.backup = match find_kind(root, &step.to)? {
        Some(_) => Some(find_backup(root, &step.to)?),
        None => None,
    };
    if let Some(backup) = &step.backup {
        root.rename(to, Path::new(backup)).map_err(|error| not_moved(&step.to, &error))?;
    }
    root.rename(from, to).map_err(|error| not_moved(step.from, &error))?;
    drop(held);
    Ok(())
}

fn not_moved(path: &str, error: &io::Error) -> Failure {
    Failure::fault("file_not_moved", format!("`{path}` cannot be moved: {error}"))
        .with_hint("see to it that it can be written to, then call this again")
}

fn reply(plan: &Plan, is_dry: bool) -> Reply {
    let Plan { steps, left } = plan;
    let moved = steps.iter().map(
        |it| json!({"from": it.from, "to": it.to, "backup": it.backup, "ended_runs": it.ended}),
    );
    let stayed = left.iter().map(|(path, why)| json!({"path": path, "reason": why}));
    let json = json!({
        "moved": moved.collect::<Vec<Value>>(),
        "left": stayed.collect::<Vec<Value>>(),
        "dry_run": is_dry,
    });
    let verb = if is_dry { "would move" } else { "moved" };
    let mut text = String::new();
    for step in steps {
        text.push_str(&format!("{GOOD}{verb}{GOOD:#} `{}` to `{}`\n", step.from, step.to));
        if let Some(backup) = &step.backup {
            text.push_str(&format!("  {DIM}what is there is kept as `{backup}`{DIM:#}\n"));
        }
        for run in &step.ended {
            text.push_str(&format!("  {DIM}run `{run}` wrote it, and is over{DIM:#}\n"));
        }
        if step.from == STATE_FILE {
            let new = &step.to;
            text.push_str(&format!("  {DIM}the next call goes on from `{new}`{DIM:#}\n"));
        }
    }
    for (path, why) in left {
        let why = text::line(why);
        text.push_str(&format!("{ALERT}left{ALERT:#} `{path}`: {why}\n"));
    }
    if text.is_empty() {
        text.push_str("nothing to move\n");
    }
    Reply::new(json, text)
}
