//! The commands: one file for each noun.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod brief;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod devworkflow;
pub(crate) mod doctor;
pub(crate) mod gate;
pub(crate) mod generation;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod mcp;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod scratch;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod token;
pub(crate) mod trust;
pub(crate) mod workflow;

use crate::{
    args::{Args, Command},
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{Output, Reply},
};

/// Runs one command, and returns whether everything is fine.
pub(crate) async fn perform(args: Args, config: Config, output: Output) -> Result<bool, Failure> {
    let Some(reply) = Box::pin(answer(args, config, output)).await? else { return Ok(true) };
    let is_fine = reply.is_fine;
    output.reply(reply)?;
    Ok(is_fine)
}

/// Runs one command, and returns its reply, unless it has printed that itself.
pub(crate) async fn answer(
    args: Args,
    config: Config,
    output: Output,
) -> Result<Option<Reply>, Failure> {
    let existing = |config| Joined::open(config, Access::Existing);
    let reply = match args.command {
        Command::Mcp(_) => return mcp::perform(config).await.map(|()| None),
        Command::Serve(_) => return serve::perform(config, output).await.map(|()| None),
        Command::Demo(args) => return demo::perform(&args, output).await.map(|()| None),
        Command::Completions(args) => return completions::perform(&args, output).map(|()| None),
        // A hook is answered before the settings are looked through, so that they cannot fail it.
        Command::Hook(_) => return Ok(None),
        Command::Doctor => doctor::perform(config, output).await?,
        Command::Config(command) => config::perform(command, &config, output).await?,
        Command::Restore(args) => restore::perform(&args, &config).await?,
        Command::Trust(args) => trust::perform(args, config, output).await?,
        Command::Token(command) => token::perform(command, &config, output)?,
        Command::Setup(args) => setup::perform(args, &config, output).await?,
        Command::Generation(command) => generation::perform(command, config, output).await?,
        Command::Devworkflow(command) => {
            return devworkflow::perform(command, config, output).await;
        }
        Command::Import(command) => import::perform(command, config, output).await?,
        Command::Run(run::Command::Watch(args)) => {
            return run::watch(&existing(config).await?, &args, output).await.map(|()| None);
        }
        Command::Run(command) => run::perform(&existing(config).await?, command, output).await?,
        Command::Gate(args) => gate::perform(&existing(config).await?, args, output).await?,
        Command::Workflow(command) => {
            workflow::perform(&existing(config).await?, command, output).await?
        }
        Command::Search(args) => search::perform(&existing(config).await?, &args, output).await?,
        Command::Brief(args) => brief::perform(&existing(config).await?, &args).await?,
        Command::Audit(args) => audit::perform(&existing(config).await?, &args, output).await?,
        Command::Backup(args) => backup::perform(&existing(config).await?, &args).await?,
    };
    Ok(Some(reply))
}
