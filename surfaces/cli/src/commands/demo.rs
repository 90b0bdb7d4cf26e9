//! `milepost demo`: plays a run in the terminal, with the real engine on a temporary database. An
//! agent is refused, asks, fails and disappears; a person approves; a newcomer goes on by the brief.

mod play;
mod stage;

use std::{io::IsTerminal as _, time::Duration};

use serde_json::json;

use self::{play::Play, stage::Stage};
use crate::{failure::Failure, output::Output, wire};

/// What `demo` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Nothing of yours is touched: it plays in a temporary folder that is gone \
                        afterwards.")]
pub(crate) struct Args {
    /// Leave more time to read along
    #[arg(long)]
    slow: bool,
    /// Do not wait
    #[arg(long, conflicts_with = "slow")]
    fast: bool,
}

/// Plays the demo.
pub(crate) async fn perform(args: &Args, output: Output) -> Result<(), Failure> {
    let pause = match (args.slow, std::io::stdout().is_terminal() && !args.fast) {
        (true, _) => Duration::from_millis(300),
        (false, true) => Duration::from_millis(130),
        (false, false) => Duration::ZERO,
    };
    let stage = Stage::build()?;
    let play = Play::new(&stage, output, pause);
    let (view, events) = play.perform().await?;
    if output.is_json {
        let events: Vec<_> = events.iter().map(wire::event).collect();
        return output.json(json!({"run": wire::run(&view), "events": events}));
    }
    Ok(())
}
