//! `milepost audit`: checks that the history of runs is as it was written, and that it holds to the
//! rules.

use clap_complete::ArgValueCompleter;
use definition::Answers;
use engine::{Refusal, RunId};
use runtime::{Audit, ExecuteError, Problem};
use serde_json::{Value, json};
use store::SqliteStore;

use crate::{
    complete,
    failure::Failure,
    join::Joined,
    output::{BAD, DIM, GOOD, NAME, Output, Reply, text},
};

/// How many runs are looked up at a time.
const PAGE: u32 = 256;

/// What `audit` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every event has a checksum that covers the one before it, so that a changed, missing \
                  or added byte of history is found. For each run it says how many events there \
                  are, and the checksum of the last; or the first event that is damaged. The exit \
                  code is 1 if anything is wrong. A run also must not be past a gate that was not \
                  answered in a way that counts, and no failure may have led forward. \
                  `milepost doctor` also checks the file itself.\n\nExamples:\n  milepost audit\n  milepost audit run_01k9w3m6q2 --json"
)]
pub(crate) struct Args {
    /// Only this run; without it, all that are in the database
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: Option<String>,
    /// Count only a person's own answers at every gate
    #[arg(long)]
    verified: bool,
}

/// Checks one run, or all.
pub(crate) async fn perform(
    joined: &Joined,
    args: &Args,
    output: Output,
) -> Result<Reply, Failure> {
    let gates = args.verified.then_some(Answers::Verified);
    let mut audits = Vec::new();
    let lost = match joined.file() {
        Ok((_, store)) => store.find_loss().await?,
        Err(_) => None,
    };
    if let Some(name) = &args.run {
        let run = joined.runtime.find_run(name).await?;
        audits.push(joined.runtime.audit(run, gates).await?);
    } else if let Ok((_, store)) = joined.file() {
        each(joined, (store, gates), |audit| {
            audits.push(audit);
            true
        })
        .await?;
        audits.extend(store.unlisted().await?.into_iter().map(unlisted));
    }
    Ok(reply(&audits, lost, output).with_note(joined.note()))
}

/// Checks all runs, the oldest first, until `more` says that it is enough.
pub(super) async fn each(
    joined: &Joined,
    (store, gates): (&SqliteStore, Option<Answers>),
    mut more: impl FnMut(Audit) -> bool,
) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let page = store.runs(after, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = *last;
        for (_, run) in page {
            let audit = joined.runtime.audit(run, gates).await;
            if matches!(audit, Err(ExecuteError::Refused(Refusal::RunUnknown(_)))) {
                // Someone deleted it since the page was read.
                continue;
            }
            if !more(audit?) {
                return Ok(());
            }
        }
    }
}

/// Words what is wrong with a run that has events and no row, so that its log has no known end.
fn unlisted(run: RunId) -> Audit {
    let text = "it has events, and the list of runs lacks it: restore a backup".to_owned();
    let problem = Problem { code: "unlisted", seq: None, text };
    Audit { run, events: 0, head: None, problems: vec![problem] }
}

fn reply(audits: &[Audit], lost: Option<String>, output: Output) -> Reply {
    let is_fine = lost.is_none() && audits.iter().all(|it| it.problems.is_empty());
    let json = json!({
        "is_fine": is_fine,
        "lost": lost,
        "runs": audits.iter().map(to_json).collect::<Vec<_>>(),
    });
    let mut text = String::new();
    if let Some(lost) = lost {
        let said = text::wrap(&text::line(&lost), output.width(), 2);
        text.push_str(&format!("{BAD}✗{BAD:#} {said}\n"));
    }
    for audit in audits {
        let (id, count) = (audit.run.short(), text::count(audit.events, "event"));
        let (mark, style) = if audit.problems.is_empty() { ('✓', GOOD) } else { ('✗', BAD) };
        let head = audit.head.as_deref().unwrap_or("damaged");
        text.push_str(&format!(
            "{style}{mark}{style:#} {NAME}{id}{NAME:#}  {count}  {DIM}{head}{DIM:#}\n"
        ));
        for problem in &audit.problems {
            let said = text::wrap(&text::line(&problem.text), output.width(), 4);
            text.push_str(&format!("    {said}\n"));
        }
    }
    Reply { is_fine, ..Reply::new(json, text) }
}

fn to_json(audit: &Audit) -> Value {
    let problems = audit
        .problems
        .iter()
        .map(|it| json!({"code": it.code, "seq": it.seq, "message": it.text}))
        .collect::<Vec<_>>();
    json!({
        "run": audit.run.short(),
        "instance_id": audit.run.to_string(),
        "events": audit.events,
        "head": audit.head,
        "problems": problems,
    })
}
