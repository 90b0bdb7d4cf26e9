//! `milepost serve`: the tools for agents over HTTP, and a status page. By default it listens on this
//! machine only.

pub(crate) mod connections;
mod guard;
mod page;

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    middleware,
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use runtime::RunFilter;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use guard::Needed;

use crate::{
    background,
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{BOLD, DIM, GOOD, NAME, Output},
    secret::Token,
};

/// How long clients may take to finish once the server was told to stop.
const PARTING: Duration = Duration::from_secs(5);

/// How many connections may wait to be taken in. The system may have a lower limit.
const WAITING_MAX: u32 = 4096;

/// What `serve` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  milepost serve\n  milepost serve --address 127.0.0.1:8000\n  \
                        milepost serve --address 0.0.0.0:7420 --token-file token.txt\n\n\
                        Agents connect to /mcp. / shows the newest runs. /healthz says that the \
                        process lives, /readyz that its database answers."
)]
pub(crate) struct Args {
    /// Where to listen (setting `serve.address`)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) address: Option<String>,
    /// A file with the token that every request must carry; needed where other machines can reach
    /// the address (setting `serve.token_file`)
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<String>,
}

/// Serves until it is told to stop.
pub(crate) async fn perform(config: Config, output: Output) -> Result<(), Failure> {
    let address =
        config.address().ok_or_else(|| Failure::usage("`serve.address` is not an address"))?;
    let (token, tokens) = (find_token(&config, address)?, config.tokens());
    let listener = listen(address).map_err(|error| not_bound(address, &error))?;
    let address = listener.local_addr()?;
    let joined = Arc::new(Joined::open(config, Access::Share).await?);
    let stop = CancellationToken::new();
    let hosts = guard::hosts(address, joined.config.hosts());
    let endpoint = mcp::endpoint(
        Arc::clone(&joined.runtime),
        &joined.config.mcp(joined.seal_key()?),
        &joined.config.http(hosts.clone(), stop.clone()),
    )
    .map_err(|error| Failure::refused("toolset_unknown", error.to_string()))?;
    let mut told = pin!(told_to_stop());
    // Signals are heard from here on: the greeting says that Ctrl-C stops it.
    tokio::select! {
        biased;
        () = &mut told => return Ok(()),
        () = std::future::ready(()) => greet(&joined, address, output)?,
    }
    background::begin(&joined);
    let (runtime, mut limits) = (Arc::clone(&joined.runtime), joined.config.connections());
    let guard = Arc::new(guard::Guard { hosts, token, tokens });
    let pages = Router::new()
        .route("/", get(status))
        .route("/readyz", get(ready))
        .with_state(joined)
        .route("/mcp", endpoint)
        .layer(middleware::from_fn_with_state(guard, guard::check))
        // Anyone who watches over processes has no token.
        .route("/healthz", get(|| async { "ok\n" }));
    limits.connections = connections::room(limits.connections);
    let serving = connections::serve(listener, pages, limits, stop.clone());
    let parting = async {
        told.await;
        stop.cancel();
        // Requests that take longer are dropped, and so are all at a second signal.
        tokio::select! {
            () = runtime.sleep(PARTING) => {}
            () = told_to_stop() => {}
        }
    };
    tokio::select! {
        () = serving => {}
        () = parting => tracing::warn!("some clients were still connected"),
    }
    output.say("Stopped.");
    Ok(())
}

/// Listens at `address`, with room for many who connect at the same moment.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that is started again must not wait until the old connections are forgotten.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

/// Returns the token that requests must carry; one must be there where others can reach us.
fn find_token(config: &Config, address: SocketAddr) -> Result<Needed, Failure> {
    if let Some(path) = config.token_file() {
        return Token::read(path).map(Needed::Own).map_err(|problem| {
            let message = format!("the token in `{}` cannot be used: {problem}", path.display());
            Failure::refused("token_unusable", message)
                .with_hint("one of 32 random letters is good")
        });
    }
    if address.ip().is_loopback() {
        return Ok(Needed::None);
    }
    if !config.tokens().list().is_empty() {
        return Ok(Needed::Issued);
    }
    let message = format!("`{address}` can be reached from other machines, and nothing guards it");
    Err(Failure::refused("address_not_guarded", message).with_hint(
        "listen on 127.0.0.1, or name a file with a token: `--token-file FILE` or \
         `serve.token_file`; `milepost token new` makes tokens with scopes",
    ))
}

fn not_bound(address: SocketAddr, error: &io::Error) -> Failure {
    if error.kind() != io::ErrorKind::AddrInUse {
        return Failure::fault("not_bound", format!("`{address}` cannot be listened on: {error}"));
    }
    let port = address.port();
    let message = format!("port {port} is taken: something else listens on `{address}`");
    let other = SocketAddr::new(address.ip(), port.saturating_add(1));
    Failure::refused("port_taken", message).with_hint(format!(
        "if it is another `milepost serve`, use that one; else try `milepost serve --address {other}`"
    ))
}

/// Says where it is, and what to do next.
fn greet(joined: &Joined, address: SocketAddr, output: Output) -> Result<(), Failure> {
    let database = joined.database.to_string();
    if output.is_json {
        return output.json_line(json!({
            "address": format!("http://{address}"),
            "mcp": format!("http://{address}/mcp"),
            "database": database,
        }));
    }
    let project = joined.config.places.project.display();
    let name = match joined.config.hosts().first() {
        Some(host) => format!("{host}:{}", address.port()),
        None => address.to_string(),
    };
    let token = joined.config.token_file().map_or(String::new(), |it| {
        format!(" --header \"Authorization: Bearer $(cat {})\"", it.display())
    });
    output.print(&format!(
        "{GOOD}Milepost is at{GOOD:#} {BOLD}http://{address}/{BOLD:#}\n\
         {DIM}project   {project}\ndatabase  {database}{DIM:#}\n\n\
         Let an agent use it:    {NAME}milepost setup{NAME:#}\n\
         or over HTTP:           {NAME}claude mcp add --transport http milepost http://{name}/mcp{token}{NAME:#}\n\
         Have a workflow done:   tell the agent {NAME}Start the workflow WORK with milepost{NAME:#}\n\
         See what there is:      {NAME}milepost workflow list{NAME:#}\n\n\
         {DIM}Ctrl-C stops it.{DIM:#}\n"
    ))
}

/// Ends on Ctrl-C and when the system says so.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut ended) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = ended.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    // Without a way to be told, it goes on until it is killed.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn ready(State(joined): State<Arc<Joined>>) -> Response {
    let asked = joined.runtime.list_runs(RunFilter { limit: 1, ..RunFilter::default() }).await;
    match asked {
        Ok(_) => "ready\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn status(State(joined): State<Arc<Joined>>) -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    match page::render(&joined).await {
        Ok(page) => (headers, Html(page)).into_response(),
        Err(failure) => (StatusCode::SERVICE_UNAVAILABLE, failure.message).into_response(),
    }
}
