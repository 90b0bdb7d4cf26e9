//! `pipeline_next_action`: takes the report on the last action or a person's answer, and says what
//! comes next.

use std::collections::BTreeSet;

use definition::{Digest, Effect, Step, Work};
use engine::{
    Action as Next, Advance, Command, Done as Reported, Note, Onward, Refusal, Standing, View, next,
};
use insight::past::{SpecState, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        WORKFLOW,
        answer::{Answer, Failure},
        display::{self, Spent},
        records,
        state_file::COMPLETED,
        way_out,
        workspace::{self, Pipeline},
    },
    action::{self, Action},
    news, prompting,
    report::{self, Brief, Hint, Report},
};
use crate::kit::{
    Ask, Await, Caller, Deed, Hints, Look, Outcome, Reports, Seeing, Sent, Stopped, Tell, Tool,
};

/// What comes after a review that wants the work revised.
const REVISION: &str = "↩ The review wants it revised. Show the user the findings, then call \
                        `pipeline_next_action` with `workspace` alone";
/// What a person says at a checkpoint by a file, for the next agent to read.
const MESSAGE: &str = "checkpoint-message.txt";

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct PipelineNextAction {
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

impl Told {
    /// Adds what the pipeline has come to so far.
    fn with(mut self, summary: &Summary) -> Self {
        let spent = Spent {
            tokens: summary.total_tokens,
            cost_usd: summary.estimated_cost_usd,
            phases: summary.phases_executed,
            retries: summary.retries,
        };
        let lines: Vec<String> =
            [self.display_message.take(), display::cost(spent)].into_iter().flatten().collect();
        self.display_message = (!lines.is_empty()).then(|| lines.join("\n"));
        self.analytics = serde_json::to_value(summary).ok();
        self
    }
}

impl Tool for PipelineNextAction {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "pipeline_next_action";
    const TITLE: &'static str = "Next action";
    const DESCRIPTION: &'static str = "Report the last action with `previous_*`, or pass the user's answer on; and be told what to do \
         next. At a checkpoint a call without either waits for the user.";
    const HINTS: Hints = Hints::DECIDES;

    fn reports(&self) -> Option<Reports> {
        if self.is_silent() {
            return None;
        }
        let action = self.action_id.trim();
        // What is not a number was never handed out.
        let action = (!action.is_empty()).then(|| action.parse().unwrap_or(u64::MAX));
        Some(workspace::reports(&self.workspace, action))
    }

    fn ask(mut self, caller: &Caller) -> Result<Ask, Failure> {
        let mut warnings = Vec::new();
        if caller.sent == Sent::Late {
            warnings.push(match self.action_id.trim() {
                "" => {
                    "the last report or answer was the same, so nothing was reported; to report or \
                       answer this, pass its `action_id`"
                        .to_owned()
                }
                action => {
                    format!(
                        "action `{action}` is not the current one, so nothing was reported; this is"
                    )
                }
            });
            self = Self { workspace: self.workspace, ..Self::default() };
        }
        let (workspace, by) = (self.workspace.clone(), caller.clone());
        workspace::open::<Self>(caller, &workspace, move |mut pipeline| {
            warnings.append(&mut pipeline.notices);
            Ok(Turn { caller: by, said: self, pipeline, warnings }.ask())
        })
    }
}

impl PipelineNextAction {
    /// Whether the last action is reported.
    fn is_report(&self) -> bool {
        self.previous_action_complete
            || 0 < self.previous_tokens
            || 0 < self.previous_duration_ms
            || !self.previous_model.is_empty()
    }

    /// Returns the person's answer, if one is passed on.
    fn answer(&self) -> Option<&str> {
        Some(self.user_response.trim()).filter(|it| !it.is_empty())
    }

    /// Whether it says nothing, and only asks what is next.
    fn is_silent(&self) -> bool {
        !self.is_report() && self.answer().is_none()
    }

    /// Returns what is said of the last action, if anything is.
    fn reported(&self, pipeline: &Pipeline) -> Option<Reported> {
        let model = Some(self.previous_model.clone()).filter(|it| !it.is_empty());
        let sent = || pipeline.file().dispatched().unwrap_or_default().to_owned();
        self.is_report().then(|| Reported {
            step: None,
            is_setup: self.previous_setup_only,
            tokens: self.previous_tokens,
            duration_ms: self.previous_duration_ms,
            model: model.unwrap_or_else(sent),
        })
    }
}

/// One call, as far as it has come.
struct Turn {
    caller: Caller,
    said: PipelineNextAction,
    pipeline: Pipeline,
    warnings: Vec<String>,
}

impl Turn {
    fn ask(self) -> Ask {
        if let Err(failure) = self.check_phase() {
            return self.fail(failure).into();
        }
        news::find(&self.pipeline)
            .then(move |set| self.look().then(move |report| self.advance(report, set)))
    }

    /// Reads what the reviews of a phase say whose work is reported.
    fn look(&self) -> Seeing<Option<Report>> {
        match self.step().cloned().zip(self.said.reported(&self.pipeline)) {
            Some((step, done)) => report::look(self.pipeline.clone(), step, done).map(Some),
            None => Seeing::Seen(None),
        }
    }

    /// Has it taken what the call says, and the run go on.
    fn advance(self, report: Option<Report>, set: Map<String, Value>) -> Ask {
        let advance = Advance {
            report: self.said.reported(&self.pipeline),
            answer: self.said.answer().map(ToOwned::to_owned),
            onward: Some(self.onward(set)),
        };
        let (run, command) =
            (self.pipeline.view.state.run, Box::new(Command::Advance(advance.into())));
        if let Some(asked) = self.asked().filter(|_| self.said.is_silent()) {
            let (key, patience) = (self.pipeline.key.clone(), self.caller.options.forge.poll);
            let wait = Await { run, command, workflow: WORKFLOW, key, asked, patience };
            return Ask::Await(wait, Box::new(move |done| self.tell(None, done)));
        }
        let deed = Deed::Change { run, command, by: None };
        match report {
            Some(report) => {
                let learn = report.learn(&self.caller);
                let then = move |done: Result<Outcome, Stopped>| {
                    self.tell(Some(report), done.map(|it| (it, false)))
                };
                Ask::Also(deed, learn, Box::new(then))
            }
            None => {
                let then = move |done: Result<Outcome, Stopped>| {
                    self.tell(None, done.map(|it| (it, false)))
                };
                Ask::Do(deed, Box::new(then))
            }
        }
    }

    fn onward(&self, set: Map<String, Value>) -> Onward {
        let model = self.caller.options.forge.default_model.as_str();
        let details = Map::from_iter([("model".to_owned(), Value::from(model))]);
        Onward { set, details, message: Some(MESSAGE.to_owned()) }
    }

    /// Answers with what came of it.
    fn tell(mut self, report: Option<Report>, done: Result<(Outcome, bool), Stopped>) -> Tell {
        let (mut outcome, still_waiting) = match done {
            Ok(done) => done,
            Err(stopped) => {
                let failure = self.refused(report.as_ref(), &stopped);
                return self.fail(failure);
            }
        };
        let reported = report.and_then(|it| it.word(&outcome, Vec::new()));
        let is_shown =
            reported.as_ref().is_some_and(|it| it.next_action_hint == Hint::RevisionRequired);
        let is_stopped = is_shown || outcome.halted.is_some();
        let held_up = if is_stopped { None } else { find_held_up(&mut outcome) };
        self.take(&outcome, reported.as_ref());
        if let Some(refusal) = outcome.halted {
            let failure = self.refused(None, &refusal.into());
            return self.fail(failure);
        }
        let brief = reported.map(|it| (it.next_action_hint, it.brief()));
        if let Some((Hint::RevisionRequired, brief)) = brief {
            let (report_result, display_message) = (Some(brief), Some(REVISION.to_owned()));
            let told = self.told(Action::default());
            return PipelineNextAction::say(Answer::json(&Told {
                report_result,
                display_message,
                ..told
            }));
        }
        if let Some(refusal) = held_up {
            let failure = self.refused(None, &refusal.into());
            return self.fail(failure);
        }
        let report_result = brief.map(|(_, brief)| brief);
        self.try_approval(move |turn| turn.hand_out(report_result, still_waiting))
    }

    /// Tries the answer that leads on, where a person is asked, and says if it would be refused.
    fn try_approval(mut self, then: impl FnOnce(Self) -> Tell + Send + 'static) -> Tell {
        let open = self.pipeline.view.state.standing.open_gate();
        let mut options = open.into_iter().flat_map(|it| &it.options);
        let Some(option) = options.find(|it| it.effect == Effect::Approve) else {
            return then(self);
        };
        let name = option.name.clone();
        let onward = Some(self.onward(Map::new()));
        let advance = Advance { report: None, answer: Some(name.clone()), onward };
        let (view, command) = (self.pipeline.view.clone(), Command::Advance(advance.into()));
        let tried = move |refusal: Option<Refusal>| {
            self.warnings.extend(refusal.map(|it| {
                let hint = way_out::hint_at(&it, &self.pipeline);
                format!("`{name}` is refused for now: {it}; {hint}")
            }));
            then(self)
        };
        Look::Trial(view, command.into(), Box::new(tried)).into()
    }

    /// Answers with the action that is to be done now.
    fn hand_out(mut self, report_result: Option<Brief>, still_waiting: bool) -> Tell {
        let action = action::find(&self.pipeline, &self.caller.options.forge.default_model);
        prompting::add(&self.caller, &self.pipeline, action).then(move |(action, warnings)| {
            self.warnings.extend(warnings);
            let told = Told { report_result, still_waiting, ..self.told(action) };
            let view = self.pipeline.view.clone();
            let is_silent = self.said.is_silent();
            let answer =
                move || self.sum_up(told).then(|told| PipelineNextAction::say(Answer::json(&told)));
            if is_silent { Look::Shown(view, Box::new(|()| answer())).into() } else { answer() }
        })
    }

    /// Takes in what came of the call, and what there is to say of that.
    fn take(&mut self, outcome: &Outcome, reported: Option<&report::Reported>) {
        let notes: Vec<String> = outcome.notes.iter().filter_map(|it| self.note(it)).collect();
        self.warnings.extend(notes);
        let news = reported.filter(|it| it.next_action_hint != Hint::RevisionRequired);
        self.warnings.extend(news.iter().flat_map(|it| it.news.iter().cloned()));
        let mut after = self.pipeline.after(outcome);
        self.warnings.append(&mut after.notices);
        let mut told = BTreeSet::new();
        self.warnings.retain(|it| told.insert(it.clone()));
        let (before, now) = (news::branch(&self.pipeline), news::branch(&after));
        if !before.is_empty() && before != now {
            let why = "as the design says what it is about";
            self.warnings.push(format!("the branch `{before}` is called `{now}` now, {why}"));
        }
        self.pipeline = after;
    }

    fn fail(&self, failure: Failure) -> Tell {
        PipelineNextAction::fail(failure.noting(&self.warnings))
    }

    /// Words what the engine tells besides what happened.
    fn note(&self, note: &Note) -> Option<String> {
        let said = self.said.answer().unwrap_or_default();
        Some(match note {
            Note::ReportAtGate => "a checkpoint is not passed by a report; ask the user".to_owned(),
            Note::AlreadyReported { step } => format!("phase `{step}` was reported before"),
            Note::AnswerNotTaken(refusal) => {
                format!("{refusal}; {}", way_out::hint_at(refusal, &self.pipeline))
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
    fn refused(&self, report: Option<&Report>, stopped: &Stopped) -> Failure {
        if let Stopped::Refused(refusal @ Refusal::GateHeld { .. }) = stopped {
            let hint = way_out::hint_at(refusal, &self.pipeline);
            return Failure::new(refusal.code(), "BLOCKED: a revision is pending", hint);
        }
        if let Some(report) = report {
            return report.refused(stopped);
        }
        let is_answer = self.asked().is_some() && self.said.answer().is_some();
        let what = if is_answer { "answer" } else { "next action" };
        let Stopped::Refused(refusal) = stopped else { return Failure::of(what, stopped) };
        let hint = way_out::hint_at(refusal, &self.pipeline);
        Failure::new(refusal.code(), format!("{what}: {refusal}"), hint)
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
    fn sum_up(&self, told: Told) -> Seeing<Told> {
        match told.action.kind {
            "done" => records::index_now(&self.caller).map(|()| told),
            "checkpoint" => {
                let state = SpecState::from(&self.pipeline.file());
                let summary = records::summary_of(&self.caller, &self.pipeline.folder, state);
                summary.map(|summary| match summary {
                    Ok(summary) => told.with(&summary),
                    Err(_) => told,
                })
            }
            _ => Seeing::Seen(told),
        }
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

/// Returns why the run waits for the server to do its part, if it does.
fn find_held_up(outcome: &mut Outcome) -> Option<Refusal> {
    let View { workflow, state, .. } = &outcome.now.view;
    let Next::Chore { chore } = next(workflow, state) else { return None };
    Some(outcome.undone.take().unwrap_or_else(|| chore.why_due()))
}
