//! The run that a caller names, and commands on it.

use engine::{Command, RunId};

use super::words::{Failure, Tried};
use crate::kit::{Ask, Deed, Look, Outcome, Stopped, Tell, Tool};

/// What a command came to.
pub(super) type Came = Result<Outcome, Stopped>;

/// Finds the run that a caller names.
pub(super) fn find<T: Tool<Failure = Failure>>(
    instance: String,
    tried: Tried,
    then: impl FnOnce(RunId) -> Ask + Send + 'static,
) -> Ask {
    Ask::Look(Look::Run(instance, tried.or_fail::<T, _, _>(then)))
}

/// Asks for a command on a run, under the name that the caller gives itself.
pub(super) fn change(
    run: RunId,
    command: Command,
    by: Option<String>,
    then: impl FnOnce(Came) -> Tell + Send + 'static,
) -> Ask {
    Ask::Do(Deed::Change { run, command: Box::new(command), by }, Box::new(then))
}
