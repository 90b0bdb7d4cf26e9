//! What this toolset's callers are told to do next: its one table of words, and the calls that the
//! engine would accept.

use definition::{StepName, Target};
use engine::{AttemptStatus, Command, ContextChange, Known, Offers, Remedy, View, What, offers};
use serde_json::Map;

use super::{
    complete_step,
    words::{DRAFT, Step},
};
use crate::kit::Words;

/// What to do where only the user's own answer counts.
pub(super) const PERSON: &str = "Only the user's own answer counts: tell them to run `milepost gate` \
                                 (do not run it yourself), and wait";

/// The words.
pub(super) static WORDS: Words = Words {
    start: "call `get_generation_status` for the scene, then `start_generation`, and go through its \
            steps",
    resume: "call `get_generation_status` for its scene, and continue with `start_step`, or with \
             `resume_generation` if it failed or was cancelled",
    report: "call `complete_step`; `start_step` comes before the work",
    choose: "start the next one with `start_step`",
    finish: "end it with `complete_generation`",
    relay: "ask the user; only after they approve, call `complete_step`",
    wait: "only the user's own answer counts: tell them to run `milepost gate` (do not run it \
           yourself), and wait; `get_generation_status` says when they have answered",
    reopen: "`resume_generation` shows how it would continue; after the user agrees, call it with \
             `confirm`",
    more: "`get_generation_status` shows more",
    takes_reports: false,
    remedy,
};

#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::FindRun => "`list_generations` shows the scenes".to_owned(),
        Remedy::StartAnother => "start the scene with `start_generation`".to_owned(),
        Remedy::Look | Remedy::LookAtHistory | Remedy::Continue | Remedy::Work { .. } => {
            "`get_generation_status` says what comes next".to_owned()
        }
        Remedy::Begin { .. } => "call `start_step` for it first".to_owned(),
        Remedy::AcceptFiles => {
            "look at the files; `resume_generation` with `force` continues with them as they are"
                .to_owned()
        }
        Remedy::WorkThere { root } => format!(
            "use a server that was started in `{root}`; if the project was moved or copied here, \
             call `cancel_generation`, then `start_generation`"
        ),
        _ => return None,
    })
}

/// Returns what can be done with a scene.
pub(super) fn find(view: &View, known: &Known) -> Offers {
    let state = &view.state;
    let mut found = offers(&view.workflow, state, known, command);
    let effort = state.current.as_ref().and_then(|it| state.effort(it, None));
    if effort.is_some_and(|it| it.trouble == AttemptStatus::Faulty) {
        // A draft with an error is written again.
        let is_draft = |it: &StepName| find_step(it).is_some_and(|it| it.number == DRAFT);
        found.open.retain(|it| !matches!(&it.what, What::Report(step) if is_draft(step)));
    }
    found
}

/// Returns the command that a call is; `None` where there is no such call.
fn command(what: &What) -> Option<Command> {
    match what {
        What::Report(step) => find_step(step).map(complete_step::plain),
        What::Choose { to: Target::Step(step), .. } => Some(What::Begin(step.clone()).command()),
        What::Choose { to: Target::Finish, .. } => Some(Command::CompleteRun {
            details: Map::new(),
            context: ContextChange::default(),
            early: true,
        }),
        What::Reopen => Some(Command::ReopenRun { reason: String::new(), force: true }),
        What::Answer { .. } | What::Leave { .. } => None,
        What::Begin(_) | What::Ask(_) | What::Retry(_) | What::Fail | What::Cancel => {
            Some(what.command())
        }
    }
}

/// Returns the step of a definition in this toolset's words.
pub(crate) fn find_step(name: &StepName) -> Option<&'static Step> {
    Step::find_key(name.as_str())
}
