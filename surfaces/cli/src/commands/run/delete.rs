//! `milepost run delete`: removes a run that is over, after the user has seen what goes.

use clap_complete::ArgValueCompleter;
use engine::RunId;
use runtime::{Deletable, DeleteError, LeftFile};
use serde_json::json;

use super::{short, status_style};
use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{BOLD, DIM, GOOD, Output, Reply, text},
};

/// What `run delete` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) async fn perform(
    joined: &Joined,
    args: &DeleteArgs,
    output: Output,
) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let deletable = joined.runtime.find_deletable(run).await.map_err(|it| refused(run, it))?;
    if !args.yes {
        ask(&deletable, output)?;
    }
    joined.runtime.delete(&deletable).await?;
    let state = &deletable.view.state;
    let file = deletable.file.as_ref();
    let json = json!({
        "deleted": {
            "run": run.short(),
            "instance_id": run.to_string(),
            "key": state.key(),
            "workflow": deletable.view.workflow.name.as_str(),
            "status": state.standing.as_str(),
            "events": state.length,
        },
        "file": file.map(|it| json!({"path": it.path, "begins_run": it.begins_run})),
    });
    let events = text::count(state.length, "event");
    let said =
        format!("{GOOD}deleted{GOOD:#} {} and its {events}{}", run.short(), about(&deletable));
    Ok(Reply::new(json, said).with_note(file.map(stays)))
}

fn ask(deletable: &Deletable, output: Output) -> Result<(), Failure> {
    let view = &deletable.view;
    let (state, id) = (&view.state, short(view.state.run));
    let keep = format!("`milepost run export {id}` prints a copy of the run");
    if !output.is_interactive() {
        let message = "nothing was deleted: there is no terminal to ask on";
        return Err(Failure::refused("not_confirmed", message)
            .with_hint(format!("`--yes` deletes without asking; {keep}")));
    }
    let status = state.standing.as_str();
    let style = status_style(status);
    let mut shown = format!("{BOLD}{id}{BOLD:#}{}\n", about(deletable));
    if let Some(key) = state.key() {
        shown.push_str(&format!("  key       {}\n", text::line(key)));
    }
    shown.push_str(&format!("  workflow  {}\n", text::line(view.workflow.name.as_str())));
    shown.push_str(&format!("  status    {style}{status}{style:#}\n"));
    shown.push_str(&format!("  events    {}\n", state.length));
    shown.push_str("This deletes the run and its history, and cannot be undone.\n");
    shown.push_str(&format!("{DIM}To keep a copy, stop here: {keep}.{DIM:#}\n"));
    if let Some(file) = &deletable.file {
        shown.push_str(&format!("{}\n", stays(file)));
    }
    output.say(&shown);
    if output.ask("Delete it?")? {
        return Ok(());
    }
    Err(Failure::refused("not_confirmed", "nothing was deleted"))
}

/// Says what becomes of the run's file.
fn stays(file: &LeftFile) -> String {
    let path = text::line(&file.path);
    if !file.begins_run {
        return format!("`{path}` stays on disk, and no run begins from it again.");
    }
    format!(
        "`{path}` stays on disk. If it is still there when a tool reads it, Milepost begins a new run \
         from it: delete the file too if you do not want that."
    )
}

/// Returns the title of a run in brackets, if it has one.
fn about(deletable: &Deletable) -> String {
    let title = deletable.view.state.title();
    if title.is_empty() { String::new() } else { format!(" ({})", text::line(&title)) }
}

fn refused(run: RunId, error: DeleteError) -> Failure {
    let message = error.to_string();
    match error {
        DeleteError::Live(view) => {
            let name = view.state.key().map_or_else(|| short(run), text::line);
            Failure::refused("run_live", message)
                .with_hint(format!("cancel it first: `milepost run cancel {name}`"))
        }
        DeleteError::Followed { run, file } => {
            let (earlier, file) = (short(run), text::line(&file));
            Failure::refused("run_followed", message).with_hint(format!(
                "delete the earlier run first: `milepost run delete {earlier}`; or move `{file}` away"
            ))
        }
        DeleteError::Failed(error) => error.into(),
    }
}
