//! `setup` without a client: offers each client that is found here, one after the other.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    ClientArgs, Consent, FileArgs, SERVER,
    change::NOT_CONFIRMED,
    client::{Client, Reach},
    file, server,
};
use crate::{
    config::Config,
    failure::Failure,
    output::{BAD, BOLD, DIM, GOOD, NAME, Output, Reply, text},
};

/// What `setup` takes without a client.
#[derive(Debug, clap::Args)]
pub(super) struct Offer {
    /// The toolsets that the clients get, separated by commas
    #[arg(long, value_name = "NAMES")]
    toolset: Option<String>,
    #[command(flatten)]
    consent: Consent,
}

/// A client that is used here.
struct Found {
    client: Client,
    /// What shows that.
    sign: PathBuf,
    /// The file that our entry is in, or would be in.
    file: PathBuf,
    has_entry: bool,
}

/// Offers what is found. Without a terminal and without consent, it is only listed.
pub(super) async fn perform(
    args: &Offer,
    config: &Config,
    output: Output,
) -> Result<Reply, Failure> {
    let found: Vec<Found> = Client::ALL.into_iter().filter_map(|it| find(it, config)).collect();
    if found.is_empty() {
        let names = Client::ALL.map(Client::name).join(", ");
        return Err(Failure::refused("client_missing", "no client was found here")
            .with_hint(format!("name the one you use: `milepost setup NAME`, of {names}")));
    }
    let consent = args.consent;
    if !consent.yes && !consent.dry_run && !output.is_interactive() {
        return Ok(listed(&found, config));
    }
    let mut rows = Vec::new();
    let mut is_fine = true;
    for found in &found {
        let title = found.client.title();
        say(output, &format!("\n{BOLD}{title}{BOLD:#} {DIM}{}{DIM:#}", sign(found, config)));
        if found.has_entry {
            let file = text::line(&config.places.short(&found.file));
            say(output, &format!("{GOOD}is set up{GOOD:#} in {file}"));
            rows.push(found.to_json());
            continue;
        }
        let client_args = client_args(args, found.client, config);
        match Box::pin(server::set(found.client, &client_args, config, output)).await {
            Ok(reply) => {
                rows.push(reply.json.clone());
                if !output.is_json {
                    output.reply(reply)?;
                }
            }
            Err(failure) => {
                let is_declined = failure.code == NOT_CONFIRMED;
                is_fine &= is_declined;
                let style = if is_declined { DIM } else { BAD };
                let message = text::lines(&failure.message);
                say(output, &format!("{style}not set up{style:#}: {message}"));
                rows.push(json!({"client": found.client.name(), "problem": failure.message}));
            }
        }
    }
    Ok(Reply { is_fine, ..Reply::new(json!({"is_fine": is_fine, "clients": rows}), "") })
}

fn say(output: Output, text: &str) {
    if !output.is_json {
        output.say(text);
    }
}

fn client_args(args: &Offer, client: Client, config: &Config) -> ClientArgs {
    ClientArgs {
        file: FileArgs::default(),
        name: SERVER.to_owned(),
        toolset: args.toolset.clone(),
        dir: client.needs_folder().then(|| config.places.root.clone()),
        undo: false,
        consent: args.consent,
    }
}

fn find(client: Client, config: &Config) -> Option<Found> {
    let sign = client.find_sign(config)?;
    let usual = client.file(client.usual(), config)?;
    let mut files: Vec<(Client, PathBuf)> =
        Reach::ALL.iter().filter_map(|it| Some((client, client.file(*it, config)?))).collect();
    // VS Code reads the file of Claude Code, and would start the server twice.
    if client == Client::Vscode {
        files.extend(Client::Claude.file(Reach::Project, config).map(|it| (Client::Claude, it)));
    }
    let has_entry = |(client, path): &(Client, PathBuf)| {
        let text = file::read(path).ok().flatten().unwrap_or_default();
        client.notation(path).find(&text, SERVER).is_ok_and(|it| it.is_some())
    };
    let own = files.into_iter().find(has_entry).map(|it| it.1);
    Some(Found { client, sign, has_entry: own.is_some(), file: own.unwrap_or(usual) })
}

fn sign(found: &Found, config: &Config) -> String {
    format!("found by {}", text::line(&config.places.short(&found.sign)))
}

fn listed(found: &[Found], config: &Config) -> Reply {
    let mut said = String::new();
    for found in found {
        let client = found.client;
        let title = text::pad(client.title(), 15);
        let file = text::line(&config.places.short(&found.file));
        if found.has_entry {
            said.push_str(&format!("{GOOD}✓{GOOD:#} {title} is set up in {file}\n"));
            continue;
        }
        let dir = if client.needs_folder() { " --dir ." } else { "" };
        let command = text::pad(&format!("milepost setup {}{dir}", client.name()), 40);
        said.push_str(&format!("  {title} {NAME}{command}{NAME:#} {DIM}{file}{DIM:#}\n"));
    }
    let rows: Vec<Value> = found.iter().map(Found::to_json).collect();
    let note =
        format!("{DIM}Nothing was written. `milepost setup --yes` sets up all of them.{DIM:#}");
    let is_done = found.iter().all(|it| it.has_entry);
    Reply::new(json!({"is_fine": true, "clients": rows}), said)
        .with_note((!is_done).then_some(note))
}

impl Found {
    fn to_json(&self) -> Value {
        json!({
            "client": self.client.name(),
            "title": self.client.title(),
            "found_by": self.sign.display().to_string(),
            "file": self.file.display().to_string(),
            "has_entry": self.has_entry,
        })
    }
}
