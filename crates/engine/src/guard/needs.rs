//! Guard: the files that a step works from are there, and the one that it judges.

use alloc::{string::String, vec::Vec};

use definition::{PartSpec, Presence, Step};

use crate::{
    FileFact, Progress, Refusal, Stop,
    decide::{Draft, EvalContext, condition_failed, scope},
};

pub(crate) fn check(draft: &Draft<'_>, step: &Step, part: Option<&PartSpec>) -> Result<(), Stop> {
    if step.needs.is_empty() && step.review.is_none() {
        return Ok(());
    }
    let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(part));
    let mut paths: Vec<String> = Vec::new();
    let fails = |error| condition_failed(step, &error);
    for need in step.needs.iter().filter(|it| it.presence == Presence::Required) {
        let is_needed = match &need.when {
            Some(when) => when.evaluate(&scope).map_err(fails)?,
            None => true,
        };
        if is_needed {
            paths.push(need.path.render(&scope).map_err(fails)?);
        }
    }
    // Only a file that someone edited says that work is done which left nothing to judge.
    let judged = step.review.as_ref().filter(|_| part.is_none() && step.each.is_none());
    let judged = judged.filter(|it| draft.state.progress(&it.of) == Progress::Done);
    for judges in judged.into_iter().filter_map(|it| it.judges.as_ref()) {
        paths.push(judges.render(&scope).map_err(fails)?);
    }
    draft.known.need_files(paths.iter().map(String::as_str))?;
    for path in paths {
        if !matches!(draft.file(&path)?, FileFact::Present { .. }) {
            return Err(Refusal::NeedMissing { step: step.name.clone(), path }.into());
        }
    }
    Ok(())
}
