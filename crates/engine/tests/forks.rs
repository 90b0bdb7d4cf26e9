//! A copy of a run stands at a place where an agent can go on, wherever the log was cut.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use definition::{Answers, MemoryFiles, PartId, Workflow, WorkflowName, parse};
use engine::{
    Action, Actor, Answer, AnswerGate, Command, ContextChange, Decided, ForkPoint, How, Known,
    Recorded, Refusal, Report, ReportStep, RunId, RunState, StartRun, Stop, Timestamp, audit,
    decide, fold, fork, next,
};

const INDEX: &str = "---\nkey: '[0-9]{4}'\n---\n- [a](steps/a.md)\n- [b](steps/b.md)\n";
const TEXT: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

#[test]
fn a_copy_can_go_on_from_every_event() {
    let workflow = workflow();
    let (log, waiting) = original(&workflow);
    let answered = waiting.length;
    for seq in 1..=log.len() as u64 {
        let copy = copied(&workflow, &log, &ForkPoint::Seq(seq), None).unwrap();
        match next(&workflow, &copy) {
            Action::Work { step, parts } => {
                assert!(step.each.is_none() || !parts.is_empty(), "event {seq}: no part is ready");
            }
            Action::Chore { chore } => panic!("event {seq}: a chore is due: {chore:?}"),
            Action::Wait { gate } => assert_eq!(gate.step.as_str(), "b", "event {seq}"),
            Action::Done => assert!(seq > answered, "event {seq}"),
            Action::Choose { .. } => panic!("event {seq}: a declared run asks for a choice"),
            Action::Stopped { reason } => panic!("event {seq}: stopped: {reason}"),
        }
    }
}

#[test]
fn a_copy_from_a_fanned_out_step_has_its_parts() {
    let workflow = workflow();
    let (log, _) = original(&workflow);
    let copy = copied(&workflow, &log, &ForkPoint::Step("a".to_owned()), None).unwrap();
    assert!(matches!(next(&workflow, &copy), Action::Work { parts, .. } if parts.len() == 2));
}

#[test]
fn a_gate_of_a_copy_is_bound_to_the_copy() {
    let workflow = workflow();
    let (log, waiting) = original(&workflow);
    let asked = waiting.standing.open_gate().unwrap();
    let point = ForkPoint::Seq(waiting.length);
    let copy = copied(&workflow, &log, &point, None).unwrap();
    assert_ne!(copy.standing.open_gate().unwrap().digest, asked.digest);
}

#[test]
fn a_copy_that_is_cut_before_its_question_is_sound() {
    let index =
        "---\nvars: {from: ''}\nfrom: vars.from\n---\n- [plan](steps/a.md)\n- [ship](steps/b.md)\n";
    let files = [
        ("W/index.md".to_owned(), index.to_owned()),
        ("W/steps/a.md".to_owned(), format!("---\ngate: true\n---\n{TEXT}")),
        ("W/steps/b.md".to_owned(), TEXT.to_owned()),
    ];
    let workflow = parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files.into())).unwrap();
    let vars = [("from".to_owned(), "ship".into())].into_iter().collect();
    let (context, root) = (serde_json::Map::new(), String::new());
    let start = StartRun { goes_on: false, key: None, flow: None, context, vars, root };
    let mut log = Vec::new();
    let begun = play(&workflow, &mut log, &Command::StartRun(Box::new(start)));
    assert_eq!(begun.standing.open_gate().unwrap().step.as_str(), "plan");
    let point = ForkPoint::Step("ship".to_owned());
    let copy = copied_log(&workflow, &log, &point, None).unwrap();
    let state = fold(RunId::from_bytes([2; 16]), &copy);
    assert_eq!(state.standing.open_gate().unwrap().step.as_str(), "plan");
    assert_eq!(audit(&workflow, state.run, &copy, None), []);
    // The copy without its question is past the gate.
    let (_, cut) = copy.split_last().unwrap();
    assert_eq!(audit(&workflow, state.run, cut, None).len(), 1);
}

#[test]
fn a_skip_that_an_agent_passes_on_does_not_count_as_a_persons_own() {
    let index = "---\ngates: relayed\n---\n- [plan](steps/a.md)\n- [ship](steps/b.md)\n";
    let gate = "gate: {options: {go: approve, leave: skip, stop: cancel}}";
    let files = [
        ("W/index.md".to_owned(), index.to_owned()),
        ("W/steps/a.md".to_owned(), format!("---\n{gate}\n---\n{TEXT}")),
        ("W/steps/b.md".to_owned(), TEXT.to_owned()),
    ];
    let workflow = parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files.into())).unwrap();
    for (how, found) in [(How::Relayed, 1), (How::Verified, 0)] {
        let mut log = Vec::new();
        let (context, vars) = (serde_json::Map::new(), serde_json::Map::new());
        let start =
            StartRun { goes_on: false, key: None, flow: None, context, vars, root: String::new() };
        play(&workflow, &mut log, &Command::StartRun(Box::new(start)));
        play(&workflow, &mut log, &report("plan", None));
        let answer = AnswerGate {
            answer: Answer::Named("leave".to_owned()),
            feedback: String::new(),
            by: "ann".to_owned(),
            how,
            digest: None,
        };
        let state = play(&workflow, &mut log, &Command::AnswerGate(Box::new(answer)));
        assert_eq!(state.current.unwrap().as_str(), "ship");
        let violations = audit(&workflow, state.run, &log, Some(Answers::Verified));
        assert_eq!(violations.len(), found, "{how:?}");
    }
}

#[test]
fn no_branch_is_a_copys_own() {
    let workflow = workflow();
    let (log, _) = original(&workflow);
    let point = ForkPoint::Seq(2);
    let copy = copied(&workflow, &log, &point, None).unwrap();
    let original = fold(copy.run, log.get(..2).unwrap());
    for (mut run, is_taken) in [(copy, true), (original, false)] {
        run.take_branch("feature/login", Some("abc"), false);
        assert_eq!(run.branch.unwrap().is_taken, is_taken);
    }
}

#[test]
fn a_copy_needs_a_key_that_fits() {
    let workflow = workflow();
    let (log, _) = original(&workflow);
    let point = ForkPoint::Seq(2);
    for key in ["../../x", "12", ""] {
        let refused = copied(&workflow, &log, &point, Some(key));
        assert!(matches!(refused, Err(Refusal::KeyInvalid { .. })), "{key}");
    }
    assert_eq!(copied(&workflow, &log, &point, Some("4321")).unwrap().key(), Some("4321"));
}

#[test]
fn a_point_that_is_not_there_is_refused() {
    let workflow = workflow();
    let (log, _) = original(&workflow);
    let refused = copied(&workflow, &log, &ForkPoint::Seq(99), None);
    assert!(matches!(refused, Err(Refusal::SeqUnknown { seq: 99, .. })));
    let refused = copied(&workflow, &log, &ForkPoint::Step("c".to_owned()), None);
    assert!(matches!(refused, Err(Refusal::StepNotEntered { .. })));
}

fn copied(
    workflow: &Workflow,
    log: &[Recorded],
    point: &ForkPoint,
    key: Option<&str>,
) -> Result<RunState, Refusal> {
    let copy = copied_log(workflow, log, point, key)?;
    Ok(fold(RunId::from_bytes([2; 16]), &copy))
}

fn copied_log(
    workflow: &Workflow,
    log: &[Recorded],
    point: &ForkPoint,
    key: Option<&str>,
) -> Result<Vec<Recorded>, Refusal> {
    let (at, steady, by) = (Timestamp(99), Timestamp(99), Actor::default());
    let mut copy = fork(RunId::from_bytes([1; 16]), log, point, key, (at, steady, by.clone()))?;
    let state = fold(RunId::from_bytes([2; 16]), &copy);
    let settle = Command::SettleRun { goes_on: true };
    let settled = match decide(workflow, &state, &Known::default(), &settle) {
        Ok(Decided { events, .. }) => events,
        Err(Stop::Refused(refusal)) => return Err(refusal),
        Err(Stop::Ask(questions)) => panic!("nothing is to be looked at, but {questions:?}"),
    };
    let record = |(seq, event)| Recorded { seq, at, steady, by: by.clone(), event };
    copy.extend((state.length + 1..).zip(settled).map(record));
    Ok(copy)
}

/// A run that was completed, and its state while it waited at the gate.
fn original(workflow: &Workflow) -> (Vec<Recorded>, RunState) {
    let mut log = Vec::new();
    let key = Some("1234".to_owned());
    let (context, vars) = (serde_json::Map::new(), serde_json::Map::new());
    let start = StartRun { goes_on: false, key, flow: None, context, vars, root: String::new() };
    play(workflow, &mut log, &Command::StartRun(Box::new(start)));
    play(workflow, &mut log, &report("a", Some("x")));
    play(workflow, &mut log, &report("a", Some("y")));
    let waiting = play(workflow, &mut log, &report("b", None));
    let approve = AnswerGate {
        answer: Answer::Approve,
        feedback: String::new(),
        by: "ann".to_owned(),
        how: How::Verified,
        digest: None,
    };
    play(workflow, &mut log, &Command::AnswerGate(Box::new(approve)));
    (log, waiting)
}

fn play(workflow: &Workflow, log: &mut Vec<Recorded>, command: &Command) -> RunState {
    let state = fold(RunId::from_bytes([1; 16]), log.iter());
    let decided = decide(workflow, &state, &Known::default(), command).unwrap();
    // Each decision has a time of its own.
    let at = Timestamp(log.len() as i64 + 1);
    for event in decided.events {
        let seq = log.len() as u64 + 1;
        log.push(Recorded { seq, at, steady: at, by: Actor::default(), event });
    }
    fold(RunId::from_bytes([1; 16]), log.iter())
}

fn report(step: &str, part: Option<&str>) -> Command {
    let report =
        Report { step_id: step.to_owned(), status: "success".to_owned(), ..Report::default() };
    let part = part.map(|it| PartId::parse(it).unwrap());
    let context = ContextChange::default();
    Command::ReportStep(Box::new(ReportStep {
        part,
        report,
        context,
        next: None,
        holder: None,
        terms: engine::ReportOptions::default(),
    }))
}

fn workflow() -> Workflow {
    let files = [
        ("W/index.md".to_owned(), INDEX.to_owned()),
        ("W/steps/a.md".to_owned(), format!("---\neach: {{parts: p, list: [x, y]}}\n---\n{TEXT}")),
        ("W/steps/b.md".to_owned(), format!("---\ngate: true\n---\n{TEXT}")),
    ];
    parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files.into())).unwrap()
}
