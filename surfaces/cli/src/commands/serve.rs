//! `milepost serve`: a status page on this machine. Nobody but this machine can reach it.

mod page;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use runtime::RunFilter;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    background,
    config::Config,
    failure::Failure,
    join::{Access, Database, Joined},
    output::{BOLD, DIM, GOOD, NAME, Output},
};

/// What `serve` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  milepost serve\n  milepost serve --address 127.0.0.1:8000\n\n\
                        /healthz says that the process lives, /readyz that its database answers."
)]
pub(crate) struct Args {
    /// Where to listen, on this machine only (setting `serve.address`)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) address: Option<String>,
}

/// Serves until it is told to stop.
pub(crate) async fn perform(config: Config, output: Output) -> Result<(), Failure> {
    let address =
        config.address().ok_or_else(|| Failure::usage("`serve.address` is no address"))?;
    if !address.ip().is_loopback() {
        let message = format!("`{address}` can be reached from other machines");
        return Err(Failure::refused("address_not_local", message)
            .with_hint("listen on 127.0.0.1; there are no tokens yet that would guard it"));
    }
    let listener = TcpListener::bind(address).await.map_err(|error| not_bound(address, &error))?;
    let address = listener.local_addr()?;
    let joined = Arc::new(Joined::open(config, Access::Create).await?);
    greet(&joined, address, output)?;
    background::begin(&joined);
    let pages = Router::new()
        .route("/", get(status))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .layer(middleware::from_fn(check_host))
        .with_state(joined);
    axum::serve(listener, pages).with_graceful_shutdown(told_to_stop()).await?;
    output.say("Stopped.");
    Ok(())
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
    let database = match &joined.database {
        Database::File { path, .. } | Database::Missing { path } => path.display().to_string(),
        Database::Memory => "in memory".to_owned(),
    };
    if output.is_json {
        return output
            .json_line(json!({"address": format!("http://{address}"), "database": database}));
    }
    let project = joined.config.places.project.display();
    output.print(&format!(
        "{GOOD}Milepost is at{GOOD:#} {BOLD}http://{address}/{BOLD:#}\n\
         {DIM}project   {project}\ndatabase  {database}{DIM:#}\n\n\
         Let an agent use it:    {NAME}claude mcp add milepost -- milepost mcp{NAME:#}\n\
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

/// Refuses whoever comes under another name: a page elsewhere whose name leads to this machine.
async fn check_host(headers: HeaderMap, request: Request, next: Next) -> Response {
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    // A name that only begins like an address of this machine is not one.
    let name = host.rsplit_once(':').filter(|it| it.1.bytes().all(|it| it.is_ascii_digit()));
    let name = name.map_or(host, |it| it.0).trim_matches(['[', ']']);
    let is_local = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    if is_local {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "this server answers only to this machine's own names\n")
        .into_response()
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
