//! `milepost run`: look at runs, and steer them.

mod delete;
mod history;
mod show;

use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use definition::Workflow;
use engine::{ForkPoint, RunId, Standing};
use runtime::{Cursor, Fork, Outcome, Page, Request, RunFilter, Target};
use serde_json::json;

use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{ALERT, BAD, DIM, GOOD, NAME, Output, Reply, VERSION, table::Grid, text},
    wire,
};

pub(crate) use delete::DeleteArgs;
pub(crate) use history::{HistoryArgs, WatchArgs, watch};
pub(crate) use show::ShowArgs;

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List runs, the most recently changed first
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  milepost run list --status waiting\n  milepost run list \
                      --workflow SPRINT_TASK --limit 50\n  milepost run list --json | jq -r \
                      '.runs[].run'"
    )]
    List(ListArgs),
    /// Show where a run is, what was done and what comes next
    #[command(
        after_help = "Examples:\n  milepost run show run_01k9w3m6q2\n  milepost run show 0204        \
                      the live run with this key\n  milepost run show 0204 --at 12   as it was after \
                      event 12"
    )]
    Show(ShowArgs),
    /// Show everything that happened to a run
    #[command(after_help = "Examples:\n  milepost run history run_01k9w3m6q2\n  milepost run \
                            history 0204 --limit 20 --before 100")]
    History(HistoryArgs),
    /// Follow a run while it happens, until it ends or Ctrl-C
    Watch(WatchArgs),
    /// Resume a failed or cancelled run; print its brief
    #[command(
        after_help = "Examples:\n  milepost run resume run_01k9w3m6q2\n  milepost run resume \
                            0204 --force     although files are not what they were"
    )]
    Resume(ResumeArgs),
    /// End a run before it is done
    #[command(after_help = "Example:\n  milepost run cancel 0204 --reason 'the issue was closed'")]
    Cancel {
        /// The run: its id, the beginning of one, or its key
        #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
        run: String,
        /// Why it is cancelled
        #[arg(long, value_name = "TEXT", default_value = "cancelled from the command line")]
        reason: String,
    },
    /// Print a run whole, as JSON: what it is and everything that happened
    #[command(after_help = "Example:\n  milepost run export 0204 > 0204.json")]
    Export {
        /// The run: its id, the beginning of one, or its key
        #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
        run: String,
    },
    /// Delete a run that is over, with its history
    #[command(
        after_help = "The run must be completed, failed or cancelled. Files that it wrote stay on \
                      disk, and the answer says so.\n\nExamples:\n  milepost run export 0204 > \
                      0204.json   keep a copy first\n  milepost run delete 0204"
    )]
    Delete(DeleteArgs),
    /// Copy a run up to some point, to go another way from there
    #[command(
        after_help = "Examples:\n  milepost run fork run_01k9w3m6q2 --from-step Implement\n  \
                            milepost run fork 0204 --from-seq 12 --key 0204-b"
    )]
    Fork(ForkArgs),
}

/// What `run list` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Filter by status (comma-separated)
    #[arg(short, long, value_name = "STATUS", value_delimiter = ',', value_parser = STATUSES)]
    status: Vec<String>,
    /// Only runs of this workflow
    #[arg(short, long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    workflow: Option<String>,
    /// How many to show, at most 100
    #[arg(short, long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

pub(crate) const STATUSES: [&str; 5] = ["running", "waiting", "completed", "failed", "cancelled"];

/// What `run resume` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// Go on although files are not what the server saw
    #[arg(long)]
    force: bool,
    /// Why it goes on
    #[arg(long, value_name = "TEXT", default_value = "reopened from the command line")]
    reason: String,
}

/// What `run fork` takes.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("point").required(true)))]
pub(crate) struct ForkArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// As it was when this step was last entered
    #[arg(long, value_name = "STEP", group = "point")]
    from_step: Option<String>,
    /// As it was after this event
    #[arg(long, value_name = "SEQ", group = "point")]
    from_seq: Option<u64>,
    /// The copy's own key, where the original has one
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Runs the command.
pub(crate) async fn perform(
    joined: &Joined,
    command: Command,
    output: Output,
) -> Result<Reply, Failure> {
    match command {
        Command::List(args) => list(joined, args, output).await,
        Command::Show(args) => show::perform(joined, &args, output).await,
        Command::History(args) => history::perform(joined, &args, output).await,
        Command::Watch(_) => Err(Failure::usage("a run is watched, not asked")),
        Command::Resume(args) => resume(joined, args).await,
        Command::Cancel { run, reason } => cancel(joined, &run, reason).await,
        Command::Fork(args) => fork(joined, args).await,
        Command::Delete(args) => delete::perform(joined, &args, output).await,
        Command::Export { run } => export(joined, &run).await,
    }
}

async fn list(joined: &Joined, args: ListArgs, output: Output) -> Result<Reply, Failure> {
    let after = args.after.as_deref().map(Cursor::parse).transpose()?;
    let is_filtered = args.workflow.is_some() || !args.status.is_empty() || after.is_some();
    let filter = RunFilter {
        workflow: args.workflow,
        statuses: args.status,
        key: None,
        after,
        limit: args.limit,
    };
    let page = joined.runtime.list_runs(filter).await?;
    let next = page.next.map(Cursor::encode);
    let json = json!({"runs": page.rows.iter().map(wire::row).collect::<Vec<_>>(), "next": next});
    let note = match (&next, joined.note()) {
        (_, Some(note)) => Some(note),
        (Some(next), None) => Some(format!("{DIM}More: --after {next}{DIM:#}")),
        (None, None) if page.rows.is_empty() && is_filtered => {
            Some("There are no such runs.".to_owned())
        }
        (None, None) if page.rows.is_empty() => {
            Some("There are no runs yet: an agent starts them.".to_owned())
        }
        (None, None) => None,
    };
    let text = if page.rows.is_empty() { String::new() } else { table(joined, &page, output) };
    Ok(Reply::new(json, text).with_note(note))
}

fn table(joined: &Joined, page: &Page, output: Output) -> String {
    let now = joined.runtime.now();
    let ids: Vec<RunId> = page.rows.iter().map(|it| it.run).collect();
    let letters = letters_needed(&ids);
    let head = ["RUN", "KEY", "WORKFLOW", "STATUS", "STEP", "DONE", "CHANGED", "ABOUT"];
    let mut grid = Grid::new(&head).flexible(&[1, 2, 4, 7]);
    for row in &page.rows {
        let it = &row.summary;
        let id = grid.paint(NAME, &prefix(row.run, letters));
        let status = grid.paint(status_style(&it.status), &it.status);
        let (done, total) = it.progress();
        let done = format!("{done}/{total}");
        grid.add(vec![
            id,
            text::line(it.key.as_deref().unwrap_or_default()),
            text::line(&it.workflow),
            status,
            text::line(&it.step),
            done,
            text::ago(now, it.updated_at),
            text::line(&it.title),
        ]);
    }
    output.draw(grid)
}

/// Returns the colour of a status.
pub(crate) fn status_style(status: &str) -> anstyle::Style {
    match status {
        "waiting" => ALERT,
        "completed" => GOOD,
        "failed" => BAD,
        "cancelled" => DIM,
        _ => NAME,
    }
}

/// The letters of an id that hold its time, to the millisecond.
const LETTERS_MIN: usize = 10;

/// Returns how many letters tell all of `ids` apart.
fn letters_needed(ids: &[RunId]) -> usize {
    let mut letters = LETTERS_MIN;
    while letters < 26 {
        let mut shown: Vec<String> = ids.iter().map(|it| prefix(*it, letters)).collect();
        shown.sort();
        shown.dedup();
        if shown.len() == ids.len() {
            break;
        }
        letters += 1;
    }
    letters
}

/// Returns the beginning of an id's short form.
fn prefix(run: RunId, letters: usize) -> String {
    run.short().chars().take("run_".len() + letters).collect()
}

/// Returns an id as people see it: enough of it to tell it from others.
pub(crate) fn short(run: RunId) -> String {
    prefix(run, LETTERS_MIN)
}

async fn resume(joined: &Joined, args: ResumeArgs) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let view = joined.runtime.view(run, None).await?;
    let is_stopped =
        matches!(view.state.standing, Standing::Failed { .. } | Standing::Cancelled { .. });
    if is_stopped {
        let command = engine::Command::ReopenRun { reason: args.reason, force: args.force };
        execute(joined, run, command).await?;
    }
    let usual = joined.config.toolsets();
    let words = |it: &Workflow| mcp::find_words(it, usual);
    let (view, brief, drift) = mcp::brief(&joined.runtime, run, None, words).await?;
    let json = json!({
        "run": wire::run(&view),
        "reopened": is_stopped,
        "brief": brief.text,
        "dropped": brief.dropped,
        "drift": drift,
    });
    let note = if is_stopped {
        format!(
            "{GOOD}Reopened{GOOD:#} {}. An agent can continue from the brief above.",
            short(run)
        )
    } else {
        format!("{} is {}: nothing was changed.", short(run), view.state.standing.as_str())
    };
    Ok(Reply::new(json, text::lines(&brief.text)).with_note(note))
}

async fn cancel(joined: &Joined, run: &str, reason: String) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(run).await?;
    let outcome = execute(joined, run, engine::Command::CancelRun { reason }).await?;
    let title = outcome.view.state.title();
    let title = if title.is_empty() { String::new() } else { format!(" ({})", text::line(&title)) };
    let text = format!("cancelled {}{title}", run.short());
    let hint = format!("`milepost run resume {}` reopens it.", short(run));
    Ok(Reply::new(json!({"run": wire::run(&outcome.view)}), text).with_note(hint))
}

async fn export(joined: &Joined, run: &str) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(run).await?;
    let history = joined.runtime.history(run, None, usize::MAX).await?;
    let events: Vec<_> = history.events.iter().map(wire::event).collect();
    let json = json!({"version": VERSION, "run": wire::run(&history.view), "events": events});
    let text = text::harmless_json(&format!("{json:#}"));
    Ok(Reply::new(json, text))
}

async fn fork(joined: &Joined, args: ForkArgs) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let point = match (args.from_step, args.from_seq) {
        (Some(step), _) => ForkPoint::Step(step),
        (None, Some(seq)) => ForkPoint::Seq(seq),
        (None, None) => return Err(Failure::usage("give `--from-step` or `--from-seq`")),
    };
    let request = Request {
        target: Target::Copy(Fork { run, point, key: args.key }),
        command: engine::Command::SettleRun { goes_on: true },
        actor: joined.actor(),
        request_id: None,
    };
    let outcome = joined.runtime.execute(request).await?;
    let state = &outcome.view.state;
    let at = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = format!("forked {} from {}, at step `{at}`", state.run.short(), short(run));
    let notices = outcome.file.map(|it| it.notices).unwrap_or_default();
    let note = (!notices.is_empty()).then(|| notices.join("\n"));
    Ok(Reply::new(json!({"run": wire::run(&outcome.view)}), text::lines(&text)).with_note(note))
}

/// Has a command executed on behalf of the user at the terminal.
pub(crate) async fn execute(
    joined: &Joined,
    run: RunId,
    command: engine::Command,
) -> Result<Outcome, Failure> {
    let actor = joined.actor();
    let request = Request { target: Target::Run(run), command, actor, request_id: None };
    Ok(joined.runtime.execute(request).await?)
}
