//! `skip_phase`: a phase is left out.

use engine::{Command, MakeMove, Refusal};
use serde_json::{Map, Value};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Card as _, Change, ENDS, card, taken_up},
    phase,
};

card! {
    SkipPhase "skip_phase" "Skip a phase"
    "Leave a phase out, and go to the one after it."
    ENDS;
    /// Its id
    phase: String,
}

impl Change for SkipPhase {
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
