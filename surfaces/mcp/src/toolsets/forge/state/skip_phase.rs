//! `skip_phase`: a phase is left out.

use engine::{Command, MakeMove, Refusal};
use serde_json::{Map, Value};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS, OnPhase, taken_up},
    phase,
};
use crate::tool::Hints;

pub(super) struct SkipPhase;

impl Change for SkipPhase {
    type Parameters = OnPhase;
    const NAME: &'static str = "skip_phase";
    const TITLE: &'static str = "Skip a phase";
    const DESCRIPTION: &'static str = "Leave a phase out, and go to the one after it.";
    const HINTS: Hints = ENDS;

    fn command(parameters: &OnPhase, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &parameters.phase)?.name.to_string();
        let args = Map::from_iter([("phase".to_owned(), Value::from(step.clone()))]);
        let noted = MakeMove { name: "leave_out".to_owned(), args, ..MakeMove::default() };
        let skip = Command::StopAtNextStep(Command::SkipStep { step }.into());
        Ok(taken_up(pipeline, vec![Command::Move(Box::new(noted)), skip]))
    }

    fn guard(_parameters: &OnPhase, pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
        phase::guard(pipeline, refusal)
    }
}
