//! The run that a caller names, and commands on it.

use engine::{Command, RunId};

use super::words::Failure;
use crate::kit::{Answer, Ask, Deed, Look, Next, Outcome, Stopped, Tell, Tool};

/// What a command came to.
pub(super) type Came = Result<Outcome, Stopped>;

/// Finds the run that a caller names. `tried` says what cannot be done without it.
pub(super) fn find<T: Tool<Failure = Failure>>(
    instance: String,
    tried: &str,
    then: impl FnOnce(RunId) -> Ask + Send + 'static,
) -> Ask {
    let tried = tried.to_owned();
    let found = move |found| match found {
        Ok(run) => then(run),
        Err(stopped) => T::fail(Failure::new(&tried, &stopped)).into(),
    };
    Ask::Look(Look::Run(instance, Box::new(found)))
}

/// Asks for a command on a run, under the name that the caller gives itself.
pub(super) fn change(
    run: RunId,
    command: Command,
    by: Option<String>,
    then: impl FnOnce(Came) -> Tell + Send + 'static,
) -> Ask {
    let deed = Deed::Change { run, command: Box::new(command), by };
    Ask::Do(deed, Box::new(then))
}

/// Goes on with what was seen or done, or says what was tried and why it failed.
pub(super) fn or_fail<T: Tool<Failure = Failure>, V: 'static>(
    tried: &str,
    then: impl FnOnce(V) -> Tell + Send + 'static,
) -> Next<Result<V, Stopped>, Tell> {
    let tried = tried.to_owned();
    Box::new(move |came| match came {
        Ok(came) => then(came),
        Err(stopped) => T::fail(Failure::new(&tried, &stopped)),
    })
}

/// Answers.
pub(super) fn say<T: Tool<Failure = Failure, Answer = A>, A: Answer>(
    done: impl Into<crate::kit::Done<A>>,
) -> Tell {
    T::tell(Ok::<_, Failure>(done))
}
