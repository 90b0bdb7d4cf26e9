//! How a person proves to be one: by a terminal, or a token with the scope `approve`.
//!
//! What only a person may do takes a [`PersonsDoor`], and only this file can make one.

use std::path::PathBuf;

use clap::ValueHint;
use engine::{Actor, How};
use mcp::Scope;
use world::Secret;

use crate::{config::Config, failure::Failure, join::actor};

/// The largest file that holds a token.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

/// What agents set in the shells that they start. Some give them a terminal of their own.
const AGENTS: [&str; 7] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "QWEN_CODE",
];

/// Options of commands that only a person may give.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TokenArgs {
    /// Where there is no terminal: a file with a token of the scope `approve`. The variable
    /// `MILEPOST_APPROVE_TOKEN` may hold the token itself
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    token_file: Option<PathBuf>,
}

/// The proof that a person gives the command.
#[derive(Debug)]
pub(crate) struct PersonsDoor {
    /// Who it is, for the history.
    by: String,
    way: Way,
}

#[derive(Debug, PartialEq, Eq)]
enum Way {
    Terminal,
    /// By the name of the token.
    Token(String),
}

impl PersonsDoor {
    /// Returns the door that a command comes through, or says why it is not a person's. `what` is
    /// what a person would do by it: `answer`, say.
    pub(crate) fn find(config: &Config, args: &TokenArgs, what: &str) -> Result<Self, Failure> {
        if let Some(path) = &args.token_file {
            let text = world::beneath::read_named(path, TOKEN_BYTES_MAX).map_err(|error| {
                let message = format!("the token in `{}` cannot be read: {error}", path.display());
                Failure::refused("token_unusable", message)
            })?;
            return Self::by_token(config, &text);
        }
        if let (true, Some(agent)) = (is_at_terminal(), config.agent) {
            return Err(an_agents_terminal(what, agent));
        }
        if is_at_terminal() {
            return Ok(Self { by: config.person.clone(), way: Way::Terminal });
        }
        match &config.approve_token {
            Some(token) => Self::by_token(config, token.expose()),
            None => Err(not_a_person(what)),
        }
    }

    fn by_token(config: &Config, token: &str) -> Result<Self, Failure> {
        let hint = "a person makes one with `milepost token new --scope approve` in a terminal";
        let Some(issued) = config.tokens().find(token) else {
            let message = "the token is not known here, or was revoked";
            return Err(Failure::refused("token_unknown", message).with_hint(hint));
        };
        if issued.scope != Scope::Approve {
            let message = format!("the token `{}` does not have the scope `approve`", issued.name);
            return Err(Failure::refused("token_scope", message).with_hint(hint));
        }
        let by = format!("the bearer of the token `{}`", issued.name);
        Ok(Self { by, way: Way::Token(issued.name) })
    }

    /// Returns whether the person can be asked something.
    pub(crate) fn is_terminal(&self) -> bool {
        self.way == Way::Terminal
    }

    /// Returns how an answer through this door counts.
    pub(crate) fn how(&self) -> How {
        How::Verified
    }

    /// Returns who answers, for the history.
    pub(crate) fn by(&self) -> &str {
        &self.by
    }

    /// Returns who acts, with the door that they came through.
    pub(crate) fn actor(&self, config: &Config) -> Actor {
        let way = match &self.way {
            Way::Terminal => "at a terminal".to_owned(),
            Way::Token(name) => format!("by the token `{name}`"),
        };
        let actor = actor(config);
        Actor { client: actor.client.map(|it| format!("{it} {way}")), ..actor }
    }
}

/// Returns whether standard input and standard error are the terminal that this process is
/// controlled from, and it is the one in the foreground. A terminal that was only passed on, or that
/// somebody else uses at the moment, does not count.
#[cfg(unix)]
pub(crate) fn is_at_terminal() -> bool {
    use rustix::{process::getpgrp, termios::tcgetpgrp};
    let own = Ok(getpgrp());
    tcgetpgrp(std::io::stdin()) == own && tcgetpgrp(std::io::stderr()) == own
}

#[cfg(not(unix))]
pub(crate) fn is_at_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Returns the refusal of a command that may not come from a person.
fn not_a_person(what: &str) -> Failure {
    let message = format!(
        "only a person can {what}: there is no terminal here, and no token with the scope `approve`"
    );
    Failure::refused("person_needed", message).with_hint(
        "run it in a terminal yourself, or name a token with `--token-file`; an agent must not run \
         it: tell the person",
    )
}

/// Returns the refusal of a command at a terminal that an agent started.
fn an_agents_terminal(what: &str, agent: &str) -> Failure {
    let message =
        format!("only a person can {what}: `{agent}` is set, so an agent started this terminal");
    Failure::refused("person_needed", message).with_hint(
        "run it in a terminal that you opened yourself; an agent must not run it: tell the person",
    )
}

/// Returns the variable that says that an agent started this shell, if one is set.
pub(crate) fn find_agent(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    AGENTS.into_iter().find(|it| is_set(it))
}

/// Returns the token in a variable of the environment.
pub(crate) fn token_of(text: Option<&String>) -> Option<Secret> {
    text.map(|it| Secret::new(it)).filter(|it| !it.expose().is_empty())
}
