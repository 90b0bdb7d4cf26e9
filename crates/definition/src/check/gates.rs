//! Gates that a route goes around.

use super::Places;
use crate::{Bypass, Diagnostic};

/// Refuses routes by which a run gets behind a gate without anyone answering there.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    places.workflow.guards().bypasses().iter().map(|it| tell(places, it)).collect()
}

fn tell(places: &Places<'_>, bypass: &Bypass) -> Diagnostic {
    let Bypass { gate, from, to, is_answer } = bypass;
    let at = places.workflow.steps.iter().position(|it| it.name == *from).unwrap_or_default();
    let message = if *is_answer {
        format!("an answer at the gate of `{gate}` sends the run to `{to}`, which the gate guards")
    } else {
        format!("a failure of `{from}` leads to `{to}` without the gate of `{gate}`")
    };
    let help = format!(
        "lead failures to a step before the gate of `{gate}`, to `FINISH`, or to a step of their own"
    );
    Diagnostic::error("gate_bypassed", places.front(at, &["next"]), message).with_help(help)
}
