//! `phase_log`: what a phase took is written down.

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, in_workspace},
    phase,
};
use crate::tool::Hints;

pub(super) struct PhaseLog;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Its folder
    workspace: String,
    /// Its id
    phase: String,
    /// How many it took
    #[serde(default)]
    tokens: u64,
    /// How long it took
    #[serde(default)]
    duration_ms: u64,
    /// Which model worked
    #[serde(default)]
    model: String,
}

in_workspace!(Parameters);

impl Change for PhaseLog {
    type Parameters = Parameters;
    const NAME: &'static str = "phase_log";
    const TITLE: &'static str = "Log a phase";
    const DESCRIPTION: &'static str = "Write down what a phase took.";
    const HINTS: Hints = Hints::ADDS;

    fn command(parameters: &Parameters, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &parameters.phase)?.name.to_string();
        let Parameters { tokens, duration_ms, model, .. } = parameters;
        let (tokens, duration_ms, model) = (*tokens, *duration_ms, model.clone());
        let entry = Entry::Usage { tokens, duration_ms, model };
        Ok(Command::RecordEntry { step: Some(step), entry })
    }

    fn warnings(parameters: &Parameters, pipeline: &Pipeline) -> Vec<String> {
        let phase = &parameters.phase;
        let is_logged = pipeline.file().is_logged(phase);
        let warning = || format!("WARNING: `{phase}` was logged before; this is a duplicate");
        is_logged.then(warning).into_iter().collect()
    }
}
