//! The project's own rules on the parts of a plan: which of them must be for a person.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{PartSpec, Rulebook, Rules, Step};

use super::{Draft, EvalContext, condition_failed, scope};
use crate::{Answered, FileFact, How, Refusal, Stop, invariant};

/// Reads the rules of the project, if it has any.
pub(super) fn read(draft: &Draft<'_>, rules: &Rules) -> Result<Option<Rulebook>, Stop> {
    let invalid = |problem: String| Refusal::RulesInvalid { path: rules.beside.clone(), problem };
    match draft.known.beside(&rules.beside)? {
        FileFact::Missing => Ok(None),
        FileFact::Present { text: Some(text), .. } => {
            Ok(Some(Rulebook::parse(text).map_err(invalid)?))
        }
        FileFact::Present { text: None, .. } => Err(invalid("it is not text".to_string()).into()),
        FileFact::Unreadable(problem) => Err(invalid(problem.clone()).into()),
    }
}

/// Gives the parts from a file to a person that the rules say are for one, where only their own
/// answer settles such a part. A plan that a person took as it is stays so.
pub(super) fn enforce(
    draft: &Draft<'_>,
    path: &str,
    mut parts: Vec<PartSpec>,
) -> Result<Vec<PartSpec>, Stop> {
    if !invariant::asks_person(draft.workflow, draft.known.gates) {
        return Ok(parts);
    }
    for step in draft.workflow.work_steps() {
        let Some(rules) = &step.rules else { continue };
        let scope = scope(draft.workflow, &draft.state, EvalContext::default());
        let ruled = rules.parts.render(&scope).map_err(|error| condition_failed(step, &error))?;
        if ruled != path || was_taken(draft, step, path)? {
            continue;
        }
        let Some(book) = read(draft, rules)? else { continue };
        for broken in book.check(&parts) {
            let meant = parts.iter_mut().filter(|it| it.id == broken.part.id);
            meant.for_each(|it| it.mode = String::from(PartSpec::HUMAN_GATE));
        }
    }
    Ok(parts)
}

/// Whether a person agreed to the parts in a file although they break the rules: to the file as it is
/// now, since the step was entered.
fn was_taken(draft: &Draft<'_>, step: &Step, path: &str) -> Result<bool, Stop> {
    let entered_by = draft.state.step(&step.name).map_or(0, |it| it.entered_by);
    let is_yes = |it: &Answered| {
        let is_of_now = it.step == step.name && entered_by < it.seq;
        is_of_now && it.how == How::Verified && it.answer == "approve"
    };
    if !draft.state.answers.iter().any(is_yes) {
        return Ok(false);
    }
    let seen = draft.state.artifacts.get(path).map(|it| &it.artifact);
    Ok(seen.is_some() && draft.artifacts([path].into_iter())?.first() == seen)
}
