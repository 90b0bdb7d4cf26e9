//! A call that is out of order: what is wrong, the way out, and the calls that are in order.

use super::{
    Guidance,
    quote::{line, span},
};

/// Says why a call is refused in this state, and what to do instead.
pub(in super::super) fn illegal(
    tool: Guidance,
    phase: &str,
    status: &str,
    legal: &[Guidance],
) -> String {
    let (name, need) = (tool.name(), need(tool));
    let (at, is) = (span(&line(phase, 40)), span(&line(status, 40)));
    let way = way_out(tool, phase, status);
    let names: Vec<String> = legal.iter().map(|it| format!("`{}`", it.name())).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "`{name}` is out of order in phase {at}, status {is}: {need}\n\n\
         Nothing was changed.\n\n\
         Way out: {way}\n\n\
         Legal calls now: {names}"
    )
}

/// Returns what a call asks of the state.
fn need(tool: Guidance) -> &'static str {
    match tool {
        Guidance::Init => "a new task begins in `INIT`, or once the item at hand is `COMPLETED`",
        Guidance::Analyze => "analysis begins in `INIT` or `ANALYZE`",
        Guidance::Blueprint => {
            "a plan is made in `ANALYZE`, or after an `ERROR` in `CONSTRUCT` or `VALIDATE`"
        }
        Guidance::Construct => "building needs a recorded plan that the user has approved",
        Guidance::Validate => "validation follows a `CONSTRUCT` without an open error",
        Guidance::Revise => "only a plan in `BLUEPRINT` can be revised",
        Guidance::Complete => "an item is completed in `VALIDATE`, with no open error",
        Guidance::Iterate => "the next item is taken once the item at hand is `COMPLETED`",
        Guidance::Finalize => {
            "the work ends once the item at hand is `COMPLETED` and none is pending"
        }
        Guidance::ErrorRecovery
        | Guidance::FixValidation
        | Guidance::Escalate
        | Guidance::Changelog
        | Guidance::Update
        | Guidance::CreateState
        | Guidance::CheckConfig
        | Guidance::CreateConfig
        | Guidance::ValidateFiles
        | Guidance::Hello => "it is not part of the way from here",
    }
}

/// Returns what to do first, as the state has it.
fn way_out(tool: Guidance, phase: &str, status: &str) -> &'static str {
    match (phase, status) {
        ("BLUEPRINT", "NEEDS_PLAN_APPROVAL") if tool == Guidance::Construct => {
            "show the recorded plan to the user; on a clear yes call `construct_phase_guidance` again with `\"user_approval\": true`"
        }
        ("CONSTRUCT" | "VALIDATE", _) if tool == Guidance::Construct => {
            "the plan is not the one that was approved: show it to the user; on a clear yes call `construct_phase_guidance` again with `\"user_approval\": true`"
        }
        (_, "ERROR" | "NEEDS_FIXES") => {
            "deal with the open error first: `error_recovery_guidance` says how"
        }
        (_, "COMPLETED") if tool == Guidance::Finalize => {
            "rows are pending: take the next one with `iterate_next_item_guidance`"
        }
        (_, "COMPLETED") => {
            "the item is done: take the next one with `iterate_next_item_guidance`, or end with `finalize_workflow_guidance` if none is pending"
        }
        ("INIT", _) => {
            "name the task with `init_workflow_guidance`, then begin with `analyze_phase_guidance`"
        }
        ("ANALYZE", _) => {
            "write the requirements summary, then plan with `blueprint_phase_guidance`"
        }
        ("BLUEPRINT", "NEEDS_PLAN_APPROVAL") => {
            "the plan waits for the user: ask, then `construct_phase_guidance` or `revise_blueprint_guidance`"
        }
        ("BLUEPRINT", _) => {
            "record the plan with `update_workflow_state_guidance` (status `NEEDS_PLAN_APPROVAL`), and show it to the user"
        }
        ("CONSTRUCT", _) => "finish the steps of the plan, then `validate_phase_guidance`",
        ("VALIDATE", _) => {
            "finish the validation report, then `complete_workflow_guidance` or `fix_validation_issues_guidance`"
        }
        _ => {
            "ask the user where the work stands, then set a known phase and status with `update_workflow_state_guidance`"
        }
    }
}
