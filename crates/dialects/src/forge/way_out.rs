//! The way out of what the engine refuses, by the tools that the dialect has. This is the only place
//! that has it: the engine's own hints speak of the tools that come first.

use definition::{Answers, Step, StepName, Work};
use engine::{OpenGate, Refusal, Standing, View};

use super::gate;

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
            path => format!("write `{folder}/{path}`, then report again"),
        };
    }
    if let Refusal::PartsInvalid { .. } = refusal {
        let call = "call `pipeline_next_action` with nothing but `workspace`";
        return format!("fix `{folder}/tasks.md`, then {call}");
    }
    if let Refusal::RunEnded { .. } = refusal {
        return taken_up(view).unwrap_or_else(|| ANOTHER.to_owned());
    }
    hint(refusal)
}

/// Returns the way out that holds however the pipeline stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have one way out each")]
pub fn hint(refusal: &Refusal) -> String {
    match refusal {
        Refusal::GateNeedsPerson { is_asked: false, .. } => refusal.hint(),
        Refusal::PartNeedsPerson { is_asked: true, .. } => PERSON.to_owned(),
        _ => find(refusal.code()).map_or_else(|| refusal.hint(), ToOwned::to_owned),
    }
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

/// Returns the dialect's own words for the way out of a refusal with this code, if it has any.
fn find(code: &str) -> Option<&'static str> {
    let words = match code {
        "run_unknown" => "name the workspace that `pipeline_init` answered",
        "run_exists" | "key_invalid" | "key_missing" | "key_taken" => "name another workspace",
        "run_ended" => {
            "begin another with `pipeline_init`; `resume_info` tells how one that failed is taken up"
        }
        "step_not_current" | "run_moved" | "gate_not_open" | "chore_not_due" => {
            "`resume_info` tells where the pipeline is"
        }
        "step_held" | "lease_stale" | "lease_unknown" => {
            "someone else works on it; call again when they are done"
        }
        "part_set_unknown" | "parts_unknown" => "call `task_init` first",
        "parts_invalid" => "fix the tasks, then call again",
        "gate_open" => "ask the user, and pass `user_response` to `pipeline_next_action`",
        "gate_needs_person" => PERSON,
        "gate_held" => "`clear_revision_pending` comes first, after the user has approved",
        "condition_failed" => "fix what it speaks of, then call again",
        "request_conflict" => "that id names another call; send this one with an id of its own",
        // The built-in workflow leads to none of these; a project's own may.
        "step_not_begun" | "artifacts_drifted" => "look at the files, then call `phase_start`",
        "choice_open" | "no_choice_open" | "part_not_named" | "gate_stale" => {
            "`pipeline_next_action` tells what is next"
        }
        "evidence_missing" | "evidence_empty" => {
            "write how each is met into the phase's file, then report again"
        }
        _ => return None,
    };
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::find;

    /// Every refusal there is: code, message and hint.
    const REFUSALS: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/refusals.md"));

    /// The tools of the dialect, as a client lists them.
    const TOOLS: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../surfaces/mcp/tests/forge/tools_list.txt"
    ));

    #[test]
    fn every_tool_that_a_way_out_names_is_one_of_the_dialect() {
        let own: Vec<&str> =
            TOOLS.lines().filter_map(|it| it.split_once(" (")).map(|it| it.0).collect();
        for row in REFUSALS.lines().filter_map(|it| it.strip_prefix("| `")) {
            let code = row.split('`').next().unwrap_or_default();
            for word in find(code).unwrap_or_default().split('`').skip(1).step_by(2) {
                let is_known =
                    own.contains(&word) || ["user_response", "milepost gate"].contains(&word);
                assert!(is_known, "{code} speaks of `{word}`");
            }
        }
    }
}
