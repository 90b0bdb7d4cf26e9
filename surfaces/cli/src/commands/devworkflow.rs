//! `milepost devworkflow`: the state of the work as `workflow_state.md` has it, at a terminal.

mod migrate;

use clap::{Subcommand, ValueEnum};
use mcp::devworkflow::{Glance, Options, WORKFLOW, state_issues, state_paths, state_to_json};
use runtime::RunFile;
use serde_json::{Value, json};

use crate::{
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{ALERT, BOLD, DIM, Output, Reply, text},
};

/// What to do with the state of the work.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the phase, the status, the item at hand and all items
    #[command(after_help = "Example:\n  milepost devworkflow status --json | jq -r .phase")]
    Status,
    /// Print the state file, as Markdown or in its JSON form
    #[command(after_help = "Example:\n  milepost devworkflow export --format json > \
                            workflow_state.json")]
    Export {
        /// The form to print it in
        #[arg(short, long, value_name = "FORM", default_value = "md")]
        format: Format,
    },
    /// Move `workflow_state.md` and `project_config.md` from the project's root into the folder
    /// that the setting `devworkflow.directory` names
    #[command(
        after_help = "What is there already is kept beside it as `NAME.backup`, `NAME.backup.1` \
                      and so on. The run of a state file that is moved is over; the next call \
                      begins one from the file at its new place.\n\nExamples:\n  milepost \
                      devworkflow migrate --dry-run\n  milepost devworkflow migrate"
    )]
    Migrate {
        /// Say what would be moved, and move nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// The forms of a state file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Md,
    Json,
}

/// Runs the command.
pub(crate) async fn perform(
    command: Command,
    config: Config,
    output: Output,
) -> Result<Option<Reply>, Failure> {
    let options = config.dialects().devworkflow;
    // None of these makes a database.
    let joined = Joined::open(config, Access::Existing).await?;
    match command {
        Command::Status => status(&joined, &options).await.map(Some),
        Command::Export { format } => export(&joined, &options, format, output).await,
        Command::Migrate { dry_run } => {
            migrate::perform(&joined, &options, dry_run).await.map(Some)
        }
    }
}

async fn status(joined: &Joined, options: &Options) -> Result<Reply, Failure> {
    let Some(file) = find(joined, options).await? else {
        let json = json!({"file": null, "phase": null, "status": null, "items": []});
        let text = "there is no `workflow_state.md` yet";
        let note = format!("{DIM}`init_workflow_guidance` makes it with the first task{DIM:#}");
        return Ok(Reply::new(json, text).with_note(note));
    };
    let glance = Glance::of(&file.text);
    let issues = state_issues(&file.text);
    let items = glance
        .items
        .iter()
        .map(|it| json!({"id": it.id, "description": it.description, "status": it.status}));
    let json = json!({
        "file": file.path,
        "phase": glance.phase,
        "status": glance.status,
        "current_item": glance.current_item,
        "items": items.collect::<Vec<Value>>(),
        "issues": issues,
        "notices": file.notices,
    });
    Ok(Reply::new(json, shown(&file, &glance, &issues)))
}

fn shown(file: &RunFile, glance: &Glance, issues: &[String]) -> String {
    let (phase, status) = (text::line(&glance.phase), text::line(&glance.status));
    let mut shown = format!("{BOLD}{phase}{BOLD:#}  {status}\n");
    shown.push_str(&format!("file   {}\n", text::line(&file.path)));
    let item = glance.current_item.as_deref().unwrap_or("none");
    shown.push_str(&format!("item   {}\n", text::line(item)));
    let (all, pending) = (text::count(glance.items.len(), "item"), glance.pending());
    shown.push_str(&format!("items  {all}, {pending} pending\n"));
    for item in &glance.items {
        let (status, what) = (text::line(&item.status), text::line(&item.description));
        shown.push_str(&format!("  {:>3}  {}  {what}\n", item.id, text::pad(&status, 9)));
    }
    for issue in issues.iter().chain(&file.notices) {
        shown.push_str(&format!("{ALERT}!{ALERT:#} {}\n", text::line(issue)));
    }
    shown
}

async fn export(
    joined: &Joined,
    options: &Options,
    format: Format,
    output: Output,
) -> Result<Option<Reply>, Failure> {
    let Some(file) = find(joined, options).await? else {
        return Err(Failure::refused("file_missing", "there is no `workflow_state.md` yet")
            .with_hint("`init_workflow_guidance` makes it with the first task"));
    };
    let text = match format {
        Format::Md => file.text,
        Format::Json => format!("{}\n", state_to_json(&file.text)),
    };
    if output.is_json {
        return Ok(Some(Reply::new(json!({"file": file.path, "text": text}), text)));
    }
    output.raw(&text)?;
    Ok(None)
}

/// Finds the state file, in step with its run.
async fn find(joined: &Joined, options: &Options) -> Result<Option<RunFile>, Failure> {
    for key in state_paths(options) {
        if let Some((_, file)) = joined.runtime.take_in_file(WORKFLOW, &key).await? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
