//! `milepost backup`: a copy of the database, as it is at one moment.

use std::{fs, path::PathBuf};

use clap::ValueHint;
use serde_json::json;

use crate::{
    failure::Failure,
    join::Joined,
    output::{Reply, text},
};

/// What `backup` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Servers keep working meanwhile, and the copy is complete. Nothing is overwritten.\n\n\
                        Example:\n  milepost backup \"milepost-$(date +%F).db\""
)]
pub(crate) struct Args {
    /// Where to put the copy
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    path: PathBuf,
}

/// Makes the copy.
pub(crate) async fn perform(joined: &Joined, args: &Args) -> Result<Reply, Failure> {
    let (from, store) = joined.file()?;
    let to = joined.config.places.working.join(&args.path);
    if to.exists() {
        let message = format!("`{}` is there already", to.display());
        return Err(Failure::refused("file_exists", message).with_hint("name another path"));
    }
    store.backup(&to).await?;
    let bytes = fs::metadata(&to)?.len();
    let json =
        json!({"from": from.display().to_string(), "to": to.display().to_string(), "bytes": bytes});
    let text = format!("copied {} to {} ({})", from.display(), to.display(), text::bytes(bytes));
    Ok(Reply::new(json, text))
}
