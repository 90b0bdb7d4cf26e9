//! What this toolset's callers are told to do next: its one table of words.

use engine::{Offers, Pick, Remedy, What, offers};

use crate::kit::{Person, Snapshot, Words};

/// The words for an agent whose client cannot ask the person. They hold for every agent.
pub static WORDS: Words = Words {
    start: "call `start_workflow` with {call}. Then do exactly what `next_step.instructions` says, \
            report each step with `advance_workflow`, and continue until `step_name` is FINISH",
    resume: "call `resume_workflow` with it, do what its brief says comes next, and report each \
             step with `advance_workflow`",
    report: "report with `advance_workflow` (`step_id` `{step}`)",
    choose: "call `advance_workflow` with `step_id` `{step}`, and one of the choices as \
             `next_step_name`",
    finish: "",
    relay: "ask the person, and pass their answer on: `answer_gate` with `answer`",
    wait: "only the person's own answer counts: tell them to answer with `milepost gate` (do not \
           run it yourself), and wait with `get_workflow_status` and `wait_seconds`",
    reopen: "`resume_workflow` with `reopen` continues it",
    more: "`get_workflow_status` with `include_history` shows everything",
    takes_reports: true,
    remedy,
};
/// The same where the client can ask the person.
const RELAY: &str = "call `answer_gate` without `answer`, so that your client asks the person; or ask \
                     them yourself, and pass their answer on with it";
const WAIT: &str = "only the person's own answer counts: call `answer_gate` without `answer`, so that \
                    your client asks them; or tell them to answer with `milepost gate` (do not run \
                    it yourself), and wait with `get_workflow_status` and `wait_seconds`";

/// Returns the words for an agent whose client reaches the person so far.
pub fn words(person: Person) -> Words {
    match person {
        Person::OutOfReach => WORDS,
        // Nothing shows that the next answer would be the person's own.
        Person::Unproven | Person::Answered(()) => Words { relay: RELAY, ..WORDS },
        Person::Reachable | Person::Silent(_) => Words { relay: RELAY, wait: WAIT, ..WORDS },
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::FindRun => "`list_runs` shows the runs of this project".to_owned(),
        Remedy::StartAnother => "start another run with `start_workflow`".to_owned(),
        Remedy::Continue => {
            "there is nothing to reopen: `resume_workflow` without `reopen` says what comes next"
                .to_owned()
        }
        Remedy::Look => "`get_workflow_status` says where the run is".to_owned(),
        Remedy::LookAtHistory => {
            "`get_workflow_status` with `include_history` shows the events".to_owned()
        }
        Remedy::Work { .. } => format!("{remedy}; `resume_workflow` says what is done"),
        Remedy::Wait { holder } => format!(
            "if you are `{holder}`, pass `holder`; otherwise work on something else, or claim the \
             step when the lease ends"
        ),
        Remedy::Claim => "`claim_step` gives you a lease".to_owned(),
        Remedy::Pick { what: Pick::Next, among } => {
            format!("name one as `next_step_name`: {}", names(among))
        }
        Remedy::Pick { what: Pick::Part, among } => {
            format!("name one as `part`: {}", names(among))
        }
        Remedy::GiveEvidence => {
            "say in `report.details.evidence`, for each criterion by its key, what shows that it is \
             met"
                .to_owned()
        }
        Remedy::GiveVerdict { words, is_read: false } => {
            format!("put `verdict` into `report.details`, one of: {}", words.join(", "))
        }
        Remedy::SendBack { answer } => format!(
            "have the person send it back with the answer `{answer}`; `get_workflow_status` says how \
             to ask them"
        ),
        Remedy::AcceptFiles => {
            "look at the files; `force` continues with them as they are".to_owned()
        }
        Remedy::GiveKey { pattern } => format!("give a `key` that matches `{pattern}`"),
        Remedy::ShareKey { run } => {
            format!("continue with run `{run}`, give another `key`, or cancel that run")
        }
        Remedy::FixContext => {
            "give what is missing or wrong: in `context` of `start_workflow` for a new run, in \
             `context_updates` of the report for a run that exists"
                .to_owned()
        }
        Remedy::NewRequestId => "use a new `request_id` for a new request".to_owned(),
        Remedy::WorkThere { root } => format!(
            "use a server that was started in `{root}`; if the project was moved or copied here, \
             call `cancel_workflow`, then `start_workflow`"
        ),
        _ => return None,
    })
}

/// Returns what can be done with a run.
pub(super) fn find(now: &Snapshot) -> Offers {
    offers(&now.view.workflow, &now.view.state, &now.known, |what| match what {
        What::Begin(_) | What::Ask(_) | What::Retry(_) | What::Fail => None,
        What::Report(_)
        | What::Choose { .. }
        | What::Leave { .. }
        | What::Answer { .. }
        | What::Reopen
        | What::Cancel => Some(what.command()),
    })
}

fn names(all: &[String]) -> String {
    let names: Vec<String> = all.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}
