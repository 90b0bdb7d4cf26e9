//! `pipeline_next_action`: takes the report on the last action or a person's answer, and says what
//! comes next.

use std::collections::BTreeSet;

use definition::Work;
use engine::{
    Action as Next, Answer as Said, AnswerGate, Command, How, Progress, Refusal, Standing, next,
};
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
        state_file::{COMPLETED, Status},
        way_out,
        workspace::{self, Pipeline},
    },
    action::{self, Action},
    prompting,
    report::{self, Brief, Hint, Reported},
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
        if !parameters.is_report() && parameters.user_response.trim().is_empty() {
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
        let was_asked = self.pipeline.file().status() == Status::AwaitingHuman;
        if self.is_asked() && !self.parameters.is_report() && !self.is_answered() {
            // What was set since may have made the question needless.
            self.go_on().await?;
        }
        let is_asked = self.is_asked();
        self.warn_unasked();
        let mut brief = None;
        if self.parameters.is_report() && self.is_for_person() {
            let is_told = is_asked && self.is_answered();
            let message = "a checkpoint is not passed by a report; ask the user";
            self.warnings.extend((!is_told).then(|| message.to_owned()));
        } else if self.parameters.is_report() && self.is_running() {
            brief = self.report().await?;
        }
        if let Some((brief, Hint::RevisionRequired)) = brief {
            let (report_result, display_message) = (Some(brief), Some(REVISION.to_owned()));
            let told = self.told(Action::default());
            return Ok(Told { report_result, display_message, ..told });
        }
        let mut still_waiting = false;
        if is_asked && self.is_answered() {
            self.answer().await?;
        } else if is_asked && !self.parameters.is_report() {
            still_waiting = self.wait().await?;
        } else if !is_asked && !was_asked && self.is_for_person() && self.is_answered() {
            let message = "the user was not asked before; show them this, and pass their answer on";
            self.warnings.push(message.to_owned());
        }
        if self.is_running() {
            self.go_on().await?;
        }
        if was_asked && !is_asked && self.is_asked() && self.is_answered() {
            // A state that was found waiting has put the question already.
            self.answer().await?;
            if self.is_running() {
                self.go_on().await?;
            }
        }
        self.check_chores()?;
        let model = self.call.options.forge.default_model.as_str();
        let mut action = action::find(&self.pipeline, model);
        self.warnings.extend(prompting::add(self.call, &self.pipeline, &mut action).await);
        let report_result = brief.map(|(brief, _)| brief);
        if !self.parameters.is_report() && !self.is_answered() {
            self.call.runtime.note_seen(&self.pipeline.view).await;
        }
        let told = Told { report_result, still_waiting, ..self.told(action) };
        Ok(self.sum_up(told).await)
    }

    /// Says that an answer is not taken where nobody was asked anything.
    fn warn_unasked(&mut self) {
        let said = self.parameters.user_response.trim();
        if said.is_empty() || !self.is_running() || self.is_for_person() {
            return;
        }
        let way_out = if said == "abandon" { "; `abandon` ends the pipeline" } else { "" };
        let message =
            format!("the user was not asked anything, so `{said}` was not taken{way_out}");
        self.warnings.push(message);
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

    /// Whether the pipeline is at a phase that is nothing but a question.
    fn is_for_person(&self) -> bool {
        let view = &self.pipeline.view;
        let current = view.state.current.as_ref().and_then(|it| view.workflow.find_step(it));
        let is_question = current.is_some_and(|it| it.gate.is_some() && it.work == Work::None);
        self.is_asked() || (self.is_running() && is_question)
    }

    /// Whether a person's answer is passed on.
    fn is_answered(&self) -> bool {
        !self.parameters.user_response.trim().is_empty()
    }

    fn is_asked(&self) -> bool {
        matches!(self.pipeline.view.state.standing, Standing::Waiting(_))
    }

    fn is_running(&self) -> bool {
        self.pipeline.view.state.standing == Standing::Running
    }

    /// Reports the phase that the state file says to be at.
    async fn report(&mut self) -> Result<Option<(Brief, Hint)>, Failure> {
        let stated = self.pipeline.file();
        let state = &self.pipeline.view.state;
        let current = state.current.as_ref().map(ToString::to_string);
        let is_noted =
            state.current.as_ref().is_some_and(|it| state.progress(it) == Progress::Rejected);
        if current.as_deref() != Some(stated.phase()) || is_noted {
            let message = format!("phase `{}` was reported before", stated.phase());
            self.warnings.push(message);
            return Ok(None);
        }
        let model = Some(self.parameters.previous_model.clone()).filter(|it| !it.is_empty());
        let reported = Reported {
            phase: stated.phase().to_owned(),
            tokens: self.parameters.previous_tokens,
            duration_ms: self.parameters.previous_duration_ms,
            model: model.unwrap_or_else(|| stated.dispatched().unwrap_or_default().to_owned()),
            // What was sent out last is known better than it is remembered.
            is_setup: self.parameters.previous_setup_only && stated.dispatched().is_none(),
        };
        let (pipeline, outcome) = report::report(self.call, &self.pipeline, &reported).await?;
        self.pipeline = pipeline;
        let hint = outcome.next_action_hint;
        if hint != Hint::RevisionRequired {
            self.warnings.extend(outcome.news.iter().cloned());
        }
        Ok(Some((outcome.brief(), hint)))
    }

    /// Passes a person's answer on. One that is not offered changes nothing.
    async fn answer(&mut self) -> Result<(), Failure> {
        let answer = AnswerGate {
            answer: Said::Offered(self.parameters.user_response.trim().to_owned()),
            feedback: String::new(),
            by: "the agent".to_owned(),
            how: How::Relayed,
            digest: None,
        };
        let command = Command::StopAtNextStep(Command::AnswerGate(Box::new(answer)).into());
        match self.pipeline.execute(self.call, command).await {
            Ok(changed) => {
                self.pipeline = changed.pipeline;
                Ok(())
            }
            Err(ExecuteError::Refused(
                refusal @ (Refusal::AnswerUnknown { .. }
                | Refusal::GateNeedsPerson { .. }
                | Refusal::RoundsSpent { .. }),
            )) => {
                let way_out = way_out::hint_at(&refusal, &self.pipeline.view);
                self.warnings.push(format!("{refusal}; {way_out}"));
                Ok(())
            }
            Err(ExecuteError::Refused(refusal @ Refusal::GateHeld { .. })) => Err(held(&refusal)),
            Err(error) => Err(self.pipeline.failure("answer", &error)),
        }
    }

    async fn wait(&mut self) -> Result<bool, Failure> {
        let duration = self.call.options.forge.poll;
        let pipeline = workspace::open(self.call, &self.parameters.workspace).await?;
        let (pipeline, is_over) = waiting::wait(self.call, pipeline, duration).await?;
        self.pipeline = pipeline;
        self.warnings.append(&mut self.pipeline.notices);
        Ok(is_over)
    }

    async fn go_on(&mut self) -> Result<(), Failure> {
        let model = self.call.options.forge.default_model.as_str();
        let details = Map::from_iter([("model".to_owned(), Value::from(model))]);
        let mut set = self.find_source().await.unwrap_or_default();
        if let Some(branch) = self.find_branch().await {
            set.insert("branch_to".to_owned(), branch.into());
        }
        let known = (!set.is_empty()).then_some(Command::SetVars { set });
        let commands = known.into_iter().chain([Command::GoOn { details }]).collect();
        let changed = self.pipeline.execute(self.call, Command::All(commands)).await;
        let mut changed = match changed {
            Ok(changed) => changed,
            // Someone else was faster, and a person is asked now.
            Err(ExecuteError::Refused(Refusal::GateOpen { .. })) => {
                self.pipeline = workspace::open(self.call, &self.pipeline.key).await?;
                self.warnings.append(&mut self.pipeline.notices);
                return Ok(());
            }
            Err(ExecuteError::Refused(refusal @ Refusal::GateHeld { .. })) => {
                return Err(held(&refusal));
            }
            Err(error) => return Err(self.pipeline.failure("next action", &error)),
        };
        self.warnings.append(&mut changed.pipeline.notices);
        let before = branch(&self.pipeline).to_owned();
        self.pipeline = changed.pipeline;
        let now = branch(&self.pipeline);
        if !before.is_empty() && before != now {
            let why = "as the design says what it is about";
            self.warnings.push(format!("the branch `{before}` is called `{now}` now, {why}"));
        }
        Ok(())
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
        let is_due = state.current.as_ref().is_some_and(|it| RENAMES.contains(&it.as_str()));
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
