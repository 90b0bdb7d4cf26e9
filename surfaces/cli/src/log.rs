//! Log lines: readable on a terminal, JSON otherwise, on standard error; to a file only if one is
//! set. Standard output is never touched.

use std::{
    fs::OpenOptions,
    io::{self, IsTerminal as _},
    path::Path,
    sync::Arc,
};

use tracing_subscriber::{
    Layer as _, Registry,
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{config::Config, failure::Failure};

/// Starts logging as the configuration says.
pub(crate) fn start(config: &Config, is_server: bool) -> Result<(), Failure> {
    let (level, is_said) = config.log_level();
    let level = match level {
        _ if !is_said && !is_server => LevelFilter::WARN,
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => LevelFilter::INFO,
    };
    if level == LevelFilter::OFF {
        return Ok(());
    }
    // The protocol's library would write whole calls down, and an error for each client that goes
    // away while it listens.
    let filter = Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF);
    let is_terminal = io::stderr().is_terminal();
    let lines = fmt::layer().with_writer(io::stderr).with_target(false);
    let shown = if is_terminal { lines.compact().boxed() } else { lines.json().boxed() };
    let mut layers: Vec<Box<dyn tracing_subscriber::Layer<Registry> + Send + Sync>> =
        vec![shown.with_filter(filter.clone()).boxed()];
    if let Some(path) = config.log_file() {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = Arc::new(file.map_err(|error| not_opened(path, &error))?);
        let written = fmt::layer().with_writer(file).with_ansi(false).json();
        layers.push(written.with_filter(filter).boxed());
    }
    // Logging that was set up before stays.
    drop(tracing_subscriber::registry().with(layers).try_init());
    Ok(())
}

fn not_opened(path: &Path, error: &io::Error) -> Failure {
    let message = format!("the log file `{}` cannot be written to: {error}", path.display());
    Failure::refused("log_not_opened", message).with_hint("set `log.file` to another path")
}
