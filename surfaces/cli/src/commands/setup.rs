//! `milepost setup`: makes Milepost known to clients and to their agents. Other programs' files are
//! changed in one place and kept otherwise; what will change is shown first, and can be undone.

mod asking;
mod by_claude;
mod change;
mod check;
mod client;
mod file;
mod jsonc;
mod list;
mod notation;
mod offer;
mod rules;
mod server;
mod toml_text;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand, ValueHint};

use self::client::{Client, Reach};
use crate::{
    config::{Config, Places},
    failure::Failure,
    output::{Output, Reply, text},
};

/// The name that our entry has unless another is given.
const SERVER: &str = "milepost";

/// What is to be set up: one client, or all that are found.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    found: offer::Offer,
}

/// What is to be set up, or done about it.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add the server to Claude Code: `.mcp.json` in the project, or `~/.claude.json`
    #[command(alias = "claude-code", after_help = CLAUDE_HELP)]
    Claude(ClientArgs),
    /// Add the server to Claude Desktop: its one file, for one project
    #[command(
        after_help = "Claude Desktop starts servers in no project's folder, so `--dir` has to say \
                      which project is meant.\n\nExample:\n  milepost setup claude-desktop --dir ."
    )]
    ClaudeDesktop(ClientArgs),
    /// Add the server to Cursor: `.cursor/mcp.json` in the project, or in the home folder
    #[command(after_help = "Example:\n  milepost setup cursor --toolset core,generation")]
    Cursor(ClientArgs),
    /// Add the server to VS Code: `.vscode/mcp.json` in the project, or the user's `mcp.json`
    #[command(after_help = "Example:\n  milepost setup vscode --dry-run")]
    Vscode(ClientArgs),
    /// Add the server to Codex: `~/.codex/config.toml`, or the project's
    #[command(after_help = "Example:\n  milepost setup codex --scope project")]
    Codex(ClientArgs),
    /// Add the server to Gemini CLI: `.gemini/settings.json` in the project, or in the home folder
    #[command(alias = "gemini-cli", after_help = "Example:\n  milepost setup gemini")]
    Gemini(ClientArgs),
    /// Add the server to OpenCode: `opencode.json` in the project, or the user's
    #[command(after_help = "Example:\n  milepost setup opencode --global")]
    Opencode(ClientArgs),
    /// Add the server to Windsurf: its one file, for one project
    #[command(
        after_help = "Windsurf has no file for a project, so `--dir` has to say which project is \
                      meant.\n\nExample:\n  milepost setup windsurf --dir ."
    )]
    Windsurf(ClientArgs),
    /// Add the server to Zed: `.zed/settings.json` in the project, or the user's settings
    #[command(after_help = "Example:\n  milepost setup zed --global")]
    Zed(ClientArgs),
    /// List the files of the clients, and the servers in them
    #[command(visible_alias = "ls")]
    List,
    /// Check every entry of the clients' files
    #[command(after_help = "Without a client, every file that is there is checked. An entry must \
                            have a command that is found or an address, its arguments must be a \
                            list of texts, and its environment texts.\n\nExample:\n  milepost setup check cursor")]
    Check(CheckArgs),
    /// Take an entry out of a client's file
    #[command(visible_alias = "rm", after_help = "Example:\n  milepost setup remove cursor --yes")]
    Remove(RemoveArgs),
    /// Write rules for agents: when to use workflows, and how
    #[command(
        after_help = "What stands between the marks `milepost:begin` and `milepost:end` is ours; \
                      the rest of the file is never touched. Most agents read `AGENTS.md`; \
                      `CLAUDE.md` and `GEMINI.md` are written if the project has them or \
                      `.gemini`.\n\nExamples:\n  milepost setup \
                      rules claude\n  milepost setup rules --force   with the text of this release"
    )]
    Rules(rules::Args),
}

const EXAMPLES: &str = "\
Without a client, every client that is found here is offered, one after the other. Each change
is shown before it is made, and can be undone.

Examples:
  milepost setup                             offer what is found
  milepost setup --yes                       set up all of it
  milepost setup claude                      this client only";

const CLAUDE_HELP: &str = "\
Other entries, comments and the order of the file stay. What changes is shown first, and a copy
of the file is kept. If `claude` is installed, `--global` has it change its own file.

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
#[derive(Debug, Default, ClapArgs)]
struct FileArgs {
    /// Use the project's file, or the user's own for all projects
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Reach>,
    /// The same as `--scope user`
    #[arg(short, long, conflicts_with = "scope")]
    global: bool,
    /// Use this file
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with_all = ["global", "scope"])]
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
pub(crate) async fn perform(args: Args, config: &Config, output: Output) -> Result<Reply, Failure> {
    let Some(command) = args.command else {
        return offer::perform(&args.found, config, output).await;
    };
    let (client, args) = match command {
        Command::Claude(args) => (Client::Claude, args),
        Command::ClaudeDesktop(args) => (Client::ClaudeDesktop, args),
        Command::Cursor(args) => (Client::Cursor, args),
        Command::Vscode(args) => (Client::Vscode, args),
        Command::Codex(args) => (Client::Codex, args),
        Command::Gemini(args) => (Client::Gemini, args),
        Command::Opencode(args) => (Client::Opencode, args),
        Command::Windsurf(args) => (Client::Windsurf, args),
        Command::Zed(args) => (Client::Zed, args),
        Command::List => return Ok(list::perform(config, output)),
        Command::Check(args) => return check::perform(&args, config),
        Command::Remove(args) => return server::remove(&args, config, output).await,
        Command::Rules(args) => return rules::perform(&args, config),
    };
    if args.undo {
        server::undo(client, &args, config, output).await
    } else {
        server::set(client, &args, config, output).await
    }
}

/// Returns a path as it is typed in a shell, which replaces `~` only outside of quotes.
fn typed_path(path: &Path, places: &Places) -> String {
    let short = places.short(path);
    let rest = short.strip_prefix("~/").unwrap_or(&short);
    if text::word(rest) == rest { short } else { text::word(&path.display().to_string()) }
}

impl FileArgs {
    /// Returns what must be typed to mean the same file again.
    fn typed(&self, config: &Config) -> String {
        match &self.config {
            Some(path) => {
                let path = typed_path(&config.places.working.join(path), &config.places);
                format!(" --config {path}")
            }
            None => match self.scope() {
                Some(Reach::Global) => " --global".to_owned(),
                Some(Reach::Project) => " --scope project".to_owned(),
                None => String::new(),
            },
        }
    }

    fn scope(&self) -> Option<Reach> {
        self.scope.or(self.global.then_some(Reach::Global))
    }

    /// Returns for whom the file counts; nothing if it is named.
    fn reach(&self, client: Client) -> Option<Reach> {
        match self.config {
            Some(_) => None,
            None => Some(self.scope().unwrap_or(client.usual())),
        }
    }

    /// Returns the file that is meant for a client.
    fn find(&self, client: Client, config: &Config) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.config {
            return Ok(config.places.working.join(path));
        }
        let reach = self.scope().unwrap_or(client.usual());
        if let Some(path) = client.file(reach, config) {
            return Ok(path);
        }
        let title = client.title();
        if reach == Reach::Project {
            let message = format!("{title} has no file for a single project");
            return Err(Failure::refused("scope_unknown", message)
                .with_hint("leave out `--scope`, and name the project with `--dir`"));
        }
        let message = format!("the place where {title} keeps its file is unknown");
        Err(Failure::refused("home_missing", message).with_hint("name the file with `--config`"))
    }
}
