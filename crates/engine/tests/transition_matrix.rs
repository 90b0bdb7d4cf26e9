//! Draws what every command leads to in every kind of state, so that a change of rules shows.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "support/samples.rs"]
mod samples;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::LazyLock,
};

use definition::{Answers, Digest, MemoryFiles, Workflow, WorkflowName, parse};
use engine::{
    Actor, Answer, ChoreOutcome, ClaimedStatus, Command, Consent, Decided, Done, Event, Fact,
    FileFact, GatePolicy, How, Known, Note, Onward, Progress, Question, Recorded, Refusal,
    ReportChore, ReportOptions, RunId, RunState, StartStep, Stop, Timestamp, decide, fold,
};
use expect_test::expect_file;
use samples::{
    adopt, advance, advance_at, answer, begin, begin_part, by_presence, cancel, chore, chore_done,
    claim, complete, done, edit, error, every_command, fail_run, fail_step, file, go_on, go_to,
    halting, leading_to, make_move, note, of_part, offered, on_terms, open_at_end, place_part,
    plan_parts, reopen, report, resume, retry, start, starting, usage, var,
};

/// `a` is work with a timeout, `b` has a gate, `v` judges `a`, `p` falls into parts that `q` judges,
/// `n` has no work, `c` is the last.
const INDEX: &str = "---
vars: {n: 0, tokens: 0}
gates: relayed
ends: {early: true}
limits: {visits: 3}
budget: {tokens: vars.tokens}
moves: {jump: {do: [{goto: p}]}, bump: {do: [{set: {n: \"vars.n + 1\"}}]}, idle: {do: []}}
rules: [{name: five, when: \"vars.n == 5\", do: [{note: five}]}]
chores: [{name: c, when: \"vars.n == 7\", push: {remote: o}, set: {n: \"0\"}}]
---
- [a](steps/a.md)\n- [b](steps/b.md)\n- [v](steps/v.md)\n- [p](steps/p.md)\n- [q](steps/q.md)
- [n](steps/n.md)\n- [c](steps/c.md)
";
const STEPS: &[(&str, &str)] = &[
    ("a", "timeout: 1h\nattempts: {max: 2, then: ask}"),
    (
        "b",
        "gate: {options: {approve: approve, reject: {back: b}, pass: skip, stop: fail, drop: cancel}}",
    ),
    (
        "v",
        "review: {of: a, read: v.md, approve: [GOOD], revise: [BAD], unknown: ask, limits: [{after: 1, then: ask}]}",
    ),
    ("p", "each: {parts: bits, list: [x, {id: y, mode: human_gate}], order: declared}"),
    ("q", "each: {parts: bits}\nreview: {of: p, approve: [GOOD], revise: [BAD]}"),
    ("n", "work: none"),
    ("c", ""),
];
const TEXT: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

const HOUR: i64 = 3_600_000_000;

/// How a state is reached, and what is there then.
struct Situation {
    name: &'static str,
    history: Vec<Command>,
    /// What the review `v.md` says, if it is there.
    review: Option<&'static str>,
    gates: Option<Answers>,
    kind: Kind,
}

/// Which workflow it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Declared,
    /// The agent chooses what comes next.
    Chosen,
    /// A person is asked at `n`.
    Asking,
}

#[test]
fn every_command_in_every_state() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transition_matrix.txt");
    expect_file![file].assert_eq(&draw());
}

/// The tables at the head of the files that define what a run and a step are say what the rules do.
#[test]
fn the_lifecycles_are_those_of_the_matrix() {
    let of_run = (
        ["start", "complete", "fail", "cancel", "reopen"].as_slice(),
        [
            "new",
            "ready",
            "waiting",
            "work ended",
            "completed",
            "failed",
            "failed while waiting",
            "cancelled",
        ]
        .as_slice(),
    );
    let of_step = (
        ["begin a", "success a", "failure a", "fail a", "retry a"].as_slice(),
        [
            "ready",
            "active",
            "active, faulty",
            "held",
            "failed attempt",
            "retried",
            "attempts spent",
        ]
        .as_slice(),
    );
    for (file, (columns, rows)) in [("state.rs", of_run), ("state/step.rs", of_step)] {
        let path = format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let begin = text.find("//! ```text\n").unwrap();
        let end = text[begin..].find("//! ```\n").unwrap() + begin;
        let table = draw_lifecycle(columns, rows);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let text = format!("{}//! ```text\n{table}{}", &text[..begin], &text[end..]);
            std::fs::write(&path, text).unwrap();
        } else {
            assert_eq!(&text[begin..end], format!("//! ```text\n{table}"), "{file}");
        }
    }
}

/// Draws what commands lead to in some states: a line for each state and command.
fn draw_lifecycle(columns: &[&str], rows: &[&str]) -> String {
    let (commands, situations) = (commands(), situations());
    let mut drawn = String::new();
    for row in rows {
        let situation = situations.iter().find(|it| it.name == *row).unwrap();
        let state = fold(RunId::from_bytes([1; 16]), &reach(situation));
        for column in columns {
            let (_, command) = commands.iter().find(|it| it.0 == *column).unwrap();
            let cell = draw_cell(situation, &state, command);
            writeln!(drawn, "//! {row:20} {column:9} {cell}").unwrap();
        }
    }
    drawn
}

#[test]
fn every_command_has_a_row() {
    let rows: BTreeSet<&str> = commands().iter().map(|(_, it)| it.name()).collect();
    for name in every_command() {
        assert!(rows.contains(name), "command `{name}` has no row in the matrix");
    }
}

/// What is drawn is every kind of state that a run can be in.
#[test]
fn every_kind_of_state_is_there() {
    let mut seen = BTreeSet::new();
    for situation in situations() {
        let state = fold(RunId::from_bytes([1; 16]), &reach(&situation));
        seen.insert(state.standing.as_str().to_owned());
        seen.extend(state.standing.open_gate().map(|it| format!("{:?}", it.why)));
        for step in state.steps.values() {
            let efforts = step.parts.values().chain([&step.effort]);
            seen.extend(efforts.map(|it| format!("{:?} {:?}", it.progress, it.trouble)));
        }
    }
    let wanted = "new running waiting completed failed cancelled, \
        Gate Early Part VerdictUnknown AttemptsSpent RevisionsSpent VisitsSpent BudgetSpent Owed";
    let mut wanted: Vec<String> = wanted.replace(',', "").split(' ').map(str::to_owned).collect();
    for progress in ["Ready", "Active", "Done", "Skipped", "Rejected"] {
        wanted.push(format!("{progress} None"));
    }
    wanted.extend(["Ready Failed", "Ready Retried", "Active Faulty"].map(str::to_owned));
    let missing: Vec<_> = wanted.iter().filter(|it| !seen.contains(*it)).collect();
    assert!(missing.is_empty(), "{missing:?} are missing among {seen:?}");
}

fn draw() -> String {
    let commands = commands();
    let mut drawn = String::new();
    for situation in situations() {
        let state = fold(RunId::from_bytes([1; 16]), &reach(&situation));
        writeln!(drawn, "in state `{}`", situation.name).unwrap();
        for (name, command) in &commands {
            let cell = draw_cell(&situation, &state, command);
            writeln!(drawn, "  {name:22} {cell}").unwrap();
        }
    }
    drawn
}

/// Returns what a command leads to.
fn draw_cell(situation: &Situation, state: &RunState, command: &Command) -> String {
    match ask(situation, state, command) {
        Ok(decided) => {
            let mut told: Vec<_> = decided.events.iter().map(show).collect();
            if told.is_empty() {
                told.push("nothing".to_owned());
            }
            told.extend(decided.notes.iter().map(|it| format!("noting {}", show_note(it))));
            told.extend(decided.halted.map(|it| format!("halted {}", it.code())));
            told.join(" ")
        }
        Err(refusal) => format!("refused {}", refusal.code()),
    }
}

/// Returns what happened, and to which step or part.
fn show(event: &Event) -> String {
    let value = serde_json::to_value(event).unwrap();
    let field = |name: &str| value.get(name).and_then(|it| it.as_str());
    let mut of: Vec<&str> =
        ["step", "part", "ruling", "why"].into_iter().filter_map(field).collect();
    of.dedup();
    if of.is_empty() {
        event.kind().to_owned()
    } else {
        format!("{}({})", event.kind(), of.join(" "))
    }
}

fn show_note(note: &Note) -> String {
    match note {
        Note::AnswerNotTaken(refusal) => format!("AnswerNotTaken({})", refusal.code()),
        Note::AlreadyReported { step } => format!("AlreadyReported({step})"),
        Note::NothingFound { path } => format!("NothingFound({path})"),
        Note::ReportAtGate | Note::NobodyAsked | Note::NotAskedYet | Note::RunOver => {
            format!("{note:?}")
        }
    }
}

/// The same report on a chore, after which the run goes on.
fn then_on(command: Command) -> Command {
    let Command::ReportChore(report) = command else { panic!("{command:?} reports no chore") };
    Command::ReportChore(Box::new(ReportChore { then: Some(Onward::default()), ..*report }))
}

fn situations() -> Vec<Situation> {
    let plain = |name, history: Vec<Command>| {
        let (review, gates, kind) = (None, None, Kind::Declared);
        Situation { name, history, review, gates, kind }
    };
    let reviewed =
        |name, review, history| Situation { review: Some(review), ..plain(name, history) };
    let after = |before: &[Command], more: &[Command]| [before, more].concat();
    let begun = [start()];
    let to_gate = after(&begun, &[done("a"), done("b")]);
    let yes = || answer(Answer::Approve, How::Relayed);
    let to_review = after(&to_gate, &[yes()]);
    let at_parts = after(&to_review, &[done("v")]);
    let to_person = after(&at_parts, &[of_part("p", "x", "success", None)]);
    let judging = after(&to_person, &[yes()]);
    let bad = || of_part("q", "x", "success", Some("BAD"));
    let good = |part| of_part("q", part, "success", Some("GOOD"));
    let last = after(&judging, &[good("x"), good("y")]);
    let noted = after(&to_review, &[halting(done("v"))]);
    let sent_back = after(&to_review, &[done("v"), done("a"), done("b"), yes()]);
    let behind = file(ClaimedStatus::Running, &[("a", Progress::Done), ("b", Progress::Done)]);
    let chosen = |name, history| Situation { kind: Kind::Chosen, ..plain(name, history) };
    let again = offered("reject");
    let done_so_far = [("a", Progress::Done), ("b", Progress::Done)];
    let said_to_be_asked = file(ClaimedStatus::Waiting, &done_so_far);
    vec![
        plain("new", vec![]),
        plain("ready", begun.to_vec()),
        plain("active", after(&begun, &[begin("a")])),
        plain("active, faulty", after(&begun, &[begin("a"), error()])),
        plain("held", after(&begun, &[claim("ann")])),
        plain("failed attempt", after(&begun, &[begin("a"), fail_step("a")])),
        plain("retried", after(&begun, &[begin("a"), fail_step("a"), retry("a")])),
        plain(
            "attempts spent",
            after(&begun, &[begin("a"), fail_step("a"), begin("a"), report("a", "failure")]),
        ),
        plain("chore due", after(&begun, &[var("n", 7)])),
        plain("chore due, waiting", after(&to_gate, &[var("n", 7)])),
        plain("chore failed", after(&begun, &[var("n", 7), chore("c", failed_chore())])),
        plain("at a gate's step", after(&begun, &[done("a")])),
        plain("asked early", after(&begun, &[done("a"), ask_at("b")])),
        plain("agreed early", after(&begun, &[done("a"), ask_at("b"), yes()])),
        plain("waiting", to_gate.clone()),
        plain("sent back by a person", after(&to_gate, &[offered("reject")])),
        reviewed("reviewing", "## Verdict: BAD", to_review.clone()),
        reviewed("review approves", "## Verdict: GOOD", to_review.clone()),
        reviewed("review noted", "## Verdict: BAD", noted),
        reviewed("sent back by a review", "## Verdict: BAD", after(&to_review, &[done("v")])),
        reviewed("revisions spent", "## Verdict: BAD", after(&sent_back, &[done("v")])),
        reviewed("verdict unknown", "Hm.", after(&to_review, &[done("v")])),
        reviewed("parts", "## Verdict: GOOD", at_parts.clone()),
        reviewed("part active", "## Verdict: GOOD", after(&at_parts, &[begin_part("p", "x")])),
        reviewed("part of a person", "## Verdict: GOOD", to_person),
        reviewed("judging parts", "## Verdict: GOOD", judging.clone()),
        reviewed("part rejected", "## Verdict: GOOD", after(&judging, &[bad()])),
        reviewed(
            "parts rejected, noted",
            "## Verdict: GOOD",
            after(&judging, &[halting(bad()), halting(good("y"))]),
        ),
        reviewed("parts sent back", "## Verdict: GOOD", after(&judging, &[bad(), good("y")])),
        plain(
            "visits spent",
            after(&to_gate, &[again.clone(), done("b"), again.clone(), done("b"), again]),
        ),
        plain("budget spent", after(&begun, &[var("tokens", 5), usage(9), done("a")])),
        Situation { gates: Some(Answers::Verified), ..plain("owed", vec![adopt(behind)]) },
        plain("said to be asked", vec![adopt(file(ClaimedStatus::Waiting, &[]))]),
        reviewed("said to be asked, unclear", "Hm.", vec![adopt(said_to_be_asked)]),
        Situation {
            kind: Kind::Asking,
            ..reviewed(
                "at a question",
                "## Verdict: GOOD",
                after(&judging, &[halting(good("x")), halting(good("y"))]),
            )
        },
        plain("left out", after(&begun, &[Command::SkipStep { step: "a".to_owned() }])),
        reviewed("last step", "## Verdict: GOOD", last.clone()),
        reviewed("work ended", "## Verdict: GOOD", after(&last, &[open_at_end("c")])),
        reviewed("completed", "## Verdict: GOOD", after(&last, &[done("c")])),
        plain("failed", after(&begun, &[begin("a"), fail_run(None)])),
        plain("failed while waiting", after(&to_gate, &[fail_run(None)])),
        plain("cancelled", after(&begun, &[cancel()])),
        chosen("agent chooses, ready", begun.to_vec()),
        chosen("choice open", after(&begun, &[done("a")])),
        chosen(
            "choice open, in parts",
            after(&begun, &[leading_to("a", "success", "a"), done("a")]),
        ),
    ]
}

fn failed_chore() -> ChoreOutcome {
    ChoreOutcome::Failed { reason: "r".to_owned() }
}

fn ask_at(step: &str) -> Command {
    Command::StartStep(StartStep { asks: true, ..starting(step) })
}

fn commands() -> Vec<(&'static str, Command)> {
    [commands_on_steps(), commands_on_runs()].concat()
}

fn commands_on_steps() -> Vec<(&'static str, Command)> {
    let everything = ["a", "b", "v", "p", "q", "n", "c"].map(|it| (it, Progress::Done));
    vec![
        ("start", start()),
        ("adopt", adopt(file(ClaimedStatus::Running, &[("a", Progress::Done)]))),
        ("edit: nothing", edit(file(ClaimedStatus::Running, &[]))),
        (
            "edit: at v",
            edit(file(ClaimedStatus::Running, &[("a", Progress::Done), ("b", Progress::Done)])),
        ),
        ("edit: completed", edit(file(ClaimedStatus::Completed, &everything))),
        ("begin a", begin("a")),
        ("begin a again", Command::StartStep(StartStep { again: true, ..starting("a") })),
        ("begin b, asking", ask_at("b")),
        ("begin v", begin("v")),
        ("begin x of p", begin_part("p", "x")),
        ("success a", done("a")),
        (
            "success a, begun",
            on_terms("a", ReportOptions { is_begun: true, ..ReportOptions::default() }),
        ),
        (
            "success b, approved",
            on_terms("b", ReportOptions { consent: Consent::Stated, ..ReportOptions::default() }),
        ),
        ("success v", done("v")),
        ("success v, present", by_presence("v")),
        ("success p", done("p")),
        ("success x of p", of_part("p", "x", "success", None)),
        ("GOOD x of q", of_part("q", "x", "success", Some("GOOD"))),
        ("BAD x of q", of_part("q", "x", "success", Some("BAD"))),
        ("success c", done("c")),
        ("success c, open", open_at_end("c")),
        ("failure a", report("a", "failure")),
        ("failure x of p", of_part("p", "x", "failure", None)),
        ("other a", report("a", "in_progress")),
        ("success a, next b", leading_to("a", "success", "b")),
        ("success a, next c", leading_to("a", "success", "c")),
        ("failure a, next b", leading_to("a", "failure", "b")),
        ("fail a", fail_step("a")),
        ("retry a", retry("a")),
        ("resume a", resume("a", "success", false)),
        ("resume c", resume("c", "resuming", true)),
    ]
}

/// What is said of a gate, a lease, or the run as a whole.
fn commands_on_runs() -> Vec<(&'static str, Command)> {
    let named = |step: &str| step.to_owned();
    vec![
        ("approve", answer(Answer::Approve, How::Relayed)),
        ("approve, verified", answer(Answer::Approve, How::Verified)),
        ("reject", answer(Answer::Reject, How::Relayed)),
        ("answer pass", offered("pass")),
        ("answer stop", offered("stop")),
        ("answer abandon", offered("abandon")),
        ("agree to b", Command::ApproveStep { step: named("b") }),
        ("claim bob", claim("bob")),
        ("claim ann", claim("ann")),
        ("release 1", Command::ReleaseStep { generation: 1 }),
        ("note", note()),
        ("error", error()),
        ("vars", var("n", 1)),
        ("vars, rule", var("n", 5)),
        ("move jump", make_move("jump")),
        ("move bump", make_move("bump")),
        ("move idle", make_move("idle")),
        ("go to p", go_to("p", GatePolicy::Anything)),
        ("go to p, in order", go_to("p", GatePolicy::InOrder)),
        ("go to b, in order", go_to("b", GatePolicy::InOrder)),
        ("skip b", Command::SkipStep { step: named("b") }),
        ("ask a", Command::AskPerson { step: named("a") }),
        ("ask b", Command::AskPerson { step: named("b") }),
        ("plan parts", plan_parts("bits", &["z"])),
        ("place x of p", place_part("p", "x", Progress::Done)),
        ("on", go_on()),
        ("done, on", advance(Some(Done::default()), None)),
        ("prepared, on", advance(Some(Done { is_setup: true, ..Done::default() }), None)),
        ("done a, stay", advance_at("a")),
        ("done v, stay", advance_at("v")),
        ("done n, stay", advance_at("n")),
        ("say approve, on", advance(None, Some("approve"))),
        ("say reject, on", advance(None, Some("reject"))),
        ("say hm, on", advance(None, Some("hm"))),
        ("done, say approve, on", advance(Some(Done::default()), Some("approve"))),
        ("add item", Command::AddItem { text: named("i") }),
        ("close item", Command::CloseItem { id: 1 }),
        ("cancel", cancel()),
        ("complete", complete(false)),
        ("complete early", complete(true)),
        ("fail", fail_run(None)),
        ("fail at a", fail_run(Some("a"))),
        ("reopen", reopen(false)),
        ("reopen by force", reopen(true)),
        ("give up key", Command::GiveUpKey),
        (
            "note replaced",
            Command::NoteReplaced { path: named("f"), problem: named("p"), kept: None },
        ),
        ("extend lease", Command::ExtendLease { generation: 1, duration: None }),
        ("expire", Command::ExpireStep),
        ("chore c", chore_done("c")),
        ("chore c failed", chore("c", failed_chore())),
        ("chore c, then on", then_on(chore_done("c"))),
        ("settle", Command::SettleRun { goes_on: true }),
        ("halting success a", halting(done("a"))),
        ("halting success v", halting(done("v"))),
        ("halting BAD x of q", halting(of_part("q", "x", "success", Some("BAD")))),
        ("halting approve", halting(answer(Answer::Approve, How::Relayed))),
        ("note, then cancel", Command::All(vec![note(), cancel()])),
        (
            "cancel, then approve",
            Command::All(vec![cancel(), answer(Answer::Approve, How::Relayed)]),
        ),
        ("halting a, then on", Command::All(vec![halting(done("a")), go_on()])),
    ]
}

fn reach(situation: &Situation) -> Vec<Recorded> {
    let run = RunId::from_bytes([1; 16]);
    let mut log: Vec<Recorded> = Vec::new();
    for (at, command) in (1..).zip(&situation.history) {
        let decided = ask(situation, &fold(run, &log), command)
            .unwrap_or_else(|refusal| panic!("{}: {command:?}: {refusal}", situation.name));
        let (at, by) = (Timestamp(at), Actor::default());
        for event in decided.events {
            log.push(Recorded { seq: log.len() as u64 + 1, at, steady: at, by: by.clone(), event });
        }
    }
    log
}

fn ask(situation: &Situation, state: &RunState, command: &Command) -> Result<Decided, Refusal> {
    let workflow = workflow(situation.kind);
    // A timer comes when the time is over.
    let steady = Timestamp(if *command == Command::ExpireStep { 2 * HOUR } else { 99 });
    let (now, gates) = (Timestamp(99), situation.gates);
    let mut known = Known { now, steady, gates, ..Known::default() };
    loop {
        match decide(workflow, state, &known, command) {
            Ok(decided) => return Ok(decided),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Ask(questions)) => {
                let facts = questions.into_iter().map(|it| (it.clone(), look(situation, &it)));
                known.facts.extend(facts);
            }
        }
    }
}

fn look(situation: &Situation, question: &Question) -> Fact {
    match question {
        Question::File(path) if path == "v.md" => {
            Fact::File(situation.review.map_or(FileFact::Missing, |text| FileFact::Present {
                sha256: Digest::of(text.as_bytes()),
                size: text.len() as u64,
                text: Some(text.to_owned()),
                modified: None,
            }))
        }
        Question::File(_) | Question::Beside(_) => Fact::File(FileFact::Missing),
        Question::Git => Fact::Git(None),
        Question::Branch(_) => Fact::Branch(None),
        Question::Check { .. } => Fact::Check(engine::CheckFact::NotAllowed),
        Question::Model { .. } => unreachable!("no model is there"),
    }
}

fn workflow(kind: Kind) -> &'static Workflow {
    static DECLARED: LazyLock<Workflow> = LazyLock::new(|| read(Kind::Declared));
    static CHOSEN: LazyLock<Workflow> = LazyLock::new(|| read(Kind::Chosen));
    static ASKING: LazyLock<Workflow> = LazyLock::new(|| read(Kind::Asking));
    match kind {
        Kind::Declared => &DECLARED,
        Kind::Chosen => &CHOSEN,
        Kind::Asking => &ASKING,
    }
}

fn read(kind: Kind) -> Workflow {
    let mut files = BTreeMap::new();
    let decider = if kind == Kind::Chosen { "client" } else { "declared" };
    let index = INDEX.replacen("---\n", &format!("---\ndecider: {decider}\n"), 1);
    files.insert("W/index.md".to_owned(), index);
    for (name, front) in STEPS {
        let gate = if kind == Kind::Asking && *name == "n" { "\ngate: true" } else { "" };
        files.insert(format!("W/steps/{name}.md"), format!("---\n{front}{gate}\n---\n{TEXT}"));
    }
    parse(&WorkflowName::parse("W").unwrap(), &MemoryFiles(files)).unwrap()
}
