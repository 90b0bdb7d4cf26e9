//! What a language model is sent stays within its bounds, whatever agents and authors write.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use definition::{MemoryFiles, Workflow, WorkflowName, parse};
use engine::{
    Actor, Bounds, Command, ContextChange, Known, Question, Recorded, Report, ReportStep, RunId,
    StartRun, Stop, Timestamp, decide, fold,
};
use serde_json::{Map, Value};

const BYTES_MAX: usize = 2000;

/// Returns the question that a report on `a` leads to.
fn question(workflow: &Workflow, context: &str, message: &str) -> String {
    let bounds = Bounds { prompt_bytes_max: BYTES_MAX, ..Bounds::default() };
    let known = Known { now: Timestamp(1), has_model: true, bounds, ..Known::default() };
    let run = RunId::from_bytes([1; 16]);
    let start = Command::StartRun(Box::new(StartRun {
        goes_on: false,
        key: None,
        flow: None,
        context: Map::from_iter([("long".to_owned(), Value::from(context))]),
        vars: Map::new(),
        root: String::new(),
    }));
    let begun = decide(workflow, &fold(run, []), &known, &start).unwrap();
    let log: Vec<Recorded> = (1..)
        .zip(begun.events)
        .map(|(seq, event)| Recorded {
            seq,
            at: Timestamp(1),
            steady: Timestamp(1),
            by: Actor::default(),
            event,
        })
        .collect();
    let report = Command::ReportStep(Box::new(ReportStep {
        part: None,
        report: Report {
            step_id: "a".to_owned(),
            status: "success".to_owned(),
            message: Some(message.to_owned()),
            ..Report::default()
        },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: engine::ReportOptions::default(),
    }));
    match decide(workflow, &fold(run, &log), &known, &report) {
        Err(Stop::Ask(asked)) => match asked.as_slice() {
            [Question::Model { user, .. }] => user.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// A workflow whose step `a` names `The Next` in its guidance; each text is padded by `padding`.
fn workflow(padding: usize) -> Workflow {
    let mut files = MemoryFiles::default();
    let mut add = |path: &str, text: String| files.0.insert(format!("W/{path}"), text);
    add(
        "index.md",
        "- [a](steps/a.md)\n- [The Next](steps/n.md)\n- [far](steps/f.md)\n".to_owned(),
    );
    for (file, guidance) in [("a", "Go to `the_next`."), ("n", "It is near."), ("f", "It is far.")]
    {
        let work = "x".repeat(padding);
        let text = format!("# Orchestrator Guidance\n{guidance}\n# Client Instructions\n{work}\n");
        add(&format!("steps/{file}.md"), text);
    }
    parse(&WorkflowName::parse("W").unwrap(), &files).unwrap()
}

#[test]
fn a_short_definition_is_sent_whole() {
    let user = question(&workflow(10), "short", "done");
    for text in ["## Step: a", "## Step: The Next", "It is far.", "\"short\"", "\"done\""] {
        assert!(user.contains(text), "{text} is not in: {user}");
    }
    assert!(!user.contains("cut here") && !user.contains("Left out"), "{user}");
}

#[test]
fn a_long_definition_is_sent_as_far_as_it_matters() {
    let user = question(&workflow(700), "short", "done");
    for text in ["- [far](steps/f.md)", "## Step: a", "It is near.", "the steps far)"] {
        assert!(user.contains(text), "{text} is not in: {user}");
    }
    assert!(!user.contains("It is far."), "{user}");
}

#[test]
fn whatever_is_too_long_is_cut_and_says_so() {
    let long = "é".repeat(BYTES_MAX);
    let user = question(&workflow(BYTES_MAX), &long, &long);
    assert_eq!(user.matches("[cut here: ").count(), 3, "{user}");
    assert!(user.len() < 5 * BYTES_MAX, "{} bytes", user.len());
    assert!(user.ends_with("Answer with the JSON object only."), "the task is never cut: {user}");
}
