//! A phase is reported: what it took, what its review says, and what that leads to.

use definition::{Finding, PartSpec, Review, Step, read_review};
use engine::{
    CompletedBy, Done, Entry, Event, Note, Progress, Recorded, Refusal, ReopenCause, RunState,
    StepCompleted, awaits_revision, evolve, find_agent, find_promised,
};
use serde::Serialize;

use super::super::{answer::Failure, display, records, way_out, workspace::Pipeline};
use crate::kit::{Also, Caller, Outcome, Seeing, Stopped};

/// The verdict on tasks that break rules of the project.
const REVISE: &str = "REVISE";

/// What a report led to.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Reported {
    state_updated: bool,
    artifact_written: String,
    verdict_parsed: String,
    findings: Vec<Found>,
    pub(super) next_action_hint: Hint,
    #[serde(skip_serializing_if = "String::is_empty")]
    warning: String,
    /// The warnings but that the phase was logged before, which is to be expected where it is gone
    /// through again.
    #[serde(skip)]
    pub(super) news: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_message: Option<String>,
}

/// A report within the answer of another tool.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Brief {
    next_action_hint: Hint,
    #[serde(skip_serializing_if = "String::is_empty")]
    verdict_parsed: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Found>,
    #[serde(skip_serializing_if = "String::is_empty")]
    warning: String,
}

/// Something that a review found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Found {
    severity: String,
    description: String,
}

/// What comes of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hint {
    Proceed,
    RevisionRequired,
    RetryImpl,
    SetupContinue,
}

impl Reported {
    /// The phase goes on; nothing of the report is kept.
    fn unfinished(warning: String) -> Self {
        Self {
            state_updated: false,
            artifact_written: String::new(),
            verdict_parsed: String::new(),
            findings: Vec::new(),
            next_action_hint: Hint::SetupContinue,
            news: vec![warning.clone()],
            warning,
            display_message: None,
        }
    }

    pub(super) fn brief(self) -> Brief {
        Brief {
            next_action_hint: self.next_action_hint,
            verdict_parsed: self.verdict_parsed,
            findings: self.findings,
            warning: self.warning,
        }
    }
}

/// A report on a phase, with how the pipeline stands before it.
#[derive(Clone)]
pub(super) struct Report {
    pub(super) pipeline: Pipeline,
    step: Step,
    done: Done,
    read: Read,
}

/// Reads what the reviews of a phase say, before anything is made of its report.
pub(super) fn look(pipeline: Pipeline, step: Step, done: Done) -> Seeing<Report> {
    let files = if step.review.is_some() { artifacts(&pipeline, &step) } else { Vec::new() };
    let paths = files.iter().map(|(_, file)| file.clone()).collect();
    pipeline.folder.texts(paths).map(move |texts| {
        let texts = texts.unwrap_or_default().into_iter();
        let said = files.into_iter().zip(texts).filter_map(|((task, _), text)| Some((task, text?)));
        let read = step.review.as_ref().map(|it| Read::all(it, said)).unwrap_or_default();
        Report { pipeline, step, done, read }
    })
}

impl Report {
    /// Returns how what a review found is kept for later agents, once the report was taken.
    pub(super) fn learn(&self, caller: &Caller) -> Also {
        let (caller, report) = (caller.clone(), self.clone());
        Box::new(move |outcome: &Outcome| {
            let Self { pipeline, step, .. } = &report;
            let read = report.told(outcome)?;
            if step.each.is_some() || step.review.is_none() || is_stale(step, &outcome.events) {
                return None;
            }
            let state = &pipeline.view.state;
            let agent = find_agent(&pipeline.view.workflow, state, step).unwrap_or_default();
            let finding =
                |it: Found| Finding { severity: it.severity, text: it.description, number: None };
            let findings = read.findings.into_iter().map(finding).collect();
            Some(records::accumulate(&caller, findings, agent))
        })
    }

    /// Words what came of it; `None` where it was not taken.
    pub(super) fn word(&self, outcome: &Outcome, notices: Vec<String>) -> Option<Reported> {
        if let Some(warning) = outcome.notes.iter().find_map(nothing_found) {
            return Some(Reported::unfinished(warning));
        }
        let Self { pipeline, step, done, .. } = self;
        let (read, events) = (self.told(outcome)?, &outcome.events);
        let hint = hint(step, &pipeline.view.state, events);
        let mut warnings = pipeline.notices.clone();
        if step.rules.is_some() && !read.findings.is_empty() {
            let count = read.findings.len();
            warnings.push(format!("the tasks break rules of the project: {count}"));
        }
        let at = warnings.len();
        warnings.extend(missing(step, events));
        warnings.extend(notices);
        let unkept = |it: &String| format!("the findings were not kept as patterns: {it}");
        warnings.extend(outcome.unwritten.as_ref().map(unkept));
        let news = warnings.clone();
        // Tasks are built and reviewed in batches, and each of these is logged.
        if step.each.is_none() && is_logged(pipeline, step) {
            let again = format!("WARNING: phase `{}` was logged before", step.name);
            warnings.insert(at, again);
        }
        let is_over = hint == Hint::Proceed;
        let written = completions(step, events).flat_map(|it| &it.artifacts).next();
        Some(Reported {
            state_updated: true,
            artifact_written: written.map(|it| it.path.clone()).unwrap_or_default(),
            verdict_parsed: read.verdict,
            findings: read.findings,
            next_action_hint: hint,
            warning: warnings.join("; "),
            news,
            display_message: is_over.then(|| display::complete(done.tokens, done.duration_ms)),
        })
    }

    /// Returns what its answer tells of the reviews; `None` where nothing was taken.
    fn told(&self, outcome: &Outcome) -> Option<Read> {
        let events = &outcome.events;
        let is_usage = |it: &Recorded| {
            matches!(&it.event, Event::EntryRecorded { entry: Entry::Usage { .. }, .. })
        };
        if !events.iter().any(is_usage) {
            return None;
        }
        Some(match find_note(&self.step, events) {
            Some(note) => Read::of(&note, &[REVISE]),
            None if is_stale(&self.step, events) => Read::default(),
            None => self.read.clone(),
        })
    }

    /// Words why it is not taken.
    pub(super) fn refused(&self, stopped: &Stopped) -> Failure {
        let phase = self.step.name.as_str();
        let Stopped::Refused(refusal) = stopped else { return Failure::of("report", stopped) };
        if let Refusal::GateOpen { step, .. } = refusal {
            return open(&self.pipeline, phase, step.as_str());
        }
        let message = match find_problem(refusal) {
            Some(problem) => format!("artifact invalid for {phase}: {problem}"),
            None if matches!(refusal, Refusal::RunEnded { .. }) => {
                "the pipeline is over".to_owned()
            }
            None => format!("report: {refusal}"),
        };
        Failure::new(refusal.code(), message, way_out::hint_at(refusal, &self.pipeline))
    }
}

/// Says that tasks left no file, if that is what the engine tells.
fn nothing_found(note: &Note) -> Option<String> {
    let Note::NothingFound { path } = note else { return None };
    Some(match path.as_str() {
        "" => "all tasks are built, so nothing was reported".to_owned(),
        path => format!("missing impl files: `{path}` is not there, so nothing was reported"),
    })
}

/// What the reviews of a phase say.
#[derive(Debug, Clone, Default)]
struct Read {
    verdict: String,
    findings: Vec<Found>,
}

/// Returns how much a verdict wants done: the later in the list, the more.
fn rank(review: &Review, verdict: &str) -> usize {
    review.words().iter().position(|it| *it == verdict).map_or(0, |it| it + 1)
}

impl Found {
    /// Says which task it is about, where there are several.
    fn of_task(self, task: Option<&str>) -> Self {
        let Some(task) = task else { return self };
        Self { description: format!("task {task}: {}", self.description), ..self }
    }
}

impl Read {
    /// Reads several reviews. The one that wants most counts.
    fn all(review: &Review, texts: impl Iterator<Item = (Option<String>, String)>) -> Self {
        let (words, mut read) = (review.words(), Self::default());
        for (task, text) in texts {
            let said = Self::of(&text, &words);
            if rank(review, &read.verdict) < rank(review, &said.verdict) {
                read.verdict = said.verdict;
            }
            read.findings.extend(said.findings.into_iter().map(|it| it.of_task(task.as_deref())));
        }
        read
    }

    fn of(text: &str, words: &[&str]) -> Self {
        let Some(reviewed) = read_review(text, words) else { return Self::default() };
        let found = |it: Finding| Found { severity: it.severity, description: it.text };
        let findings = reviewed.findings.into_iter().map(found).collect();
        Self { verdict: reviewed.verdict, findings }
    }
}

/// Returns what the server wrote about tasks that break rules of the project.
fn find_note(step: &Step, events: &[Recorded]) -> Option<String> {
    step.rules.as_ref()?;
    events.iter().find_map(|it| {
        let Event::FileLeft { text, .. } = &it.event else { return None };
        text.clone()
    })
}

/// Returns the files that a phase leaves, those of its tasks among them, each with its task.
fn artifacts(pipeline: &Pipeline, step: &Step) -> Vec<(Option<String>, String)> {
    let view = &pipeline.view;
    let promised = |part: Option<&PartSpec>| {
        let task = part.map(|it| it.id.to_string());
        let files = find_promised(&view.workflow, &view.state, step, part).into_iter();
        files.map(move |it| (task.clone(), it))
    };
    if step.each.is_none() {
        return promised(None).collect();
    }
    view.state.parts_of(step).iter().flat_map(|it| promised(Some(it))).collect()
}

/// Returns what a report completed, tasks of the phase among it.
fn completions<'a>(
    step: &'a Step,
    events: &'a [Recorded],
) -> impl Iterator<Item = &'a StepCompleted> {
    let completed = events.iter().filter_map(|it| {
        if let Event::StepCompleted(completed) = &it.event { Some(&**completed) } else { None }
    });
    completed.filter(|it| it.step == step.name)
}

/// Whether a phase was logged since its work began; a revision is logged again.
fn is_logged(pipeline: &Pipeline, step: &Step) -> bool {
    let state = &pipeline.view.state;
    let entered = state.step(&step.name).map_or(0, |it| it.entered_by);
    let starts = state.history.attempts_at(&step.name).flat_map(|it| &it.starts);
    let begun = starts.map(|it| it.mark.seq).fold(entered, u64::max);
    let mut entries = state.entries.iter().filter(|it| it.step == step.name);
    let is_noted = entries.any(|it| begun < it.seq && matches!(it.entry, Entry::Usage { .. }));
    let is_placed = begun <= state.history.placed_by();
    is_noted || (is_placed && pipeline.file().is_logged(step.name.as_str()))
}

/// Returns what comes of a report. What the run did once it went on does not count.
fn hint(step: &Step, before: &RunState, events: &[Recorded]) -> Hint {
    if awaits_revision(events.iter().map(|it| &it.event)) {
        return Hint::RevisionRequired;
    }
    if step.review.is_some() && has_rejected(step, before, events) {
        return Hint::RetryImpl;
    }
    let is_left =
        |it: &StepCompleted| it.part.is_none() && it.completed_by() != CompletedBy::NothingLeft;
    if completions(step, events).any(is_left) { Hint::Proceed } else { Hint::SetupContinue }
}

/// Whether a task was found wanting when its review was reported, or before.
fn has_rejected(step: &Step, before: &RunState, events: &[Recorded]) -> bool {
    let is_judged = |it: &Recorded| matches!(&it.event, Event::VerdictGiven { step: of, part: Some(_), .. } if *of == step.name);
    let judged = events.iter().rposition(is_judged).map_or(0, |it| it + 1);
    let state = events.iter().take(judged).fold(before.clone(), evolve);
    let is_rejected = |it: &PartSpec| state.part_progress(&step.name, &it.id) == Progress::Rejected;
    state.parts_of(step).iter().any(is_rejected)
}

/// Whether a review was put away because what it judged has changed since.
fn is_stale(step: &Step, events: &[Recorded]) -> bool {
    let is_stale = |it: &Recorded| {
        let Event::StepReopened { step: reopened, part: None, .. } = &it.event else {
            return false;
        };
        *reopened == step.name && it.event.reopen_cause() == Some(ReopenCause::ReviewStale)
    };
    step.review.is_some() && events.iter().any(is_stale)
}

/// Says which tasks lack their file.
fn missing(step: &Step, events: &[Recorded]) -> Option<String> {
    let find = |it: &Recorded| {
        let Event::StepReopened { step: reopened, part, .. } = &it.event else { return None };
        let is_gone = matches!(it.event.reopen_cause(), Some(ReopenCause::FileGone { .. }))
            && *reopened == step.name;
        part.as_ref().filter(|_| is_gone).map(ToString::to_string)
    };
    let gone: Vec<String> = events.iter().filter_map(find).collect();
    let kind = if step.review.is_some() { "review" } else { "impl" };
    (!gone.is_empty()).then(|| format!("missing {kind} files of tasks: {}", gone.join(", ")))
}

/// Says that a phase is not reported while a person is asked, or where one is to be.
fn open(pipeline: &Pipeline, phase: &str, asked: &str) -> Failure {
    let (message, hint) = match pipeline.view.state.standing.open_gate() {
        Some(gate) => {
            let message =
                format!("phase `{phase}` cannot be reported: `{asked}` is awaiting_human");
            (message, way_out::answer(pipeline, gate))
        }
        None => {
            let hint = "it is for the user to answer, by `pipeline_next_action`".to_owned();
            (format!("checkpoint `{asked}` cannot be reported"), hint)
        }
    };
    Failure::new("gate_open", message, hint)
}

/// Returns what is wrong with a file, where that is why.
fn find_problem(refusal: &Refusal) -> Option<String> {
    if let Refusal::ArtifactMissing { path, .. } = refusal {
        if path.is_empty() {
            return Some("there is neither a task nor a file of one".to_owned());
        }
        return Some(format!("file not found: {path}"));
    }
    if let Refusal::ArtifactInvalid { path, problem, .. } = refusal {
        return Some(format!("{path}: {problem}"));
    }
    let Refusal::VerdictUnknown { words, .. } = refusal else { return None };
    Some(format!("no verdict keyword; one of {} is wanted", words.join(", ")))
}
