//! `phase_fail`: a phase came to nothing.

use engine::Command;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Card as _, Change, ENDS, card},
    phase,
};

card! {
    PhaseFail "phase_fail" "Fail a phase"
    "Say that a phase failed. The pipeline stops until a phase is started again."
    ENDS;
    /// Its id
    phase: String,
    /// What went wrong
    #[serde(default)]
    message: String,
}

impl Change for PhaseFail {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        let reason = self.message.clone();
        Ok(Command::FailRun { reason, step: Some(step), errors: Vec::new() })
    }
}
