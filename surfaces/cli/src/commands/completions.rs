//! `milepost completions`: what a shell sources to complete our command lines. The shell asks the
//! binary itself at each press of the key, so run ids and workflow names are fresh.

use clap_complete::{Shell, env::Shells};
use serde_json::json;

use crate::{
    failure::Failure,
    output::{Output, Reply},
};

/// The variable by which a shell asks for completions.
const VARIABLE: &str = "COMPLETE";

/// What `completions` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  echo 'source <(milepost completions bash)' >> ~/.bashrc\n  \
                        echo 'source <(milepost completions zsh)' >> ~/.zshrc\n  milepost \
                        completions fish > ~/.config/fish/completions/milepost.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints it.
pub(crate) fn perform(args: &Args, output: Output) -> Result<(), Failure> {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(&name) else {
        return Err(Failure::usage(format!("the shell `{name}` is not known")));
    };
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "milepost", "milepost", "milepost", &mut script)?;
    let script = String::from_utf8_lossy(&script).into_owned();
    output.reply(Reply::new(json!({"shell": name, "script": script}), script))
}
