//! `skip_phase`: a phase is left out.

use engine::{Command, MakeMove, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS, taken_up},
    phase,
};
use crate::kit::Hints;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct SkipPhase {
    /// Its folder
    workspace: String,
    /// Its id
    phase: String,
}

impl Change for SkipPhase {
    const NAME: &'static str = "skip_phase";
    const TITLE: &'static str = "Skip a phase";
    const DESCRIPTION: &'static str = "Leave a phase out, and go to the one after it.";
    const HINTS: Hints = ENDS;

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        let args = Map::from_iter([("phase".to_owned(), Value::from(step.clone()))]);
        let noted = MakeMove { name: "leave_out".to_owned(), args, ..MakeMove::default() };
        let skip = Command::StopAtNextStep(Command::SkipStep { step }.into());
        Ok(taken_up(pipeline, vec![Command::Move(Box::new(noted)), skip]))
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
        phase::guard(pipeline, refusal)
    }
}
