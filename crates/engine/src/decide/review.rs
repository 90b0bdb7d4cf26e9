//! A review's verdict: the judged step is approved, or worked on again, until the allowance is
//! spent.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use definition::{
    Effect, Finding, Limit, PartId, PartSpec, Review, Spent, Step, Target, Unknown, find_findings,
    find_verdict,
};
use serde_json::{Map, Value};

use super::{Draft, Reach, Sight, condition_failed, enter, gate, parts, route, scope};
use crate::{Event, FileFact, GateReason, Progress, Refusal, Report, Ruling, Stop};

/// How many findings of a review are kept.
const FINDINGS_MAX: usize = 50;
/// How much of a finding is kept.
const FINDING_BYTES_MAX: usize = 300;

/// What a verdict did to the run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// Nothing stands in the way of going on.
    Passed,
    /// The run went elsewhere, or waits.
    Moved,
}

/// Judges by the review of `step`, if it is one.
pub(super) fn judge(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    report: &Report,
) -> Result<Judged, Stop> {
    let Some(review) = &step.review else { return Ok(Judged::Passed) };
    let judging = Judging { step, review, part };
    match judging.find_verdict(draft, report)? {
        Some(verdict) if review.approve.contains(&verdict) => {
            judging.rule(draft, &verdict, Ruling::Approved);
            Ok(Judged::Passed)
        }
        Some(verdict) => judging.revise(draft, &verdict),
        // Whoever reports is told, and can write it; whoever goes on finds what there is.
        None if review.unknown == Unknown::Ask && draft.reach != Reach::Next => {
            judging.ask_unknown(draft)
        }
        None => {
            let words = review.words().into_iter().map(ToString::to_string).collect();
            let is_read = review.read.is_some();
            Err(Refusal::VerdictUnknown { step: step.name.clone(), words, is_read }.into())
        }
    }
}

/// Goes on from a review that was reported and wants something done again, as it is by now. Returns
/// whether it does: one that says something else by now is judged anew.
pub(super) fn resume(draft: &mut Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(review) = step.review.as_ref().filter(|_| step.each.is_none()) else {
        return Ok(false);
    };
    let judging = Judging { step, review, part: None };
    let verdict = judging.find_verdict(draft, &Report::default())?;
    if judging.is_spent(draft) {
        judging.ask_limit(draft, verdict.as_deref().unwrap_or("nothing that is known"), &[])?;
        return Ok(true);
    }
    let is_noted = draft.state.progress(&step.name) == Progress::Rejected;
    let Some(verdict) = verdict.filter(|it| is_noted && review.revise.contains(it)) else {
        return Ok(false);
    };
    if judging.resume(draft, &verdict)? == Judged::Passed {
        let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
        let report = report.unwrap_or_else(|| enter::passed(step, "it was overruled"));
        enter::after_work(draft, step, &report, None)?;
    }
    Ok(true)
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
    let scope = scope(draft.workflow, &draft.state, Sight::of_part(part));
    let fails = |error| condition_failed(step, &error);
    let (read, judges) =
        (read.render(&scope).map_err(fails)?, judges.render(&scope).map_err(fails)?);
    let (said, judged) = (draft.known.file(&read)?, draft.known.file(&judges)?);
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

/// Has a part that was found wanting done again, unless it is open already.
pub(super) fn send_back(
    draft: &mut Draft<'_>,
    step: &Step,
    part: &PartSpec,
) -> Result<(), Refusal> {
    let Some(review) = &step.review else { return Ok(()) };
    if !draft.state.part_progress(&review.of, &part.id).is_settled() {
        return Ok(());
    }
    let judging = Judging { step, review, part: Some(part) };
    judging.reopen(draft, review.revise.first().map_or("", String::as_str))
}

/// Asks a person about the parts that were found wanting as often as they may be: one question for
/// all of them. Returns whether it does.
pub(super) fn ask_spent(draft: &mut Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(review) = &step.review else { return Ok(false) };
    let is_spent = |part: &&PartSpec| {
        let counted = draft.state.effort(&review.of, Some(&part.id)).map_or(0, |it| it.revisions);
        let judging = Judging { step, review, part: Some(part) };
        let limit = judging.find_limit(counted.saturating_sub(1));
        let is_rejected = draft.state.part_progress(&step.name, &part.id) == Progress::Rejected;
        is_rejected && limit.is_some_and(|it| it.then == Spent::Ask)
    };
    let spent: Vec<PartSpec> =
        draft.state.parts_of(step).iter().filter(is_spent).cloned().collect();
    let Some(first) = spent.first() else { return Ok(false) };
    let verdict = review.revise.first().cloned().unwrap_or_default();
    let judging = Judging { step, review, part: Some(first) };
    judging.ask_limit(draft, &verdict, &spent)?;
    Ok(true)
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(FINDING_BYTES_MAX)).unwrap_or(text)
}

struct Judging<'a> {
    step: &'a Step,
    review: &'a Review,
    part: Option<&'a PartSpec>,
}

impl Judging<'_> {
    /// Returns the verdict, if it is one of the words that are known.
    fn find_verdict(&self, draft: &Draft<'_>, report: &Report) -> Result<Option<String>, Stop> {
        let words = self.review.words();
        let Some(read) = &self.review.read else {
            let said = [&report.details, &report.result];
            let said = said.into_iter().find_map(|it| it.get("verdict")?.as_str());
            return Ok(said.filter(|it| words.contains(it)).map(ToString::to_string));
        };
        let scope = scope(draft.workflow, &draft.state, Sight::of_part(self.part));
        let path = read.render(&scope).map_err(|error| condition_failed(self.step, &error))?;
        if draft.is_removed(&path) {
            return Err(Refusal::ArtifactMissing { step: self.step.name.clone(), path }.into());
        }
        match draft.known.file(&path)? {
            FileFact::Present { text: Some(text), .. } => Ok(find_verdict(text, &words)),
            FileFact::Present { text: None, .. } | FileFact::Unreadable(_) => Ok(None),
            FileFact::Missing => {
                Err(Refusal::ArtifactMissing { step: self.step.name.clone(), path }.into())
            }
        }
    }

    fn rule(&self, draft: &mut Draft<'_>, verdict: &str, ruling: Ruling) {
        draft.push(Event::VerdictGiven {
            step: self.step.name.clone(),
            part: self.part.map(|it| it.id.clone()),
            of: self.review.of.clone(),
            verdict: verdict.to_string(),
            ruling,
            findings: self.find_findings(draft),
        });
    }

    /// Returns the first of what the review found, each cut to a line that can be quoted.
    fn find_findings(&self, draft: &Draft<'_>) -> Vec<Finding> {
        let scope = scope(draft.workflow, &draft.state, Sight::of_part(self.part));
        let path = self.review.read.as_ref().and_then(|it| it.render(&scope).ok());
        let Some(FileFact::Present { text: Some(text), .. }) =
            path.and_then(|it| draft.known.file(&it).ok())
        else {
            return Vec::new();
        };
        let cut = |it: Finding| Finding { text: cut(&it.text).to_string(), ..it };
        find_findings(text).into_iter().take(FINDINGS_MAX).map(cut).collect()
    }

    fn revise(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<Judged, Stop> {
        let revisions = self.count(draft);
        if draft.reach == Reach::Next {
            // Where that leads is for whoever goes on.
            self.rule(draft, verdict, Ruling::Revised);
            let is_part = self.part.is_some();
            return Ok(if is_part { Judged::Passed } else { Judged::Moved });
        }
        let Some(limit) = self.find_limit(revisions) else {
            self.rule(draft, verdict, Ruling::Revised);
            return self.send_back(draft, verdict);
        };
        self.spend(draft, verdict, &limit)
    }

    /// Returns the limit that so many verdicts to revise have reached.
    fn find_limit(&self, revisions: u32) -> Option<Limit> {
        let reached = self.review.limits.iter().filter(|it| it.after <= revisions);
        reached.max_by_key(|it| it.after).cloned()
    }

    /// Does what a limit says once it is reached.
    fn spend(&self, draft: &mut Draft<'_>, verdict: &str, limit: &Limit) -> Result<Judged, Stop> {
        route::set_vars(draft, self.step, &limit.set, Sight::default())?;
        match &limit.then {
            Spent::Approve | Spent::Warn => {
                self.rule(draft, verdict, Ruling::Promoted);
                Ok(Judged::Passed)
            }
            Spent::Fail => {
                self.rule(draft, verdict, Ruling::Failed);
                let reason = format!("the review `{}` was not met", self.step.name);
                draft.push(Event::RunFailed { reason, step: None });
                Ok(Judged::Moved)
            }
            Spent::Goto(target) => {
                self.rule(draft, verdict, Ruling::Failed);
                enter::enter(draft, Target::Step(target.clone()), None)?;
                Ok(Judged::Moved)
            }
            Spent::Ask => {
                self.rule(draft, verdict, Ruling::Asked);
                self.ask_limit(
                    draft,
                    verdict,
                    self.part.map(core::slice::from_ref).unwrap_or_default(),
                )
            }
        }
    }

    /// Whether as many verdicts to revise were counted as a person is asked after.
    fn is_spent(&self, draft: &Draft<'_>) -> bool {
        let counted = self.counted(draft);
        let asks = |it: &Limit| it.then == Spent::Ask && it.after < counted;
        self.review.count.is_some() && self.review.limits.iter().any(asks)
    }

    fn ask_limit(
        &self,
        draft: &mut Draft<'_>,
        verdict: &str,
        parts: &[PartSpec],
    ) -> Result<Judged, Stop> {
        let (step, of) = (&self.step.name, &self.review.of);
        let counted = self.counted(draft);
        let ids: Vec<PartId> = parts.iter().map(|it| it.id.clone()).collect();
        let names: Vec<String> = ids.iter().map(|it| format!("`{it}`")).collect();
        let (what, them) = match names.as_slice() {
            [] => (format!("`{of}` changed {counted} times"), "it as it is"),
            [one] => (format!("part {one} of `{of}` changed {counted} times"), "it as it is"),
            all => (format!("parts {} of `{of}` changed", all.join(", ")), "them as they are"),
        };
        let ask = format!(
            "The review `{step}` wanted {what}, as often as it may, and says {verdict} now. \
             Approve {them}?"
        );
        let options = vec![("approve", Effect::Approve), ("abandon", Effect::Cancel)];
        let why = GateReason::RevisionsSpent;
        gate::ask_together(draft, self.step, ids, why, (ask, options))?;
        Ok(Judged::Moved)
    }

    /// Goes on from a verdict to revise that was only noted so far.
    fn resume(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<Judged, Stop> {
        let counted = self.counted(draft);
        match self.find_limit(counted.saturating_sub(1)) {
            Some(limit) => self.spend(draft, verdict, &limit),
            None => self.send_back(draft, verdict),
        }
    }

    /// Returns how many verdicts to revise were counted.
    fn counted(&self, draft: &Draft<'_>) -> u32 {
        let Some(name) = &self.review.count else {
            let part = self.part.map(|it| &it.id);
            return draft.state.effort(&self.review.of, part).map_or(0, |it| it.revisions);
        };
        let counted = draft.state.vars.get(name).and_then(Value::as_u64).unwrap_or_default();
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// Counts a verdict to revise, and returns how many there were before it.
    fn count(&self, draft: &mut Draft<'_>) -> u32 {
        let counted = self.counted(draft);
        let Some(name) = &self.review.count else { return counted };
        if !draft.counts {
            return counted.saturating_sub(1);
        }
        let set = Map::from_iter([(name.clone(), Value::from(counted.saturating_add(1)))]);
        draft.push(Event::VarsChanged { set });
        counted
    }

    fn send_back(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<Judged, Stop> {
        self.reopen(draft, verdict)?;
        if self.part.is_some() {
            // The other parts are judged first; then the run goes back once, for all of them.
            return Ok(Judged::Passed);
        }
        enter::enter(draft, Target::Step(self.review.of.clone()), None)?;
        Ok(Judged::Moved)
    }

    /// Has what was judged done again.
    fn reopen(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<(), Refusal> {
        let scope = scope(draft.workflow, &draft.state, Sight::of_part(self.part));
        let read = self.review.read.as_ref().and_then(|it| it.render(&scope).ok());
        let see = read.map(|it| format!("; see `{it}`")).unwrap_or_default();
        let feedback = format!("`{}` says {verdict}{see}", self.step.name);
        parts::reopen(draft, &self.review.of, self.part.map(|it| &it.id), &feedback)
    }

    fn ask_unknown(&self, draft: &mut Draft<'_>) -> Result<Judged, Stop> {
        let ask = format!("The review `{}` has no verdict that is known.", self.step.name);
        let options = vec![
            ("approve", Effect::Approve),
            ("revise", Effect::Back(self.review.of.clone())),
            ("abandon", Effect::Cancel),
        ];
        self.ask(draft, GateReason::VerdictUnknown, ask, options)
    }

    fn ask(
        &self,
        draft: &mut Draft<'_>,
        why: GateReason,
        ask: String,
        options: Vec<(&str, Effect)>,
    ) -> Result<Judged, Stop> {
        let part = self.part.map(|it| it.id.clone());
        gate::ask(draft, self.step, part, why, (ask, options))?;
        Ok(Judged::Moved)
    }
}
