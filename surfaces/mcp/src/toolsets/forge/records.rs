//! What past pipelines teach, for the tools that still hold a runtime.

use definition::Finding;
use dialects::forge::records::{self, Past};
use insight::past::{SpecState, Summary};

use super::{answer::Failure, place::Folder};
use crate::tool::{Call, Reach, caller};

/// Returns what is known for a pipeline of this name.
pub(super) async fn past(call: &Call<'_>, spec_name: &str) -> Past {
    let caller = caller(call);
    Reach { runtime: call.runtime, caller: &caller }.see(records::past(&caller, spec_name)).await
}

/// Takes what changed among the specs into the history now.
pub(super) async fn index_now(call: &Call<'_>) {
    let caller = caller(call);
    Reach { runtime: call.runtime, caller: &caller }.see(records::index_now(&caller)).await;
}

/// Sums up the pipeline of a workspace whose state is known.
pub(super) async fn summary_of(
    call: &Call<'_>,
    workspace: &Folder,
    state: SpecState,
) -> Result<Summary, Failure> {
    let caller = caller(call);
    let summary = records::summary_of(&caller, &workspace.0, state);
    Reach { runtime: call.runtime, caller: &caller }.see(summary).await
}

/// Takes the findings of one review in, also where it has none.
pub(super) async fn accumulate(
    call: &Call<'_>,
    findings: Vec<Finding>,
    agent: String,
) -> Result<(), String> {
    let caller = caller(call);
    let write = records::accumulate(&caller, findings, agent);
    Reach { runtime: call.runtime, caller: &caller }.write(write).await
}
