//! What a review says: the word in its file or in the report, and whether it still counts.

use alloc::string::{String, ToString};

use definition::{PartSpec, Review, Step, Unknown, find_verdict};

use super::{Draft, EvalContext, condition_failed, scope};
use crate::{FileFact, Refusal, Report, Stop};

/// A review, and the part that it judges.
pub(super) struct Judging<'a> {
    pub(super) step: &'a Step,
    pub(super) review: &'a Review,
    pub(super) part: Option<&'a PartSpec>,
}

impl Judging<'_> {
    /// Returns the verdict, if it is one of the words that are known.
    pub(super) fn find_verdict(
        &self,
        draft: &Draft<'_>,
        report: &Report,
    ) -> Result<Option<String>, Stop> {
        let words = self.review.words();
        let Some(read) = &self.review.read else {
            let said = [&report.details, &report.result];
            let said = said.into_iter().find_map(|it| it.get("verdict")?.as_str());
            return Ok(said.filter(|it| words.contains(it)).map(ToString::to_string));
        };
        let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(self.part));
        let path = read.render(&scope).map_err(|error| condition_failed(self.step, &error))?;
        match draft.file(&path)? {
            FileFact::Present { text: Some(text), .. } => Ok(find_verdict(text, &words)),
            FileFact::Present { text: None, .. } | FileFact::Unreadable(_) => Ok(None),
            FileFact::Missing => {
                Err(Refusal::ArtifactMissing { step: self.step.name.clone(), path }.into())
            }
        }
    }
}

/// Returns whether there is a review that can be judged by.
pub(super) fn is_given(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
) -> Result<bool, Stop> {
    let Some(review) = step.review.as_ref().filter(|it| it.read.is_some()) else {
        return Ok(false);
    };
    let judging = Judging { step, review, part };
    match judging.find_verdict(draft, &Report::default()) {
        Ok(verdict) => Ok(verdict.is_some() || review.unknown == Unknown::Ask),
        Err(Stop::Refused(_)) => Ok(false),
        Err(asked @ Stop::Ask(_)) => Err(asked),
    }
}

/// Returns whether the file of a review approves.
pub(super) fn is_approved(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(review) = step.review.as_ref().filter(|it| it.read.is_some()) else {
        return Ok(false);
    };
    let judging = Judging { step, review, part: None };
    match judging.find_verdict(draft, &Report::default()) {
        Ok(verdict) => Ok(verdict.is_some_and(|it| review.approve.contains(&it))),
        Err(Stop::Refused(_)) => Ok(false),
        Err(asked @ Stop::Ask(_)) => Err(asked),
    }
}

/// Returns the file of a review that wants something revised which was changed since.
pub(super) fn find_stale(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
) -> Result<Option<String>, Stop> {
    let Some(review) = &step.review else { return Ok(None) };
    let (Some(read), Some(judges)) = (&review.read, &review.judges) else { return Ok(None) };
    let judging = Judging { step, review, part };
    let verdict = judging.find_verdict(draft, &Report::default())?;
    if !verdict.is_some_and(|it| review.revise.contains(&it)) {
        return Ok(None);
    }
    let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(part));
    let fails = |error| condition_failed(step, &error);
    let (read, judges) =
        (read.render(&scope).map_err(fails)?, judges.render(&scope).map_err(fails)?);
    let (said, judged) = (draft.file(&read)?, draft.file(&judges)?);
    let FileFact::Present { sha256, modified, .. } = judged else { return Ok(None) };
    let effort = draft.state.effort(&step.name, part.map(|it| &it.id));
    let begun = effort.and_then(|it| it.seen.iter().find(|seen| seen.path == judges));
    let is_stale = match (begun, said) {
        (Some(begun), _) => begun.sha256 != *sha256,
        // Nobody knows what the review was begun with, so the newer of the two tells.
        (None, FileFact::Present { modified: said, .. }) => *said < *modified,
        (None, FileFact::Missing | FileFact::Unreadable(_)) => false,
    };
    Ok(is_stale.then_some(read))
}
