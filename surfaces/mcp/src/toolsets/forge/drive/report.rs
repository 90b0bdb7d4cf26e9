//! A phase is reported: what it took, what its review says, and what that leads to.

use definition::{Finding, PartSpec, Review, Step, read_review};
use engine::{
    Command, ContextChange, Entry, Event, Progress, Recorded, Refusal, ReopenCause, Report,
    ReportOptions, ReportStep, Ruling, Standing, find_agent, find_promised,
};
use runtime::ExecuteError;
use serde::Serialize;

use super::super::{
    answer::Failure,
    display, records, way_out,
    workspace::{self, Changed, Pipeline},
};
use crate::tool::Call;

/// The verdict on tasks that break rules of the project.
const REVISE: &str = "REVISE";

/// What an agent says of a phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Reported {
    pub(super) phase: String,
    pub(super) tokens: u64,
    pub(super) duration_ms: u64,
    pub(super) model: String,
    /// Whether only something was prepared, and the phase goes on.
    pub(super) is_setup: bool,
}

/// What a report led to.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Outcome {
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

impl Outcome {
    pub(super) fn brief(self) -> Brief {
        Brief {
            next_action_hint: self.next_action_hint,
            verdict_parsed: self.verdict_parsed,
            findings: self.findings,
            warning: self.warning,
        }
    }
}

/// Reports a phase, with what it took. Refused, nothing of it is kept.
pub(super) async fn report(
    call: &Call<'_>,
    pipeline: &Pipeline,
    reported: &Reported,
) -> Result<(Pipeline, Outcome), Failure> {
    let step = check(pipeline, &reported.phase)?;
    // A review is read whatever is said of it.
    let is_setup = reported.is_setup && step.review.is_none();
    let reported = &Reported { is_setup, ..reported.clone() };
    let read = read_reviews(call, pipeline, step).await;
    let was_logged = pipeline.file().is_logged(&reported.phase);
    let changed = pipeline.execute(call, command(reported)).await;
    let changed = match changed {
        Ok(changed) => changed,
        Err(error) => return unfinished(pipeline, step, &reported.phase, &error),
    };
    let hint = hint(step, &changed, reported.is_setup);
    let is_stale = is_stale(step, &changed.events);
    let read = match find_note(step, &changed.events) {
        Some(note) => Read::of(&note, &[REVISE]),
        None if is_stale => Read::default(),
        None => read,
    };
    let mut warnings = pipeline.notices.clone();
    if step.rules.is_some() && !read.findings.is_empty() {
        let count = read.findings.len();
        warnings.push(format!("the tasks break rules of the project: {count}"));
    }
    let at = warnings.len();
    warnings.extend(missing(step, &changed.events));
    warnings.extend(changed.pipeline.notices.iter().cloned());
    if step.each.is_none() && step.review.is_some() && !is_stale {
        warnings.extend(learn(call, pipeline, step, &read).await);
    }
    let news = warnings.clone();
    // Tasks are built and reviewed in batches, and each of these is logged.
    if was_logged && step.each.is_none() {
        let again = format!("WARNING: phase `{}` was logged before", reported.phase);
        warnings.insert(at, again);
    }
    let is_over = hint == Hint::Proceed && !reported.is_setup;
    let outcome = Outcome {
        state_updated: true,
        artifact_written: first_artifact(pipeline, step),
        verdict_parsed: read.verdict,
        findings: read.findings,
        next_action_hint: hint,
        warning: warnings.join("; "),
        news,
        display_message: is_over.then(|| display::complete(reported.tokens, reported.duration_ms)),
    };
    Ok((changed.pipeline, outcome))
}

/// Tasks that left no file are to go on; nothing of the report is kept. Else it is refused.
fn unfinished(
    pipeline: &Pipeline,
    step: &Step,
    phase: &str,
    error: &ExecuteError,
) -> Result<(Pipeline, Outcome), Failure> {
    let is_built = step.each.is_some() && step.review.is_none();
    let ExecuteError::Refused(Refusal::ArtifactMissing { path, .. }) = error else {
        return Err(words(pipeline, phase, error));
    };
    if !is_built {
        return Err(words(pipeline, phase, error));
    }
    let warning = if path.is_empty() {
        "all tasks are built, so nothing was reported".to_owned()
    } else {
        format!("missing impl files: `{path}` is not there, so nothing was reported")
    };
    let outcome = Outcome {
        state_updated: false,
        artifact_written: String::new(),
        verdict_parsed: String::new(),
        findings: Vec::new(),
        next_action_hint: Hint::SetupContinue,
        news: vec![warning.clone()],
        warning,
        display_message: None,
    };
    Ok((pipeline.clone(), outcome))
}

/// Refuses a report on a phase that is not the current one, or that a person is asked about.
fn check<'a>(pipeline: &'a Pipeline, phase: &str) -> Result<&'a Step, Failure> {
    let view = &pipeline.view;
    let Some(step) = view.workflow.steps.iter().find(|it| it.name.as_str() == phase) else {
        let message = format!("invalid phase `{phase}`");
        return Err(Failure::new("step_unknown", message, "report the current phase"));
    };
    if let Standing::Waiting(gate) = &view.state.standing {
        let (name, step) = (&gate.step, phase);
        let message = format!("phase `{step}` cannot be reported: `{name}` is awaiting_human");
        return Err(Failure::new("gate_open", message, way_out::answer(&pipeline.view, gate)));
    }
    if step.gate.is_some() && step.produces.is_empty() {
        let message = format!("checkpoint `{phase}` cannot be reported");
        let hint = "it is for the user to answer, by `pipeline_next_action`";
        return Err(Failure::new("gate_open", message, hint));
    }
    Ok(step)
}

fn command(reported: &Reported) -> Command {
    let usage = Command::RecordEntry {
        step: Some(reported.phase.clone()),
        entry: Entry::Usage {
            tokens: reported.tokens,
            duration_ms: reported.duration_ms,
            model: reported.model.clone(),
        },
    };
    let report = ReportStep {
        part: None,
        report: Report {
            step_id: reported.phase.clone(),
            // What was only prepared goes on.
            status: if reported.is_setup { "in_progress" } else { "success" }.to_owned(),
            ..Report::default()
        },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    };
    let report = Command::ReportStep(Box::new(report));
    Command::All(vec![usage, Command::StopAtNextStep(report.into())])
}

/// Keeps what a review found, for later agents to know.
async fn learn(call: &Call<'_>, pipeline: &Pipeline, step: &Step, read: &Read) -> Option<String> {
    let view = &pipeline.view;
    let agent = find_agent(&view.workflow, &view.state, step).unwrap_or_default();
    let finding = |it: &Found| Finding {
        severity: it.severity.clone(),
        text: it.description.clone(),
        number: None,
    };
    let findings: Vec<Finding> = read.findings.iter().map(finding).collect();
    let kept = records::accumulate(call, &findings, &agent).await;
    kept.err().map(|problem| format!("the findings were not kept as patterns: {problem}"))
}

/// What the reviews of a phase say.
#[derive(Debug, Default)]
struct Read {
    verdict: String,
    findings: Vec<Found>,
}

/// Reads what the reviews of a phase say, before anything is made of it.
async fn read_reviews(call: &Call<'_>, pipeline: &Pipeline, step: &Step) -> Read {
    let mut read = Read::default();
    let Some(review) = &step.review else { return read };
    let words = review.words();
    for (task, file) in artifacts(pipeline, step) {
        let Ok(Some(text)) = pipeline.folder.read(call, &file).await else { continue };
        let said = Read::of(&text, &words);
        // Of several reviews the one that wants most counts.
        if rank(review, &read.verdict) < rank(review, &said.verdict) {
            read.verdict = said.verdict;
        }
        read.findings.extend(said.findings.into_iter().map(|it| it.of_task(task.as_deref())));
    }
    read
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

fn first_artifact(pipeline: &Pipeline, step: &Step) -> String {
    artifacts(pipeline, step).into_iter().next().map(|(_, file)| file).unwrap_or_default()
}

fn hint(step: &Step, changed: &Changed, is_setup: bool) -> Hint {
    let is_revised = |it: &Recorded| {
        matches!(&it.event, Event::VerdictGiven { part: None, ruling: Ruling::Revised, .. })
    };
    if changed.events.iter().any(is_revised) {
        return Hint::RevisionRequired;
    }
    let state = &changed.pipeline.view.state;
    let is_rejected = |it: &PartSpec| state.part_progress(&step.name, &it.id) == Progress::Rejected;
    if step.review.is_some() && state.parts_of(step).iter().any(is_rejected) {
        return Hint::RetryImpl;
    }
    let is_here = state.current.as_ref() == Some(&step.name) && state.standing.is_live();
    let is_done = state.progress(&step.name).is_settled();
    if is_setup || (is_here && !is_done) { Hint::SetupContinue } else { Hint::Proceed }
}

/// Whether a review was put away because what it judged has changed since.
fn is_stale(step: &Step, events: &[Recorded]) -> bool {
    let is_reopened = |it: &Recorded| matches!(&it.event, Event::StepReopened { step: reopened, part: None, .. } if *reopened == step.name);
    step.review.is_some() && events.iter().any(is_reopened)
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

/// Words why a report is not taken.
fn words(pipeline: &Pipeline, phase: &str, error: &ExecuteError) -> Failure {
    let ExecuteError::Refused(refusal) = error else {
        return workspace::failure("report", error);
    };
    let message = match find_problem(refusal) {
        Some(problem) => format!("artifact invalid for {phase}: {problem}"),
        None if matches!(refusal, Refusal::RunEnded { .. }) => "the pipeline is over".to_owned(),
        None => format!("report: {refusal}"),
    };
    Failure::new(refusal.code(), message, way_out::hint_at(refusal, &pipeline.view))
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
