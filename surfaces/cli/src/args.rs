//! The command line: what can be typed, and the help that teaches it.

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};

use crate::{
    commands::{
        audit, backup, brief, completions, config, demo, devworkflow, gate, generation, hook,
        import, mcp, restore, run, search, serve, setup, token, trust, workflow,
    },
    config::Flag,
};

/// Everything that was typed.
#[derive(Debug, Parser)]
#[command(
    name = "milepost",
    version,
    about = "Keeps an AI agent's place in long work",
    long_about = "Keeps an AI agent's place in long work.\n\nAn agent calls `milepost mcp`; it is \
                  told what to do next, and everything is on disk before it is told. Whatever \
                  happens to the agent, the next one goes on from there. You watch, approve and \
                  steer from here.",
    after_help = EXAMPLES,
    after_long_help = long_help(),
    next_display_order = 1,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  milepost demo                            see what it does, in a minute
  milepost setup                           let an agent use it
  milepost run list                        what is going on in this project
  milepost gate approve run_01k9w3m6q2     say yes to what a run asks";

/// The examples, and the exit codes for scripts.
fn long_help() -> String {
    format!(
        "{EXAMPLES}\n\nFor the toolsets that replace other servers, and for clients' hooks:\n  \
         generation   scenes, as `/generation-state` shows them\n  \
         devworkflow  development work, `workflow_state.md`\n  \
         hook         what a client's hooks call\n\nExit codes:\n  \
         0   done\n  \
         1   refused: the rules say no, or something is not as it must be; nothing was changed\n  \
         2   fault: the disk, the database or the network failed; trying again may help\n  \
         64  usage: the command line makes no sense\n  \
         70  bug: please report it\n\n\
         With --json, standard output is one JSON object with \"version\": 1. A failure is \
         {{\"version\": 1, \"error\": {{\"kind\", \"code\", \"message\", \"hint\"}}}}."
    )
}

/// Options that every command has.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// Answer in JSON, for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print tables as values separated by tabs, without a head
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) plain: bool,

    /// When to use colour; `NO_COLOR` and `CLICOLOR_FORCE` are heeded as well
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Work as if called in this folder
    #[arg(short = 'C', long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,

    /// The database file, or `:memory:` (setting `store.path`)
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::FilePath, hide_short_help = true)]
    db: Option<String>,

    /// A folder of workflow folders, besides the usual ones (setting `workflows.dirs`)
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    workflows: Option<String>,

    /// How much is logged: off, error, warn, info, debug, trace (setting `log.level`)
    #[arg(long, global = true, value_name = "LEVEL", hide_short_help = true)]
    log_level: Option<String>,

    /// Any setting, as `milepost config show` names it; may be given several times
    #[arg(long, global = true, value_name = "NAME=VALUE", hide_short_help = true)]
    set: Vec<String>,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    Always,
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the tools to an agent's client, over standard input and output
    Mcp(mcp::Args),
    /// Serve a status page on this machine
    Serve(serve::Args),
    /// Look at runs, and steer them
    #[command(subcommand, visible_alias = "runs")]
    Run(run::Command),
    /// Answer pending approvals
    #[command(visible_alias = "gates")]
    Gate(gate::Args),
    /// List, draw, check and write workflows
    #[command(subcommand, visible_alias = "workflows")]
    Workflow(workflow::Command),
    /// See, resume, cancel and list scenes, as `/generation-state` does
    #[command(subcommand, hide = true)]
    Generation(generation::Command),
    /// See, print and move the state of development work, `workflow_state.md`
    #[command(subcommand, hide = true)]
    Devworkflow(devworkflow::Command),
    /// Find words in goals, reports, errors, answers and notes
    Search(search::Args),
    /// Print what a new agent needs to continue a run
    Brief(brief::Args),
    /// Answer the hooks of an agent's client
    #[command(subcommand, hide = true)]
    Hook(hook::Command),
    /// Check that the stored history of runs is as it was written
    Audit(audit::Args),
    /// Copy the database, while it is in use
    Backup(backup::Args),
    /// Put a backup in the place of a lost database
    Restore(restore::Args),
    /// Check that everything is as it should be
    Doctor,
    /// Show and change the settings
    #[command(subcommand)]
    Config(config::Command),
    /// Allow this project what it brings: settings, commands, chores
    Trust(trust::Args),
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Token(token::Command),
    /// Generate shell completions for commands, run ids and workflow names
    Completions(completions::Args),
    /// Play a run with a failure, a newcomer and an approval, in the terminal
    #[command(display_order = 0)]
    Demo(demo::Args),
    /// Take over runs from elsewhere
    #[command(subcommand)]
    Import(import::Command),
    /// Make Milepost known to the clients that are here, and to their agents
    #[command(display_order = 0)]
    Setup(setup::Args),
}

impl Args {
    /// Returns the settings that flags give.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only servers have flags of their own")]
    pub(crate) fn flags(&self) -> Vec<Flag> {
        let common = &self.common;
        let mut flags = Vec::new();
        let mut add = |flag: &str, setting: &str, value: Option<String>| {
            if let Some(value) = value {
                flags.push(Flag { flag: flag.to_owned(), setting: setting.to_owned(), value });
            }
        };
        for pair in &common.set {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            add("--set", name.trim(), Some(value.to_owned()));
        }
        add("--db", "store.path", common.db.clone());
        add("--workflows", "workflows.dirs", common.workflows.clone());
        add("--log-level", "log.level", common.log_level.clone());
        match &self.command {
            Command::Mcp(args) => add("--toolset", "mcp.toolsets", args.toolset.clone()),
            Command::Serve(args) => {
                add("--address", "serve.address", args.address.clone());
                add("--token-file", "serve.token_file", args.token_file.clone());
            }
            _ => {}
        }
        flags
    }

    /// Returns whether the command works with a wrong configuration, because it is about that.
    pub(crate) fn bears_problems(&self) -> bool {
        matches!(
            self.command,
            Command::Doctor
                | Command::Config(_)
                | Command::Trust(_)
                | Command::Completions(_)
                | Command::Demo(_)
                | Command::Setup(_)
        )
    }

    /// Returns whether the command is a server, whose events are worth logging.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self.command, Command::Mcp(_) | Command::Serve(_))
    }
}
