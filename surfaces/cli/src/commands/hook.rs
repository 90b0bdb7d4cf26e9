//! `milepost hook`: answers what an agent's client asks before and after a tool is used, and when an
//! agent wants to stop.
//!
//! The client hands over what is about to happen on standard input. Exit code 2 blocks it, and the
//! reason on standard error is for the agent; everything else lets it pass. Whatever cannot be read
//! lets it pass as well: a fault of the hook must never block a session. So nothing here returns a
//! failure, wrong settings are ignored, and no database is opened.

mod forge;
mod pipeline;
mod shell;

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Subcommand, ValueEnum, ValueHint};
use serde_json::{Value, json};

use crate::{config::Config, output::Output};

use pipeline::Pipeline;

/// How much of what a client hands over is read.
const INPUT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The exit code that blocks what is about to happen.
const BLOCKED: u8 = 2;

/// For whom the hook speaks.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep the agent on the way of the forge pipeline that is going on in this folder
    Forge(Args),
}

/// What `hook forge` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Reads what the client hands to a hook as JSON from standard input. Exit code 2 \
                  blocks it, with the reason on standard error; 0 lets it pass. Where no pipeline \
                  is going on, or something cannot be read, it passes.\n\nExamples:\n  milepost \
                  hook forge pre-tool-use < call.json\n  milepost -C ../shop hook forge \
                  session-start"
)]
pub(crate) struct Args {
    /// What is about to happen, or has happened
    #[arg(value_name = "EVENT")]
    event: Event,
    /// The folder of the specs, seen from the project's root (setting `forge.specs`)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    specs: Option<PathBuf>,
}

/// When a client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Event {
    /// Before a tool is used: an edit or a command may be blocked
    PreToolUse,
    /// After an agent was sent out: a poor answer is pointed out
    PostToolUse,
    /// Before the agent stops: it is sent back once while the pipeline goes on
    Stop,
    /// When a session begins: says which pipeline is going on
    SessionStart,
}

/// What a hook says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ruling {
    Pass,
    /// It must not happen, for this reason.
    Block(String),
    /// It may happen, and the agent is told this.
    Tell(String),
}

/// Answers one question of a client.
pub(crate) fn perform(command: &Command, config: &Config, output: Output) -> ExitCode {
    let Command::Forge(args) = command;
    let root = &config.places.root;
    let call = read();
    let ruling = if forge::is_concerned(args.event, &call) {
        let specs =
            args.specs.clone().unwrap_or_else(|| config.dialects().forge.specs.clone().into());
        let found = Pipeline::find_active(root, &root.join(specs));
        found.map_or(Ruling::Pass, |it| forge::rule(args.event, &call, &it, root))
    } else {
        Ruling::Pass
    };
    say(args.event, ruling, output)
}

/// Reads what the client hands over; null where there is nothing to be read.
fn read() -> Value {
    let input = io::stdin();
    let mut text = String::new();
    if input.is_terminal() || input.take(INPUT_BYTES_MAX).read_to_string(&mut text).is_err() {
        return Value::Null;
    }
    serde_json::from_str(&text).unwrap_or_default()
}

fn say(event: Event, ruling: Ruling, output: Output) -> ExitCode {
    match ruling {
        Ruling::Pass => {}
        Ruling::Block(reason) => {
            output.say(&reason);
            return ExitCode::from(BLOCKED);
        }
        // If the client has closed the pipe, there is no other place to report it.
        Ruling::Tell(text) => drop(output.print(&told(event, &text))),
    }
    ExitCode::SUCCESS
}

/// Returns what the agent is told in the form in which the client passes it on.
fn told(event: Event, text: &str) -> String {
    match event {
        Event::PostToolUse => {
            let inner = json!({"hookEventName": "PostToolUse", "additionalContext": text});
            json!({"hookSpecificOutput": inner}).to_string()
        }
        Event::PreToolUse | Event::Stop | Event::SessionStart => text.to_owned(),
    }
}
