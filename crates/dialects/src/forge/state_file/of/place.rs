//! Where a pipeline is, as its state file has it.

use definition::StepName;
use engine::{
    Attempt, AttemptOutcome, Closing, Ending, GateReason, Kind, Mark, OpenGate, Progress, SentBack,
    Standing, StepState,
};
use serde_json::Value;

use super::{
    super::{COMPLETED, PHASES, PR_CREATION, SETUP, StateFile, Status},
    Base,
    tasks::BUILDING,
};
use crate::kit::json::{Json, Object};

impl Base<'_> {
    pub(super) fn set_place(&self, file: &mut StateFile) {
        if self.is_moved() {
            let (phase, status) = self.place();
            file.set("currentPhase", phase);
            file.set("currentPhaseStatus", status.word());
        }
        let gate = self.gate().filter(|it| it.why == GateReason::Part && !self.is_answered());
        let part = gate.and_then(|it| it.part.as_ref());
        if let Some(part) = part {
            file.set("pendingHumanGate", part.as_str());
        } else if self.has(is_closing) {
            file.remove("pendingHumanGate");
        }
    }

    /// Whether anything happened since the text that says where the run is.
    fn is_moved(&self) -> bool {
        let moves = |kind: Kind| match kind.event {
            "StepEntered" | "StepRetried" | "GateWithdrawn" | "RunCompleted" => true,
            "RunFailed" | "RunCancelled" | "RunReopened" => true,
            "StepStarted" | "StepFailed" | "StepReopened" | "GateAnswered" => kind.of.is_empty(),
            _ => false,
        };
        self.has(moves) || self.asked().next().is_some()
    }

    /// Returns the phase that the run is at, and how that stands.
    fn place(&self) -> (&str, Status) {
        let here = self.gate().map_or_else(|| self.here(), |it| it.step.as_str());
        match &self.state.standing {
            Standing::Completed => (COMPLETED, Status::Completed),
            Standing::Waiting(_) => (here, Status::AwaitingHuman),
            Standing::Failed { .. } => (here, Status::Failed),
            Standing::Cancelled { .. } => (here, Status::Abandoned),
            Standing::New | Standing::Running => (here, self.status()),
        }
    }

    /// Returns the question that is open, or was when the run ended.
    fn gate(&self) -> Option<&OpenGate> {
        match &self.state.standing {
            Standing::Waiting(gate) => Some(gate),
            Standing::Failed { gate, .. } | Standing::Cancelled { gate, .. } => {
                let is_new = self.history.asked.last().is_some_and(|it| self.is_new(it.opened));
                gate.as_deref().filter(|_| is_new)
            }
            Standing::New | Standing::Running | Standing::Completed => None,
        }
    }

    /// Returns the step that is shown: a review that sends back is, until the work begins again.
    fn here(&self) -> &str {
        if let Some(SentBack::Review(by)) = self.sent_back() {
            return by.as_str();
        }
        let current = self.state.current.as_ref().map(StepName::as_str);
        current.or_else(|| PHASES.first().copied()).unwrap_or(SETUP)
    }

    fn sent_back(&self) -> Option<&SentBack> {
        self.history.passing.sent_back.as_deref()
    }

    /// Returns how the current step stands while the run goes on.
    fn status(&self) -> Status {
        let current = self.state.current.as_ref().and_then(|it| self.state.step(it));
        match current.map_or(Progress::Idle, |it| it.effort.progress) {
            Progress::Active => Status::InProgress,
            Progress::Rejected | Progress::Done if self.is_begun() => Status::InProgress,
            _ if self.sent_back().is_some() || current.is_some_and(|it| self.did_part(it)) => {
                Status::InProgress
            }
            Progress::Idle
            | Progress::Ready
            | Progress::Done
            | Progress::Skipped
            | Progress::Rejected => Status::Pending,
        }
    }

    /// Whether the work on the current step was begun since the run came to it.
    fn is_begun(&self) -> bool {
        let current = self.state.current.as_ref().and_then(|it| self.state.step(it));
        current.is_some_and(|it| it.entered_by < self.begun_by())
    }

    /// Returns the event by which the work on the current step was last begun; 0 where it was not.
    fn begun_by(&self) -> u64 {
        let attempts = self.state.current.iter().flat_map(|it| self.history.attempts_at(it));
        attempts.flat_map(|it| &it.starts).last().map_or(0, |it| it.mark.seq)
    }

    /// Whether a person has just settled a part that was theirs.
    fn did_part(&self, current: &StepState) -> bool {
        let asked = self.history.asked.last().filter(|it| it.why == GateReason::Part);
        let Some(closed) = asked.and_then(|it| it.closed.as_ref()) else { return false };
        let reopened = self.history.reopenings.last().map_or(self.seq, |it| it.mark.seq);
        let since = [current.entered_by, reopened, self.seq, self.begun_by()];
        self.is_answered() && since.into_iter().all(|it| it < closed.mark.seq)
    }

    /// Whether the last question was answered.
    fn is_answered(&self) -> bool {
        let closed = self.history.asked.last().and_then(|it| it.closed.as_ref());
        closed.is_some_and(|it| matches!(it.how, Closing::Answered { .. }))
    }

    /// Returns when the work on the current step was begun, if it was and is not done.
    pub(super) fn phase_started(&self) -> Option<Mark> {
        if self.state.standing == Standing::Completed {
            return None;
        }
        let current = self.state.current.as_ref()?;
        let is_done =
            |it: &Attempt| it.end.as_ref().is_some_and(|it| it.how == AttemptOutcome::Done);
        let attempts = self.history.attempts_at(current);
        let last = attempts.filter(|it| is_done(it) || !it.starts.is_empty()).last()?;
        let begun = last.starts.last().filter(|_| !is_done(last))?.mark;
        let entered_by = self.state.step(current)?.entered_by;
        (entered_by < begun.seq).then_some(begun)
    }

    /// Says by what the pipeline or its phase failed, until that is begun again.
    pub(super) fn set_error(&self, file: &mut StateFile) {
        let failures = self.history.failures.iter().filter(|it| it.part.is_none());
        let of_steps = failures.map(|it| (it.mark, Some(&it.step), it.reason.as_str()));
        let of_run = self.history.ends.iter().filter_map(|it| match &it.how {
            Ending::Failed { reason } => Some((it.mark, it.step.as_ref(), reason.as_str())),
            Ending::Completed { .. } | Ending::Cancelled { .. } => None,
        });
        let last = of_steps.chain(of_run).max_by_key(|it| it.0);
        let last = last.filter(|it| self.is_new(it.0));
        let begun = self.newest(|kind| match kind.event {
            "StepStarted" => kind.of.is_empty(),
            "RunReopened" => true,
            _ => false,
        });
        if let Some((mark, step, reason)) = last.filter(|it| begun < Some(it.0)) {
            let phase = step.map_or_else(|| self.place().0, StepName::as_str);
            let at = mark.at.to_string();
            let entries = [("phase", phase), ("message", reason), ("timestamp", at.as_str())];
            file.set("error", entries.into_iter().collect::<Object>());
        } else if begun.is_some() {
            file.set("error", Json::Null);
        }
    }

    /// Says what was handed out last. Only work that is handed out has a model, if an empty one.
    pub(super) fn set_dispatch(&self, file: &mut StateFile) {
        let attempts = self.history.attempts.iter();
        let starts = attempts.flat_map(|(step, it)| {
            it.iter().flat_map(move |it| it.starts.iter().map(move |begun| (step.as_str(), begun)))
        });
        let sent = starts.filter_map(|(step, begun)| {
            let model = begun.details.get("model").and_then(Value::as_str)?;
            self.is_new(begun.mark).then_some((begun, step, model))
        });
        let Some((begun, step, model)) = sent.max_by_key(|it| it.0.mark) else { return };
        let is_bare = step == BUILDING && !begun.has_parts;
        let said = begun.details.get("setup_only").and_then(Value::as_bool);
        // What the client itself writes or runs has no model.
        let has_model = !is_bare && step != PR_CREATION;
        let mut dispatch = Object::new();
        dispatch.set("phase", step);
        dispatch.set("model", if has_model { model } else { "" });
        dispatch.set("setupOnly", said.unwrap_or(is_bare));
        file.set("lastDispatch", dispatch);
    }
}

/// Whether a question is closed by an event.
fn is_closing(kind: Kind) -> bool {
    kind.event == "GateWithdrawn" || kind.event == "GateAnswered" && kind.of.is_empty()
}
