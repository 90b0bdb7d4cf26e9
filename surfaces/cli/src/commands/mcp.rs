//! `milepost mcp`: serves the tools to one client, over standard input and output.

use std::sync::Arc;

use mcp::ServeError;
use runtime::Runtime;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    background,
    config::Config,
    failure::Failure,
    join::{Access, Joined},
};

/// What `mcp` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "A client starts this itself. To add it to the clients that are here:\n  \
                        milepost setup\n\nOr in a client's own file, by hand:\n  {\"mcpServers\": {\"milepost\": {\"command\": \"milepost\", \
                        \"args\": [\"mcp\"]}}}\n\nStandard output carries only the protocol; what \
                        is logged goes to standard error.")]
pub(crate) struct Args {
    /// The toolsets to offer, separated by commas (setting `mcp.toolsets`)
    #[arg(long, value_name = "NAMES")]
    pub(crate) toolset: Option<String>,
}

/// Serves on standard input and output until the client is done.
pub(crate) async fn perform(config: Config) -> Result<(), Failure> {
    let (runtime, options) = begin(config).await?;
    mcp::serve_stdio(runtime, options).await.map_err(|it| not_served(&it))
}

/// Serves over these pipes until the client is done.
pub(crate) async fn serve<R, W>(config: Config, read: R, write: W) -> Result<(), Failure>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (runtime, options) = begin(config).await?;
    mcp::serve(runtime, options, read, write).await.map_err(|it| not_served(&it))
}

async fn begin(config: Config) -> Result<(Arc<Runtime>, mcp::Options), Failure> {
    check_toolsets(config.toolsets())?;
    let joined = Joined::open(config, Access::Create).await?;
    let options = joined.config.mcp(joined.seal_key()?);
    background::begin(&joined);
    Ok((joined.runtime, options))
}

fn not_served(error: &ServeError) -> Failure {
    match error {
        ServeError::Toolset(_) | ServeError::Client(_) => {
            Failure::refused("not_served", error.to_string())
        }
        ServeError::Broken(_) => Failure::fault("not_served", error.to_string()),
    }
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
