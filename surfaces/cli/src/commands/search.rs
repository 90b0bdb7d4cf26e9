//! `milepost search`: finds words in what people and agents wrote.

use clap_complete::ArgValueCompleter;
use serde_json::json;

use crate::{
    commands::run::short,
    complete,
    failure::Failure,
    join::Joined,
    output::{DIM, NAME, Output, Reply, text},
    wire,
};

/// What `search` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every word must occur; a last `*` stands for any ending, quotes keep words \
                        together.\n\nExamples:\n  milepost search timeout\n  milepost search \
                        'migrat* failed'\n  milepost search '\"unit tests\"' --run 0204"
)]
pub(crate) struct Args {
    /// The words
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// Only in this run
    #[arg(short, long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: Option<String>,
    /// How many to show, at most 100
    #[arg(short, long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// How many to leave out first
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    offset: u32,
}

/// Searches.
pub(crate) async fn perform(
    joined: &Joined,
    args: &Args,
    output: Output,
) -> Result<Reply, Failure> {
    let run = match &args.run {
        Some(text) => Some(joined.runtime.find_run(text).await?),
        None => None,
    };
    let words = args.words.join(" ");
    let found = joined.runtime.search(&words, run, (args.offset, args.limit)).await?;
    let (warning, hits) = (found.warning(), found.hits);
    let json = json!({
        "hits": hits.iter().map(wire::hit).collect::<Vec<_>>(),
        "pending": found.pending,
    });
    let mut text = String::new();
    for hit in &hits {
        let id = short(hit.run);
        let when = text::ago(joined.runtime.now(), hit.at);
        let (kind, seq) = (&hit.kind, hit.seq);
        text.push_str(&format!("{NAME}{id}{NAME:#} {DIM}#{seq} {kind}, {when}{DIM:#}\n"));
        let snippet = text::wrap(&text::line(&hit.snippet), output.width(), 2);
        text.push_str(&format!("  {snippet}\n"));
    }
    let nothing = || hits.is_empty().then(|| "Nothing was found.".to_owned());
    Ok(Reply::new(json, text).with_note(joined.note().or(warning).or_else(nothing)))
}
