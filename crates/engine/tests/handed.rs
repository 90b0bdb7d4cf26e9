//! Which action was handed out, and which one the last report was about: a fold of the log.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use definition::StepName;
use engine::{Actor, Event, Recorded, Report, RunId, StepCompleted, Timestamp, fold};
use serde_json::Map;

fn step(name: &str) -> StepName {
    StepName::parse(name).unwrap()
}

fn begun(name: &str) -> Event {
    let (details, seen) = (Map::new(), Vec::new());
    Event::StepStarted { step: step(name), part: None, attempt: 1, details, seen }
}

fn done(name: &str) -> Event {
    Event::StepCompleted(Box::new(StepCompleted {
        step: step(name),
        part: None,
        report: Report::default(),
        artifacts: Vec::new(),
        checks: Vec::new(),
        git: None,
        warnings: Vec::new(),
        by: None,
    }))
}

/// Folds events that were appended one at a time, and checks what was handed out and answered.
#[track_caller]
fn check(events: Vec<Event>, expected: (u64, Option<u64>)) {
    check_appends(events.into_iter().map(|it| vec![it]).collect(), expected);
}

/// The same with several events in one append, which have one time.
#[track_caller]
fn check_appends(appends: Vec<Vec<Event>>, expected: (u64, Option<u64>)) {
    let mut log: Vec<Recorded> = Vec::new();
    for (at, events) in (1..).zip(appends) {
        let (at, by) = (Timestamp(at), Actor::default());
        for event in events {
            log.push(Recorded { seq: log.len() as u64 + 1, at, steady: at, by: by.clone(), event });
        }
    }
    let handed = fold(RunId::from_bytes([1; 16]), &log).handed;
    assert_eq!((handed.action, handed.answered), expected);
}

#[test]
fn an_action_that_is_asked_for_again_is_the_same_action() {
    check(vec![begun("a")], (1, None));
    check(vec![begun("a"), begun("a")], (1, None));
}

#[test]
fn a_report_is_about_the_action_that_was_handed_out() {
    check(vec![begun("a"), done("a")], (1, Some(1)));
    check(vec![begun("a"), done("a"), begun("b")], (3, Some(1)));
    check(vec![begun("a"), done("a"), begun("b"), begun("b"), done("b")], (3, Some(3)));
}

#[test]
fn a_report_and_the_next_action_may_be_one_append() {
    let on = || vec![done("a"), begun("b")];
    check_appends(vec![vec![begun("a")], on()], (3, Some(1)));
    check_appends(vec![vec![begun("a")], on(), vec![begun("b")]], (3, Some(1)));
    check_appends(vec![vec![begun("a")], on(), vec![done("b"), begun("c")]], (5, Some(3)));
    // The server has something to do in between, which is an append of its own.
    check_appends(vec![vec![begun("a")], vec![done("a")], vec![begun("b")]], (3, Some(1)));
}

#[test]
fn a_report_that_nobody_was_asked_for_is_about_itself() {
    check(vec![begun("a"), done("a"), done("b")], (3, Some(3)));
}

#[test]
fn what_was_reported_before_a_run_was_cancelled_is_not_repeated() {
    let cancelled = Event::RunCancelled { reason: String::new() };
    check(vec![begun("a"), done("a"), cancelled], (3, None));
}
