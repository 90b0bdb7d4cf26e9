//! A review's verdict: the judged step is approved, or worked on again, until the allowance is
//! spent.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use definition::{Effect, Finding, Limit, PartId, PartSpec, Spent, Step, Unknown, find_findings};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, gate,
    mode::{Mode, Reach, Verdicts},
    parts, react, scope,
    then::Then,
    verdict::Judging,
};
use crate::{
    Event, FailCause, FileFact, GateReason, Progress, Refusal, ReopenCause, Report, Ruling, Stop,
};

/// How many findings of a review are kept.
const FINDINGS_MAX: usize = 50;
/// How much of a finding is kept.
const FINDING_BYTES_MAX: usize = 300;

/// What a verdict means for the run.
#[derive(Debug)]
pub(super) enum Judged {
    /// Nothing stands in the way of going on.
    Passed,
    /// The run does something else.
    Moved(Then),
}

/// Judges by the review of `step`, if it is one.
pub(super) fn judge(
    draft: &mut Draft<'_>,
    mode: Mode,
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
        Some(verdict) => judging.revise(draft, mode, &verdict),
        // Anyone who reports is told, and can write it; anyone who goes on finds what there is.
        None if review.unknown == Unknown::Ask && mode.reach != Reach::RecordOnly => {
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
/// `None` for one that says something else by now: it is judged again.
pub(super) fn resume(draft: &mut Draft<'_>, step: &Step) -> Result<Option<Judged>, Stop> {
    let Some(review) = step.review.as_ref().filter(|_| step.each.is_none()) else {
        return Ok(None);
    };
    let judging = Judging { step, review, part: None };
    let verdict = judging.find_verdict(draft, &Report::default())?;
    if judging.is_spent(draft) {
        let verdict = verdict.as_deref().unwrap_or("nothing that is known");
        return judging.ask_limit(draft, verdict, &[]).map(Some);
    }
    let is_noted = draft.state.progress(&step.name) == Progress::Rejected;
    let Some(verdict) = verdict.filter(|it| is_noted && review.revise.contains(it)) else {
        return Ok(None);
    };
    // It was counted when it was noted.
    let revisions = judging.counted(draft).saturating_sub(1);
    match judging.find_limit(revisions) {
        Some(limit) => judging.spend(draft, &verdict, &limit).map(Some),
        None => judging.send_back(draft, &verdict).map(Some),
    }
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

impl Judging<'_> {
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
        let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(self.part));
        let path = self.review.read.as_ref().and_then(|it| it.render(&scope).ok());
        let Some(FileFact::Present { text: Some(text), .. }) =
            path.and_then(|it| draft.file(&it).ok())
        else {
            return Vec::new();
        };
        let cut = |it: Finding| Finding { text: cut(&it.text).to_string(), ..it };
        find_findings(text).into_iter().take(FINDINGS_MAX).map(cut).collect()
    }

    fn revise(&self, draft: &mut Draft<'_>, mode: Mode, verdict: &str) -> Result<Judged, Stop> {
        let revisions = self.count(draft, mode);
        if mode.reach == Reach::RecordOnly {
            // Where that leads is for anyone who goes on.
            self.rule(draft, verdict, Ruling::Revised);
            let is_part = self.part.is_some();
            return Ok(if is_part { Judged::Passed } else { Judged::Moved(Then::Stay) });
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
        react::react(draft, self.step, &limit.actions, EvalContext::default())?;
        match &limit.then {
            Spent::Approve | Spent::Warn => {
                self.rule(draft, verdict, Ruling::Promoted);
                Ok(Judged::Passed)
            }
            Spent::Fail => {
                self.rule(draft, verdict, Ruling::Failed);
                let reason = format!("the review `{}` was not met", self.step.name);
                let cause = Some(FailCause::Review);
                draft.push(Event::RunFailed { reason, step: None, cause });
                Ok(Judged::Moved(Then::Stay))
            }
            Spent::Goto(target) => {
                self.rule(draft, verdict, Ruling::Failed);
                Ok(Judged::Moved(Then::enter(target, None)))
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
        Ok(Judged::Moved(Then::Stay))
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
    fn count(&self, draft: &mut Draft<'_>, mode: Mode) -> u32 {
        let counted = self.counted(draft);
        let Some(name) = &self.review.count else { return counted };
        if mode.verdicts == Verdicts::Counted {
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
        Ok(Judged::Moved(Then::enter(&self.review.of, None)))
    }

    /// Has what was judged done again.
    fn reopen(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<(), Refusal> {
        let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(self.part));
        let read = self.review.read.as_ref().and_then(|it| it.render(&scope).ok());
        let see = read.map(|it| format!("; see `{it}`")).unwrap_or_default();
        let feedback = format!("`{}` says {verdict}{see}", self.step.name);
        let part = self.part.map(|it| &it.id);
        parts::reopen(draft, &self.review.of, part, (&feedback, ReopenCause::Review))
    }

    fn ask_unknown(&self, draft: &mut Draft<'_>) -> Result<Judged, Stop> {
        let ask = format!("The review `{}` has no known verdict.", self.step.name);
        let options = vec![
            ("approve", Effect::Approve),
            ("revise", Effect::Back(self.review.of.clone())),
            ("abandon", Effect::Cancel),
        ];
        let (part, why) = (self.part.map(|it| it.id.clone()), GateReason::VerdictUnknown);
        gate::ask(draft, self.step, part, why, (ask, options))?;
        Ok(Judged::Moved(Then::Stay))
    }
}
