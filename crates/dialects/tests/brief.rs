//! A brief fits its budget, whatever a run has gone through, and keeps what is needed most.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use definition::{MemoryFiles, StepName, Workflow, WorkflowName, parse};
use dialects::{
    core::WORDS,
    kit::{Around, Brief, Words, brief},
};
use engine::{
    Actor, Entry, Event, How, Known, Lease, Recorded, RunId, RunStarted, Timestamp, View, fold,
};
use expect_test::expect;
use serde_json::{Map, Value};

/// What a token is taken to have at least, in bytes.
const TOKEN_BYTES: usize = 3;

#[test]
fn a_brief_fits_its_budget() {
    for tokens in [200, 500, 1000, 2500] {
        let brief = brief_of(tokens, 400, "Do the work.");
        let bytes = brief.text.len();
        assert!(bytes <= tokens * TOKEN_BYTES, "{bytes} bytes for {tokens} tokens");
        assert!(!brief.dropped.is_empty());
        assert!(brief.text.contains("Left out to fit"));
    }
}

#[test]
fn a_short_run_loses_nothing() {
    let brief = brief_of(2500, 2, "Do the work.");
    assert_eq!(brief.dropped, Vec::<String>::new());
    assert!(brief.text.contains("note 0") && brief.text.contains("note 1"));
}

#[test]
fn the_next_action_outlives_everything_else() {
    let brief = brief_of(300, 400, "Do the work.");
    assert!(brief.text.contains("Do the work."), "{}", brief.text);
}

#[test]
fn instructions_that_are_too_long_are_cut_and_not_lost() {
    let long = "Look at this. ".repeat(1000);
    let brief = brief_of(1000, 5, &long);
    assert!(brief.text.contains("Look at this."));
    assert!(brief.text.contains("… (cut)"));
    assert!(brief.text.len() <= 1000 * TOKEN_BYTES);
}

#[test]
fn a_brief_says_what_to_do_what_to_mind_and_what_went_wrong() {
    let answered = Event::GateAnswered {
        step: step(),
        part: None,
        answer: "changes".to_owned(),
        how: How::Relayed,
        by: "ann".to_owned(),
        feedback: "name the risks".to_owned(),
        digest: definition::Digest::of(b"what was shown"),
        is_implied: false,
    };
    let error = Entry::Error {
        message: "it broke".to_owned(),
        severity: Some("HIGH".to_owned()),
        details: Map::new(),
    };
    let lease = Lease {
        step: step(),
        part: None,
        holder: "ben".to_owned(),
        generation: 1,
        until: Timestamp(1_767_225_600_000_000),
    };
    let recorded = |entry| Event::EntryRecorded { step: step(), entry };
    let question = Entry::Question {
        question: "which?".to_owned(),
        answer: "this".to_owned(),
        answered_at: None,
    };
    let more = vec![answered, recorded(error), recorded(question), Event::LeaseTaken(lease)];
    let instructions = "Do the work.\n\nReport:\n\n- `report.status`: `success`.";
    let text = |words| of_events(words, instructions, Map::new(), more.clone(), 2500).text;
    expect![[r#"
        # W: running
        Run `run_070w3ge1r70w3ge1r70w3ge1r7`, 0 of 1 steps done, at step `a`. Its files are in `work/a`.

        Goal of the workflow: Show it.

        ## Do this now
        Work on step `a`, then report with `advance_workflow` (`step_id` `a`).
        Instructions:
        Do the work.

        Report:

        - `report.status`: `success`.

        ## Beware
        - `a.md` has changed
        - `ben` holds step `a` until 2026-01-01T00:00:00.000000Z

        ## Open errors
        - `a` [HIGH]: it broke

        ## What people answered
        - `a`: `changes` by ann, as the agent passed it on: name the risks
        - which? → this"#]]
    .assert_eq(&text(&WORDS));
    // Other tools have no such parameters.
    let words = Words { takes_reports: false, ..WORDS };
    assert!(!text(&words).contains("report.status"));
}

/// A brief of a run with so many notes.
fn brief_of(tokens: usize, notes: u32, instructions: &str) -> Brief {
    let note = |number: u32| {
        let text = format!("note {number}: something that was worth writing down");
        Event::EntryRecorded { step: step(), entry: Entry::Note { text, tags: vec![] } }
    };
    let context = (0..50).map(|it| (format!("key {it}"), Value::from(it))).collect();
    let more = (0..notes).map(note).collect();
    of_events(&WORDS, instructions, context, more, tokens)
}

fn step() -> StepName {
    StepName::parse("a").unwrap()
}

fn of_events(
    words: &Words,
    instructions: &str,
    context: Map<String, Value>,
    more: Vec<Event>,
    tokens: usize,
) -> Brief {
    let workflow = workflow(instructions);
    let run = RunId::from_bytes([7; 16]);
    let started = Event::RunStarted(Box::new(RunStarted {
        goes_on: false,
        workflow: workflow.name.clone(),
        digest: workflow.digest.clone(),
        decider: definition::Decider::Declared,
        key: None,
        flow: None,
        context,
        vars: Map::new(),
        root: String::new(),
        journal: false,
    }));
    let entered = Event::StepEntered { step: step(), decision: None };
    let events = [started, entered].into_iter().chain(more);
    let record = |(seq, event)| Recorded {
        seq,
        at: Timestamp(1),
        steady: Timestamp(1),
        by: Actor::default(),
        event,
    };
    let log: Vec<Recorded> = (1..).zip(events).map(record).collect();
    let (workflow, state) = (Arc::new(workflow), Arc::new(fold(run, &log)));
    let view = View { project: "p".to_owned(), workflow, state, leases: Vec::new() };
    let drift = ["`a.md` has changed".to_owned()];
    let around = Around { known: &Known::default(), drift: &drift, folder: Some("work/a") };
    brief(words, &view, around, tokens)
}

fn workflow(instructions: &str) -> Workflow {
    let step = format!("# Orchestrator Guidance\nGo on.\n# Client Instructions\n{instructions}\n");
    let index = "# Goal\nShow it.\n- [a](steps/a.md)\n".to_owned();
    let files = [("W/index.md".to_owned(), index), ("W/steps/a.md".to_owned(), step)];
    parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files.into())).unwrap()
}
