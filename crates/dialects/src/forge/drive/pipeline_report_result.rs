//! `pipeline_report_result`: says that a phase is done.

use engine::{Advance, Command, Done as Reported};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        workspace,
    },
    report::{self, Report},
};
use crate::kit::{Ask, Caller, Deed, Hints, Outcome, Reports, Stopped, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PipelineReportResult {
    /// Its folder
    workspace: String,
    /// The current phase
    phase: String,
    /// What it took
    #[serde(default)]
    tokens_used: u64,
    /// How long it took
    #[serde(default)]
    duration_ms: u64,
    /// Which model worked
    #[serde(default)]
    model: String,
    /// Only prepared: the phase goes on
    #[serde(default)]
    setup_only: bool,
}

impl Tool for PipelineReportResult {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "pipeline_report_result";
    const TITLE: &'static str = "Report a phase";
    const DESCRIPTION: &'static str =
        "Say that the current phase is done: its files are checked and its review is read.";
    const HINTS: Hints = Hints::ADDS;

    fn reports(&self) -> Option<Reports> {
        Some(workspace::reports(&self.workspace, None))
    }

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let (workspace, by) = (self.workspace.clone(), caller.clone());
        workspace::open::<Self>(caller, &workspace, move |pipeline| {
            let mut steps = pipeline.view.workflow.steps.iter();
            let Some(step) = steps.find(|it| it.name.as_str() == self.phase).cloned() else {
                let message = format!("invalid phase `{}`", self.phase);
                let failure = Failure::new("step_unknown", message, "report the current phase");
                return Err(failure.noting(&pipeline.notices));
            };
            let reported = Reported {
                step: Some(self.phase),
                is_setup: self.setup_only,
                tokens: self.tokens_used,
                duration_ms: self.duration_ms,
                model: self.model,
            };
            let advance = Advance { report: Some(reported.clone()), ..Advance::default() };
            Ok(report::look(pipeline, step, reported).then(move |report| {
                let command = Box::new(Command::Advance(advance.into()));
                let run = report.pipeline.view.state.run;
                let deed = Deed::Change { run, command, by: None };
                let learn = report.learn(&by);
                let then = move |done| Self::tell(answer(&report, done));
                Ask::Also(deed, learn, Box::new(then))
            }))
        })
    }
}

/// Words what came of a report.
fn answer(report: &Report, done: Result<Outcome, Stopped>) -> Result<Answer, Failure> {
    match done {
        Ok(outcome) => {
            let notices = workspace::notices(&outcome);
            Ok(Answer::json(&report.word(&outcome, notices)))
        }
        Err(stopped) => Err(report.refused(&stopped).noting(&report.pipeline.notices)),
    }
}
