//! The few things that tools take from what the state file of a pipeline says.

use serde_json::Value;

/// What a state file says.
pub(in crate::toolsets::forge) struct Stated(Value);

impl Stated {
    /// Reads a state file. One that cannot be read says nothing.
    pub(in crate::toolsets::forge) fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// Returns the phase that it says to be at.
    pub(in crate::toolsets::forge) fn phase(&self) -> &str {
        self.text("/currentPhase")
    }

    /// Returns how that phase stands.
    pub(in crate::toolsets::forge) fn status(&self) -> &str {
        self.text("/currentPhaseStatus")
    }

    /// Returns the model that was sent out last.
    pub(in crate::toolsets::forge) fn model(&self) -> &str {
        self.text("/lastDispatch/model")
    }

    /// Returns whether anything was logged of a phase.
    pub(in crate::toolsets::forge) fn is_logged(&self, phase: &str) -> bool {
        let log = self.0.get("phaseLog").and_then(Value::as_array).into_iter().flatten();
        log.filter_map(|it| it.get("phase")?.as_str()).any(|it| it == phase)
    }

    /// Returns whether a phase is among those that are done.
    pub(in crate::toolsets::forge) fn is_completed(&self, phase: &str) -> bool {
        self.completed().any(|it| it == phase)
    }

    /// Returns the phases that are done.
    pub(super) fn completed(&self) -> impl Iterator<Item = &str> {
        let done = self.0.get("completedPhases").and_then(Value::as_array).into_iter().flatten();
        done.filter_map(Value::as_str)
    }

    fn text(&self, path: &str) -> &str {
        self.0.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }
}
