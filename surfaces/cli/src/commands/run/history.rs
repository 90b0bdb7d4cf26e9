//! `milepost run history` and `watch`: what happened, and what happens.

use std::time::Duration;

use clap_complete::ArgValueCompleter;
use engine::{Event, Recorded, Surface};
use serde_json::json;

use super::short;
use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{ALERT, BAD, DIM, GOOD, Output, Reply, table::Grid, text},
    wire,
};

/// How long one wait lasts before the next begins.
const TURN: Duration = Duration::from_secs(30);

/// What `run history` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// How many events to show, the newest
    #[arg(short, long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,
    /// Only events before this one
    #[arg(long, value_name = "SEQ")]
    before: Option<u64>,
}

/// What `run watch` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// How many earlier events to begin with
    #[arg(short, long, value_name = "COUNT", default_value_t = 5)]
    limit: usize,
}

/// Shows what happened.
pub(super) async fn perform(
    joined: &Joined,
    args: &HistoryArgs,
    output: Output,
) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let history = joined.runtime.history(run, args.before, args.limit).await?;
    let events = &history.events;
    let earlier = events.first().map_or(0, |it| it.seq.saturating_sub(1));
    let json = json!({
        "run": run.short(),
        "events": events.iter().map(wire::event).collect::<Vec<_>>(),
        "before": (0 < earlier).then(|| earlier + 1),
    });
    let note = (0 < earlier).then(|| {
        let events = text::count(earlier, "earlier event");
        format!("{DIM}{events}: --before {}{DIM:#}", earlier + 1)
    });
    Ok(Reply::new(json, table(events, output)).with_note(note))
}

fn table(events: &[Recorded], output: Output) -> String {
    let mut grid = Grid::wrapped(&["SEQ", "WHEN", "BY", "WHAT"]);
    let mut day = String::new();
    for recorded in events {
        let (date, time) = text::moment(recorded.at);
        if day != date {
            let shown = grid.paint(DIM, &date);
            grid.add(vec![String::new(), shown, String::new(), String::new()]);
            day = date;
        }
        let what = text::line(&recorded.event.describe());
        grid.add(vec![recorded.seq.to_string(), time, who(recorded), what]);
    }
    output.draw(grid)
}

/// Follows a run until it ends or the watcher goes away.
pub(crate) async fn watch(
    joined: &Joined,
    args: &WatchArgs,
    output: Output,
) -> Result<(), Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let first = joined.runtime.history(run, None, args.limit).await?;
    let mut seen = first.view.state.length;
    if !output.is_json {
        let name = first.view.workflow.name.as_str();
        output.say(&format!("{DIM}Watching {} ({name}); Ctrl-C ends it.{DIM:#}", short(run)));
    }
    print(&first.events, output)?;
    let mut view = first.view;
    while view.state.standing.is_live() {
        tokio::select! {
            waited = joined.runtime.wait(run, seen, TURN) => drop(waited?),
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
        let history = joined.runtime.history(run, None, usize::MAX).await?;
        let fresh: Vec<Recorded> = history.events.into_iter().filter(|it| seen < it.seq).collect();
        seen = fresh.last().map_or(seen, |it| it.seq);
        view = history.view;
        print(&fresh, output)?;
    }
    if !output.is_json {
        output.say(&format!("The run is {}.", view.state.standing.as_str()));
    }
    Ok(())
}

fn print(events: &[Recorded], output: Output) -> Result<(), Failure> {
    for recorded in events {
        if output.is_json {
            output.json_line(wire::event(recorded))?;
            continue;
        }
        let (_, time) = text::moment(recorded.at);
        let what = text::wrap(&text::line(&recorded.event.describe()), output.width(), 16);
        let style = style(&recorded.event);
        let seq = recorded.seq;
        output.print(&format!("{DIM}{seq:>4}  {time}{DIM:#}  {style}{what}{style:#}\n"))?;
    }
    Ok(())
}

fn style(event: &Event) -> anstyle::Style {
    match event.kind() {
        "StepFailed" | "RunFailed" | "RunCancelled" => BAD,
        "GateOpened" => ALERT,
        "StepCompleted" | "RunCompleted" | "GateAnswered" => GOOD,
        _ => anstyle::Style::new(),
    }
}

/// Returns who did it, in few letters.
fn who(recorded: &Recorded) -> String {
    let by = &recorded.by;
    let surface = match by.surface {
        Surface::Mcp => "agent",
        Surface::Cli => "cli",
        Surface::Web => "web",
        Surface::Timer => "timer",
        Surface::Import => "import",
        Surface::File => "file",
    };
    let client = by.client.as_deref().filter(|_| by.surface != Surface::Import);
    let name = by.name.as_deref().or(client).unwrap_or(surface);
    text::cut(&text::line(name), 16)
}
