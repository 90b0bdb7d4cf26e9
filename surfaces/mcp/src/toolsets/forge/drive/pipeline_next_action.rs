//! `pipeline_next_action`: takes the report on the last action or a person's answer, and says what
//! comes next.

use std::collections::BTreeSet;

use definition::{Digest, Step, Work};
use engine::{Action as Next, Advance, Done as Reported, Note, Onward, Refusal, Standing, next};
use insight::past::SpecState;
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        display::{self, Spent},
        intake::{
            branch::classify,
            request::{REQUEST_FILE, RequestFile},
        },
        records,
        state_file::COMPLETED,
        way_out,
        workspace::{self, Changed, Pipeline},
    },
    action::{self, Action},
    prompting,
    report::{self, Brief, Hint, Outcome},
    waiting,
};
use crate::tool::{Answering, Call, Done, Hints};

/// What comes after a review that wants the work revised.
const REVISION: &str = "↩ The review wants it revised. Show the user the findings, then call \
                        `pipeline_next_action` with `workspace` alone";
/// The file with the design.
const DESIGN: &str = "design.md";
/// The phases from which a pipeline comes to the checkpoint that the branch is renamed at.
const RENAMES: [&str; 2] = ["phase-3b", "checkpoint-a"];
/// The phase whose report leads there where the review is left out.
const DESIGNING: &str = "phase-3";
/// What a person says at a checkpoint by a file, for the next agent to read.
const MESSAGE: &str = "checkpoint-message.txt";

pub(super) struct PipelineNextAction;

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Its folder
    workspace: String,
    /// What the user answered at a checkpoint
    #[serde(default)]
    user_response: String,
    /// What the last action took
    #[serde(default)]
    previous_tokens: u64,
    /// How long it took
    #[serde(default)]
    previous_duration_ms: u64,
    /// Which model worked
    #[serde(default)]
    previous_model: String,
    /// It only prepared something
    #[serde(default)]
    previous_setup_only: bool,
    /// It is done
    #[serde(default)]
    previous_action_complete: bool,
    /// `action_id` of the action that is reported or answered
    #[serde(default)]
    action_id: String,
}

/// What is answered: the action, and what goes with it.
#[derive(Debug, Default, Serialize)]
struct Told {
    #[serde(flatten)]
    action: Action,
    /// Names the action, for the call that reports it.
    #[serde(skip_serializing_if = "String::is_empty")]
    action_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    warning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report_result: Option<Brief>,
    #[serde(skip_serializing_if = "String::is_empty")]
    current_phase: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    current_phase_status: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    still_waiting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    analytics: Option<Value>,
}

impl DialectTool for PipelineNextAction {
    type Parameters = Parameters;
    const NAME: &'static str = "pipeline_next_action";
    const TITLE: &'static str = "Next action";
    const DESCRIPTION: &'static str = "Report the last action with `previous_*`, or pass the user's answer on; and be told what to do \
         next. At a checkpoint a call without either waits for the user.";
    const HINTS: Hints = Hints::DECIDES;

    async fn answers(call: &Call<'_>, parameters: &Parameters) -> Option<Answering> {
        if !parameters.is_report() && parameters.answer().is_none() {
            return None;
        }
        let pipeline = workspace::open(call, &parameters.workspace).await.ok()?;
        let action = parameters.action_id.trim();
        // What is not a number was never handed out.
        let action = (!action.is_empty()).then(|| action.parse().unwrap_or(u64::MAX));
        Some(Answering { view: pipeline.view, action })
    }

    async fn call(call: &Call<'_>, mut parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let pipeline = workspace::open(call, &parameters.workspace).await?;
        let mut warnings = Vec::new();
        if call.is_stale {
            let action = parameters.action_id.trim();
            warnings.push(format!(
                "action `{action}` is not the current one, so nothing was reported; this is"
            ));
            parameters = Parameters { workspace: parameters.workspace, ..Parameters::default() };
        }
        let mut turn = Turn { call, parameters, pipeline, warnings };
        match turn.take().await {
            Ok(told) => Ok(Answer::json(&told).into()),
            Err(failure) => Err(failure.noting(&turn.warnings)),
        }
    }
}

impl Parameters {
    /// Whether the last action is reported.
    fn is_report(&self) -> bool {
        self.previous_action_complete
            || 0 < self.previous_tokens
            || 0 < self.previous_duration_ms
            || !self.previous_model.is_empty()
    }

    /// Returns what is said of the last action.
    fn reported(&self, pipeline: &Pipeline) -> Reported {
        let model = Some(self.previous_model.clone()).filter(|it| !it.is_empty());
        let sent = || pipeline.file().dispatched().unwrap_or_default().to_owned();
        Reported {
            step: None,
            is_setup: self.previous_setup_only,
            tokens: self.previous_tokens,
            duration_ms: self.previous_duration_ms,
            model: model.unwrap_or_else(sent),
        }
    }

    /// Returns the person's answer, if one is passed on.
    fn answer(&self) -> Option<&str> {
        Some(self.user_response.trim()).filter(|it| !it.is_empty())
    }
}

/// One call, as far as it has come.
struct Turn<'a> {
    call: &'a Call<'a>,
    parameters: Parameters,
    pipeline: Pipeline,
    warnings: Vec<String>,
}

impl Turn<'_> {
    async fn take(&mut self) -> Result<Told, Failure> {
        self.warnings.append(&mut self.pipeline.notices);
        self.check_phase()?;
        let asked = self.asked();
        let brief = self.advance().await?.map(|it| (it.next_action_hint, it.brief()));
        if let Some((Hint::RevisionRequired, brief)) = brief {
            let (report_result, display_message) = (Some(brief), Some(REVISION.to_owned()));
            let told = self.told(Action::default());
            return Ok(Told { report_result, display_message, ..told });
        }
        let is_silent = !self.parameters.is_report() && self.parameters.answer().is_none();
        let mut still_waiting = false;
        if is_silent && asked.is_some() && self.asked() == asked {
            still_waiting = self.wait().await?;
            if self.pipeline.view.state.standing == Standing::Running {
                self.advance().await?;
            }
        }
        self.check_chores()?;
        let model = self.call.options.forge.default_model.as_str();
        let mut action = action::find(&self.pipeline, model);
        self.warnings.extend(prompting::add(self.call, &self.pipeline, &mut action).await);
        if is_silent {
            self.call.runtime.note_seen(&self.pipeline.view).await;
        }
        let report_result = brief.map(|(_, brief)| brief);
        let told = Told { report_result, still_waiting, ..self.told(action) };
        Ok(self.sum_up(told).await)
    }

    /// Says what the call says, and goes on. Returns what came of the report.
    async fn advance(&mut self) -> Result<Option<Outcome>, Failure> {
        let report = self.parameters.is_report().then(|| self.parameters.reported(&self.pipeline));
        let answer = self.parameters.answer().map(ToOwned::to_owned);
        let advance = Advance { report, answer, onward: Some(self.onward().await) };
        let step = self.step().filter(|_| advance.report.is_some()).cloned();
        let said = report::advance(self.call, &self.pipeline, step.as_ref(), advance).await;
        let (changed, outcome) = said.map_err(|error| self.refused(step.as_ref(), &error))?;
        let notes = changed.notes.iter().filter_map(|it| self.note(it));
        self.warnings.extend(notes.collect::<Vec<_>>());
        if let Some(outcome) = &outcome
            && outcome.next_action_hint != Hint::RevisionRequired
        {
            self.warnings.extend(outcome.news.iter().cloned());
        }
        let before = branch(&self.pipeline).to_owned();
        let Changed { pipeline, halted, .. } = changed;
        self.pipeline = pipeline;
        self.warnings.append(&mut self.pipeline.notices);
        let now = branch(&self.pipeline);
        if !before.is_empty() && before != now {
            let why = "as the design says what it is about";
            self.warnings.push(format!("the branch `{before}` is called `{now}` now, {why}"));
        }
        match halted {
            Some(refusal) => Err(self.refused(None, &refusal.into())),
            None => Ok(outcome),
        }
    }

    /// Returns how the run goes on.
    async fn onward(&self) -> Onward {
        let model = self.call.options.forge.default_model.as_str();
        let mut set = self.find_source().await.unwrap_or_default();
        if let Some(branch) = self.find_branch().await {
            set.insert("branch_to".to_owned(), branch.into());
        }
        let details = Map::from_iter([("model".to_owned(), Value::from(model))]);
        Onward { set, details, message: Some(MESSAGE.to_owned()) }
    }

    /// Words what the engine tells besides what happened.
    fn note(&self, note: &Note) -> Option<String> {
        let said = self.parameters.answer().unwrap_or_default();
        Some(match note {
            Note::ReportAtGate => "a checkpoint is not passed by a report; ask the user".to_owned(),
            Note::AlreadyReported { step } => format!("phase `{step}` was reported before"),
            Note::AnswerNotTaken(refusal) => {
                format!("{refusal}; {}", way_out::hint_at(refusal, &self.pipeline.view))
            }
            Note::NobodyAsked => {
                let way_out = if said == "abandon" { "; `abandon` ends the pipeline" } else { "" };
                format!("the user was not asked anything, so `{said}` was not taken{way_out}")
            }
            Note::NotAskedYet => {
                "the user was not asked before; show them this, and pass their answer on".to_owned()
            }
            // What is to be done says so; and the report on tasks that left no file is worded as one.
            Note::RunOver | Note::NothingFound { .. } => return None,
        })
    }

    /// Words why nothing was taken, or why the run did not go on.
    fn refused(&self, reported: Option<&Step>, error: &ExecuteError) -> Failure {
        if let ExecuteError::Refused(refusal @ Refusal::GateHeld { .. }) = error {
            return held(refusal);
        }
        if let Some(step) = reported {
            return report::refused(&self.pipeline, step.name.as_str(), error);
        }
        let is_answer = self.asked().is_some() && self.parameters.answer().is_some();
        self.pipeline.failure(if is_answer { "answer" } else { "next action" }, error)
    }

    /// Returns the phase that is at hand, unless it is nothing but a question.
    fn step(&self) -> Option<&Step> {
        let view = &self.pipeline.view;
        let current = view.state.current.as_ref().and_then(|it| view.workflow.find_step(it));
        let current = current.filter(|it| it.gate.is_none() || it.work != Work::None);
        current.filter(|_| view.state.standing == Standing::Running)
    }

    /// Returns what the user is asked.
    fn asked(&self) -> Option<Digest> {
        self.pipeline.view.state.standing.open_gate().map(|it| it.digest.clone())
    }

    /// Says at a checkpoint what the pipeline has come to so far; and keeps a pipeline that is over
    /// among the past ones.
    async fn sum_up(&self, mut told: Told) -> Told {
        if told.action.kind == "done" {
            records::index_now(self.call).await;
        }
        if told.action.kind != "checkpoint" {
            return told;
        }
        let state = SpecState::from(&self.pipeline.file());
        let summary = records::summary_of(self.call, &self.pipeline.folder, &state).await;
        let Ok(summary) = summary else { return told };
        let spent = Spent {
            tokens: summary.total_tokens,
            cost_usd: summary.estimated_cost_usd,
            phases: summary.phases_executed,
            retries: summary.retries,
        };
        let lines = [told.display_message.take(), display::cost(spent)];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        told.display_message = (!lines.is_empty()).then(|| lines.join("\n"));
        told.analytics = serde_json::to_value(summary).ok();
        told
    }

    /// Refuses to go on from a phase that a state file names and that is none.
    fn check_phase(&self) -> Result<(), Failure> {
        let stated = self.pipeline.file();
        let mut steps = self.pipeline.view.workflow.steps.iter();
        let is_known =
            stated.phase() == COMPLETED || steps.any(|it| it.name.as_str() == stated.phase());
        if is_known {
            return Ok(());
        }
        let message = format!("`currentPhase` of the state is `{}`", stated.phase());
        Err(Failure::new("step_unknown", message, "nothing follows it; set it to a phase"))
    }

    async fn wait(&mut self) -> Result<bool, Failure> {
        let duration = self.call.options.forge.poll;
        let pipeline = workspace::open(self.call, &self.parameters.workspace).await?;
        let (pipeline, is_over) = waiting::wait(self.call, pipeline, duration).await?;
        self.pipeline = pipeline;
        self.warnings.append(&mut self.pipeline.notices);
        Ok(is_over)
    }

    /// Returns where the request came from, if the run does not know it: one that was begun from a
    /// state file has it in the request alone.
    async fn find_source(&self) -> Option<Map<String, Value>> {
        let known = self.pipeline.view.state.vars.get("source_url").and_then(Value::as_str)?;
        if !known.is_empty() {
            return None;
        }
        let text = self.pipeline.folder.read(self.call, REQUEST_FILE).await.ok().flatten()?;
        let request = RequestFile::parse(&text);
        let source = request.source()?;
        let vars = [
            ("source_type", source.tracker.source_type().to_owned()),
            ("source_url", source.url),
            ("source_id", source.id),
        ];
        Some(vars.into_iter().map(|(name, it)| (name.to_owned(), it.into())).collect())
    }

    /// Returns what the branch is to be called once there is a design that says what it is about.
    /// It is looked for as long as nobody was asked at a checkpoint.
    async fn find_branch(&self) -> Option<String> {
        let state = &self.pipeline.view.state;
        let is_due = state.current.as_ref().is_some_and(|it| {
            let is_designed = it.as_str() == DESIGNING && self.parameters.is_report();
            RENAMES.contains(&it.as_str()) || is_designed
        });
        if !is_due || self.pipeline.file().is("branchClassified") {
            return None;
        }
        let text = |name: &str| state.vars.get(name).and_then(Value::as_str).unwrap_or_default();
        let (kind, rest) = text("branch").split_once('/')?;
        let design = self.pipeline.folder.read(self.call, DESIGN).await.ok().flatten()?;
        let wanted = classify(&design);
        let branch = if wanted == kind { String::new() } else { format!("{wanted}/{rest}") };
        (branch != text("branch_to")).then_some(branch)
    }

    /// Refuses to go on while the server could not do its part.
    fn check_chores(&mut self) -> Result<(), Failure> {
        let mut told = BTreeSet::new();
        self.warnings.retain(|it| told.insert(it.clone()));
        let view = &self.pipeline.view;
        if !matches!(next(&view.workflow, &view.state), Next::Chore { .. }) {
            return Ok(());
        }
        Err(Failure::new("chore_due", self.warnings.join("; "), ""))
    }

    fn told(&self, action: Action) -> Told {
        let stated = self.pipeline.file();
        let handed = self.pipeline.view.state.handed;
        let is_open = !handed.is_answered() && !["", "done"].contains(&action.kind);
        Told {
            action_id: if is_open { handed.action.to_string() } else { String::new() },
            warning: self.warnings.join("; "),
            display_message: action.display(&self.pipeline),
            action,
            current_phase: stated.phase().to_owned(),
            current_phase_status: stated.text("currentPhaseStatus").to_owned(),
            ..Told::default()
        }
    }
}

/// Returns what the branch of a pipeline is called.
fn branch(pipeline: &Pipeline) -> &str {
    pipeline.view.state.vars.get("branch").and_then(Value::as_str).unwrap_or_default()
}

/// Says that a person still wants something changed.
fn held(refusal: &Refusal) -> Failure {
    let step = if let Refusal::GateHeld { step, .. } = refusal { step.as_str() } else { "" };
    let words = format!(
        "a revision is pending; call `clear_revision_pending` for `{step}` first, after the user \
         has approved"
    );
    workspace::blocked(refusal, &words)
}
