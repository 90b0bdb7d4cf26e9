//! What the state of a run keeps of how it got there. Each test folds a log, written as it is stored,
//! and reads the history off the state.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use definition::{Digest, StepName};
use engine::{
    Attempt, AttemptOutcome, Closing, EVENT_VERSION, Ended, Ending, Event, Kind, Recorded, RunId,
    RunState, Timestamp, Visited, fold,
};
use serde_json::{Value, json};

/// Folds a run that began, entered `a` and then met `events`. The first of them has the number 3.
fn folded(events: &[Value]) -> RunState {
    let digest = Digest::of(b"w");
    let begun = [
        json!({
            "kind": "RunStarted", "workflow": "w", "digest": digest.as_str(),
            "decider": "declared", "context": { "n": 1 },
        }),
        json!({ "kind": "StepEntered", "step": "a" }),
    ];
    let recorded = |(seq, event): (u64, &Value)| Recorded {
        seq,
        at: Timestamp(i64::try_from(seq).unwrap()),
        steady: Timestamp(0),
        by: engine::Actor::default(),
        event: Event::decode(EVENT_VERSION, &event.to_string()).unwrap(),
    };
    let log: Vec<Recorded> = (1..).zip(begun.iter().chain(events)).map(recorded).collect();
    fold(RunId::from_bytes([7; 16]), &log)
}

fn started(step: &str) -> Value {
    json!({ "kind": "StepStarted", "step": step, "attempt": 1, "details": { "agent": "x" } })
}

fn completed(step: &str) -> Value {
    let report = json!({ "step_id": step, "status": "success", "details": { "words": 9 } });
    json!({ "kind": "StepCompleted", "step": step, "report": report })
}

fn failed(step: &str) -> Value {
    json!({ "kind": "StepFailed", "step": step, "reason": "it broke" })
}

fn of_part(mut event: Value) -> Value {
    event["part"] = "1".into();
    event
}

fn error(step: &str, message: &str) -> Value {
    let entry = json!({ "type": "error", "message": message });
    json!({ "kind": "EntryRecorded", "step": step, "entry": entry })
}

fn asked(step: &str) -> Value {
    json!({
        "kind": "GateOpened", "step": step, "why": "gate", "ask": "Good?", "options": [],
        "answers": "relayed", "digest": Digest::of(b"g").as_str(),
        "opened_at": "2026-01-01T00:00:00.000000Z",
    })
}

fn answered(step: &str, how: &str) -> Value {
    json!({
        "kind": "GateAnswered", "step": step, "answer": "approve", "how": how, "by": "ann",
        "feedback": "fine", "digest": Digest::of(b"g").as_str(),
    })
}

fn run_failed(step: Option<&str>) -> Value {
    json!({ "kind": "RunFailed", "reason": "no", "step": step })
}

fn cancelled() -> Value {
    json!({ "kind": "RunCancelled", "reason": "enough" })
}

fn reopened(forced: bool) -> Value {
    json!({ "kind": "RunReopened", "reason": "again", "forced": forced })
}

fn all_of(state: &RunState, step: &str) -> Vec<Attempt> {
    state.history.attempts_at(&StepName::parse(step).unwrap()).cloned().collect()
}

/// Each attempt at a step: the number of the event that opened it, of those that began it, and how
/// it ended.
fn attempts(state: &RunState, step: &str) -> Vec<String> {
    let word = |it: &Attempt| {
        let starts: Vec<u64> = it.starts.iter().map(|it| it.mark.seq).collect();
        let fault = it.fault.as_ref().map(|(mark, text)| format!(" fault {} {text}", mark.seq));
        let end = it.end.as_ref().map(|it| format!(" {:?} {}", it.how, it.mark.seq));
        let (fault, end) = (fault.unwrap_or_default(), end.unwrap_or_default());
        format!("{} {starts:?}{fault}{end}", it.opened.seq)
    };
    all_of(state, step).iter().map(word).collect()
}

fn questions(state: &RunState) -> Vec<String> {
    let asked = state.history.asked.iter();
    let word = |how: &Closing| match how {
        Closing::Answered { answer, by, feedback, .. } => format!("{answer} by {by}: {feedback}"),
        Closing::Withdrawn => "withdrawn".to_owned(),
        Closing::Ended => "ended".to_owned(),
        Closing::Reopened => "reopened".to_owned(),
    };
    let closed = |it: &engine::Asked| {
        it.closed.as_ref().map_or("open".to_owned(), |it| {
            let (seq, how) = (it.mark.seq, word(&it.how));
            format!("{how} {seq}")
        })
    };
    asked.map(|it| format!("{} {} {}", it.opened.seq, it.step, closed(it))).collect()
}

fn last_end(state: &RunState) -> &Ended {
    state.history.ends.last().unwrap()
}

#[test]
fn a_step_that_is_begun_twice_is_one_attempt_until_it_ends() {
    let state = folded(&[started("a"), started("a"), failed("a"), started("a"), completed("a")]);
    assert_eq!(attempts(&state, "a"), ["3 [3, 4] Failed 5", "6 [6] Done 7"]);
    let failures: Vec<_> = state.history.failures.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(failures, ["it broke"]);
}

#[test]
fn what_is_reported_without_having_been_begun_is_an_attempt_too() {
    let state = folded(&[completed("a")]);
    assert_eq!(attempts(&state, "a"), ["3 [] Done 3"]);
    assert_eq!(all_of(&state, "a")[0].end.as_ref().unwrap().details["words"], 9);
}

#[test]
fn a_retry_opens_the_attempt_that_the_next_start_begins() {
    let retried = json!({ "kind": "StepRetried", "step": "a", "details": { "hint": "shorter" } });
    let state = folded(&[started("a"), failed("a"), retried, started("a")]);
    assert_eq!(attempts(&state, "a"), ["3 [3] Failed 4", "5 [6]"]);
    assert_eq!(all_of(&state, "a")[1].retry.as_ref().unwrap()["hint"], "shorter");
}

#[test]
fn the_first_error_ends_an_attempt_for_the_next_start() {
    let events = [started("a"), error("a", "one"), error("a", "two"), started("a")];
    assert_eq!(attempts(&folded(&events), "a"), ["3 [3] fault 4 one", "6 [6]"]);
    // One that is recorded of a step that nobody begun is not an attempt.
    assert_eq!(attempts(&folded(&[error("a", "one")]), "a"), [""; 0]);
}

#[test]
fn parts_are_handed_out_and_fail_without_being_attempts_at_their_step() {
    let state = folded(&[started("a"), of_part(started("a")), of_part(failed("a"))]);
    assert_eq!(attempts(&state, "a"), ["3 [3]"]);
    let dispatch = state.history.dispatch.as_ref().unwrap();
    assert_eq!((dispatch.mark.seq, dispatch.part.as_ref().unwrap().as_str()), (4, "1"));
    assert_eq!(dispatch.details["agent"], "x");
    let failure = state.history.failures.last().unwrap();
    assert_eq!((failure.mark.seq, failure.part.as_ref().unwrap().as_str()), (5, "1"));
}

#[test]
fn a_cancelled_run_interrupts_what_is_under_way_and_drops_what_only_waits() {
    let retried = json!({ "kind": "StepRetried", "step": "b" });
    let state = folded(&[started("b"), failed("b"), retried, started("a"), cancelled()]);
    assert_eq!(attempts(&state, "a"), ["6 [6] Interrupted 7"]);
    assert_eq!(attempts(&state, "b"), ["3 [3] Failed 4", "5 [] Dropped 7"]);
    let end = last_end(&state);
    assert_eq!((end.from, end.fails_step), ("running", false));
    assert_eq!(end.step.as_ref().unwrap().as_str(), "a");
    assert_eq!(end.how, Ending::Cancelled { reason: "enough".to_owned() });
}

#[test]
fn a_run_that_ends_before_anyone_took_up_a_step_ended_nowhere() {
    assert_eq!(last_end(&folded(&[cancelled()])).step, None);
}

#[test]
fn a_failure_of_the_run_fails_the_step_that_it_names_once() {
    let state = folded(&[started("a"), run_failed(Some("a")), run_failed(Some("a"))]);
    assert_eq!(attempts(&state, "a"), ["3 [3] Failed 4"]);
    let ends: Vec<_> = state.history.ends.iter().collect();
    let told = |it: &Ended| (it.from, it.fails_step, it.is_first_failure());
    assert_eq!(told(ends[0]), ("running", true, true));
    assert_eq!(told(ends[1]), ("failed", false, false));
}

#[test]
fn a_failure_that_names_no_step_is_where_the_run_is_and_fails_no_step_that_is_done() {
    let state = folded(&[started("a"), completed("a"), run_failed(None)]);
    let end = last_end(&state);
    assert_eq!((end.step.as_ref().unwrap().as_str(), end.fails_step), ("a", false));
    assert_eq!(attempts(&state, "a"), ["3 [3] Done 4"]);
}

#[test]
fn a_question_keeps_how_it_was_closed() {
    let withdrawn = json!({ "kind": "GateWithdrawn", "step": "a" });
    let state = folded(&[
        asked("a"),
        answered("a", "relayed"),
        asked("a"),
        withdrawn,
        asked("a"),
        cancelled(),
        reopened(false),
        asked("a"),
        reopened(true),
        asked("a"),
    ]);
    let told = [
        "3 a approve by ann: fine 4",
        "5 a withdrawn 6",
        "7 a ended 8",
        "10 a reopened 11",
        "12 a open",
    ];
    assert_eq!(questions(&state), told);
}

#[test]
fn an_answer_that_the_definition_gives_closes_nothing() {
    let state = folded(&[answered("a", "automatic"), answered("a", "verified")]);
    assert_eq!(questions(&state), [""; 0]);
    let state = folded(&[asked("a"), answered("a", "automatic")]);
    assert_eq!(questions(&state), ["3 a open"]);
}

#[test]
fn a_run_that_was_answered_at_once_did_not_end_while_it_waited() {
    let waited = folded(&[started("a"), asked("a"), cancelled()]);
    assert_eq!(last_end(&waited).from, "waiting");
    let answered = folded(&[started("a"), asked("a"), answered("a", "relayed"), cancelled()]);
    assert_eq!(last_end(&answered).from, "running");
}

#[test]
fn a_run_that_is_reopened_goes_on_where_it_was_unless_all_work_was_done() {
    let state = folded(&[started("a"), run_failed(Some("a")), reopened(true)]);
    let reopening = state.history.reopenings.last().unwrap();
    assert_eq!((reopening.forced, reopening.from), (true, "failed"));
    assert_eq!(reopening.step.as_ref().unwrap().as_str(), "a");
    let ended = json!({ "kind": "WorkEnded" });
    let completes = json!({ "kind": "RunCompleted", "details": { "words": 7 } });
    let state = folded(&[completed("a"), ended, completes, reopened(false)]);
    assert_eq!(state.history.reopenings.last().unwrap().step, None);
    let Ending::Completed { details } = &last_end(&state).how else { panic!("another end") };
    assert_eq!(details["words"], 7);
}

#[test]
fn what_a_file_says_takes_the_place_of_the_attempts_before() {
    let placed = json!({
        "kind": "RunPlaced", "path": "f", "sha256": Digest::of(b"t").as_str(), "text": "t",
        "stood": "running", "current": "c", "steps": {
            "a": { "progress": "done" },
            "b": { "progress": "ready", "failure": "it broke" },
            "c": { "progress": "active" },
            "d": { "progress": "ready" },
        },
    });
    let state = folded(&[started("a"), failed("a"), placed, started("c")]);
    let all: Vec<_> = ["a", "b", "c", "d"].iter().map(|it| attempts(&state, it)).collect();
    let none: [&str; 0] = [];
    assert_eq!(all, [&["5 [] Done 5"][..], &["5 [] Failed 5"], &["5 [6]"], &none]);
    let placed = state.history.placed.as_ref().unwrap();
    assert_eq!((placed.text.as_str(), state.history.placed_by()), ("t", 5));
    let starts = Kind { event: "StepStarted", of: "" };
    let since = state.history.counts.count(starts) - placed.counts.count(starts);
    assert_eq!(since, 1, "what happened since is not in the text");
    // What went wrong before is history all the same.
    assert_eq!(state.history.failures.len(), 1);
}

#[test]
fn the_context_remembers_which_keys_changed() {
    let set = |value: Value| json!({ "kind": "ContextChanged", "set": value });
    let state = folded(&[set(json!({ "n": 1, "m": 2 })), set(json!({})), set(json!({ "m": 3 }))]);
    let touched: Vec<_> = state.history.context.iter().map(|it| (it.mark.seq, &it.keys)).collect();
    let key = |name: &str, is_news| (name.to_owned(), is_news);
    assert_eq!(touched, [(3, &vec![key("m", true), key("n", false)]), (5, &vec![key("m", true)])]);
}

#[test]
fn visits_are_kept_in_their_order() {
    let skipped = json!({ "kind": "StepSkipped", "step": "b", "reason": "r", "why": "caller" });
    let again = json!({ "kind": "StepReopened", "step": "a", "feedback": "shorter" });
    let verdict = json!({
        "kind": "VerdictGiven", "step": "c", "of": "a", "verdict": "REVISE", "ruling": "revised",
    });
    let state = folded(&[completed("a"), skipped, verdict, again]);
    let word = |it: &Visited| match it {
        Visited::Entered => "entered",
        Visited::Completed(_) => "completed",
        Visited::Skipped { .. } => "skipped",
        Visited::Reopened => "reopened",
        Visited::Judged { .. } => "judged",
    };
    let visits = state.history.visits.iter();
    let visits: Vec<_> = visits.map(|it| format!("{} {}", word(&it.what), it.step)).collect();
    assert_eq!(visits, ["entered a", "completed a", "skipped b", "judged c", "reopened a"]);
}

#[test]
fn events_are_counted_by_their_kind() {
    let rotated = json!({ "kind": "JournalRotated", "text": "long", "archived": "short" });
    let state = folded(&[
        started("a"),
        of_part(started("a")),
        error("a", "one"),
        answered("a", "automatic"),
        rotated,
    ]);
    let counts = &state.history.counts;
    for kind in ["StepStarted", "StepStarted.part", "EntryRecorded.error", "GateAnswered.automatic"]
    {
        assert_eq!(counts.sum(|it| it.to_string() == kind), 1, "{kind}");
    }
    assert_eq!(counts.count(Kind { event: "GateAnswered", of: "" }), 0);
    assert_eq!(counts.sum(|_| true), 7);
    assert_eq!(counts.newest(|it| it.event == "StepStarted").unwrap().seq, 4);
    assert_eq!(state.history.archived.last().unwrap().text, "short");
}

#[test]
fn an_interruption_is_told_from_a_failure() {
    let state = folded(&[started("a"), cancelled(), reopened(false), started("a"), failed("a")]);
    let outcomes = all_of(&state, "a").into_iter();
    let outcomes: Vec<_> = outcomes.map(|it| it.end.unwrap().how).collect();
    assert_eq!(outcomes, [AttemptOutcome::Interrupted, AttemptOutcome::Failed]);
}
