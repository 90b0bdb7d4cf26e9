//! `phase_complete`: a phase is done, or what the user was asked is agreed to.

use definition::{PartSpec, Step};
use engine::{Command, Refusal};

use super::{
    super::{answer::Failure, way_out, workspace::Pipeline},
    change::{Card as _, Change, ENDS, card},
    moves::Move,
    phase,
};

card! {
    PhaseComplete "phase_complete" "Complete a phase"
    "Complete the current phase. Its file must exist; a \
                                       checkpoint must have been asked, and agreed to."
    ENDS;
    /// Its id
    phase: String,
}

impl Change for PhaseComplete {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?;
        Ok(Move::Complete.at(step, &pipeline.view))
    }

    fn warnings(&self, pipeline: &Pipeline) -> Vec<String> {
        let (stated, phase) = (pipeline.file(), self.phase.as_str());
        let mut warnings = Vec::new();
        if phase::LOGGED.contains(&phase) && !stated.is_logged(phase) {
            warnings.push(format!("WARNING: nothing is logged of `{phase}`; call `phase_log`"));
        }
        let state = &pipeline.view.state;
        let step = pipeline.view.workflow.steps.iter().find(|it| it.name.as_str() == phase);
        let is_open =
            |step: &&Step, part: &PartSpec| !state.part_progress(&step.name, &part.id).is_settled();
        let open = step
            .map_or(0, |step| state.parts_of(step).iter().filter(|it| is_open(&step, it)).count());
        if 0 < open {
            warnings.push(format!("WARNING: `{phase}` has tasks that are not done: {open}"));
        }
        if stated.text("currentPhaseStatus") != "in_progress" {
            let status = stated.text("currentPhaseStatus");
            warnings.push(format!("WARNING: `{phase}` was {status}, not in_progress"));
        }
        warnings
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<(String, String)> {
        let phase = &self.phase;
        let state = &pipeline.view.state;
        let current = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut steps = pipeline.view.workflow.steps.iter();
        let step = steps.find(|it| it.name.as_str() == phase);
        let is_ahead = |it: &Step| it.gate.as_ref().is_some_and(|it| it.ahead);
        let may_be_asked = |it: &&Step| current == *phase || is_ahead(it);
        if let Refusal::GateNotOpen = refusal
            && let Some(step) = step.filter(may_be_asked)
        {
            let way_out = way_out::ask(pipeline, step);
            return Some((format!("`{phase}` requires awaiting_human"), way_out));
        }
        if matches!(refusal, Refusal::StepNotCurrent { .. } | Refusal::GateNotOpen) {
            let message = format!("`{phase}` is not the current phase, which is `{current}`");
            return Some((message, format!("go on with `{current}`")));
        }
        None
    }
}
