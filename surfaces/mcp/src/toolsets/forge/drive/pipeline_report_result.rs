//! `pipeline_report_result`: says that a phase is done.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        workspace,
    },
    report::{self, Reported},
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
        let reported = Reported {
            phase: parameters.phase,
            tokens: parameters.tokens_used,
            duration_ms: parameters.duration_ms,
            model: parameters.model,
            is_setup: parameters.setup_only,
        };
        match report::report(call, &pipeline, &reported).await {
            Ok((_, outcome)) => Ok(Answer::json(&outcome).into()),
            Err(failure) => Err(failure.noting(&pipeline.notices)),
        }
    }
}
