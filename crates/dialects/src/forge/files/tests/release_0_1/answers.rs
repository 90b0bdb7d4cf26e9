//! A person is asked, and answers: what that does to a `state.json`.

use definition::{Effect, StepName};
use engine::{Event, GateReason, How, OpenGate, Timestamp};

use super::{
    super::super::super::state_file::{PHASES, Status},
    State, Way, tasks,
};

/// The model of an entry of the log that is a person's answer.
const CHECKPOINT: &str = "checkpoint";
/// The same where nobody had to be asked.
const SKIPPED: &str = "skipped";

impl State {
    /// Asks a person. A file that was found waiting waits already.
    pub(super) fn ask(&mut self, gate: &OpenGate) -> bool {
        let step = gate.step.as_str();
        let is_waiting =
            self.document.status() == Status::AwaitingHuman && self.document.phase() == step;
        let is_written = self.is_written();
        self.gate = Some(Box::new(gate.clone()));
        match gate.why {
            GateReason::VerdictUnknown | GateReason::RevisionsSpent if gate.part.is_none() => {
                self.document.reopen_phase(step);
                self.unanswered = Some(step.to_owned());
            }
            GateReason::Gate | GateReason::Owed => self.unanswered = Some(step.to_owned()),
            GateReason::VerdictUnknown
            | GateReason::RevisionsSpent
            | GateReason::Early
            | GateReason::Part
            | GateReason::AttemptsSpent
            | GateReason::VisitsSpent
            | GateReason::BudgetSpent => {}
        }
        if is_written && is_waiting {
            return false;
        }
        self.document.set("currentPhase", step);
        self.set_status(Status::AwaitingHuman);
        if let Some(part) = gate.part.as_ref().filter(|_| gate.why == GateReason::Part) {
            self.document.set("pendingHumanGate", part.as_str());
        }
        if matches!(gate.why, GateReason::Gate | GateReason::Early | GateReason::Owed) {
            self.document.set("branchClassified", true);
        }
        true
    }

    /// Takes an answer in, of a person or by the definition's own condition.
    pub(super) fn answer(&mut self, event: &Event, at: Timestamp) {
        let Event::GateAnswered { step, part, answer, how, .. } = event else { return };
        let step = step.as_str();
        if *how == How::Automatic {
            self.unanswered = None;
            self.close(step, at);
            self.log(step, (0, 0), SKIPPED, at);
            return;
        }
        let gate = self.gate.take();
        let why = gate.as_ref().map(|it| it.why);
        let option = gate.as_ref().and_then(|it| it.options.iter().find(|it| it.name == *answer));
        let effect = option.map(|it| it.effect.clone());
        self.document.remove("pendingHumanGate");
        self.answered = Some(step.to_owned());
        if why != Some(GateReason::Part) {
            self.log(step, (0, 0), CHECKPOINT, at);
        }
        self.set_status(Status::Pending);
        let is_settled = matches!(effect, Some(Effect::Approve | Effect::Skip));
        match (part.as_ref().filter(|_| why == Some(GateReason::Part)), effect.clone()) {
            (Some(part), _) if is_settled => {
                tasks::settle(&mut self.document, part, effect == Some(Effect::Approve));
                self.set_status(Status::InProgress);
            }
            (None, Some(Effect::Approve)) => {
                if let Some(step) = self.unanswered.take() {
                    self.close(&step, at);
                }
            }
            (_, Some(Effect::Back(target))) => self.send_back(&target, step),
            (_, Some(Effect::Approve | Effect::Skip | Effect::Fail | Effect::Cancel) | None) => {
                self.unanswered = None;
            }
        }
    }

    /// What was done from the step that is worked on again up to the one that sent it back is to be
    /// done again.
    fn send_back(&mut self, target: &StepName, from: &str) {
        self.unanswered = None;
        self.way = Way::Sent;
        let later = PHASES.iter().skip_while(|it| **it != target.as_str()).skip(1);
        for phase in later.take_while(|it| **it != from) {
            self.document.reopen_phase(phase);
        }
        self.document.reopen_phase(from);
    }

    /// What was asked is not asked any more.
    pub(super) fn withdraw(&mut self) {
        self.gate = None;
        self.unanswered = None;
        self.document.remove("pendingHumanGate");
        self.set_status(Status::Pending);
    }
}
