//! Has commands executed, under the name that a caller gives itself.

use engine::{Actor, Command, RunId};
use runtime::{ExecuteError, Outcome, Request, Target};

use crate::tool::Call;

/// Has a command executed for the caller.
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

/// Returns the call under the name that the caller gives itself.
pub(super) fn named<'a>(call: &Call<'a>, name: Option<&str>) -> Call<'a> {
    let actor = Actor { name: name.map(ToOwned::to_owned), ..call.actor.clone() };
    Call { actor, person: call.person.clone(), request_id: call.request_id.clone(), ..*call }
}
