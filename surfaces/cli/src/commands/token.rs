//! `milepost token`: who may do what with a server, and act as a person where there is no terminal.

use clap::{Subcommand, ValueEnum};
use runtime::World as _;
use serde_json::json;
use world::RealWorld;

use crate::{
    config::Config,
    door::{PersonsDoor, TokenArgs},
    failure::Failure,
    output::{BOLD, DIM, NAME, Output, Reply, table::Grid, text},
    token::{self, Issued},
};

/// How much of an id is shown, in letters.
const ID_LETTERS: usize = 12;

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a token, and print it once
    #[command(
        after_help = "Only its digest is kept. Do not put a token with the scope `approve` where an \
                      agent can read it, nor into a variable that an agent inherits.\n\nExamples:\n  \
                      milepost token new --scope approve --name phone\n  milepost token new --scope \
                      read --name dashboard"
    )]
    New(NewArgs),
    /// List the tokens there are
    #[command(visible_alias = "ls")]
    List,
    /// Revoke a token, by its name or the beginning of its id
    Revoke {
        /// Its name, or the beginning of its id
        #[arg(value_name = "TOKEN")]
        token: String,
    },
}

/// What `token new` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// What its bearer may do; each includes those before it
    #[arg(long, value_name = "SCOPE")]
    scope: Scope,
    /// What you call it
    #[arg(long, value_name = "NAME")]
    name: String,
    #[command(flatten)]
    token: TokenArgs,
}

/// What the bearer of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Look
    Read,
    /// Have work done
    Write,
    /// Answer gates, trust projects and make tokens, as a person
    Approve,
}

impl From<Scope> for mcp::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Read => Self::Read,
            Scope::Write => Self::Write,
            Scope::Approve => Self::Approve,
        }
    }
}

/// Runs the command.
pub(crate) fn perform(command: Command, config: &Config, output: Output) -> Result<Reply, Failure> {
    match command {
        Command::New(args) => new(&args, config),
        Command::List => Ok(list(config, output)),
        Command::Revoke { token } => revoke(&token, config),
    }
}

fn new(args: &NewArgs, config: &Config) -> Result<Reply, Failure> {
    PersonsDoor::find(config, &args.token, "make a token")?;
    let name = args.name.trim().to_owned();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::usage("a token needs a name in one line"));
    }
    if config.tokens().list().iter().any(|(_, it)| it.name == name) {
        let message = format!("there is a token `{name}` already");
        return Err(Failure::refused("token_exists", message)
            .with_hint("give it another name, or revoke that one first"));
    }
    let scope = args.scope.into();
    let issued = Issued { name, scope, at: now(config) };
    let token = config.tokens().issue(&issued).map_err(|error| {
        Failure::fault("not_kept", format!("the token could not be written down: {error}"))
    })?;
    let word = token::word(scope);
    let json = json!({"token": token, "name": issued.name, "scope": word});
    let note = format!("{DIM}It is shown this once. Its scope is {DIM:#}{BOLD}{word}{BOLD:#}.");
    Ok(Reply::new(json, format!("{token}\n")).with_note(note))
}

fn now(config: &Config) -> String {
    RealWorld::new(config.world()).now().to_string()
}

fn list(config: &Config, output: Output) -> Reply {
    let all = config.tokens().list();
    let mut grid = Grid::new(&["NAME", "SCOPE", "MADE", "ID"]).flexible(&[0]);
    let short = |id: &str| id.chars().take(ID_LETTERS).collect::<String>();
    for (id, issued) in &all {
        let name = grid.paint(NAME, &text::line(&issued.name));
        let scope = token::word(issued.scope).to_owned();
        grid.add(vec![name, scope, text::line(&issued.at), short(id)]);
    }
    let json = json!({"tokens": all.iter().map(|(id, it)| json!({
        "id": short(id), "name": it.name, "scope": token::word(it.scope), "at": it.at,
    })).collect::<Vec<_>>()});
    let text = if all.is_empty() { String::new() } else { output.draw(grid) };
    let note = all.is_empty().then(|| "There are no tokens.".to_owned());
    Reply::new(json, text).with_note(note)
}

fn revoke(wanted: &str, config: &Config) -> Result<Reply, Failure> {
    let all = config.tokens().list();
    let named = all.iter().filter(|(_, it)| it.name == wanted);
    let starting = all.iter().filter(|(id, _)| 4 <= wanted.len() && id.starts_with(wanted));
    let mut found: Vec<&(String, Issued)> = named.chain(starting).collect();
    found.dedup();
    let [(id, issued)] = found.as_slice() else {
        let message = format!("there is not one token `{}`", text::line(wanted));
        return Err(Failure::refused("token_unknown", message)
            .with_hint("`milepost token list` shows those there are"));
    };
    config.tokens().revoke(id)?;
    let name = &issued.name;
    Ok(Reply::new(json!({"revoked": name}), format!("revoked `{}`\n", text::line(name))))
}
