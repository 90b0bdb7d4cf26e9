//! What helps after a refusal, by the tools that the dialect has: its one table of words.

use definition::{Answers, Step, StepName, Work};
use engine::{OpenGate, Pick, Refusal, Remedy, Standing, View};

use super::gate;
use crate::kit::Words;

/// What is told where only a person's own answer counts.
const PERSON: &str = "only the user's own answer counts: have them run `milepost gate` (do not run it \
                      yourself), and call `pipeline_next_action` again";
/// How a pipeline that is over for good is followed by another.
const ANOTHER: &str = "begin another with `pipeline_init`";

/// Returns the way out from how a pipeline stands.
pub fn hint_at(refusal: &Refusal, view: &View) -> String {
    let folder = view.state.key().unwrap_or_default();
    let open = view.state.standing.open_gate();
    if let (Refusal::GateOpen { .. }, Some(open)) = (refusal, open) {
        return answer(view, open);
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
        return taken_up(view).unwrap_or_else(|| ANOTHER.to_owned());
    }
    hint(refusal)
}

/// Returns the way out that holds however the pipeline stands.
pub fn hint(refusal: &Refusal) -> String {
    WORDS.hint(refusal)
}

/// Returns how a person's answer is passed on at the gate that is open.
pub fn answer(view: &View, open: &OpenGate) -> String {
    if open.answers != Answers::Relayed {
        return PERSON.to_owned();
    }
    let name = gate::name(&view.state, open);
    let options: Vec<String> =
        gate::options(open, &name).into_iter().map(|it| format!("`{it}`")).collect();
    let options = options.join(" or ");
    format!("ask the user, and pass {options} as `user_response` to `pipeline_next_action`")
}

/// Returns how a pipeline that failed is taken up again; `None` where it cannot be.
pub fn taken_up(view: &View) -> Option<String> {
    let Standing::Failed { gate, .. } = &view.state.standing else { return None };
    let current = view.state.current.as_ref().and_then(|it| view.workflow.find_step(it));
    let each = current.and_then(|it| it.each.as_ref());
    let is_unplanned = each.is_some_and(|it| !view.state.parts.contains_key(&it.parts));
    Some(match gate {
        None if is_unplanned => "`task_init` takes it up again".to_owned(),
        Some(gate) => {
            format!("`checkpoint` for `{}` takes it up again, and asks the user", gate.step)
        }
        None => "`phase_start` takes it up again".to_owned(),
    })
}

/// Returns what has to be done before `wanted` may come, from where the pipeline is.
pub fn first(view: &View, wanted: &StepName) -> String {
    if let Some(open) = view.state.standing.open_gate() {
        return answer(view, open);
    }
    let current = view.state.current.as_ref().unwrap_or(wanted);
    let is_question = |it: &Step| it.gate.is_some() && it.work == Work::None;
    match view.workflow.find_step(current) {
        Some(step) if is_question(step) => {
            format!("call `checkpoint` for `{current}`, ask the user, then complete it")
        }
        Some(_) | None => format!("complete or skip `{current}` first"),
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
        Remedy::Pick { what: Pick::Next | Pick::Part, .. } | Remedy::AnswerAgain => {
            "`pipeline_next_action` says what is next"
        }
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
