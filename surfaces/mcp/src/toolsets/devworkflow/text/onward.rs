//! The way on from a state: for tools that only look or record, and for an agent that has
//! forgotten where it was.

use super::{Guidance, Mode, Next, Told};

/// Returns the calls that lead on from the state, if one is known.
pub(super) fn onward(told: &Told<'_>) -> Vec<Next> {
    let Some(shown) = told.state else {
        return match told.mode {
            Mode::Managed => vec![told.begin()],
            // Only the agent knows where it was.
            Mode::Advisory => Vec::new(),
        };
    };
    // What came with this call need not be about the item to go on with: it may have been queued.
    let told = &Told { task: "", detail: "", ..*told };
    match (shown.phase, shown.status) {
        (_, "ERROR" | "NEEDS_FIXES") => told.out_of_error(),
        (_, "COMPLETED") => told.after_completion(),
        ("INIT", _) if shown.current_item.is_none() => vec![told.begin()],
        ("INIT", _) => vec![told.analyze("to begin with the current item")],
        ("ANALYZE", "READY") => vec![
            told.analyze("if the current item has not been looked into"),
            told.blueprint("if its requirements summary is in the Log"),
        ],
        ("ANALYZE", _) => told.after_analysis(),
        ("BLUEPRINT", "NEEDS_PLAN_APPROVAL") => told.after_showing().to_vec(),
        ("BLUEPRINT", _) => told.after_planning(),
        ("CONSTRUCT", "READY") => {
            vec![told.call("when every step is done and green", Guidance::Validate, &[])]
        }
        ("CONSTRUCT", _) => told.while_building(),
        ("VALIDATE", _) => told.while_validating(),
        _ => vec![told.call(
            "when the phase cannot be told from the Log",
            Guidance::Escalate,
            &[("error_details", "<the phase word in the file, and what it may stand for>")],
        )],
    }
}

impl Told<'_> {
    fn begin(&self) -> Next {
        self.call("when the user has named a task", Guidance::Init, &[])
    }

    fn analyze(&self, when: &str) -> Next {
        self.call(when, Guidance::Analyze, &[])
    }

    fn blueprint(&self, when: &str) -> Next {
        let summary = [("requirements_summary", "<the requirements summary>")];
        self.call(when, Guidance::Blueprint, &summary)
    }
}
