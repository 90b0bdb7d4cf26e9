//! `pipeline_report_result`: says that a phase is done.

use engine::{Advance, Done as Reported};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        workspace,
    },
    report,
};
use crate::tool::{Answering, Call, Done, Hints};

pub(super) struct PipelineReportResult;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for PipelineReportResult {
    type Parameters = Parameters;
    const NAME: &'static str = "pipeline_report_result";
    const TITLE: &'static str = "Report a phase";
    const DESCRIPTION: &'static str =
        "Say that the current phase is done: its files are checked and its review is read.";
    const HINTS: Hints = Hints::ADDS;

    async fn answers(call: &Call<'_>, parameters: &Parameters) -> Option<Answering> {
        let pipeline = workspace::open(call, &parameters.workspace).await.ok()?;
        Some(Answering { view: pipeline.view, action: None })
    }

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let pipeline = workspace::open(call, &parameters.workspace).await?;
        let phase = parameters.phase.as_str();
        let mut steps = pipeline.view.workflow.steps.iter();
        let Some(step) = steps.find(|it| it.name.as_str() == phase) else {
            let message = format!("invalid phase `{phase}`");
            let failure = Failure::new("step_unknown", message, "report the current phase");
            return Err(failure.noting(&pipeline.notices));
        };
        let reported = Reported {
            step: Some(parameters.phase.clone()),
            is_setup: parameters.setup_only,
            tokens: parameters.tokens_used,
            duration_ms: parameters.duration_ms,
            model: parameters.model,
        };
        let advance = Advance { report: Some(reported), ..Advance::default() };
        match report::advance(call, &pipeline, Some(step), advance).await {
            Ok((_, outcome)) => Ok(Answer::json(&outcome).into()),
            Err(error) => Err(report::refused(&pipeline, phase, &error).noting(&pipeline.notices)),
        }
    }
}
