//! An agent takes a step up: an attempt begins. Asking again while it is under way changes nothing.

use definition::PartId;

use super::{Draft, choose_step, lease, parts};
use crate::{Event, Progress, Stop, guard};

pub(super) fn decide(draft: &mut Draft<'_>, step: &str, part: Option<&PartId>) -> Result<(), Stop> {
    draft.check_running()?;
    let step = draft.current_named(step)?;
    if draft.state.awaits_choice() {
        return Err(choose_step::refusal(draft, step).into());
    }
    let part = parts::find_reported(draft, step, part)?;
    lease::check(draft, step, part.as_ref().map(|it| &it.id), None)?;
    guard::check_needs(draft, step, part.as_ref())?;
    begin(draft, step, part.map(|it| it.id));
    Ok(())
}

/// Begins an attempt, unless one is under way.
pub(super) fn begin(draft: &mut Draft<'_>, step: &definition::Step, part: Option<PartId>) {
    let effort = draft.state.effort(&step.name, part.as_ref()).cloned().unwrap_or_default();
    if effort.progress != Progress::Active {
        let (step, attempt) = (step.name.clone(), effort.attempts + 1);
        draft.push(Event::StepStarted { step, part, attempt });
    }
}
