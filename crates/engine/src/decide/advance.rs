//! A call says how the action at hand went and what a person said, and the run goes on: steps that
//! are left out are passed, parts are planned, a review that is there already is taken, and what is
//! to be worked on is begun. Asked again while the work is under way it begins again, for anyone who
//! asks has lost it.
//!
//! | the run | a report | an answer | neither |
//! |---|---|---|---|
//! | waits for a person | is noted, or refused where the run stays | is taken, or noted where it is none that counts; then on | is the question needless by now? then on |
//! | is at a question that nobody was asked | is noted, or refused; on | is noted; on, which asks | on |
//! | is at work | is taken; on, unless a review wants something revised | is noted; on | on |
//! | is at work, and a file says that a person is asked | the same | on, and is taken if that asks; on | on |
//! | is over | is noted, or refused where the run stays | is noted | nothing |
//!
//! A report that is taken is kept, also where the run cannot go on from there: `halted` says why. An
//! answer from there is refused, and the question stays open.

use alloc::{string::String, vec};

use definition::{Step, StepName, Whole, Work};

use super::{
    Draft, EvalContext, Mark, answer_gate, budget, change_context, due, files, flow, gate,
    left_out,
    mode::{Mode, Reach, Verdicts},
    open_parts, part_list, parts, record_entry, report_chore, report_step, review,
    review::Judged,
    rulebook, start_step, verdict,
};
use crate::{
    Advance, Answer, AnswerGate, Chore, ChoreOutcome, CompletedBy, Done, Entry, Event, FileFact,
    GateReason, GitDeed, How, Note, Onward, Progress, Refusal, Report, ReportChore, ReportStep,
    Ruling, Standing, StartStep, Stop, find_starter, guard, worked::FEEDBACK,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, asked: &Advance) -> Result<(), Stop> {
    draft.check_begun()?;
    let before = draft.mark();
    let claims_asked = draft.state.claims_asked;
    let goes_on = match draft.state.standing {
        Standing::Waiting(_) => at_gate(draft, mode, asked)?,
        Standing::Running => at_work(draft, mode, asked)?,
        Standing::New
        | Standing::Completed
        | Standing::Failed { .. }
        | Standing::Cancelled { .. } => return over(draft, asked),
    };
    let Some(onward) = asked.onward.as_ref().filter(|_| goes_on) else { return Ok(()) };
    // An answer does not count, and a question that is needless is asked still, if the run cannot go
    // on from there.
    let before = if asked.report.is_some() { before } else { draft.mark() };
    go_on(draft, mode, onward, before)?;
    let Some(said) = asked.answer.as_ref().filter(|_| claims_asked) else { return Ok(()) };
    if draft.state.standing.open_gate().is_none() {
        draft.notes.push(Note::NobodyAsked);
        return Ok(());
    }
    answer(draft, mode, said)?;
    go_on(draft, mode, onward, before)
}

/// Returns whether events end with a review that wants something revised: that is shown before anyone
/// goes on.
pub fn awaits_revision<'e, I>(events: I) -> bool
where
    I: IntoIterator<Item = &'e Event, IntoIter: DoubleEndedIterator>,
{
    let is_revised =
        |it: &Event| matches!(it, Event::VerdictGiven { part: None, ruling: Ruling::Revised, .. });
    let has_moved = |it: &Event| {
        let is_begun = matches!(it, Event::StepEntered { .. } | Event::StepStarted { .. });
        is_begun || matches!(it, Event::GateOpened(_))
    };
    let last = events.into_iter().rev().find(|it| is_revised(it) || has_moved(it));
    last.is_some_and(is_revised)
}

/// Takes in how a chore went. A run that waited for it goes on.
pub(super) fn after_chore(
    draft: &mut Draft<'_>,
    mode: Mode,
    report: &ReportChore,
) -> Result<(), Stop> {
    let before = draft.mark();
    report_chore::decide(draft, mode, report)?;
    let Some(onward) = &report.then else { return Ok(()) };
    // A file may say that parts are worked on that nobody knows yet.
    let current = draft.state.current.as_ref().and_then(|it| draft.workflow.find_step(it));
    let is_planned = current.is_none_or(|it| open_parts::is_planned(&draft.state, it));
    if draft.state.is_handed_out() && is_planned {
        return Ok(());
    }
    go_on(draft, mode, onward, before)
}

fn over(draft: &mut Draft<'_>, asked: &Advance) -> Result<(), Stop> {
    if asked.report.is_some() && asked.onward.is_none() {
        draft.check_live()?;
    }
    if asked.report.is_some() || asked.answer.is_some() {
        draft.notes.push(Note::RunOver);
    }
    Ok(())
}

/// What is said while a person is asked. Returns whether the run may go on.
fn at_gate(draft: &mut Draft<'_>, mode: Mode, asked: &Advance) -> Result<bool, Stop> {
    if let Some(said) = &asked.answer {
        answer(draft, mode, said)?;
        return Ok(true);
    }
    if asked.report.is_none() {
        reconsider(draft, Mode { reach: Reach::OneStep, ..mode })?;
        return Ok(true);
    }
    if asked.onward.is_none() {
        draft.check_running()?;
    }
    draft.notes.push(Note::ReportAtGate);
    Ok(false)
}

/// What is said while nobody is asked. Returns whether the run may go on.
fn at_work(draft: &mut Draft<'_>, mode: Mode, asked: &Advance) -> Result<bool, Stop> {
    let step = match asked.report.as_ref().and_then(|it| it.step.as_deref()) {
        Some(named) => {
            let found = draft.workflow.find_step_loosely(named);
            found.ok_or_else(|| draft.step_unknown(named))?
        }
        None => draft.current()?,
    };
    let is_question = step.gate.is_some() && step.work == Work::None;
    if asked.answer.is_some() && !draft.state.claims_asked {
        let note = if is_question { Note::NotAskedYet } else { Note::NobodyAsked };
        draft.notes.push(note);
    }
    let Some(done) = &asked.report else { return Ok(true) };
    if !is_question {
        return report(draft, mode, step, done);
    }
    if asked.onward.is_none() {
        return Err(Refusal::GateOpen { step: step.name.clone(), is_relayed: true }.into());
    }
    draft.notes.push(Note::ReportAtGate);
    Ok(true)
}

/// Passes a person's answer on. One that does not count changes nothing.
fn answer(draft: &mut Draft<'_>, mode: Mode, said: &str) -> Result<(), Stop> {
    let answer = AnswerGate {
        answer: Answer::Offered(String::from(said)),
        feedback: String::new(),
        by: String::from("the agent"),
        how: How::Relayed,
        digest: None,
    };
    let before = draft.save();
    match answer_gate::decide(draft, Mode { reach: Reach::RecordOnly, ..mode }, &answer) {
        Err(Stop::Refused(
            refusal @ (Refusal::AnswerUnknown { .. }
            | Refusal::GateNeedsPerson { .. }
            | Refusal::RoundsSpent { .. }),
        )) => {
            draft.rewind(before);
            draft.notes.push(Note::AnswerNotTaken(refusal));
            Ok(())
        }
        answered => answered,
    }
}

/// Takes a report in. Returns whether the run may go on.
fn report(draft: &mut Draft<'_>, mode: Mode, step: &Step, done: &Done) -> Result<bool, Stop> {
    if let Some(step) = find_reported(draft, step).filter(|_| done.step.is_none()) {
        draft.notes.push(Note::AlreadyReported { step });
        return Ok(true);
    }
    let before = draft.save();
    let is_built = step.each.is_some() && step.review.is_none();
    match take(draft, mode, step, done) {
        // An empty report on parts is ignored, and their work goes on.
        Err(Stop::Refused(Refusal::ArtifactMissing { path, .. })) if is_built => {
            draft.rewind(before);
            draft.notes.push(Note::NothingFound { path });
            return Ok(true);
        }
        taken => taken?,
    }
    Ok(!awaits_revision(&draft.events))
}

fn take(draft: &mut Draft<'_>, mode: Mode, step: &Step, done: &Done) -> Result<(), Stop> {
    let Done { tokens, duration_ms, model, .. } = done.clone();
    let usage = Entry::Usage { tokens, duration_ms, model };
    record_entry::decide(draft, Some(step.name.as_str()), &usage)?;
    // What was sent out is known better than it is remembered, and a review is read in any case.
    let is_known = done.step.is_none() && draft.state.history.dispatch.is_some();
    let is_setup = done.is_setup && !is_known && step.review.is_none();
    let status = if is_setup { "in_progress" } else { "success" };
    let (step_id, status) = (String::from(step.name.as_str()), String::from(status));
    let report = Report { step_id, status, ..Report::default() };
    let report = ReportStep { report, ..ReportStep::default() };
    report_step::decide(draft, Mode { reach: Reach::RecordOnly, ..mode }, &report)
}

/// Returns the review that was reported last, if it sent the run to `step` or is noted there, and
/// nobody has taken the work up since.
fn find_reported(draft: &Draft<'_>, step: &Step) -> Option<StepName> {
    let is_rejected = |it: &StepName| draft.state.progress(it) == Progress::Rejected;
    if is_rejected(&step.name) {
        return Some(step.name.clone());
    }
    let is_open = draft.state.progress(&step.name) == Progress::Ready;
    let judges = |it: &&Step| it.review.as_ref().is_some_and(|review| review.of == step.name);
    let mut reviews = draft.workflow.steps.iter().filter(judges).map(|it| &it.name);
    reviews.find(|it| is_open && is_rejected(it)).cloned()
}

/// Goes on, if the run is free to. What was decided since `before` is kept if it is not.
fn go_on(draft: &mut Draft<'_>, mode: Mode, onward: &Onward, before: Mark) -> Result<(), Stop> {
    let mode = Mode { reach: Reach::OneStep, ..mode };
    let kept = draft.save();
    let went = walk(draft, mode, onward).and_then(|()| Ok(draft.check_invariant()?));
    match went {
        Err(Stop::Refused(refusal)) if kept.mark.is_after(before) => {
            draft.rewind(kept);
            draft.halted = Some(refusal);
            Ok(())
        }
        went => went,
    }
}

/// Does not ask any more at a gate that is left out by now, or that would be passed by itself.
fn reconsider(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    let open = draft.state.standing.open_gate().filter(|it| it.why == GateReason::Gate);
    let step = open.and_then(|it| draft.workflow.find_step(&it.step));
    let Some((step, own)) = step.and_then(|it| Some((it, it.gate.as_ref()?))) else {
        return Ok(());
    };
    if gate::is_personal(draft, own) {
        // Nobody but the person ends that.
        return Ok(());
    }
    let is_left_out = left_out::find_skip(draft, step)?.is_some();
    let unless = own.unless.is_some()
        && draft.holds(own.unless.as_ref(), step, EvalContext::default())?
        && gate::is_reviewed(draft, own)?;
    if !is_left_out && !unless || gate::check_free(draft, step).is_err() {
        return Ok(());
    }
    draft.push(Event::GateWithdrawn { step: step.name.clone() });
    if is_left_out {
        return Ok(());
    }
    let report = Report::passed(&step.name, gate::APPROVED.1);
    let then = flow::after_work(draft, mode, step, &report, None)?;
    flow::run(draft, mode, then)
}

fn walk(draft: &mut Draft<'_>, mode: Mode, onward: &Onward) -> Result<(), Stop> {
    if draft.state.standing == Standing::Running && !onward.set.is_empty() {
        change_context::set_vars(draft, &onward.set)?;
    }
    while draft.state.standing == Standing::Running {
        // The server does its part first, and goes on then.
        if due::find_due(draft)?.is_some() {
            return Ok(());
        }
        let step = draft.current()?;
        if !pass(draft, mode, step)? {
            budget::settle(draft)?;
            if draft.state.standing != Standing::Running {
                return Ok(());
            }
            return begin(draft, mode, step, onward);
        }
        draft.hop(&step.name)?;
    }
    Ok(())
}

/// Whether there was anything to do at a step before it can be worked on.
fn pass(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<bool, Stop> {
    let skip = parts::find_skip(draft, step)?;
    let is_settled = draft.state.progress(&step.name).is_settled();
    if skip.is_some() || is_settled || step.work == Work::None {
        let then = match skip {
            Some(skip) => flow::skip(draft, mode, step, skip)?,
            None if is_settled => flow::onward(draft, mode, step, None, None)?,
            None => flow::arrive(draft, mode, step)?,
        };
        flow::run(draft, mode, then)?;
        return Ok(true);
    }
    if rulebook::ask_spent(draft, step)? {
        return Ok(true);
    }
    let before = draft.mark();
    parts::plan(draft, step)?;
    if !draft.has_moved(before) && step.each.is_some() && open_parts::is_planned(&draft.state, step)
    {
        let then = flow::settle_parts(draft, mode, step)?;
        flow::run(draft, mode, then)?;
    }
    if !draft.has_moved(before) {
        take_review(draft, mode, step)?;
    }
    Ok(draft.has_moved(before))
}

/// Takes a review that was written and not reported, as if it had been.
fn take_review(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<(), Stop> {
    if step.review.is_none() || !is_written(draft, step)? {
        return Ok(());
    }
    if let Some(judged) = review::resume(draft, step)? {
        let then = match judged {
            Judged::Moved(then) => then,
            Judged::Passed => {
                let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
                let report =
                    report.unwrap_or_else(|| Report::passed(&step.name, "it was overruled"));
                flow::after_work(draft, mode, step, &report, None)?
            }
        };
        return flow::run(draft, mode, then);
    }
    let was_begun = draft.state.effort(&step.name, None).is_some_and(|it| !it.seen.is_empty());
    // What a file speaks of was counted before that was written.
    let counts = was_begun || draft.state.history.placed.is_none();
    let verdicts = if counts { Verdicts::Count } else { Verdicts::Counted };
    let mode = Mode { verdicts, by: CompletedBy::FoundReview, ..mode };
    let report = Report::passed(&step.name, "the review was there already");
    let command = ReportStep { report, ..ReportStep::default() };
    let then = report_step::take(draft, mode, step, (&command, None))?;
    flow::run(draft, mode, then)
}

/// Whether there is a review to be taken: the step's own, or one of an open part.
fn is_written(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(each) = &step.each else { return verdict::is_given(draft, step, None) };
    if each.whole != Whole::Found {
        return Ok(false);
    }
    let mut is_any = false;
    for part in open_parts::open(&draft.state, step) {
        is_any |= verdict::is_given(draft, step, Some(&part))?;
    }
    Ok(is_any)
}

fn begin(draft: &mut Draft<'_>, mode: Mode, step: &Step, onward: &Onward) -> Result<(), Stop> {
    let ready = open_parts::ready(draft.workflow, &draft.state, step);
    let start = StartStep { details: onward.details.clone(), again: true, ..StartStep::default() };
    if ready.is_empty() {
        // Parts that are open and none of which can be begun wait for each other.
        part_list::check_parts(draft, step, draft.state.parts_of(step))?;
        guard::check_needs(draft, step, None)?;
    }
    hear(draft, step, onward)?;
    start_step::begin(draft, step, None, &start)?;
    for part in &ready {
        guard::check_needs(draft, step, Some(part))?;
        start_step::begin(draft, step, Some(part), &start)?;
    }
    note_checked_out(draft, mode)
}

/// Takes in what a person left in a file for the agent that is sent out.
fn hear(draft: &mut Draft<'_>, step: &Step, onward: &Onward) -> Result<(), Stop> {
    let is_sent =
        step.agent.is_some() && find_starter(draft.workflow, &draft.state, step).is_none();
    let Some(path) = onward.message.as_ref().filter(|_| is_sent) else { return Ok(()) };
    let FileFact::Present { text: Some(text), .. } = draft.file(path)? else { return Ok(()) };
    // What is too long for an entry is cut.
    let bytes = text.floor_char_boundary(draft.known.bounds.text_bytes_max);
    let text = String::from(text.get(..bytes).unwrap_or_default());
    if !text.trim().is_empty() {
        let entry = Entry::Note { text, tags: vec![String::from(FEEDBACK)] };
        draft.push(Event::EntryRecorded { step: step.name.clone(), entry });
    }
    files::remove(draft, path.clone())
}

/// Where the server has only to check out what is checked out, that is done.
fn note_checked_out(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    let Some(Chore { name, deed, .. }) = due::find_due(draft)? else { return Ok(()) };
    let GitDeed::Checkout { branch, .. } = &deed else { return Ok(()) };
    if draft.known.git()?.is_none_or(|it| it.branch != *branch) {
        return Ok(());
    }
    let (detail, warnings) = (alloc::format!("`{branch}` is checked out already"), vec![]);
    let outcome = ChoreOutcome::Done { detail, warnings, pushed: None };
    report_chore::decide(draft, mode, &ReportChore { name, deed, outcome, then: None })
}
