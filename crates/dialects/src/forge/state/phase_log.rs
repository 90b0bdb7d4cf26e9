//! `phase_log`: what a phase took is written down.

use engine::{Command, Entry};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Card as _, Change, card},
    phase,
};
use crate::kit::Hints;

card! {
    PhaseLog "phase_log" "Log a phase"
    "Write down what a phase took."
    Hints::ADDS;
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

impl Change for PhaseLog {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        let Self { tokens, duration_ms, model, .. } = self;
        let (tokens, duration_ms, model) = (*tokens, *duration_ms, model.clone());
        let entry = Entry::Usage { tokens, duration_ms, model };
        Ok(Command::RecordEntry { step: Some(step), entry })
    }

    fn warnings(&self, pipeline: &Pipeline) -> Vec<String> {
        let phase = &self.phase;
        let is_logged = pipeline.file().is_logged(phase);
        let warning = || format!("WARNING: `{phase}` was logged before; this is a duplicate");
        is_logged.then(warning).into_iter().collect()
    }
}
