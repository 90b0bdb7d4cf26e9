//! What helps after a refusal, by the tools that the dialect has: its one table of words. A call that
//! may help is tried on the engine before it is named.

use definition::{Answers, Step, StepName, Work};
use engine::{Advance, Command, OpenGate, Pick, Probe, Refusal, Remedy, Standing};

use super::{
    gate,
    state::{Move, plan_one},
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

/// Returns the way out from how a pipeline stands.
pub(super) fn hint_at(refusal: &Refusal, pipeline: &Pipeline) -> String {
    let view = &pipeline.view;
    let folder = view.state.key().unwrap_or_default();
    let open = view.state.standing.open_gate();
    if let (Refusal::GateOpen { .. }, Some(open)) = (refusal, open) {
        return answer(pipeline, open);
    }
    if let Refusal::NeedMissing { path, .. } = refusal {
        return format!("write `{folder}/{path}`, then call again");
    }
    if let Refusal::ArtifactMissing { path, .. } = refusal {
        return match path.as_str() {
            "" => format!("write `{folder}/tasks.md`, or call `task_init`"),
            path if open.is_some() => format!("write `{folder}/{path}`, then pass the answer on"),
            path => format!("write `{folder}/{path}`, then report again"),
        };
    }
    if let Refusal::GateHeld { step, .. } = refusal {
        let call = "call `clear_revision_pending` for";
        return format!("{call} `{step}` first, after the user has approved");
    }
    if let Refusal::PartsInvalid { back: None, .. } = refusal {
        let call = "call `pipeline_next_action` with nothing but `workspace`";
        return format!("fix `{folder}/tasks.md`, then {call}");
    }
    if let Refusal::RunEnded { .. } = refusal {
        return taken_up(pipeline);
    }
    hint(refusal)
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
        return hint_at(refusal, pipeline);
    }
    let open = asked.state().and_then(|it| it.standing.open_gate());
    match open.map(|it| it.answers) {
        Some(Answers::Verified) => {
            format!("call `checkpoint` for `{name}`, and have the user run `milepost gate`")
        }
        Some(Answers::Relayed) | None => {
            format!("call `checkpoint` for `{name}`, ask the user, then complete it")
        }
    }
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
        Remedy::Look | Remedy::Work { .. } => "`resume_info` says where the pipeline is",
        Remedy::Wait { .. } | Remedy::Claim => {
            "someone else works on it; call again when they are done"
        }
        Remedy::PlanParts => "call `task_init` first",
        Remedy::FixParts => "fix the tasks, then call again",
        Remedy::Clear { .. } => "call `clear_revision_pending` first, after the user has approved",
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
