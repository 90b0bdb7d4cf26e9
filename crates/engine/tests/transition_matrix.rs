//! Draws what every command leads to in every kind of state, so that a change of rules shows.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, fmt::Write as _};

use definition::{Digest, MemoryFiles, Workflow, WorkflowName, parse};
use engine::{
    Actor, Answer, AnswerGate, AtEnd, ChoreOutcome, ClaimStep, Command, ContextChange, Decided,
    Entry, Fact, FileFact, GitDeed, How, Known, Placement, Question, Recorded, Report, ReportStep,
    ResumeRun, RunId, RunState, StartRun, StartStep, Stood, Stop, Terms, Timestamp, decide, fold,
};
use expect_test::expect_file;
use serde_json::{Map, Value};

/// One step that an agent works on with a timeout, one with a gate, one that is the last.
const INDEX: &str = "---\nvars: {n: 0}\ngates: relayed\nchores: [{name: c, when: \"vars.n == 7\", push: {remote: o}, set: {n: \"0\"}}]\n---\n- [a](steps/a.md)\n- [b](steps/b.md)\n- [c](steps/c.md)\n";
const TEXT: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

#[test]
fn every_command_in_every_state() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transition_matrix.txt");
    expect_file![file].assert_eq(&draw());
}

fn draw() -> String {
    let workflow = workflow();
    let start = ("start", start());
    let done = |step: &str| report(step, "success");
    let to_gate = vec![start.1.clone(), done("a"), done("b")];
    let with = |more: &[Command]| [to_gate.clone(), more.to_vec()].concat();
    let states = [
        ("new", vec![]),
        ("ready", vec![start.1.clone()]),
        ("active", vec![start.1.clone(), begin("a")]),
        ("held", vec![start.1.clone(), claim("ann")]),
        ("waiting", to_gate.clone()),
        ("last step", with(&[answer(Answer::Approve)])),
        ("completed", with(&[answer(Answer::Approve), done("c")])),
        ("failed", vec![start.1.clone(), fail()]),
        ("cancelled", vec![start.1.clone(), cancel()]),
        ("a failed", vec![start.1.clone(), begin("a"), fail_step()]),
        ("asked early", vec![start.1.clone(), done("a"), ask_at("b")]),
        ("chore due", vec![start.1.clone(), seven()]),
        ("chore due, waiting", with(&[seven()])),
        ("work ended", with(&[answer(Answer::Approve), last()])),
    ];
    let commands = [
        start,
        ("begin a", begin("a")),
        ("success a", done("a")),
        ("failure a", report("a", "failure")),
        ("other a", report("a", "in_progress")),
        ("success c", done("c")),
        ("resume a", resume("a", "success")),
        ("resume c", resume("c", "resuming")),
        ("choose b", Command::ChooseStep { next: "b".to_owned() }),
        ("approve", answer(Answer::Approve)),
        ("reject", answer(Answer::Reject)),
        ("agree to b", Command::ApproveStep { step: "b".to_owned() }),
        ("claim bob", claim("bob")),
        ("claim ann", claim("ann")),
        ("release 1", Command::ReleaseStep { generation: 1 }),
        ("note", note()),
        (
            "error",
            entry(Entry::Error { message: "e".to_owned(), severity: None, details: Map::new() }),
        ),
        ("context", Command::ChangeContext(ContextChange { set: object(), remove: vec![] })),
        ("vars", Command::SetVars { set: object() }),
        ("cancel", cancel()),
        ("fail", fail()),
        ("reopen", Command::ReopenRun { reason: "r".to_owned(), force: false }),
        ("expire", Command::ExpireStep),
        ("fail a", fail_step()),
        ("retry a", Command::RetryStep { step: "a".to_owned(), details: Map::new() }),
        ("ask at b", ask_at("b")),
        ("complete", complete()),
        ("give up key", Command::GiveUpKey),
        ("chore c", chore("c")),
        ("edit: running", edit(Stood::Running)),
        ("edit: completed", edit(Stood::Completed)),
        ("note, then cancel", Command::All(vec![note(), cancel()])),
        ("cancel, then approve", Command::All(vec![cancel(), answer(Answer::Approve)])),
    ];
    let mut drawn = String::new();
    for (name, history) in &states {
        let state = reach(&workflow, history);
        writeln!(drawn, "in state `{name}`").unwrap();
        for (command, asked) in &commands {
            let cell = match ask(&workflow, &state, asked) {
                Ok(decided) => {
                    let kinds: Vec<_> = decided.events.iter().map(engine::Event::kind).collect();
                    if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(" ") }
                }
                Err(refusal) => format!("refused {}", refusal.code()),
            };
            writeln!(drawn, "  {command:10} {cell}").unwrap();
        }
    }
    drawn
}

fn chore(name: &str) -> Command {
    Command::ReportChore {
        name: name.to_owned(),
        deed: GitDeed::Push { branch: String::new(), remote: "o".to_owned(), taken_at: None },
        outcome: ChoreOutcome::Done { detail: String::new(), warnings: Vec::new(), pushed: None },
    }
}

/// Makes the chore due.
fn seven() -> Command {
    Command::SetVars { set: Map::from_iter([("n".to_owned(), Value::from(7))]) }
}

fn reach(workflow: &Workflow, history: &[Command]) -> RunState {
    let run = RunId::from_bytes([1; 16]);
    let mut log: Vec<Recorded> = Vec::new();
    for command in history {
        let state = fold(run, &log);
        let decided = ask(workflow, &state, command).unwrap();
        for event in decided.events {
            let seq = log.len() as u64 + 1;
            log.push(Recorded {
                seq,
                at: Timestamp(1),
                steady: Timestamp(1),
                by: Actor::default(),
                event,
            });
        }
    }
    fold(run, &log)
}

fn ask(
    workflow: &Workflow,
    state: &RunState,
    command: &Command,
) -> Result<Decided, engine::Refusal> {
    let mut known = Known { now: Timestamp(2), ..Known::default() };
    loop {
        match decide(workflow, state, &known, command) {
            Ok(decided) => return Ok(decided),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Ask(questions)) => {
                for question in questions {
                    let fact = match &question {
                        Question::File(_) | Question::Beside(_) => Fact::File(FileFact::Missing),
                        Question::Git => Fact::Git(None),
                        Question::Check { .. } => Fact::Check(engine::CheckFact::NotAllowed),
                        Question::Model { .. } => unreachable!("no model is there"),
                    };
                    known.facts.insert(question, fact);
                }
            }
        }
    }
}

fn workflow() -> Workflow {
    let mut files = MemoryFiles::default();
    let mut add = |path: &str, text: String| files.0.insert(format!("W/{path}"), text);
    add("index.md", INDEX.to_owned());
    add("steps/a.md", format!("---\ntimeout: 1h\nattempts: 2\n---\n{TEXT}"));
    add("steps/b.md", format!("---\ngate: true\n---\n{TEXT}"));
    add("steps/c.md", TEXT.to_owned());
    parse(&WorkflowName::parse("W").unwrap(), &files).unwrap()
}

fn start() -> Command {
    Command::StartRun(Box::new(StartRun {
        key: None,
        flow: None,
        context: Map::new(),
        vars: Map::new(),
        root: String::new(),
    }))
}

fn begin(step: &str) -> Command {
    Command::StartStep(StartStep { step: step.to_owned(), ..StartStep::default() })
}

fn ask_at(step: &str) -> Command {
    Command::StartStep(StartStep { step: step.to_owned(), asks: true, ..StartStep::default() })
}

/// A report on the last step that leaves the run open.
fn last() -> Command {
    let terms = Terms { end: AtEnd::StaysOpen, ..Terms::default() };
    Command::ReportStep(Box::new(ReportStep { terms, ..report_of("c", "success") }))
}

fn note() -> Command {
    entry(Entry::Note { text: "n".to_owned(), tags: vec![] })
}

fn cancel() -> Command {
    Command::CancelRun { reason: "r".to_owned() }
}

fn fail() -> Command {
    Command::FailRun { reason: "r".to_owned(), step: None, errors: Vec::new() }
}

fn fail_step() -> Command {
    Command::FailStep { step: "a".to_owned(), reason: "r".to_owned(), details: Map::new() }
}

fn complete() -> Command {
    let (details, context) = (Map::new(), ContextChange::default());
    Command::CompleteRun { details, context, early: true }
}

fn edit(stood: Stood) -> Command {
    Command::TakeEdit(Box::new(Placement {
        path: "f".to_owned(),
        sha256: Digest::of(b"f"),
        text: "f".to_owned(),
        stood,
        reason: String::new(),
        steps: BTreeMap::new(),
        stated: None,
        at: None,
        parts: BTreeMap::new(),
        current: None,
        is_work_done: false,
        vars: Map::new(),
        items: None,
        journal: None,
        started_at: None,
        updated_at: None,
    }))
}

fn report_of(step: &str, status: &str) -> ReportStep {
    ReportStep {
        part: None,
        report: Report { step_id: step.to_owned(), status: status.to_owned(), ..Report::default() },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: Terms::default(),
    }
}

fn report(step: &str, status: &str) -> Command {
    Command::ReportStep(Box::new(report_of(step, status)))
}

fn resume(step: &str, status: &str) -> Command {
    let report = report_of(step, status);
    Command::ResumeRun(Box::new(ResumeRun { assumed: step.to_owned(), report, force: false }))
}

fn answer(answer: Answer) -> Command {
    Command::AnswerGate(Box::new(AnswerGate {
        answer,
        feedback: String::new(),
        by: "ann".to_owned(),
        how: How::Relayed,
        digest: None,
    }))
}

fn claim(holder: &str) -> Command {
    let holder = holder.to_owned();
    Command::ClaimStep(ClaimStep { step: None, part: None, holder, duration: None })
}

fn entry(entry: Entry) -> Command {
    Command::RecordEntry { step: None, entry }
}

fn object() -> Map<String, Value> {
    Map::from_iter([("n".to_owned(), Value::from(1))])
}
