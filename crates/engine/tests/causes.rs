//! Events that were stored before they had a cause: their words tell it. What is written here is what
//! earlier releases wrote, and never changes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{CompletedBy, EVENT_VERSION, Event, FailCause, ReopenCause, SkipCause};
use serde_json::{Value, json};

fn stored(event: &Value) -> Event {
    Event::decode(EVENT_VERSION, &event.to_string()).unwrap()
}

#[test]
fn a_step_that_was_left_out() {
    let cause = |reason: &str, why: &str| {
        let event = json!({ "kind": "StepSkipped", "step": "s", "reason": reason, "why": why });
        stored(&event).skip_cause()
    };
    assert_eq!(cause("a caller asked for it", "caller"), Some(SkipCause::Named));
    assert_eq!(cause("the run begins with `b`", "caller"), Some(SkipCause::Range));
    assert_eq!(cause("a person answered `skip`", "person"), Some(SkipCause::Person));
    assert_eq!(cause("flow `light` leaves it out", "definition"), Some(SkipCause::Flow));
    assert_eq!(cause("`vars.n > 1` holds", "definition"), Some(SkipCause::Condition));
    assert_eq!(cause("`part.mode == 'x'` does not hold", "definition"), Some(SkipCause::NotMeant));
    assert_eq!(cause("other words", "definition"), None);
}

#[test]
fn work_that_was_to_be_done_again() {
    let cause = |feedback: &str| {
        let event = json!({ "kind": "StepReopened", "step": "s", "feedback": feedback });
        stored(&event).reopen_cause()
    };
    let path = "impl-1.md".to_owned();
    assert_eq!(cause("`impl-1.md` is gone"), Some(ReopenCause::FileGone { path }));
    assert_eq!(cause("`phase-6` says FAIL; see `review-1.md`"), Some(ReopenCause::Review));
    let rules = "the parts break rules of the project; see `review-tasks.md`";
    assert_eq!(cause(rules), Some(ReopenCause::Rules));
    assert_eq!(cause("the tone is gone"), None, "a person said it");
    assert_eq!(cause(""), None);
}

#[test]
fn a_step_that_was_completed() {
    let by = |message: &str, result: Value| {
        let report =
            json!({ "step_id": "s", "status": "success", "message": message, "result": result });
        let event = json!({ "kind": "StepCompleted", "step": "s", "report": report });
        let Event::StepCompleted(completed) = stored(&event) else { panic!("another kind") };
        completed.completed_by()
    };
    let bare = |message| by(message, Value::Null);
    assert_eq!(bare("nothing of it is left to do"), CompletedBy::NothingLeft);
    assert_eq!(bare("the step has no work of its own"), CompletedBy::NoWork);
    assert_eq!(bare("all 3 parts are done"), CompletedBy::Parts);
    assert_eq!(bare("it was approved"), CompletedBy::Approved);
    assert_eq!(bare("a person did it"), CompletedBy::Person);
    assert_eq!(bare("chore `final-commit` is done"), CompletedBy::Chore);
    assert_eq!(bare("the review was there already"), CompletedBy::FoundReview);
    assert_eq!(bare("the run went on"), CompletedBy::PassedOver);
    assert_eq!(bare("I wrote the file"), CompletedBy::Report);
    let said = by("nothing of it is left to do", json!("two files"));
    assert_eq!(said, CompletedBy::Report, "an agent said it");
}

#[test]
fn a_failure() {
    let step = |report: Value| {
        let event = json!({ "kind": "StepFailed", "step": "s", "reason": "r", "report": report });
        stored(&event).fail_cause()
    };
    assert_eq!(step(Value::Null), Some(FailCause::Timeout));
    assert_eq!(step(json!({ "step_id": "s", "status": "failure" })), Some(FailCause::Report));
    let run = |reason| stored(&json!({ "kind": "RunFailed", "reason": reason })).fail_cause();
    let last = "step `s` failed on its last attempt: it broke";
    assert_eq!(run(last), Some(FailCause::AttemptsSpent));
    assert_eq!(run("the review `v` was not met"), Some(FailCause::Review));
    assert_eq!(run("step `s` leads to failure"), Some(FailCause::Route));
    assert_eq!(run("out of disk space"), None);
}

/// What is stored from now on does not depend on the words.
#[test]
fn a_cause_that_is_stored_counts() {
    let event = json!({
        "kind": "StepSkipped", "step": "s", "reason": "other words", "cause": "named",
    });
    assert_eq!(stored(&event).skip_cause(), Some(SkipCause::Named));
    let cause = json!({ "kind": "file_gone", "path": "a.md" });
    let event = json!({ "kind": "StepReopened", "step": "s", "feedback": "x", "cause": cause });
    let path = "a.md".to_owned();
    assert_eq!(stored(&event).reopen_cause(), Some(ReopenCause::FileGone { path }));
    assert_eq!(serde_json::to_value(stored(&event)).unwrap(), event, "it is written as it was");
}
