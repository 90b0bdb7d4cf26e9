//! A review's verdict: the judged step is approved, or worked on again, until the allowance is
//! spent.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use definition::{Effect, Limit, PartSpec, Review, Spent, Step, Target, Unknown, find_verdict};

use super::{Draft, Sight, condition_failed, enter, gate, parts, route, scope};
use crate::{Event, FileFact, GateReason, Refusal, Report, Ruling, Stop};

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
        None if review.unknown == Unknown::Ask => judging.ask_unknown(draft),
        None => {
            let words = judging.words().map(ToString::to_string).collect();
            let is_read = review.read.is_some();
            Err(Refusal::VerdictUnknown { step: step.name.clone(), words, is_read }.into())
        }
    }
}

struct Judging<'a> {
    step: &'a Step,
    review: &'a Review,
    part: Option<&'a PartSpec>,
}

impl Judging<'_> {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.review.approve.iter().chain(&self.review.revise).map(String::as_str)
    }

    /// Returns the verdict, if it is one of the words that are known.
    fn find_verdict(&self, draft: &Draft<'_>, report: &Report) -> Result<Option<String>, Stop> {
        let words: Vec<&str> = self.words().collect();
        let Some(read) = &self.review.read else {
            let said = [&report.details, &report.result];
            let said = said.into_iter().find_map(|it| it.get("verdict")?.as_str());
            return Ok(said.filter(|it| words.contains(it)).map(ToString::to_string));
        };
        let scope = scope(draft.workflow, &draft.state, Sight::of_part(self.part));
        let path = read.render(&scope).map_err(|error| condition_failed(self.step, &error))?;
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
        });
    }

    fn revise(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<Judged, Stop> {
        let Some(limit) = self.find_limit(draft) else {
            self.rule(draft, verdict, Ruling::Revised);
            return self.send_back(draft, verdict);
        };
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
                let ask = format!(
                    "The review `{}` still says {verdict} of `{}`, which was revised as often as it may be ({}). Approve it as it is?",
                    self.step.name, self.review.of, limit.after
                );
                let options = vec![("approve", Effect::Approve), ("abandon", Effect::Cancel)];
                self.ask(draft, GateReason::RevisionsSpent, ask, options)
            }
        }
    }

    /// Returns the highest limit that earlier verdicts have reached.
    fn find_limit(&self, draft: &Draft<'_>) -> Option<Limit> {
        let part = self.part.map(|it| &it.id);
        let revisions = draft.state.effort(&self.review.of, part).map_or(0, |it| it.revisions);
        let reached = self.review.limits.iter().filter(|it| it.after <= revisions);
        reached.max_by_key(|it| it.after).cloned()
    }

    fn send_back(&self, draft: &mut Draft<'_>, verdict: &str) -> Result<Judged, Stop> {
        let scope = scope(draft.workflow, &draft.state, Sight::of_part(self.part));
        let read = self.review.read.as_ref().and_then(|it| it.render(&scope).ok());
        let see = read.map(|it| format!("; see `{it}`")).unwrap_or_default();
        let feedback = format!("`{}` says {verdict}{see}", self.step.name);
        parts::reopen(draft, &self.review.of, self.part.map(|it| &it.id), &feedback)?;
        if self.part.is_some() {
            // The other parts are judged first; then the run goes back once, for all of them.
            return Ok(Judged::Passed);
        }
        enter::enter(draft, Target::Step(self.review.of.clone()), None)?;
        Ok(Judged::Moved)
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
