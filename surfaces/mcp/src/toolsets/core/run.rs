//! Finds the run that an `instance_id` means.

use engine::{Actor, Command, Refusal, RunId};
use runtime::{ExecuteError, Outcome, Request, RunFilter, Runtime, Target};

use super::words::invalid;
use crate::tool::Call;

/// Returns the run: by its id in either form, or by its key. A key means the run that is not over.
pub(super) async fn find(runtime: &Runtime, text: &str) -> Result<RunId, ExecuteError> {
    let text = text.trim();
    if let Some(run) = RunId::parse(text) {
        return Ok(run);
    }
    if text.is_empty() {
        return Err(Refusal::RunUnknown(text.to_owned()).into());
    }
    let filter = RunFilter { key: Some(text.to_owned()), limit: 20, ..RunFilter::default() };
    let rows = runtime.list_runs(filter).await?.rows;
    let live: Vec<_> = rows.iter().filter(|it| it.summary.is_live).collect();
    match (live.as_slice(), rows.first()) {
        ([only], _) => Ok(only.run),
        ([], Some(newest)) => Ok(newest.run),
        ([], None) => Err(Refusal::RunUnknown(text.to_owned()).into()),
        (several, _) => {
            let runs: Vec<String> = several.iter().map(|it| it.run.short()).collect();
            let problem = format!("several runs have the key `{text}`: {}", runs.join(", "));
            Err(invalid("instance_id", problem))
        }
    }
}

/// Executes a command for the caller.
pub(super) async fn execute(
    call: &Call<'_>,
    run: RunId,
    command: Command,
    request_id: Option<String>,
) -> Result<Outcome, ExecuteError> {
    let target = Target::Run(run);
    let actor = call.actor.clone();
    call.runtime.execute(Request { target, command, actor, request_id }).await
}

/// Returns the caller under the name that it gives itself.
pub(super) fn named(call: &Call<'_>, name: Option<&str>) -> Actor {
    Actor { name: name.map(ToOwned::to_owned), ..call.actor.clone() }
}
