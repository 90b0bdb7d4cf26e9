//! What helps after a refusal, by the tools that the dialect has: its one table of words. A call that
//! may help is tried on the engine before it is named.

use definition::{Answers, Step, StepName, Work};
use engine::{
    Advance, Command, Onward, OpenGate, Pick, Probe, Refusal, Remedy, Standing, find_personal,
};

use super::{
    gate,
    state::{Move, pending_at, plan_one},
    workspace::Pipeline,
};
use crate::kit::Words;

/// What is told where only a person's own answer counts.
const PERSON: &str = "only the user's own answer counts: have them run `milepost gate` (do not run it \
                      yourself), and call `pipeline_next_action` again";
/// How a pipeline that is over for good is followed by another.
const ANOTHER: &str = "begin another with `pipeline_init`";
/// Where it is told what is next.
const MORE: &str = "`pipeline_next_action` says what is next";

/// Returns what helps after a refusal, from how a pipeline stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are the same at every step")]
pub(super) fn hint_at(refusal: &Refusal, pipeline: &Pipeline) -> String {
    let (remedy, view) = (refusal.remedy(), &pipeline.view);
    let words = match &remedy {
        Remedy::PassGate { step } | Remedy::WorkTowards { step } | Remedy::BeginBefore { step } => {
            Some(first(pipeline, step))
        }
        Remedy::Finish { steps } => steps.first().map(|it| first(pipeline, it)),
        Remedy::PlanParts => Some(way_to_init(pipeline)),
        Remedy::StartAnother | Remedy::Reopen => Some(taken_up(pipeline)),
        Remedy::AskPerson { is_relayed: true } => {
            view.state.standing.open_gate().map(|it| answer(pipeline, it))
        }
        _ => None,
    };
    words.unwrap_or_else(|| hint_on_step(&remedy, pipeline))
}

/// Returns what helps at the step that a pipeline is at, whatever the steps before it are.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are the same everywhere")]
fn hint_on_step(remedy: &Remedy, pipeline: &Pipeline) -> String {
    let folder = pipeline.view.state.key().unwrap_or_default();
    let words = match remedy {
        Remedy::WriteFile { path } if path.is_empty() => {
            let or_told = if can_plan(pipeline) { ", or call `task_init`" } else { "" };
            Some(format!("write `{folder}/tasks.md`{or_told}"))
        }
        Remedy::WriteFile { path } => Some(format!("write `{folder}/{path}`, then call again")),
        Remedy::FixParts => fix_tasks(pipeline, folder),
        Remedy::Clear { step, .. } => clear(pipeline, step),
        _ => None,
    };
    words.unwrap_or_else(|| WORDS.word(remedy))
}

/// Says how tasks are corrected that no work can begin with: in their file, or by a call where they
/// are no longer read from it.
fn fix_tasks(pipeline: &Pipeline, folder: &str) -> Option<String> {
    let advance = Advance { onward: Some(Onward::default()), ..Advance::default() };
    if pipeline.try_on(&Command::Advance(advance.into())).is_open() {
        let call = "call `pipeline_next_action` with nothing but `workspace`";
        return Some(format!("fix `{folder}/tasks.md`, then {call}"));
    }
    can_plan(pipeline).then(|| "say with `task_init` what the tasks are".to_owned())
}

/// Says how a checkpoint is freed that a pending revision holds.
fn clear(pipeline: &Pipeline, step: &StepName) -> Option<String> {
    let pending = pending_at(step.as_str())?;
    let set = [(pending.to_owned(), false.into())].into_iter().collect();
    let call = format!("call `clear_revision_pending` for `{step}` first");
    let is_open = pipeline.try_on(&Command::SetVars { set }).is_open();
    is_open.then(|| format!("{call}, after the user has approved"))
}

/// Whether the tasks can be said now.
fn can_plan(pipeline: &Pipeline) -> bool {
    pipeline.try_on(&plan_one(&pipeline.view)).is_open()
}

/// Says how tasks are made known: at once, or after the gate before them.
pub(super) fn way_to_init(pipeline: &Pipeline) -> String {
    let gate = match pipeline.try_on(&plan_one(&pipeline.view)) {
        Probe::Open(_) | Probe::Needs(_) => return "call `task_init` first".to_owned(),
        Probe::Closed(
            Refusal::GateNotAsked { step, .. }
            | Refusal::GateNeedsPerson { step, .. }
            | Refusal::GateOpen { step, .. },
        ) => step,
        Probe::Closed(refusal) => return hint_on_step(&refusal.remedy(), pipeline),
    };
    let first = first(pipeline, &gate);
    let is_there = pipeline.view.state.current.as_ref() == Some(&gate);
    let rest = if is_there { String::new() } else { format!(", then each phase through `{gate}`") };
    format!("{first}{rest}, and then call `task_init`")
}

/// Returns the way out that holds however the pipeline stands.
pub fn hint(refusal: &Refusal) -> String {
    WORDS.hint(refusal)
}

/// Returns how a person's answer is passed on at the gate that is open. An answer that would be
/// refused is not offered, unless all would be.
pub(super) fn answer(pipeline: &Pipeline, open: &OpenGate) -> String {
    if open.answers != Answers::Relayed {
        return PERSON.to_owned();
    }
    let name = gate::name(&pipeline.view.state, open);
    let offered = gate::options(open, &name);
    let is_open = |it: &&String| {
        let advance = Advance { answer: Some((*it).clone()), ..Advance::default() };
        pipeline.try_on(&Command::Advance(advance.into())).is_open()
    };
    let mut options: Vec<&String> = offered.iter().filter(is_open).collect();
    if options.is_empty() {
        options = offered.iter().collect();
    }
    let options: Vec<String> = options.into_iter().map(|it| format!("`{it}`")).collect();
    let options = options.join(" or ");
    format!("ask the user, and pass {options} as `user_response` to `pipeline_next_action`")
}

/// Returns how a pipeline that is over is taken up again, or followed by another.
pub(super) fn taken_up(pipeline: &Pipeline) -> String {
    let view = &pipeline.view;
    let Standing::Failed { gate, .. } = &view.state.standing else { return ANOTHER.to_owned() };
    let find = |it: &StepName| view.workflow.find_step(it);
    let current = view.state.current.as_ref().and_then(find);
    let each = current.and_then(|it| it.each.as_ref());
    let is_unplanned = each.is_some_and(|it| !view.state.parts.contains_key(&it.parts));
    let tasks = || Some((plan_one(view), "`task_init` takes it up again".to_owned()));
    let ask = |step: &Step| {
        let words =
            format!("`checkpoint` for `{}` takes it up again, and asks the user", step.name);
        (Move::Ask.at(step, view), words)
    };
    let start = |step: &Step| {
        (Move::Start.at(step, view), format!("`phase_start` for `{}` takes it up again", step.name))
    };
    let ways = match gate {
        Some(gate) => [find(&gate.step).map(ask), current.map(start)],
        None if is_unplanned => [tasks(), current.map(start)],
        None => [current.map(start), tasks()],
    };
    let mut ways = ways.into_iter().flatten();
    let open = ways.find(|(command, _)| pipeline.try_on(command).is_open());
    open.map_or_else(|| ANOTHER.to_owned(), |(_, words)| words)
}

/// Returns what has to be done before `wanted` may come, from where the pipeline is.
pub(super) fn first(pipeline: &Pipeline, wanted: &StepName) -> String {
    let view = &pipeline.view;
    if let Some(open) = view.state.standing.open_gate() {
        return answer(pipeline, open);
    }
    let current = view.state.current.as_ref().unwrap_or(wanted);
    let Some(step) = view.workflow.find_step(current) else { return MORE.to_owned() };
    if step.gate.is_some() && step.work == Work::None {
        return ask(pipeline, step);
    }
    let ways = [("complete", Move::Complete), ("skip", Move::Skip)];
    let is_open = |it: &(_, Move)| pipeline.try_on(&it.1.at(step, view)).is_open();
    let ways: Vec<&str> = ways.into_iter().filter(is_open).map(|it| it.0).collect();
    match ways.as_slice() {
        [] => MORE.to_owned(),
        ways => format!("{} `{current}` first", ways.join(" or ")),
    }
}

/// Returns how the user is asked at a checkpoint.
pub(super) fn ask(pipeline: &Pipeline, step: &Step) -> String {
    let asked = pipeline.try_on(&Move::Ask.at(step, &pipeline.view));
    let name = &step.name;
    if let Probe::Closed(refusal) = &asked {
        return hint_on_step(&refusal.remedy(), pipeline);
    }
    let Pipeline { view, known, .. } = pipeline;
    let personal = find_personal(&view.workflow, &view.state, known.gates);
    if personal == Some(name) {
        return format!("call `checkpoint` for `{name}`, and have the user run `milepost gate`");
    }
    format!("call `checkpoint` for `{name}`, ask the user, then complete it")
}

/// The words for what an agent does with a pipeline.
pub static WORDS: Words = Words {
    start: "call `pipeline_init` with what the person wants as `arguments`, then do what each \
            answer says, until the `type` of an action is `done`",
    resume: "call `pipeline_next_action` with `workspace` `{key}`, and do what each answer says, \
             until its `type` is `done`",
    report: "call `pipeline_next_action` (`workspace` `{key}`) with `previous_action_complete`; \
             without that it says who is to do the work, and how",
    choose: "`pipeline_next_action` says which one is next",
    finish: "",
    relay: "ask the user, and pass their answer as `user_response` to `pipeline_next_action`",
    wait: PERSON,
    reopen: "`resume_info` says how to continue one that failed; after one that was abandoned, \
             `pipeline_init` begins another",
    more: "`resume_info` shows more",
    takes_reports: false,
    remedy,
};

#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
fn remedy(remedy: &Remedy) -> Option<String> {
    let words = match remedy {
        Remedy::FindRun => "name the workspace that `pipeline_init` answered",
        Remedy::StartAnother => ANOTHER,
        Remedy::GiveKey { .. } | Remedy::ShareKey { .. } => "name another workspace",
        Remedy::Look => "`resume_info` says where the pipeline is",
        Remedy::Work { step } => return Some(format!("go on with `{step}`")),
        Remedy::Nothing => "leave it as it is",
        Remedy::Wait { .. } | Remedy::Claim => {
            "someone else works on it; call again when they are done"
        }
        Remedy::FixParts => "fix the tasks, then call again",
        Remedy::FixContext => "fix the cause, then call again",
        Remedy::NewRequestId => "send this call with an id of its own",
        // The built-in workflow leads to none of these; a project's own may.
        Remedy::Begin { .. } | Remedy::AcceptFiles => "look at the files, then call `phase_start`",
        Remedy::Pick { what: Pick::Next | Pick::Part, .. } | Remedy::AnswerAgain => MORE,
        Remedy::GiveEvidence => "write how each is met into the phase's file, then report again",
        Remedy::SendBack { answer } => {
            return Some(format!(
                "ask the user, and pass `{answer}` as `user_response` to `pipeline_next_action`"
            ));
        }
        Remedy::WorkThere { root } => {
            return Some(format!(
                "use a server that was started in `{root}`; if the project was moved or copied \
                 here, call `abandon`, then `pipeline_init`"
            ));
        }
        _ => return None,
    };
    Some(words.to_owned())
}
