//! Draws what every command does to a gate in each of its states, and shows that only an answer
//! that counts gets a run past it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::{collections::BTreeMap, fmt::Write as _};

use definition::{
    Answers, Digest, MemoryFiles, PartId, PartSpec, StepName, Workflow, WorkflowName,
};
use engine::{
    Actor, Advance, Answer, AnswerGate, AtEnd, ChoreOutcome, ClaimStep, ClaimedProgress,
    ClaimedStatus, Command, Consent, ContextChange, Decided, Done, Entry, Event, Fact, FileClaim,
    FileFact, ForkPoint, GatePolicy, GitDeed, How, Known, MakeMove, Onward, PartPlaced, Passage,
    Policy, Progress, Question, Recorded, Refusal, Report, ReportChore, ReportOptions, ReportStep,
    ResumeRun, RunId, RunState, Standing, StartRun, StartStep, Stop, Surface, Timestamp, audit,
    decide, fold, fork,
};
use expect_test::expect_file;
use serde_json::{Map, Value, json};

/// `plan` has the gate. Everything by which a definition lets a gate be left out is here.
const INDEX: &str = r#"---
gates: relayed
decider: client
ends: {early: true}
vars: {auto: false, n: 0}
flows: {light: [plan]}
moves: {jump: {do: [{goto: ship}]}}
chores: [{name: c, when: "vars.n == 7", push: {remote: o}, set: {n: "0"}}]
---
- [draft](steps/draft.md)
- [plan](steps/plan.md)
- [ship](steps/ship.md)
- [tell](steps/tell.md)
"#;
const PLAN: &str = "---\ngate: {show: [plan.md], unless: vars.auto}\nskip_when: \"context.fast | default(false)\"\n---\n";
const TELL: &str = "---\neach: {parts: ears, list: [a]}\n---\n";
const TEXT: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

/// What a command is decided by.
#[derive(Clone)]
struct World {
    gates: Answers,
    plan: &'static str,
}

#[test]
fn every_command_at_every_state_of_a_gate() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate_matrix.txt");
    expect_file![file].assert_eq(&draw());
}

fn draw() -> String {
    let workflow = workflow();
    let mut drawn = String::from(HEADER);
    for (name, command) in commands() {
        write!(drawn, "{name:28}").unwrap();
        for gates in [Answers::Relayed, Answers::Verified] {
            for (state, (history, plan)) in states() {
                let world = World { gates, plan };
                let log = reach(&workflow, gates, &history);
                let cell = cell(&workflow, &log, &world, &command);
                check(&cell, gates, (name, state), &command);
                write!(drawn, " {cell:10}").unwrap();
            }
            drawn.push_str(" |");
        }
        drawn.push('\n');
    }
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

const HEADER: &str = "\
PAST      the command got the run past the gate, or opened the gate for it
asks      the run waits at the gate
ended     the run failed or was cancelled
back      the run is before the gate again
-         the command changed nothing about the gate
other     the command was refused, for a reason that has nothing to do with the gate
no        the command was refused because of the gate

ahead     the run is before the step with the gate
due       it works on that step
asked     it waits at the gate
answered  the person approved, and the run is behind the gate
changed   it waits at the gate, and what the person is shown has changed since it asked
rejected  the person sent the work back
stale     the person approved, what they were shown has changed, and the next step is to be chosen
owed      the run began behind the gate, because a file says so

                             answers that an agent passes on count                                                    | only a person's own answer counts
                             ahead      due        asked      answered   changed    rejected   stale      owed        | ahead      due        asked      answered   changed    rejected   stale      owed        |
";

/// How many walks are made, and of how many commands each.
const WALKS: u64 = 200;
const STEPS: usize = 60;

#[test]
fn no_walk_of_commands_gets_past_a_gate_that_wants_a_person() {
    let workflow = workflow();
    let run = RunId::from_bytes([1; 16]);
    for seed in 1..=WALKS {
        let mut random = seed;
        let mut log: Vec<Recorded> = Vec::new();
        for number in 0..STEPS {
            let commands = commands();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            let at = usize::try_from(random >> 33).unwrap() % commands.len();
            let (name, command) = commands.into_iter().nth(at).unwrap();
            let plan = if random.is_multiple_of(5) { "another plan" } else { "the plan" };
            let world = World { gates: Answers::Verified, plan };
            if random.is_multiple_of(7) && !log.is_empty() {
                let point = ForkPoint::Seq(random % log.len() as u64 + 1);
                let at = Timestamp(i64::try_from(number).unwrap() + 1);
                let copy = fork(run, &log, &point, None, (at, at, Actor::default())).unwrap();
                let settle = Command::SettleRun { goes_on: true };
                let Ok(settled) = ask(&workflow, &fold(run, &copy), &world, &settle) else {
                    continue;
                };
                log = copy;
                append(&mut log, settled.events, at.0);
                check_walk(&workflow, &log, (seed, "fork"));
                continue;
            }
            let Ok(decided) = ask(&workflow, &fold(run, &log), &world, &command) else { continue };
            append(&mut log, decided.events, i64::try_from(number).unwrap() + 1);
            check_walk(&workflow, &log, (seed, name));
        }
    }
}

#[test]
fn an_imported_run_is_audited_from_where_it_was_taken_over() {
    let (workflow, run) = (workflow(), RunId::from_bytes([1; 16]));
    let skipped = [start(Map::new(), None), Command::SkipStep { step: "plan".into() }];
    let mut log = reach(&workflow, Answers::Relayed, &skipped);
    log.iter_mut().for_each(|it| it.by.surface = Surface::Import);
    let audit = |log: &[Recorded]| audit(&workflow, run, log, Some(Answers::Verified));
    assert_eq!(audit(&log).len(), 1, "it stands behind a gate");
    let world = World { gates: Answers::Verified, plan: "the plan" };
    let settle = Command::SettleRun { goes_on: false };
    for (at, command) in [(98, settle), (99, answered(Answer::Approve, How::Verified))] {
        let decided = ask(&workflow, &fold(run, &log), &world, &command).unwrap();
        append(&mut log, decided.events, at);
        assert_eq!(audit(&log), [], "{command:?}");
    }
}

fn check_walk(workflow: &Workflow, log: &[Recorded], (seed, name): (u64, &str)) {
    let run = RunId::from_bytes([1; 16]);
    let (is_behind, is_answered) = (is_behind(&fold(run, log)), was_answered(log));
    assert!(!is_behind || is_answered, "seed {seed}: `{name}` got past the gate: {log:#?}");
    let found = audit(workflow, run, log, Some(Answers::Verified));
    assert!(found.is_empty(), "seed {seed}: `{name}`: {found:?}");
}

/// Whether the run works behind the gate, or was completed. Read without the engine's own rule.
fn is_behind(state: &RunState) -> bool {
    let is_open = state.standing == Standing::Running && 2 <= place(state);
    is_open || state.standing == Standing::Completed
}

/// Whether a person approved since the step with the gate was last entered.
fn was_answered(log: &[Recorded]) -> bool {
    let mut is_answered = false;
    for recorded in log {
        if let Event::StepEntered { step, .. } = &recorded.event
            && step.as_str() == "plan"
        {
            is_answered = false;
        }
        if let Event::GateAnswered { step, answer, how: How::Verified, .. } = &recorded.event
            && (step.as_str(), answer.as_str()) == ("plan", "approve")
        {
            is_answered = true;
        }
    }
    is_answered
}

/// In the right half, only a person's own answer gets a run past the gate.
fn check(cell: &str, gates: Answers, place: (&str, &str), command: &Command) {
    let is_own = |it: &Command| matches!(it, Command::AnswerGate(it) if it.how == How::Verified);
    let is_allowed = gates == Answers::Relayed || is_own(command);
    assert!(cell != "PAST" || is_allowed, "{place:?} got past a verified gate");
}

fn cell(workflow: &Workflow, log: &[Recorded], world: &World, command: &Command) -> String {
    let run = RunId::from_bytes([1; 16]);
    let before = fold(run, log);
    let decided = match ask(workflow, &before, world, command) {
        Ok(decided) => decided,
        Err(refusal) => return if is_of_gate(&refusal) { "no" } else { "other" }.to_owned(),
    };
    let mut log = log.to_vec();
    append(&mut log, decided.events, 99);
    let found = audit(workflow, run, &log, Some(world.gates));
    assert!(found.is_empty(), "{command:?}: {found:?}");
    let after = &decided.state;
    let is_asked = after.standing.open_gate().is_some_and(|it| it.step.as_str() == "plan");
    match (is_past(&before), is_past(after)) {
        _ if !after.standing.is_live() && after.standing != Standing::Completed => "ended",
        (false, true) => "PAST",
        _ if is_asked => "asks",
        (true, false) => "back",
        (false, false) | (true, true) => "-",
    }
    .to_owned()
}

/// Whether the run is past the gate, or may go there.
fn is_past(state: &RunState) -> bool {
    let is_behind = 2 <= place(state) || state.standing == Standing::Completed;
    let is_asked = state.standing.open_gate().is_some_and(|it| it.step.as_str() == "plan");
    let passage = state.step(&step("plan")).map(|it| it.passage).unwrap_or_default();
    (is_behind || passage != Passage::Owed) && !is_asked
}

fn place(state: &RunState) -> usize {
    let current = state.current.as_ref().map_or("", StepName::as_str);
    ["draft", "plan", "ship", "tell"].iter().position(|it| *it == current).unwrap_or_default()
}

fn is_of_gate(refusal: &Refusal) -> bool {
    let code = refusal.code();
    code.starts_with("gate_") && code != "gate_not_open"
        || code == "edit_refused"
        || code == "failed_forward"
        || code == "next_not_allowed"
        || code == "steps_open"
}

/// How the run got to each state of the gate, and what `plan.md` says by then.
fn states() -> Vec<(&'static str, (Vec<Command>, &'static str))> {
    let begun = || vec![start(Map::new(), None)];
    let due = || [begun(), vec![done("draft", Some("plan")), begin("plan")]].concat();
    let asked = || [due(), vec![done("plan", None)]].concat();
    let person = |answer| answered(answer, How::Verified);
    let passed = [asked(), vec![person(Answer::Approve), done("plan", Some("ship"))]].concat();
    vec![
        ("ahead", (begun(), "the plan")),
        ("due", (due(), "the plan")),
        ("asked", (asked(), "the plan")),
        ("answered", (passed, "the plan")),
        ("changed", (asked(), "another plan")),
        ("rejected", ([asked(), vec![person(Answer::Reject)]].concat(), "the plan")),
        ("stale", ([asked(), vec![person(Answer::Approve)]].concat(), "another plan")),
        ("owed", (vec![Command::AdoptRun(begin_run(Map::new(), None), claim_file())], "the plan")),
    ]
}

/// Every command there is, and for some each way to say it. A new one does not compile until it
/// has a row.
fn commands() -> Vec<(&'static str, Command)> {
    let fast = Map::from_iter([("fast".to_owned(), Value::from(true))]);
    let auto = Map::from_iter([("auto".to_owned(), Value::from(true))]);
    let goto = |passing| Command::GoTo { step: "ship".into(), passing };
    let commands = vec![
        ("start", start(Map::new(), None)),
        ("adopt a file behind it", Command::AdoptRun(begin_run(Map::new(), None), claim_file())),
        ("edit the file: behind it", Command::TakeEdit(claim_file())),
        ("edit the file: completed", Command::TakeEdit(completed_file())),
        ("begin plan", begin("plan")),
        ("begin ship", begin("ship")),
        ("report plan", done("plan", None)),
        ("report plan, next ship", done("plan", Some("ship"))),
        ("report plan, approved", approved("plan")),
        ("report plan failed, to ship", report("plan", "failure", Some("ship"))),
        ("report plan failed, to end", report("plan", "failure", Some("FINISH"))),
        ("report draft, next ship", done("draft", Some("ship"))),
        ("report draft, next end", done("draft", Some("FINISH"))),
        ("report ship", done("ship", Some("tell"))),
        ("report plan busy, to ship", report("plan", "working", Some("ship"))),
        (
            "fail plan",
            Command::FailStep { step: "plan".into(), reason: "r".into(), details: Map::new() },
        ),
        ("retry plan", Command::RetryStep { step: "plan".into(), details: Map::new() }),
        ("resume plan failed, to ship", resume("plan", "failure")),
        ("resume ship done", resume("ship", "success")),
        ("report plan, next end", done("plan", Some("FINISH"))),
        ("approve, by the agent", answered(Answer::Approve, How::Relayed)),
        ("approve, by the person", answered(Answer::Approve, How::Verified)),
        ("reject, by the agent", answered(Answer::Reject, How::Relayed)),
        ("reject, by the person", answered(Answer::Reject, How::Verified)),
        ("agree to plan", Command::ApproveStep { step: "plan".into() }),
        (
            "claim",
            Command::ClaimStep(ClaimStep {
                step: None,
                part: None,
                holder: "h".into(),
                duration: None,
            }),
        ),
        ("release", Command::ReleaseStep { generation: 1 }),
        (
            "note",
            Command::RecordEntry {
                step: None,
                entry: Entry::Note { text: "n".into(), tags: vec![] },
            },
        ),
        ("context: fast", coming_back_with(fast)),
        ("vars: auto", Command::SetVars { set: auto.clone() }),
        ("move: jump", make_move(false)),
        ("move: jump, lax, approved", make_move(true)),
        ("go to ship, by force", goto(GatePolicy::Anything)),
        ("go to ship, in order", goto(GatePolicy::InOrder)),
        ("skip plan", Command::SkipStep { step: "plan".into() }),
        ("skip ship", Command::SkipStep { step: "ship".into() }),
        ("ask at plan", Command::AskPerson { step: "plan".into() }),
        ("ask at ship", Command::AskPerson { step: "ship".into() }),
        ("plan parts", Command::PlanParts { set: "ears".into(), parts: vec![part()] }),
        (
            "place a part",
            Command::PlacePart(PartPlaced::of(step("tell"), PartId::parse("a").unwrap())),
        ),
        ("on", advance(None, None, true)),
        ("done, on", advance(Some(None), None, true)),
        ("done plan, stay", advance(Some(Some("plan")), None, false)),
        ("say approve, on", advance(None, Some("approve"), true)),
        ("say reject, on", advance(None, Some("reject"), true)),
        ("done, say approve, on", advance(Some(None), Some("approve"), true)),
        ("add an item", Command::AddItem { text: "i".into() }),
        ("close an item", Command::CloseItem { id: 1 }),
        ("cancel", Command::CancelRun { reason: "r".into() }),
        ("complete", complete(false)),
        ("complete early", complete(true)),
        ("fail the run", Command::FailRun { reason: "r".into(), step: None, errors: vec![] }),
        (
            "fail it, then reopen",
            Command::All(vec![
                Command::FailRun { reason: "r".into(), step: None, errors: vec![] },
                reopen(false),
            ]),
        ),
        ("reopen, by force", reopen(true)),
        ("give up the key", Command::GiveUpKey),
        (
            "note a replaced file",
            Command::NoteReplaced { path: "f".into(), problem: "p".into(), kept: None },
        ),
        ("extend a lease", Command::ExtendLease { generation: 1, duration: None }),
        ("expire", Command::ExpireStep),
        ("report a chore", chore(None)),
        ("report a chore, then on", chore(Some(Onward::default()))),
        ("settle a copy", Command::SettleRun { goes_on: true }),
        ("halting: report plan", Command::StopAtNextStep(Box::new(done("plan", Some("ship"))))),
        (
            "auto, then go on",
            Command::All(vec![Command::SetVars { set: auto }, advance(None, None, true)]),
        ),
        (
            "skip plan, then report ship",
            Command::All(vec![Command::SkipStep { step: "plan".into() }, done("ship", None)]),
        ),
    ];
    let mut named: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, command) in &commands {
        *named.entry(command.name()).or_default() += 1;
    }
    for name in every_command() {
        assert!(named.contains_key(name), "command `{name}` has no row in the matrix of gates");
    }
    commands
}

/// The names of all commands. [`Command::name`] is exhaustive; this list is checked against it.
fn every_command() -> Vec<&'static str> {
    let source = include_str!("../src/command.rs");
    let names = source.lines().filter_map(|line| {
        let (left, right) = line.trim().split_once("(\"")?;
        let is_row = left.starts_with("Self::") && left.ends_with(" => ") || left.is_empty();
        right.split('"').next().filter(|_| is_row)
    });
    let names: Vec<&'static str> = names.collect();
    assert!(30 < names.len(), "the names of commands are not where they were");
    names
}

fn start(context: Map<String, Value>, flow: Option<&str>) -> Command {
    Command::StartRun(begin_run(context, flow))
}

fn begin_run(context: Map<String, Value>, flow: Option<&str>) -> Box<StartRun> {
    let flow = flow.map(str::to_owned);
    Box::new(StartRun {
        goes_on: false,
        key: None,
        flow,
        context,
        vars: Map::new(),
        root: String::new(),
    })
}

fn begin(step: &str) -> Command {
    Command::StartStep(StartStep { step: step.to_owned(), ..StartStep::default() })
}

fn report(step: &str, status: &str, next: Option<&str>) -> Command {
    Command::ReportStep(Box::new(reporting(step, status, next, ReportOptions::default())))
}

fn reporting(step: &str, status: &str, next: Option<&str>, terms: ReportOptions) -> ReportStep {
    ReportStep {
        part: None,
        report: Report { step_id: step.into(), status: status.into(), ..Report::default() },
        context: ContextChange::default(),
        next: next.map(str::to_owned),
        holder: None,
        terms,
    }
}

fn done(step: &str, next: Option<&str>) -> Command {
    report(step, "success", next)
}

fn approved(step: &str) -> Command {
    let terms = ReportOptions {
        consent: Consent::Stated,
        end: AtEnd::Completes,
        ..ReportOptions::default()
    };
    Command::ReportStep(Box::new(reporting(step, "success", Some("ship"), terms)))
}

fn resume(step: &str, status: &str) -> Command {
    let report = reporting(step, status, Some("ship"), ReportOptions::default());
    Command::ResumeRun(Box::new(ResumeRun { assumed: step.to_owned(), report, force: true }))
}

/// An agent that comes back changes nothing but the context.
fn coming_back_with(set: Map<String, Value>) -> Command {
    let mut report = reporting("draft", "resuming", None, ReportOptions::default());
    report.context = ContextChange { set, remove: vec![] };
    Command::ResumeRun(Box::new(ResumeRun { assumed: "draft".into(), report, force: true }))
}

fn answered(answer: Answer, how: How) -> Command {
    let (feedback, by) = (String::new(), "ann".to_owned());
    Command::AnswerGate(Box::new(AnswerGate { answer, feedback, by, how, digest: None }))
}

fn make_move(is_approved: bool) -> Command {
    Command::Move(Box::new(MakeMove { name: "jump".into(), args: Map::new(), is_approved }))
}

fn complete(early: bool) -> Command {
    Command::CompleteRun { details: Map::new(), context: ContextChange::default(), early }
}

fn reopen(force: bool) -> Command {
    Command::ReopenRun { reason: "r".into(), force }
}

fn advance(report: Option<Option<&str>>, answer: Option<&str>, goes_on: bool) -> Command {
    let done = |step: Option<&str>| Done { step: step.map(str::to_owned), ..Done::default() };
    let (report, answer) = (report.map(done), answer.map(str::to_owned));
    let onward = goes_on.then(Onward::default);
    Command::Advance(Box::new(Advance { report, answer, onward }))
}

fn chore(then: Option<Onward>) -> Command {
    let (detail, warnings, pushed) = (String::new(), Vec::new(), None);
    let outcome = ChoreOutcome::Done { detail, warnings, pushed };
    let deed =
        GitDeed::Push { branch: String::new(), remote: "o".into(), base: None, is_taken: false };
    Command::ReportChore(Box::new(ReportChore { name: "c".into(), deed, outcome, then }))
}

fn part() -> PartSpec {
    serde_json::from_value(json!({ "id": "a" })).unwrap()
}

/// A file that says that `ship` is worked on.
fn claim_file() -> Box<FileClaim> {
    file(
        ClaimedStatus::Running,
        &[("draft", Progress::Done), ("plan", Progress::Done), ("ship", Progress::Active)],
    )
}

fn completed_file() -> Box<FileClaim> {
    let done = ["draft", "plan", "ship", "tell"].map(|it| (it, Progress::Done));
    file(ClaimedStatus::Completed, &done)
}

fn file(stood: ClaimedStatus, steps: &[(&str, Progress)]) -> Box<FileClaim> {
    let stage = |(name, progress): &(&str, Progress)| {
        (step(name), ClaimedProgress { progress: *progress, ..ClaimedProgress::default() })
    };
    Box::new(FileClaim {
        path: "state.json".into(),
        sha256: Digest::of(b""),
        text: String::new(),
        stood,
        reason: String::new(),
        steps: steps.iter().map(stage).collect(),
        stated: None,
        at: None,
        current: None,
        is_work_done: false,
        vars: Map::new(),
        parts: BTreeMap::new(),
        items: None,
        journal: None,
        started_at: None,
        updated_at: None,
    })
}

fn step(name: &str) -> StepName {
    StepName::parse(name).unwrap()
}

fn reach(workflow: &Workflow, gates: Answers, history: &[Command]) -> Vec<Recorded> {
    let run = RunId::from_bytes([1; 16]);
    let world = World { gates, plan: "the plan" };
    let mut log = Vec::new();
    for (at, command) in (1..).zip(history) {
        let decided = ask(workflow, &fold(run, &log), &world, command)
            .unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"));
        append(&mut log, decided.events, at);
    }
    log
}

fn append(log: &mut Vec<Recorded>, events: Vec<Event>, at: i64) {
    for event in events {
        let seq = log.len() as u64 + 1;
        log.push(Recorded {
            seq,
            at: Timestamp(at),
            steady: Timestamp(at),
            by: Actor::default(),
            event,
        });
    }
}

fn ask(
    workflow: &Workflow,
    state: &RunState,
    world: &World,
    command: &Command,
) -> Result<Decided, Refusal> {
    let gates = Some(world.gates);
    // The one move that comes with a consent is the lax one.
    let is_lax = matches!(command, Command::Move(made) if made.is_approved);
    let policy = Policy { is_lax, ..Policy::default() };
    let mut known = Known { now: Timestamp(100), gates, policy, ..Known::default() };
    loop {
        match decide(workflow, state, &known, command) {
            Ok(decided) => return Ok(decided),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Ask(questions)) => {
                known.facts.extend(questions.into_iter().map(|it| (it.clone(), look(&it, world))));
            }
        }
    }
}

fn look(question: &Question, world: &World) -> Fact {
    match question {
        Question::File(path) if path == "plan.md" => Fact::File(FileFact::Present {
            sha256: Digest::of(world.plan.as_bytes()),
            size: world.plan.len() as u64,
            text: Some(world.plan.to_owned()),
            modified: None,
        }),
        Question::File(_) | Question::Beside(_) => Fact::File(FileFact::Missing),
        Question::Git => Fact::Git(None),
        Question::Branch(_) => Fact::Branch(None),
        Question::Check { .. } => Fact::Check(engine::CheckFact::NotAllowed),
        Question::Model { .. } => panic!("no model is there"),
    }
}

fn workflow() -> Workflow {
    let mut files = MemoryFiles::default();
    files.0.insert("w/index.md".to_owned(), INDEX.to_owned());
    for (name, front) in [("draft", ""), ("plan", PLAN), ("ship", ""), ("tell", TELL)] {
        files.0.insert(format!("w/steps/{name}.md"), format!("{front}{TEXT}"));
    }
    definition::parse(&WorkflowName::parse("w").unwrap(), &files).unwrap()
}
