//! `milepost brief`: what a newcomer needs to go on. For people, and for hooks that run when an
//! agent's session begins.

use clap_complete::ArgValueCompleter;
use definition::Workflow;
use runtime::RunFilter;
use serde_json::json;

use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{Reply, text},
    wire,
};

/// How many live runs are looked at for one of this folder.
const LOOKED_AT_MAX: u32 = 100;

/// What `brief` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without a run it is the one of this folder that changed last and is not \
                        over; if there is none, nothing is printed.\n\nExamples:\n  milepost \
                        brief\n  milepost brief 0204 --max-tokens 800")]
pub(crate) struct Args {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: Option<String>,
    /// How long it may be (setting `brief.tokens`)
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<usize>,
}

/// Prints a brief.
pub(crate) async fn perform(joined: &Joined, args: &Args) -> Result<Reply, Failure> {
    let runtime = &joined.runtime;
    let found = match &args.run {
        Some(text) => Some(runtime.find_run(text).await?),
        None => {
            let statuses = vec!["running".to_owned(), "waiting".to_owned()];
            let filter = RunFilter { statuses, limit: LOOKED_AT_MAX, ..RunFilter::default() };
            let page = runtime.list_runs(filter).await?;
            page.rows.iter().find(|it| runtime.is_here(&it.summary)).map(|it| it.run)
        }
    };
    let Some(run) = found else {
        let json = json!({"run": null, "brief": null});
        let nothing = "No run is going on in this folder.".to_owned();
        return Ok(Reply::new(json, "").with_note(joined.note().unwrap_or(nothing)));
    };
    let usual = joined.config.toolsets();
    let words = |it: &Workflow| mcp::find_words(it, usual);
    let (view, brief, drift) = mcp::brief(runtime, run, args.max_tokens, words).await?;
    let json = json!({
        "run": wire::run(&view),
        "brief": brief.text,
        "dropped": brief.dropped,
        "drift": drift,
    });
    Ok(Reply::new(json, text::lines(&brief.text)))
}
