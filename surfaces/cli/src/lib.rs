//! What the binary `milepost` does: the one place that joins everything.
//!
//! Reads the command line and the configuration, runs one command, and ends with an exit code that
//! tells the result. It is a library so that tests can do the same in their own process.

mod args;
mod background;
mod commands;
mod complete;
mod config;
mod door;
mod failure;
mod join;
mod kept;
mod log;
mod output;
mod secret;
#[cfg(test)]
mod tests;
mod token;
mod tracked;
mod trust;
mod wire;

use std::{panic, process::ExitCode, time::Duration};

use anstream::ColorChoice;
use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Runtime},
};

use crate::{
    args::{Args, Command},
    commands::hook,
    config::Config,
    failure::{Failure, Kind},
    output::Output,
};

pub use config::Surroundings;

/// How many lists, searches and large files are read at once, beside source code.
const BLOCKING_THREADS_MAX: usize = 4;

/// How long background work may take at the end: what still runs is small, or hangs.
const PARTING: Duration = Duration::from_millis(500);

/// Runs the command line, and returns the exit code.
pub fn run() -> ExitCode {
    let here = std::env::current_dir().ok();
    let completed = clap_complete::CompleteEnv::with_factory(Args::command)
        .try_complete(std::env::args_os(), here.as_deref());
    if let Ok(true) = completed {
        return ExitCode::SUCCESS;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return tell_usage(&error),
    };
    let output = Output::new(args.common.json, args.common.color.into()).plain(args.common.plain);
    // A panic is a bug of ours, and is reported as one.
    let done = panic::catch_unwind(panic::AssertUnwindSafe(|| perform(args, output)));
    let failure = match done {
        Ok(Ok(code)) => return code,
        Ok(Err(failure)) => failure,
        Err(_) => Failure { kind: Kind::Bug, ..Failure::fault("bug", "milepost has a bug") }
            .with_hint("please report it with what is printed above"),
    };
    if failure.kind != Kind::Gone {
        output.fail(&failure);
    }
    failure.exit_code()
}

/// Serves one client as `milepost mcp` with `flags` does, but over pipes, in surroundings that are
/// given, and without a log. Returns why it could not serve.
pub async fn serve<R, W>(
    around: &Surroundings,
    flags: &[String],
    read: R,
    write: W,
) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let typed = ["milepost", "mcp"].into_iter().chain(flags.iter().map(String::as_str));
    let args = Args::try_parse_from(typed).map_err(|error| error.to_string())?;
    let config = configure(around, &args).map_err(|it| it.message)?;
    commands::mcp::serve(config, read, write).await.map_err(|it| it.message)
}

/// Runs a command in the given surroundings, and returns what it prints with `--json`, and whether
/// everything is fine.
pub async fn answer(mut around: Surroundings, typed: &[&str]) -> Result<(Value, bool), String> {
    let args = Args::try_parse_from(["milepost"].iter().chain(typed));
    let args = args.map_err(|error| error.to_string())?;
    around.working.extend(&args.common.project);
    let config = configure(&around, &args).map_err(|it| it.message)?;
    let output = Output::new(true, ColorChoice::Never);
    let answering = Box::pin(commands::answer(args, config, output));
    let reply = answering.await.map_err(|it| it.message)?;
    reply.map(|it| (it.json, it.is_fine)).ok_or_else(|| "it has no answer".to_owned())
}

/// Reads the configuration, which must be right unless the command is about it.
fn configure(around: &Surroundings, args: &Args) -> Result<Config, Failure> {
    let config = Config::load(around, &args.flags());
    if !config.problems.is_empty() && !args.bears_problems() {
        return Err(commands::config::refuse(&config.problems));
    }
    Ok(config)
}

fn perform(args: Args, output: Output) -> Result<ExitCode, Failure> {
    if let Command::Hook(command) = &args.command {
        return Ok(answer_hook(command, &args, output));
    }
    let config = configure(&Surroundings::look(args.common.project.as_deref())?, &args)?;
    log::start(&config, args.is_server())?;
    if !config.ignored.is_empty() && !args.bears_problems() {
        let names: Vec<&str> = config.ignored.iter().map(|it| it.setting).collect();
        let names = names.join(", ");
        tracing::warn!(
            "ignored of the project's own settings: {names}; see `milepost config show`"
        );
    }
    if args.is_server() {
        config.strange.iter().for_each(|it| tracing::warn!("environment: {it}"));
    }
    let tokio = tokio_for(&args.command)?;
    let done = tokio.block_on(commands::perform(args, config, output));
    // A thread that hangs is abandoned.
    tokio.shutdown_timeout(PARTING);
    let is_fine = done?;
    Ok(if is_fine { ExitCode::SUCCESS } else { Kind::Refused.exit_code().into() })
}

/// Answers a hook. Wrong settings must not block anything.
fn answer_hook(command: &hook::Command, args: &Args, output: Output) -> ExitCode {
    let Ok(around) = Surroundings::look(args.common.project.as_deref()) else {
        return ExitCode::SUCCESS;
    };
    hook::perform(command, &Config::load(&around, &args.flags()), output)
}

/// A server of many callers gets all cores; whatever serves one needs one thread and starts faster.
fn tokio_for(command: &Command) -> Result<Runtime, Failure> {
    let mut builder = if let Command::Serve(_) = command {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    // Lists and searches run beside; a thread of its own for each would only cost memory.
    Ok(builder
        .max_blocking_threads(BLOCKING_THREADS_MAX + mcp::READERS_MAX)
        .enable_all()
        .build()?)
}

/// Prints help where it was asked for, and otherwise what is wrong with the command line.
fn tell_usage(error: &clap::Error) -> ExitCode {
    let is_asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_asked && std::env::args_os().any(|it| it == "--json") {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let message = text.lines().next().unwrap_or_default();
        let failure = Failure::usage(message).with_hint("`--help` shows what can be typed");
        Output::new(true, ColorChoice::Never).fail(&failure);
        return failure.exit_code();
    }
    // If standard error is closed, there is no other place to report it.
    drop(error.print());
    let kind = if is_asked { Kind::Gone } else { Kind::Usage };
    kind.exit_code().into()
}
