//! A person answers at a gate. The answer is bound to what was shown.

use alloc::{
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use core::slice;

use definition::{Digest, Effect, GateOption, PartId, Step, StepName};

use super::{
    Draft, EvalContext, NAME_BYTES_MAX, check_size, files, flow, gate,
    mode::{Mode, Reach},
    part_list, parts, react,
    then::Then,
};
use crate::{
    Answer, AnswerGate, Artifact, CompletedBy, Event, FailCause, GateReason, How, OpenGate,
    Refusal, ReopenCause, Report, Rigor, Ruling, SkipCause, SkipReason, Standing, StepCompleted,
    StepState, Stop, guard, refusal::QUESTION,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, answer: &AnswerGate) -> Result<(), Stop> {
    take(draft, mode, answer, false)
}

/// Takes an answer. `is_implied`: the agent completed the step, and said nothing of a person.
pub(super) fn take(
    draft: &mut Draft<'_>,
    mode: Mode,
    answer: &AnswerGate,
    is_implied: bool,
) -> Result<(), Stop> {
    let asked = draft.state.standing.open_gate().cloned();
    let Err(stop) = check_and_take(draft, mode, answer, is_implied) else { return Ok(()) };
    Err(match (stop, asked) {
        (Stop::Refused(Refusal::PartsInvalid { step, problem, .. }), Some(gate)) => {
            let back = find_back(draft, &gate, &step);
            Refusal::PartsInvalid { step, problem, back }.into()
        }
        (stop, _) => stop,
    })
}

/// Returns the answer that has the list made again that the parts of `step` come from, if the gate
/// shows that list.
fn find_back(draft: &Draft<'_>, gate: &OpenGate, step: &StepName) -> Option<String> {
    let list = part_list::source(draft, draft.workflow.find_step(step)?).ok()??;
    let asking = draft.workflow.find_step(&gate.step)?;
    let is_back = |it: &&GateOption| {
        matches!(it.effect, Effect::Back(_)) && check_rounds(draft, asking, it).is_ok()
    };
    let back = gate.options.iter().find(is_back)?;
    gate.artifacts.iter().any(|it| it.path == list).then(|| back.name.clone())
}

fn check_and_take(
    draft: &mut Draft<'_>,
    mode: Mode,
    answer: &AnswerGate,
    is_implied: bool,
) -> Result<(), Stop> {
    draft.check_begun()?;
    let Standing::Waiting(gate) = draft.state.standing.clone() else {
        return Err(Refusal::GateNotOpen.into());
    };
    let Some(step) = draft.workflow.find_step(&gate.step) else {
        return Err(draft.step_unknown(gate.step.as_str()).into());
    };
    if answer.how == How::Relayed && gate.is_personal() {
        let step = gate.step.clone();
        return Err(Refusal::GateNeedsPerson { step, is_asked: true, is_begun: true }.into());
    }
    check_size("the name of the person who answers", answer.by.len(), NAME_BYTES_MAX)?;
    check_size("the feedback", answer.feedback.len(), draft.known.bounds.text_bytes_max)?;
    let option = find_option(&gate, &answer.answer)?;
    check_rounds(draft, step, &option)?;
    if gate.why.is_own() && matches!(option.effect, Effect::Approve | Effect::Skip) {
        gate::check_free(draft, step)?;
    }
    let (digest, shown) = check_shown(draft, step, &gate, answer)?;
    if shown != gate.artifacts {
        // The log says what was answered about.
        draft.push(Event::GateWithdrawn { step: gate.step.clone() });
        gate::ask_again(draft, OpenGate { artifacts: shown.clone(), ..(*gate).clone() })?;
    }
    if option.effect == Effect::Approve && gate.why == GateReason::Gate {
        check_products(draft, step)?;
    }
    draft.push(Event::GateAnswered {
        step: gate.step.clone(),
        part: gate.part.clone(),
        answer: option.name.clone(),
        how: answer.how,
        by: answer.by.clone(),
        feedback: answer.feedback.clone(),
        digest,
        is_implied,
    });
    if option.effect == Effect::Approve {
        parts::plan_approved(draft, step, &shown)?;
        accept(draft, shown);
    }
    let then = match &option.effect {
        Effect::Approve => approve(draft, mode, step, &gate, &answer.feedback)?,
        Effect::Back(target) => {
            if gate.why == GateReason::Gate {
                react::react(draft, step, &step.on.back, EvalContext::default())?;
            }
            let read = step.review.as_ref().and_then(|it| it.read.clone());
            if let Some(read) = read.filter(|_| gate.why == GateReason::VerdictUnknown) {
                files::drop(draft, step, EvalContext::default(), slice::from_ref(&read))?;
            }
            let said = (answer.feedback.as_str(), ReopenCause::Person);
            // All of its parts, or the one it is about.
            parts::reopen(draft, target, gate.part.as_ref(), said)?;
            Then::enter(target, None)
        }
        Effect::Skip => skip(draft, mode, step, &gate, &option.name)?,
        Effect::Fail => {
            let reason = reason_of(&option, answer);
            let cause = Some(FailCause::Person);
            draft.push(Event::RunFailed { reason, step: None, cause });
            Then::Stay
        }
        Effect::Cancel => {
            let reason = reason_of(&option, answer);
            draft.push(Event::RunCancelled { reason });
            Then::Stay
        }
    };
    flow::run(draft, mode, then)
}

fn find_option(gate: &OpenGate, answer: &Answer) -> Result<GateOption, Refusal> {
    let options = || gate.options.iter();
    let approving = || options().find(|it| it.effect == Effect::Approve);
    // A mere no sends work back. What ends a run must be said by its name.
    let rejecting = || options().find(|it| matches!(it.effect, Effect::Back(_)));
    let found = match answer {
        Answer::Approve => approving(),
        Answer::Reject => rejecting(),
        Answer::Offered(name) => options().find(|it| it.name == name.trim()),
        // An option's own name comes first; then what the words mean at any gate.
        Answer::Named(name) => {
            let named = options().find(|it| it.name.eq_ignore_ascii_case(name.trim()));
            named.or_else(|| match name.trim().to_lowercase().as_str() {
                "approve" => approving(),
                "reject" => rejecting(),
                _ => None,
            })
        }
    };
    found.cloned().ok_or_else(|| Refusal::AnswerUnknown {
        step: gate.step.clone(),
        answer: match answer {
            Answer::Approve => String::from("approve"),
            Answer::Reject => String::from("reject"),
            Answer::Named(name) | Answer::Offered(name) => name.clone(),
        },
        options: gate.options.iter().map(|it| it.name.clone()).collect(),
    })
}

fn check_rounds(draft: &Draft<'_>, step: &Step, option: &GateOption) -> Result<(), Refusal> {
    let rounds = draft.state.step(&step.name).map_or(0, |it| it.rounds);
    let max = step.gate.as_ref().and_then(|it| it.rounds_max);
    if matches!(option.effect, Effect::Back(_)) && max.is_some_and(|max| max <= rounds) {
        return Err(Refusal::RoundsSpent { step: step.name.clone(), rounds });
    }
    Ok(())
}

/// Refuses an answer to something other than what is there now. An agent that passes an answer on
/// without saying what was shown binds it to the newest.
fn check_shown(
    draft: &Draft<'_>,
    step: &Step,
    gate: &OpenGate,
    answer: &AnswerGate,
) -> Result<(Digest, Vec<Artifact>), Stop> {
    let paths = gate::paths_shown(draft.workflow, &draft.state, step, gate)?;
    let paths = || paths.iter().map(String::as_str);
    draft.known.need_files(paths())?;
    let now: Vec<Artifact> = draft.artifacts(paths())?;
    let digest = gate::digest(&draft.state, step, gate.part.as_ref(), &gate.ask, &now);
    let shown = answer.digest.as_ref().unwrap_or(&gate.digest);
    let is_bound = answer.how != How::Relayed || answer.digest.is_some();
    if is_bound && *shown != digest {
        let changed = gate.artifacts.iter().filter(|it| !now.contains(it));
        let added = now.iter().filter(|it| gate.artifacts.iter().all(|old| old.path != it.path));
        let mut changed: Vec<String> = changed.chain(added).map(|it| it.path.clone()).collect();
        if changed.is_empty() {
            changed.push(QUESTION.to_string());
        }
        return Err(Refusal::GateStale { step: gate.step.clone(), changed }.into());
    }
    Ok((digest, now))
}

/// Refuses to go on from work whose files were changed since it was reported, and are not as they
/// must be.
fn check_products(draft: &Draft<'_>, step: &Step) -> Result<(), Stop> {
    let left = draft.state.artifacts.values().filter(|it| it.step == step.name);
    let left: Vec<Artifact> = left.map(|it| it.artifact.clone()).collect();
    let paths = || left.iter().map(|it| it.path.as_str());
    draft.known.need_files(paths())?;
    if draft.artifacts(paths())? != left {
        guard::check_products(draft, step, None, Rigor::Full)?;
    }
    Ok(())
}

/// What a person approved is how it is to be from now on.
fn accept(draft: &mut Draft<'_>, shown: Vec<Artifact>) {
    let is_news = |it: &Artifact| {
        let seen = draft.state.artifacts.get(&it.path);
        seen.is_some_and(|seen| seen.artifact != *it)
    };
    let artifacts: Vec<Artifact> = shown.into_iter().filter(is_news).collect();
    if !artifacts.is_empty() {
        draft.push(Event::DriftAccepted { artifacts, gone: Vec::new() });
    }
}

fn approve(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    gate: &OpenGate,
    feedback: &str,
) -> Result<Then, Stop> {
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
    match gate.why {
        GateReason::Gate => {
            if step.gate.is_none() && !draft.state.progress(&step.name).is_settled() {
                // A person who is asked about work in hand does not do it.
                guard::check_products(draft, step, None, Rigor::Presence)?;
            }
            gate::settle_work(draft, step, gate::APPROVED)?;
            flow::onward(draft, mode, step, report.as_ref(), None)
        }
        GateReason::Owed => {
            if gate::ask_owed(draft)? {
                return Ok(Then::Stay);
            }
            // A file that the person has just agreed to may say that a part is for one.
            parts::restore_personal(draft)?;
            parts::take_up_owed(draft);
            resume(draft, mode)
        }
        GateReason::Part => {
            let report = Report::passed(&step.name, "a person did it");
            let (part, by) = (gate.part.clone(), CompletedBy::Person);
            let completed = StepCompleted::unseen(step.name.clone(), part, report, by);
            draft.push(Event::StepCompleted(completed.into()));
            settle(draft, mode, step)
        }
        GateReason::VerdictUnknown | GateReason::RevisionsSpent => {
            overrule(draft, step, gate);
            if gate.part.is_some() {
                return settle(draft, mode, step);
            }
            // What the rules were broken by is over.
            if let Some(rules) = &step.rules {
                let note = slice::from_ref(&rules.note);
                files::drop(draft, step, EvalContext::default(), note)?;
            }
            gate::settle_work(draft, step, gate::APPROVED)?;
            let report = report.unwrap_or_else(|| Report::passed(&step.name, "approved"));
            flow::after_work(draft, mode, step, &report, None)
        }
        GateReason::AttemptsSpent => {
            draft.push(Event::StepReopened {
                step: step.name.clone(),
                part: gate.part.clone(),
                feedback: feedback.to_string(),
                cause: Some(ReopenCause::Failed),
            });
            Ok(Then::Stay)
        }
        GateReason::VisitsSpent => flow::arrive(draft, mode, step),
        // The work goes on, and need not be asked about again.
        GateReason::Early | GateReason::BudgetSpent => Ok(Then::Stay),
    }
}

/// Has a person's word count in place of a review, for all that they were asked about.
fn overrule(draft: &mut Draft<'_>, step: &Step, gate: &OpenGate) {
    let Some(review) = &step.review else { return };
    let parts: Vec<Option<PartId>> = match &gate.part {
        Some(part) => [part].into_iter().chain(&gate.beside).cloned().map(Some).collect(),
        None => vec![None],
    };
    for part in parts {
        draft.push(Event::VerdictGiven {
            step: step.name.clone(),
            part,
            of: review.of.clone(),
            verdict: String::from("approved by a person"),
            ruling: Ruling::Approved,
            findings: Vec::new(),
        });
    }
}

/// Goes on where the run was when it was found to be past a gate.
fn resume(draft: &mut Draft<'_>, mode: Mode) -> Result<Then, Stop> {
    let step = draft.current()?;
    let is_begun = draft.state.step(&step.name).is_some_and(StepState::is_begun);
    draft.push(Event::StepEntered { step: step.name.clone(), decision: None });
    if !is_begun {
        return flow::arrive(draft, mode, step);
    }
    parts::ask_owed(draft, mode)?;
    Ok(Then::Stay)
}

fn skip(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    gate: &OpenGate,
    answer: &str,
) -> Result<Then, Stop> {
    let reason = alloc::format!("a person answered `{answer}`");
    let part = gate.part.clone();
    let (name, why) = (step.name.clone(), SkipReason::Person);
    let cause = Some(SkipCause::Person);
    draft.push(Event::StepSkipped { step: name, part, reason, why, cause });
    if gate.part.is_some() {
        return settle(draft, mode, step);
    }
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
    flow::onward(draft, mode, step, report.as_ref(), None)
}

/// Goes on after a part. Where the run comes no further than to the next step, that is the same one.
fn settle(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<Then, Stop> {
    if mode.reach == Reach::RecordOnly {
        return Ok(Then::Stay);
    }
    flow::settle_parts(draft, mode, step)
}

fn reason_of(option: &GateOption, answer: &AnswerGate) -> String {
    if answer.feedback.trim().is_empty() {
        return alloc::format!("`{}` answered `{}`", answer.by, option.name);
    }
    answer.feedback.clone()
}
