//! A file that is made from a run says where the work is: it was there before the run, or someone
//! wrote into it. What it says counts as reported; it ends no wait for a person, and wakes no run
//! that is over.

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
};

use definition::{Step, StepName, Workflow};
use serde_json::Map;

use super::{
    Draft, change_context, contradiction, gate, left_out, mode::Mode, parts, rules, start_run,
    waive_gate,
};
use crate::{
    AttemptStatus, ClaimedProgress, ClaimedStatus, Effort, Event, FileClaim, GateReason, Progress,
    Refusal, RunState, Standing, StartRun, Stop, guard,
};

/// Notes that what someone wrote into a file is not taken in. That is about the file alone, so it
/// holds wherever the run is.
pub(super) fn note_replaced(
    draft: &mut Draft<'_>,
    path: &str,
    problem: &str,
    kept: Option<&str>,
) -> Result<(), Stop> {
    draft.check_begun()?;
    let (path, problem) = (path.to_string(), problem.to_string());
    draft.push(Event::FileReplaced { path, problem, kept: kept.map(String::from) });
    Ok(())
}

/// Begins a run where a file says that the work is.
pub(super) fn adopt(
    draft: &mut Draft<'_>,
    mode: Mode,
    start: &StartRun,
    placement: &FileClaim,
) -> Result<(), Stop> {
    start_run::begin(draft, start)?;
    place(draft, placement)?;
    parts::restore_personal(draft)?;
    parts::take_up_owed(draft);
    waive_gate::claimed(draft)?;
    gate::ask_owed(draft)?;
    parts::ask_owed(draft, mode)?;
    rules::perform(draft, mode, &draft.workflow.adopt, &Map::new(), false).map(drop)
}

/// Takes in what someone wrote into the file.
pub(super) fn edit(draft: &mut Draft<'_>, placement: &FileClaim) -> Result<(), Stop> {
    draft.check_begun()?;
    let refused = |problem: String| Refusal::EditRefused { path: placement.path.clone(), problem };
    // While an answer is owed, the file speaks of the gate, and not of where the run goes on then.
    let mut stays = false;
    match &draft.state.standing {
        Standing::New | Standing::Running => {}
        Standing::Waiting(open) => {
            let claimed = placement.at.as_ref().or(placement.stated.as_ref());
            let is_asked = claimed.is_none_or(|it| *it == open.step);
            let is_here = is_asked || claimed == draft.state.current.as_ref();
            if open.is_personal() && (placement.stood != ClaimedStatus::Waiting || !is_here) {
                let problem = format!("a person is to answer at step `{}`", open.step);
                return Err(refused(problem).into());
            }
            stays = open.why == GateReason::Owed && is_asked;
        }
        Standing::Completed | Standing::Failed { .. } | Standing::Cancelled { .. } => {
            let status = draft.state.standing.as_str();
            if word(placement.stood) != status {
                return Err(refused(format!("the run is {status}, and stays so")).into());
            }
        }
    }
    if let Some(problem) = contradiction::find(draft, placement)? {
        return Err(refused(problem).into());
    }
    if stays {
        if settles_more(&draft.state, placement) {
            let problem = "a person is to answer first; until then no step is done by the file";
            return Err(refused(problem.to_string()).into());
        }
        keep_place(draft, placement)?;
    } else {
        place(draft, placement)?;
    }
    let place = |of: &RunState| {
        draft.workflow.steps.iter().position(|it| Some(&it.name) == of.current.as_ref())
    };
    let goes_on = place(draft.before) < place(&draft.state);
    // A step that the file goes on from is done, whether it says so or not.
    let is_done = |it: &&Step| match draft.state.progress(&it.name) {
        Progress::Done => true,
        Progress::Skipped => false,
        Progress::Idle | Progress::Ready | Progress::Active | Progress::Rejected => {
            goes_on && draft.before.current.as_ref() == Some(&it.name)
        }
    };
    if let Some(at) = &draft.state.current {
        let checked = guard::check_left_behind(draft.known, draft.workflow, draft.before, at);
        checked.map_err(|refusal| refused(refusal.to_string()))?;
    }
    for step in draft.workflow.work_steps().filter(is_done) {
        let checked = guard::check_unreported(draft.known, draft.before, step);
        checked.map_err(|refusal| refused(refusal.to_string()))?;
    }
    for step in draft.workflow.work_steps() {
        match parts::check_kept(draft, step, draft.state.parts_of(step)) {
            Err(Stop::Refused(refusal)) => return Err(refused(refusal.to_string()).into()),
            checked => checked?,
        }
    }
    parts::restore_personal(draft)?;
    if draft.state.standing != Standing::Completed || draft.workflow.ends.early {
        let at = draft.events.len();
        waive_gate::claimed(draft)?;
        // A file that says that the run is past a gate says the same as one that a run is begun from.
        if at < draft.events.len() {
            rules::perform(draft, Mode::default(), &draft.workflow.adopt, &Map::new(), false)?;
        }
    }
    Ok(draft.check_invariant().map_err(|refusal| refused(refusal.to_string()))?)
}

/// Whether a file says of a step that it is settled, which it is not.
fn settles_more(state: &RunState, placement: &FileClaim) -> bool {
    let is_news = |(step, stage): (&StepName, &ClaimedProgress)| {
        stage.progress.is_settled() && !state.progress(step).is_settled()
    };
    placement.steps.iter().any(is_news)
}

/// Takes in what a file says, but not where the run is: that stays as it was.
fn keep_place(draft: &mut Draft<'_>, placement: &FileClaim) -> Result<(), Refusal> {
    change_context::check_vars(draft, &placement.vars)?;
    let mut placement = placement.clone();
    let stages = draft.state.steps.iter().map(|(step, it)| (step.clone(), stage(&it.effort)));
    placement.steps = stages.collect();
    placement.parts.clear();
    placement.current.clone_from(&draft.state.current);
    draft.push(Event::RunPlaced(Box::new(placement)));
    Ok(())
}

fn place(draft: &mut Draft<'_>, placement: &FileClaim) -> Result<(), Stop> {
    let mut placement = placement.clone();
    placement.steps.retain(|step, _| draft.workflow.find_step(step).is_some());
    let is_placed = !placement.steps.is_empty() || placement.vars.is_empty();
    if draft.state.current.is_some() && !is_placed {
        return Ok(keep_place(draft, &placement)?);
    }
    change_context::check_vars(draft, &placement.vars)?;
    let asking = find_asking(draft.workflow, &placement);
    let believed = placement.at.as_ref().and_then(|it| draft.workflow.find_step(it));
    let open = asking.or(believed).or_else(|| find_open(draft.workflow, &placement));
    let last = draft.workflow.work_steps().last();
    placement.is_work_done = open.is_none();
    placement.current = open.or(last).map(|it| it.name.clone());
    if let Some(open) = open {
        let stage = placement.steps.entry(open.name.clone()).or_default();
        if stage.progress == Progress::Idle {
            stage.progress = Progress::Ready;
        }
    }
    draft.push(Event::RunPlaced(Box::new(placement)));
    match asking.filter(|_| draft.state.standing == Standing::Running) {
        Some(step) if left_out::find_skip(draft, step)?.is_none() => gate::ask_placed(draft, step),
        Some(_) | None => Ok(()),
    }
}

fn stage(effort: &Effort) -> ClaimedProgress {
    ClaimedProgress {
        progress: effort.progress,
        attempts: effort.attempts,
        started_at: effort.started_at,
        ended_at: effort.ended_at,
        failure: effort.failure.clone(),
        is_retried: effort.trouble == AttemptStatus::Retried,
        revisions: effort.revisions,
        parts: BTreeMap::new(),
    }
}

/// Returns the step at which a person is asked, if the file says that one is: where it says that
/// the run is, if there is anything to ask there.
fn find_asking<'a>(workflow: &'a Workflow, placement: &FileClaim) -> Option<&'a Step> {
    if placement.stood != ClaimedStatus::Waiting {
        return None;
    }
    let stated =
        placement.at.as_ref().or(placement.stated.as_ref()).and_then(|it| workflow.find_step(it));
    let open = || find_open(workflow, placement);
    let asks = |it: &&Step| it.gate.as_ref().is_some_and(|gate| gate.during.is_none());
    stated.or_else(open).filter(asks)
}

/// Returns the step that is under way where the run goes on, else the first that is not done.
fn find_open<'a>(workflow: &'a Workflow, placement: &FileClaim) -> Option<&'a Step> {
    let progress = |step: &Step| placement.steps.get(&step.name).map(|it| it.progress);
    let goes_on = matches!(placement.stood, ClaimedStatus::Running | ClaimedStatus::Waiting);
    let active = workflow.work_steps().find(|it| progress(it) == Some(Progress::Active));
    let is_open = |it: &&Step| !progress(it).is_some_and(Progress::is_settled);
    active.filter(|_| goes_on).or_else(|| workflow.work_steps().find(is_open))
}

/// The same words as of a run's standing.
fn word(stood: ClaimedStatus) -> String {
    match stood {
        ClaimedStatus::Running => "running",
        ClaimedStatus::Waiting => "waiting",
        ClaimedStatus::Completed => "completed",
        ClaimedStatus::Failed => "failed",
        ClaimedStatus::Cancelled => "cancelled",
    }
    .to_string()
}
