//! Commands of one decision do not hand their modes on: what one says about the end of the run or
//! about verdicts does not hold for the next.
#![expect(clippy::unwrap_used, clippy::panic, dead_code, reason = "a test may panic")]

#[path = "support/samples.rs"]
mod samples;

use definition::{MemoryFiles, WorkflowName, parse};
use engine::{
    Actor, Answer, Command, Event, Fact, FileFact, How, Known, Recorded, RunId, RunState, Stop,
    Timestamp, decide, fold,
};
use samples::{answer, done, open_at_end, report_of, start};
use serde_json::json;

const TEXT: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

/// Decides one command after another in a run of a workflow with these steps, and returns what the
/// last led to.
fn play(index: &str, steps: &[(&str, &str)], commands: &[Command]) -> Vec<String> {
    let mut files = MemoryFiles::default();
    let links: String =
        steps.iter().map(|(name, _)| format!("- [{name}](steps/{name}.md)\n")).collect();
    files.0.insert("W/index.md".to_owned(), format!("---\n{index}\n---\n{links}"));
    for (name, front) in steps {
        files.0.insert(format!("W/steps/{name}.md"), format!("---\n{front}\n---\n{TEXT}"));
    }
    let workflow = parse(&WorkflowName::parse("W").unwrap(), &files).unwrap();
    let run = RunId::from_bytes([1; 16]);
    let mut log: Vec<Recorded> = Vec::new();
    let mut last = Vec::new();
    for command in commands {
        let events = ask(&workflow, &fold(run, &log), command);
        last = events.iter().map(|it| it.kind().to_owned()).collect();
        let (at, by) = (Timestamp(1), Actor::default());
        for event in events {
            log.push(Recorded { seq: log.len() as u64 + 1, at, steady: at, by: by.clone(), event });
        }
    }
    last
}

fn ask(workflow: &definition::Workflow, state: &RunState, command: &Command) -> Vec<Event> {
    let mut known = Known { now: Timestamp(1), ..Known::default() };
    loop {
        match decide(workflow, state, &known, command) {
            Ok(decided) => return decided.events,
            Err(Stop::Refused(refusal)) => panic!("{command:?}: {refusal}"),
            Err(Stop::Ask(asked)) => {
                let fact = || Fact::File(FileFact::Missing);
                known.facts.extend(asked.into_iter().map(|it| (it, fact())));
            }
        }
    }
}

#[test]
fn a_report_that_leaves_the_run_open_does_not_do_so_for_the_answer_after_it() {
    let approve = answer(Answer::Approve, How::Relayed);
    let both = Command::All(vec![open_at_end("a"), approve]);
    let led = play("gates: relayed", &[("a", "gate: true")], &[start(), both]);
    assert_eq!(led, ["StepCompleted", "GateOpened", "GateAnswered", "RunCompleted"]);
}

#[test]
fn a_review_that_was_counted_before_does_not_keep_the_next_one_from_counting() {
    let verdict = |word: &str| {
        let mut report = report_of("v", "success");
        report.report.details = json!({ "verdict": word });
        Command::ReportStep(Box::new(report))
    };
    let noted = Command::StopAtNextStep(Box::new(verdict("BAD")));
    // The same review again, which leads back to the work; then the work, and another review.
    let again = Command::All(vec![verdict("BAD"), done("a"), verdict("BAD")]);
    let steps =
        [("a", ""), ("v", "review: {of: a, count: n, approve: [GOOD], revise: [BAD]}"), ("z", "")];
    let led = play("vars: {n: 0}", &steps, &[start(), done("a"), noted, again]);
    let counted = led.iter().filter(|it| *it == "VarsChanged").count();
    assert_eq!(counted, 1, "{led:?}");
}
