//! `milepost mcp`: serves the tools to one client, over standard input and output.

use crate::{
    background,
    config::Config,
    failure::Failure,
    join::{Access, Joined},
};

/// What `mcp` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A client starts this itself. To add it to one:\n  claude mcp add milepost -- \
                        milepost mcp\n  codex mcp add milepost -- milepost mcp\n\nOr in a client's \
                        own file:\n  {\"mcpServers\": {\"milepost\": {\"command\": \"milepost\", \
                        \"args\": [\"mcp\"]}}}\n\nStandard output carries only the protocol; what \
                        is logged goes to standard error."
)]
pub(crate) struct Args {
    /// The toolsets to offer, separated by commas (setting `mcp.toolsets`)
    #[arg(long, value_name = "NAMES")]
    pub(crate) toolset: Option<String>,
}

/// Serves until the client is done.
pub(crate) async fn perform(config: Config) -> Result<(), Failure> {
    check_toolsets(config.toolsets())?;
    let joined = Joined::open(config, Access::Create).await?;
    let options = joined.config.mcp(joined.seal_key()?);
    background::begin(&joined);
    let served = mcp::serve_stdio(joined.runtime, options).await;
    served.map_err(|error| match error {
        mcp::ServeError::Toolset(_) | mcp::ServeError::Client(_) => {
            Failure::refused("not_served", error.to_string())
        }
        mcp::ServeError::Broken(_) => Failure::fault("not_served", error.to_string()),
    })
}

/// Refuses names that no toolset has.
pub(crate) fn check_toolsets(names: &[String]) -> Result<(), Failure> {
    let unknown = names.iter().find(|it| !mcp::TOOLSETS.iter().any(|has| has.name == **it));
    let Some(name) = unknown else { return Ok(()) };
    let known: Vec<String> = mcp::TOOLSETS.iter().map(|it| format!("`{}`", it.name)).collect();
    let message = format!("there is no toolset `{name}`");
    let hint = format!("there are: {}", known.join(", "));
    Err(Failure::refused("toolset_unknown", message).with_hint(hint))
}
