//! What this toolset's callers are told to do next: one table of words for work along the state file,
//! and one for work on a graph.

use definition::Form;
use engine::Remedy;

use super::{WORKFLOW, words::STATE_FILE};
use crate::kit::Words;

/// Returns the words for work along the state file, or on a graph.
pub(super) fn words(workflow: &str, form: Form) -> Option<&'static Words> {
    if workflow == WORKFLOW {
        return Some(&CLASSIC);
    }
    (form == Form::Graph).then_some(&ON_GRAPH)
}

/// The words along the state file.
pub(super) static CLASSIC: Words = Words {
    start: "call `init_workflow_guidance` with what is to be done, then follow each answer",
    resume: "call `hello_workflow`, and make the call that it says comes next",
    report: "record it with `update_workflow_state_guidance`; `hello_workflow` says which call \
             comes next",
    choose: "`hello_workflow` says which call begins the next one",
    finish: "",
    relay: "ask the person; only after they said yes, call `construct_phase_guidance` with \
            `user_approval`",
    wait: "only the person's own answer counts: tell them to run `milepost gate` (do not run it \
           yourself), and look with `hello_workflow`",
    reopen: "`init_workflow_guidance` starts over",
    more: "`workflow_state.md` has more",
    takes_reports: false,
    remedy: |it| word(it, STATE_FILE),
};

/// The words on a graph.
pub(super) static ON_GRAPH: Words = Words {
    start: "call `workflow_discovery`, then `workflow_guidance` with `action` `start`, and pass its \
            `session_id` with every call",
    resume: "call `workflow_state` with `operation` `get` for its session, and continue with \
             `workflow_guidance`",
    report: "call `workflow_guidance` with its `session_id`, and in `context` what you `choose` and \
             the `criteria_evidence`",
    choose: "name the next one as `choose` in the `context` of `workflow_guidance`",
    finish: "",
    relay: "ask the person; only after they said yes, pass `user_approval` with `workflow_guidance`",
    wait: "only the person's own answer counts: tell them to run `milepost gate` (do not run it \
           yourself), and then call `workflow_state` with `operation` `get`",
    reopen: "`workflow_guidance` with `action` `start` starts over",
    more: "`workflow_state` with `operation` `get` shows more",
    takes_reports: false,
    remedy: word_on_graph,
};

/// The words for a remedy that name the classic tools, for the run of the state file at `path`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
pub(super) fn word(remedy: &Remedy, path: &str) -> Option<String> {
    Some(match remedy {
        Remedy::WorkTowards { .. } | Remedy::BeginBefore { .. } => {
            "another plan needs the user's approval first: call `update_workflow_state_guidance` \
             with `phase` `BLUEPRINT`, `status` `NEEDS_PLAN_APPROVAL` and that `plan`, then show it \
             to the user"
                .to_owned()
        }
        Remedy::AskPerson { is_relayed: false } => format!(
            "only the user's own answer counts here: tell them to run `milepost gate approve \
             {path}` (do not run it yourself), and call again when they have"
        ),
        Remedy::Reopen | Remedy::StartAnother => ended(path),
        Remedy::AskPerson { is_relayed: true }
        | Remedy::Look
        | Remedy::FindRun
        | Remedy::ShareKey { .. }
        | Remedy::GiveKey { .. } => {
            "call `hello_workflow`, and make the call that it names".to_owned()
        }
        Remedy::WorkThere { root } => format!(
            "use a server that was started in `{root}`; if the project was moved or copied here, \
             call `hello_workflow`, and make the call that it names"
        ),
        _ => return None,
    })
}

/// Returns the way out where the run of a state file is over.
pub(super) fn ended(path: &str) -> String {
    format!(
        "`init_workflow_guidance` starts over with a task that the user names; to continue where it \
         was, tell them to run `milepost run resume {path}` (do not run it yourself), and call \
         `hello_workflow` when they have"
    )
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
fn word_on_graph(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::Look | Remedy::Work { .. } | Remedy::Continue => {
            "`workflow_state` with `operation` `get` says where the session is".to_owned()
        }
        Remedy::WorkThere { root } => format!(
            "use a server that was started in `{root}`; if the project was moved or copied here, \
             `workflow_guidance` with `action` `start` begins another session"
        ),
        Remedy::GiveEvidence => {
            "say in `criteria_evidence`, for each criterion by its key, what shows that it is met"
                .to_owned()
        }
        _ => return None,
    })
}
