//! One command of each kind, as short as can be, for the tests that draw tables of them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use definition::{Digest, PartId, StepName};
use engine::{
    Advance, Answer, AnswerGate, AtEnd, ChoreOutcome, ClaimStep, ClaimedProgress, ClaimedStatus,
    Command, ContextChange, Done, Entry, FileClaim, GatePolicy, GitDeed, How, MakeMove, Onward,
    PartPlaced, Progress, Report, ReportChore, ReportOptions, ReportStep, ResumeRun, Rigor,
    StartRun, StartStep,
};
use serde_json::{Map, Value, json};

/// The names of all commands. [`Command::name`] is exhaustive; this list is checked against it.
pub(crate) fn every_command() -> Vec<&'static str> {
    let source = include_str!("../../src/command.rs");
    let names = source.lines().filter_map(|line| {
        let (left, right) = line.trim().split_once("(\"")?;
        let is_row = left.starts_with("Self::") && left.ends_with(" => ") || left.is_empty();
        right.split('"').next().filter(|_| is_row)
    });
    let names: Vec<&'static str> = names.collect();
    assert!(30 < names.len(), "the names of commands are not where they were");
    names
}

pub(crate) fn start() -> Command {
    Command::StartRun(Box::new(begin_run()))
}

pub(crate) fn begin_run() -> StartRun {
    let (context, vars, root) = (Map::new(), Map::new(), String::new());
    StartRun { goes_on: false, key: None, flow: None, context, vars, root }
}

pub(crate) fn adopt(file: FileClaim) -> Command {
    Command::AdoptRun(Box::new(begin_run()), Box::new(file))
}

pub(crate) fn edit(file: FileClaim) -> Command {
    Command::TakeEdit(Box::new(file))
}

/// A file that says where the steps are.
pub(crate) fn file(stood: ClaimedStatus, steps: &[(&str, Progress)]) -> FileClaim {
    let stage = |(name, progress): &(&str, Progress)| {
        (step(name), ClaimedProgress { progress: *progress, ..ClaimedProgress::default() })
    };
    FileClaim {
        path: "f".to_owned(),
        sha256: Digest::of(b"f"),
        text: "f".to_owned(),
        stood,
        reason: String::new(),
        steps: steps.iter().map(stage).collect(),
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
    }
}

pub(crate) fn step(name: &str) -> StepName {
    StepName::parse(name).unwrap()
}

pub(crate) fn begin(step: &str) -> Command {
    Command::StartStep(starting(step))
}

pub(crate) fn starting(step: &str) -> StartStep {
    StartStep { step: step.to_owned(), ..StartStep::default() }
}

pub(crate) fn begin_part(step: &str, part: &str) -> Command {
    let part = Some(PartId::parse(part).unwrap());
    Command::StartStep(StartStep { part, ..starting(step) })
}

pub(crate) fn report_of(step: &str, status: &str) -> ReportStep {
    ReportStep {
        part: None,
        report: Report { step_id: step.to_owned(), status: status.to_owned(), ..Report::default() },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    }
}

pub(crate) fn report(step: &str, status: &str) -> Command {
    Command::ReportStep(Box::new(report_of(step, status)))
}

pub(crate) fn done(step: &str) -> Command {
    report(step, "success")
}

pub(crate) fn on_terms(step: &str, terms: ReportOptions) -> Command {
    Command::ReportStep(Box::new(ReportStep { terms, ..report_of(step, "success") }))
}

pub(crate) fn open_at_end(step: &str) -> Command {
    on_terms(step, ReportOptions { end: AtEnd::StaysOpen, ..ReportOptions::default() })
}

pub(crate) fn by_presence(step: &str) -> Command {
    on_terms(step, ReportOptions { rigor: Rigor::Presence, ..ReportOptions::default() })
}

pub(crate) fn leading_to(step: &str, status: &str, next: &str) -> Command {
    let next = Some(next.to_owned());
    Command::ReportStep(Box::new(ReportStep { next, ..report_of(step, status) }))
}

/// A report on a part, with the verdict of a review if it is one.
pub(crate) fn of_part(step: &str, part: &str, status: &str, verdict: Option<&str>) -> Command {
    let mut report = report_of(step, status);
    report.part = Some(PartId::parse(part).unwrap());
    report.report.details = verdict.map_or(Value::Null, |it| json!({ "verdict": it }));
    Command::ReportStep(Box::new(report))
}

pub(crate) fn fail_step(step: &str) -> Command {
    Command::FailStep { step: step.to_owned(), reason: "r".to_owned(), details: Map::new() }
}

pub(crate) fn retry(step: &str) -> Command {
    Command::RetryStep { step: step.to_owned(), details: Map::new() }
}

pub(crate) fn resume(step: &str, status: &str, force: bool) -> Command {
    let report = report_of(step, status);
    Command::ResumeRun(Box::new(ResumeRun { assumed: step.to_owned(), report, force }))
}

pub(crate) fn answer(answer: Answer, how: How) -> Command {
    let (feedback, by) = (String::new(), "ann".to_owned());
    Command::AnswerGate(Box::new(AnswerGate { answer, feedback, by, how, digest: None }))
}

pub(crate) fn offered(name: &str) -> Command {
    answer(Answer::Offered(name.to_owned()), How::Relayed)
}

pub(crate) fn claim(holder: &str) -> Command {
    let holder = holder.to_owned();
    Command::ClaimStep(ClaimStep { step: None, part: None, holder, duration: None })
}

pub(crate) fn entry(entry: Entry) -> Command {
    Command::RecordEntry { step: None, entry }
}

pub(crate) fn note() -> Command {
    entry(Entry::Note { text: "n".to_owned(), tags: vec![] })
}

pub(crate) fn error() -> Command {
    let (message, details) = ("e".to_owned(), Map::new());
    entry(Entry::Error { message, severity: None, details })
}

pub(crate) fn usage(tokens: u64) -> Command {
    entry(Entry::Usage { tokens, duration_ms: 0, model: String::new() })
}

pub(crate) fn var(name: &str, value: impl Into<Value>) -> Command {
    Command::SetVars { set: Map::from_iter([(name.to_owned(), value.into())]) }
}

pub(crate) fn make_move(name: &str) -> Command {
    Command::Move(Box::new(MakeMove { name: name.to_owned(), ..MakeMove::default() }))
}

pub(crate) fn go_to(step: &str, passing: GatePolicy) -> Command {
    Command::GoTo { step: step.to_owned(), passing }
}

pub(crate) fn place_part(step_name: &str, part: &str, progress: Progress) -> Command {
    let placed = PartPlaced::of(step(step_name), PartId::parse(part).unwrap());
    Command::PlacePart(PartPlaced { progress: Some(progress), ..placed })
}

pub(crate) fn plan_parts(set: &str, ids: &[&str]) -> Command {
    let part = |id: &&str| serde_json::from_value(json!({ "id": id })).unwrap();
    Command::PlanParts { set: set.to_owned(), parts: ids.iter().map(part).collect() }
}

pub(crate) fn go_on() -> Command {
    advance(None, None)
}

/// A report on whatever is at hand, or an answer, or both; and the run goes on.
pub(crate) fn advance(report: Option<Done>, answer: Option<&str>) -> Command {
    let (answer, onward) = (answer.map(str::to_owned), Some(Onward::default()));
    Command::Advance(Box::new(Advance { report, answer, onward }))
}

/// A report on a step, after which the run stays.
pub(crate) fn advance_at(step: &str) -> Command {
    let report = Some(Done { step: Some(step.to_owned()), ..Done::default() });
    Command::Advance(Box::new(Advance { report, ..Advance::default() }))
}

pub(crate) fn cancel() -> Command {
    Command::CancelRun { reason: "r".to_owned() }
}

pub(crate) fn complete(early: bool) -> Command {
    Command::CompleteRun { details: Map::new(), context: ContextChange::default(), early }
}

pub(crate) fn fail_run(step: Option<&str>) -> Command {
    let step = step.map(str::to_owned);
    Command::FailRun { reason: "r".to_owned(), step, errors: Vec::new() }
}

pub(crate) fn reopen(force: bool) -> Command {
    Command::ReopenRun { reason: "r".to_owned(), force }
}

pub(crate) fn chore(name: &str, outcome: ChoreOutcome) -> Command {
    let deed = GitDeed::Push {
        branch: String::new(),
        remote: "o".to_owned(),
        base: None,
        is_taken: false,
    };
    let name = name.to_owned();
    Command::ReportChore(Box::new(ReportChore { name, deed, outcome, then: None }))
}

pub(crate) fn chore_done(name: &str) -> Command {
    let (detail, warnings, pushed) = (String::new(), Vec::new(), None);
    chore(name, ChoreOutcome::Done { detail, warnings, pushed })
}

pub(crate) fn halting(command: Command) -> Command {
    Command::StopAtNextStep(Box::new(command))
}
