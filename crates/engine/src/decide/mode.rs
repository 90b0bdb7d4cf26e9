//! How a command is decided: how far it takes the run, and what counts on the way.

/// How far a command takes the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To a step at which there is something to do, or a person to ask.
    Full,
    /// To the next step, whatever is to be found there.
    Next,
    /// From one step to the next, with a look at each.
    Stepwise,
}
