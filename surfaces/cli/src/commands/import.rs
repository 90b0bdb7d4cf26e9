//! `milepost import`: takes over runs from elsewhere. What was read is left as it is, and a second
//! import takes only what is new.

mod devworkflow;
mod forge;
mod generation;
mod orchestrator;

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Subcommand, ValueHint};
use definition::{Digest, Workflow};
use engine::{Actor, Event, RunId, Surface};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{ExecuteError, Import, Request, Runtime, Target};
use serde_json::json;
use store::{OrchestratorFile, OriginalRun};

use self::orchestrator::{Home, convert};
use crate::{
    config::{Config, StorePlace},
    failure::{Failure, Kind},
    join::{Access, Joined},
    output::{ALERT, DIM, GOOD, Output, Reply, text},
};

/// With fewer runs than this no progress is shown.
const SHOWN_FROM: u64 = 50;
/// How many reasons are told one by one.
const REASONS_MAX: usize = 20;

/// Where to take runs from.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take over the database of an orchestrator-mcp-server
    #[command(
        after_help = "Every run keeps its id and its history. It is pinned to the workflow of \
                            its name that is found now: make those known first, with \
                            `--workflows` or WORKFLOW_DEFINITIONS_DIR. The file is only read.\n\n\
                            Example:\n  milepost import orchestrator ./data/workflows.sqlite \
                            --workflows ./workflows"
    )]
    Orchestrator {
        /// The database file
        #[arg(value_name = "DB", value_hint = ValueHint::FilePath)]
        path: PathBuf,
    },
    /// Take over a workspace folder of a Generation State Tracker
    #[command(
        after_help = "Every `generation-state-NNNN.json` right in the folder, and in the folders                             of its sessions, becomes a scene of this project, unless that has one                             of the same number. From another folder than the project's own the                             files are copied. What is read is left as it is.

                            Examples:
  milepost import generation workspace
  milepost import                             generation ../old-book/workspace --json"
    )]
    Generation {
        /// The folder of the state files
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        path: PathBuf,
    },
    /// Take over the files of a dev-workflow server, or of an agent that kept them itself
    #[command(
        after_help = "The state of the work, `workflow_state.md` or else `workflow_state.json`, \
                      becomes the run of `dev-workflow` of this project, unless it has one. \
                      `project_config.md` goes with it, and so do graphs (`workflows/*.yaml`) and \
                      sessions (`sessions/*.json`). All are looked for in the folder, and in \
                      `.accordo` and `.workflow-commander` in it. What lies where this project \
                      looks for it stays there; from elsewhere it is copied. What is read is left \
                      as it is.\n\nExamples:\n  milepost import devworkflow .\n  milepost import \
                      devworkflow ../old-shop --json"
    )]
    Devworkflow {
        /// The project's folder, or the server's own folder in it
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        path: PathBuf,
    },
    /// Take over the workspaces of a forge-state server
    #[command(
        after_help = "Every folder of the specs that has a `state.json` becomes a run of `forge` \
                      of this project, unless it is one. The folder is that of the specs, or a \
                      project that has one. In this project the workspaces stay where they are; \
                      from elsewhere they are copied among its specs, and nothing that is there is \
                      overwritten. What is read is left as it is.\n\nExamples:\n  milepost import \
                      forge .specs\n  milepost import forge ../old-shop --json"
    )]
    Forge {
        /// The folder of the specs, or the project's
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        path: PathBuf,
    },
}

/// The result of an import.
#[derive(Debug, Default)]
struct Tally {
    taken: Vec<String>,
    known: Vec<String>,
    /// Runs that could not be taken, and why.
    refused: Vec<(String, String)>,
    /// What could not be read of runs that were taken.
    doubts: Vec<(String, String)>,
    /// What was not looked at, because something else counts.
    left: Vec<(String, String)>,
    /// What was imported, in lines for people.
    told: Vec<String>,
}

/// Takes them over.
pub(crate) async fn perform(
    command: Command,
    config: Config,
    output: Output,
) -> Result<Reply, Failure> {
    match command {
        Command::Orchestrator { path } => take_database(&path, config, output).await,
        Command::Generation { path } => generation::perform(&path, config, output).await,
        Command::Devworkflow { path } => devworkflow::perform(&path, config, output).await,
        Command::Forge { path } => forge::perform(&path, config, output).await,
    }
}

/// Returns the folder that was named, as it is really called.
fn find_folder(named: &Path, config: &Config) -> Result<PathBuf, Failure> {
    let folder = config.places.working.join(named);
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(_) | Err(_) => {
            let message = format!("there is no folder `{}`", folder.display());
            Err(Failure::refused("folder_missing", message))
        }
    }
}

async fn take_database(path: &Path, config: Config, output: Output) -> Result<Reply, Failure> {
    let path = config.places.working.join(path);
    if !path.is_file() {
        let message = format!("there is no file `{}`", path.display());
        return Err(Failure::refused("file_missing", message));
    }
    let not_read = |failure: Failure| {
        let message = format!("`{}` cannot be taken over: {}", path.display(), failure.message);
        Failure { kind: Kind::Refused, message, hint: None, ..failure }
    };
    let file = OrchestratorFile::open(&path).map_err(|error| not_read(error.into()))?;
    let runs = file.runs().map_err(|error| not_read(error.into()))?;
    let (config, note) = store_elsewhere(config, &path);
    let joined = Joined::open(config, Access::Create).await?;
    let mut taker = Taker { runtime: &joined.runtime, file: &file, workflows: BTreeMap::new() };
    let bar = bar(runs.len(), "runs", output);
    let mut tally = Tally::default();
    for run in &runs {
        taker.take(run, &mut tally).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(reply(&tally, &RUNS, output).with_note(note))
}

/// Stores the runs in the project's own database if the setting still names the file that they come
/// from, and returns what to say about it.
fn store_elsewhere(config: Config, from: &Path) -> (Config, Option<String>) {
    let is_named = matches!(config.store_place(), StorePlace::Named(path)
        if path.canonicalize().ok() == from.canonicalize().ok());
    if !is_named {
        return (config, None);
    }
    let config = config.with_own_store();
    let place = config.places.folder().join("milepost.db");
    let note = format!(
        "`store.path` (or `WORKFLOW_DB_PATH`) still names the file that was taken over. The runs are \
         in {}; take the setting away, and milepost uses that.",
        place.display()
    );
    (config, Some(note))
}

struct Taker<'a> {
    runtime: &'a Runtime,
    file: &'a OrchestratorFile,
    /// The workflows that were looked for, and what was found.
    workflows: BTreeMap<String, Result<Workflow, String>>,
}

impl Taker<'_> {
    async fn take(&mut self, original: &OriginalRun, tally: &mut Tally) -> Result<(), Failure> {
        let id = original.id.clone();
        let found = self.workflows.entry(original.workflow.clone()).or_insert_with(|| {
            self.runtime.find_workflow(&original.workflow).map_err(|refusal| refusal.to_string())
        });
        let workflow = match found {
            Ok(workflow) => workflow,
            Err(reason) => {
                tally.refused.push((id, reason.clone()));
                return Ok(());
            }
        };
        let reports = self.file.reports(&original.id)?;
        let decider = self.runtime.resolve_decider(workflow);
        let home = Home { workflow, decider, root: &self.runtime.settings().root };
        let converted = match convert(original, &reports, &home) {
            Ok(converted) => converted,
            Err(reason) => {
                tally.refused.push((id, reason));
                return Ok(());
            }
        };
        let (run, workflow, events) = (converted.run, workflow.clone(), converted.events);
        let request = Request {
            target: Target::Log(Import { run, workflow: Arc::new(workflow), events }),
            command: engine::Command::SettleRun { goes_on: false },
            actor: Actor { surface: Surface::Timer, ..Actor::default() },
            request_id: None,
        };
        if !self.runtime.execute(request).await?.events.is_empty() {
            tally.doubts.extend(converted.doubts.into_iter().map(|it| (id.clone(), it)));
            tally.taken.push(id);
        } else {
            tally.known.push(id);
        }
        Ok(())
    }
}

/// Whether a run was begun from this text, as far as its log says.
async fn was_placed(runtime: &Runtime, run: RunId, text: &str) -> Result<bool, ExecuteError> {
    let digest = Digest::of(text.as_bytes());
    let log = runtime.history(run, None, usize::MAX).await?.events;
    let is_same = |it: &Event| matches!(it, Event::RunPlaced(it) if it.sha256 == digest);
    Ok(log.iter().any(|it| is_same(&it.event)))
}

/// The words for what is counted, and for the name of what was not imported.
struct Things {
    one: &'static str,
    name: &'static str,
    /// What stands above the doubts.
    doubtful: &'static str,
}

const RUNS: Things =
    Things { one: "run", name: "instance_id", doubtful: "could not read everything" };

fn bar(total: usize, things: &str, output: Output) -> ProgressBar {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    if output.is_json || total < SHOWN_FROM || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}}/{{len}} {things}, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    let bar = ProgressBar::new(total);
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}

fn reply(tally: &Tally, things: &Things, output: Output) -> Reply {
    let Things { one, name, doubtful } = *things;
    let pairs = |pairs: &[(String, String)]| {
        let pair = |(id, why): &(String, String)| json!({name: id, "reason": why});
        pairs.iter().map(pair).collect::<Vec<_>>()
    };
    let mut json = json!({
        "taken": tally.taken,
        "already_there": tally.known,
        "not_taken": pairs(&tally.refused),
        "doubts": pairs(&tally.doubts),
    });
    if let (Some(json), false) = (json.as_object_mut(), tally.left.is_empty()) {
        json.insert("left".to_owned(), pairs(&tally.left).into());
    }
    let mut text = format!("{GOOD}took over {}{GOOD:#}\n", text::count(tally.taken.len(), one));
    for line in &tally.told {
        text.push_str(&format!("  {}\n", text::line(line)));
    }
    if !tally.known.is_empty() {
        let count = text::count(tally.known.len(), one);
        text.push_str(&format!("{DIM}already here: {count}{DIM:#}\n"));
    }
    let mut add = |head: String, pairs: &[(String, String)]| {
        if pairs.is_empty() {
            return;
        }
        text.push_str(&format!("{ALERT}{head}{ALERT:#}\n"));
        for (id, why) in pairs.iter().take(REASONS_MAX) {
            let why = text::wrap(&text::line(why), output.width(), 4);
            text.push_str(&format!("  {}\n    {why}\n", text::line(id)));
        }
        let more = pairs.len().saturating_sub(REASONS_MAX);
        if 0 < more {
            text.push_str(&format!("  and {more} more; `--json` lists them all\n"));
        }
    };
    let refused = text::count(tally.refused.len(), one);
    add(format!("could not take {refused}"), &tally.refused);
    add(doubtful.to_owned(), &tally.doubts);
    add("left aside".to_owned(), &tally.left);
    Reply { is_fine: tally.refused.is_empty(), ..Reply::new(json, text) }
}
