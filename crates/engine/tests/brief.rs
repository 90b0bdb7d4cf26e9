//! A brief fits its budget, whatever a run has gone through, and keeps what is needed most.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use definition::{MemoryFiles, StepName, Workflow, WorkflowName, parse};
use engine::{
    Actor, Brief, Entry, Event, Known, Recorded, RunId, RunStarted, Timestamp, brief, fold,
};
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

fn brief_of(tokens: usize, notes: u32, instructions: &str) -> Brief {
    let workflow = workflow(instructions);
    let run = RunId::from_bytes([7; 16]);
    let step = StepName::parse("a").unwrap();
    let started = Event::RunStarted(Box::new(RunStarted {
        workflow: workflow.name.clone(),
        digest: workflow.digest.clone(),
        decider: definition::Decider::Declared,
        key: None,
        flow: None,
        context: Map::from_iter((0..50).map(|it| (format!("key {it}"), Value::from(it)))),
        vars: Map::new(),
        root: String::new(),
        journal: false,
    }));
    let entered = Event::StepEntered { step: step.clone(), decision: None };
    let note = |number: u32| {
        let text = format!("note {number}: something that was worth writing down");
        Event::EntryRecorded { step: step.clone(), entry: Entry::Note { text, tags: vec![] } }
    };
    let events = [started, entered].into_iter().chain((0..notes).map(note));
    let record = |(seq, event)| Recorded {
        seq,
        at: Timestamp(1),
        steady: Timestamp(1),
        by: Actor::default(),
        event,
    };
    let log: Vec<Recorded> = (1..).zip(events).map(record).collect();
    let state = fold(run, &log);
    brief(&workflow, &state, &Known::default(), &[], tokens)
}

fn workflow(instructions: &str) -> Workflow {
    let step = format!("# Orchestrator Guidance\nGo on.\n# Client Instructions\n{instructions}\n");
    let index = "# Goal\nShow it.\n- [a](steps/a.md)\n".to_owned();
    let files = [("W/index.md".to_owned(), index), ("W/steps/a.md".to_owned(), step)];
    parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files.into())).unwrap()
}
