//! `milepost setup`: makes Milepost known to clients and to their agents. Other programs' files are
//! changed in one place and kept otherwise; what will change is shown first, and can be undone.

mod change;
mod check;
mod client;
mod file;
mod jsonc;
mod list;
mod notation;
mod rules;
mod server;
mod toml_text;

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

use self::client::{Client, Reach};
use crate::{
    config::Config,
    failure::Failure,
    output::{Output, Reply},
};

/// The name that our entry has unless another is given.
const SERVER: &str = "milepost";

/// What is to be set up.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add the server to Claude Code: `.mcp.json` in the project, or `~/.mcp.json`
    #[command(alias = "claude-code", after_help = EXAMPLES)]
    Claude(ClientArgs),
    /// Add the server to Claude Desktop: its one file, for all projects
    #[command(
        after_help = "Claude Desktop starts servers in no project's folder: say with `--dir` \
                            which one is meant.\n\nExample:\n  milepost setup claude-desktop --dir ."
    )]
    ClaudeDesktop(ClientArgs),
    /// Add the server to Cursor: `.cursor/mcp.json` in the project, or the user's own file
    #[command(after_help = "Example:\n  milepost setup cursor --toolset core,generation")]
    Cursor(ClientArgs),
    /// Add the server to VS Code: its settings in the project, or the user's own
    #[command(
        after_help = "Where VS Code has an `mcp.json` already, the entry goes there instead \
                            of into `settings.json`.\n\nExample:\n  milepost setup vscode --dry-run"
    )]
    Vscode(ClientArgs),
    /// Add the server to Codex: `~/.codex/config.toml`, for all projects
    #[command(after_help = "Example:\n  milepost setup codex")]
    Codex(ClientArgs),
    /// List the files of the clients, and the servers in them
    #[command(visible_alias = "ls")]
    List,
    /// Check every entry of the clients' files
    #[command(after_help = "Without a client, every file that is there is checked. An entry must \
                            have a command or an address, its arguments must be a list of texts, \
                            and its environment texts.\n\nExample:\n  milepost setup check cursor")]
    Check(CheckArgs),
    /// Take an entry out of a client's file
    #[command(visible_alias = "rm", after_help = "Example:\n  milepost setup remove cursor --yes")]
    Remove(RemoveArgs),
    /// Write rules for agents: when to use workflows, and how
    #[command(
        after_help = "What stands between the marks `milepost:begin` and `milepost:end` is ours; \
                      the rest of the file is never touched.\n\nExamples:\n  milepost setup \
                      rules claude\n  milepost setup rules --force   with the text of this release"
    )]
    Rules(rules::Args),
}

const EXAMPLES: &str = "\
Other entries, comments and the order of the file stay. What changes is shown first, and a copy
of the file is put beside it.

Examples:
  milepost setup claude                      ask, then write
  milepost setup claude --toolset core,generation --yes
  milepost setup claude --undo               as it was before";

/// What setting up a client takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The name of the entry
    #[arg(short = 's', long, value_name = "NAME", default_value = SERVER)]
    name: String,
    /// The toolsets that the client gets, separated by commas
    #[arg(long, value_name = "NAMES", conflicts_with = "undo")]
    toolset: Option<String>,
    /// The folder that the server works in, wherever the client starts it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "undo")]
    dir: Option<PathBuf>,
    /// Put back what the last change replaced
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Which file is meant.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Use the user's own file for all projects, where the project's is the usual one
    #[arg(short, long)]
    global: bool,
    /// Use this file
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with = "global")]
    config: Option<PathBuf>,
}

/// Whether a change is made.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Consent {
    /// Do not ask: needed where there is no terminal to ask on
    #[arg(short, long, visible_alias = "non-interactive")]
    yes: bool,
    /// Only show what would change
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
}

/// What `setup check` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The client
    #[arg(value_name = "CLIENT")]
    client: Option<Client>,
    #[command(flatten)]
    file: FileArgs,
}

/// What `setup remove` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The client
    #[arg(value_name = "CLIENT")]
    client: Client,
    #[command(flatten)]
    file: FileArgs,
    /// The name of the entry
    #[arg(short = 's', long, value_name = "NAME", default_value = SERVER)]
    name: String,
    #[command(flatten)]
    consent: Consent,
}

/// Sets it up.
pub(crate) fn perform(command: Command, config: &Config, output: Output) -> Result<Reply, Failure> {
    let (client, args) = match command {
        Command::Claude(args) => (Client::Claude, args),
        Command::ClaudeDesktop(args) => (Client::ClaudeDesktop, args),
        Command::Cursor(args) => (Client::Cursor, args),
        Command::Vscode(args) => (Client::Vscode, args),
        Command::Codex(args) => (Client::Codex, args),
        Command::List => return Ok(list::perform(config, output)),
        Command::Check(args) => return check::perform(&args, config),
        Command::Remove(args) => return server::remove(&args, config, output),
        Command::Rules(args) => return rules::perform(&args, config),
    };
    if args.undo {
        server::undo(client, &args, config, output)
    } else {
        server::set(client, &args, config, output)
    }
}

impl FileArgs {
    /// Returns what must be typed to mean the same file again.
    fn typed(&self, config: &Config) -> String {
        match &self.config {
            Some(path) => {
                let path = config.places.short(&config.places.working.join(path));
                format!(" --config {path}")
            }
            None if self.global => " --global".to_owned(),
            None => String::new(),
        }
    }

    /// Returns the file that is meant for a client.
    fn find(&self, client: Client, config: &Config) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.config {
            return Ok(config.places.working.join(path));
        }
        let reach = if self.global { Reach::Global } else { client.usual() };
        client.file(reach, config).ok_or_else(|| {
            let message = format!("the place where {} keeps its file is unknown", client.title());
            Failure::refused("home_missing", message).with_hint("name the file with `--config`")
        })
    }
}
