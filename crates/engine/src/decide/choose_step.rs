//! The agent names the step that comes next, where the choice is its own.

use alloc::string::String;

use definition::Step;

use super::{Draft, Sight, gate, route};
use crate::{Refusal, Stop};

pub(super) fn decide(draft: &mut Draft<'_>, next: &str) -> Result<(), Stop> {
    draft.check_running()?;
    let step = draft.current()?;
    if !draft.state.awaits_choice() {
        return Err(Refusal::NoChoiceOpen.into());
    }
    if gate::ask_current(draft)? {
        return Ok(());
    }
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
    route::choose(draft, step, next, Sight::of_report(report.as_ref()))
}

/// Returns why nothing but a choice is taken while one is open.
pub(super) fn refusal(draft: &Draft<'_>, step: &Step) -> Refusal {
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.as_ref());
    let allowed = route::allowed(draft.workflow, &draft.state, step, Sight::of_report(report));
    let choices = allowed.iter().map(|it| String::from(route::target_name(it))).collect();
    Refusal::ChoiceOpen { step: step.name.clone(), choices }
}
