//! The agent names the step that comes next, where the choice is its own.

use super::{Draft, Sight, mode::Mode, route};
use crate::{Refusal, Stop};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, next: &str) -> Result<(), Stop> {
    draft.check_running()?;
    let step = draft.current()?;
    if !draft.state.awaits_choice() {
        return Err(Refusal::NoChoiceOpen.into());
    }
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
    route::choose(draft, mode, step, next, Sight::of_report(report.as_ref()))
}
