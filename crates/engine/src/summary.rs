//! What a list of runs is filtered and shown by: computed here, stored beside the log.

use alloc::string::{String, ToString as _};

use definition::{End, FINISH, StepName, Workflow};

use crate::{RunState, Standing, Timestamp, find_due};

/// The row of a run in a list. The store writes it in the same transaction as the events, without
/// understanding it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub workflow: String,
    pub key: Option<String>,
    /// The folder that the run is worked in. With workflow and key it names the run that holds the key.
    pub root: String,
    /// `running`, `waiting`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// Whether the run may still go on without being reopened.
    pub is_live: bool,
    /// Whether no other run of this workflow and folder may begin with its key.
    pub holds_key: bool,
    /// The current step.
    pub step: String,
    /// One line: what the run is about.
    pub title: String,
    /// How many steps were taken up, whether or not they are done.
    pub steps_begun: u32,
    pub steps_done: u32,
    pub steps_total: u32,
    pub errors: u32,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// When the server should look at the run by itself.
    pub due_at: Option<Timestamp>,
}

impl Summary {
    /// Returns how many steps are behind the run, and how many it has. A completed run has all of
    /// its steps behind it: those that it did not go through are left out.
    pub fn progress(&self) -> (u32, u32) {
        let is_completed = self.status == Standing::Completed.as_str();
        (if is_completed { self.steps_total } else { self.steps_done }, self.steps_total)
    }
}

/// Returns the row of a run.
pub fn summary(workflow: &Workflow, state: &RunState) -> Summary {
    let settled = workflow.work_steps().filter(|it| state.progress(&it.name).is_settled());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Summary {
        workflow: workflow.name.to_string(),
        key: state.key().map(String::from),
        root: state.root().into(),
        status: state.standing.as_str().into(),
        is_live: state.standing.is_live(),
        holds_key: !state.gave_up_key && holds_key(workflow, &state.standing),
        step: last_step(state).into(),
        title: state.title(),
        steps_begun: count(state.steps.values().filter(|it| it.is_begun()).count()),
        steps_done: count(settled.count()),
        steps_total: count(workflow.work_steps().count()),
        errors: state.error_count,
        started_at: state.started_at,
        updated_at: state.updated_at,
        ended_at: state.ended_at,
        due_at: find_due(workflow, state),
    }
}

/// Returns the name of the step that a run is at or ended at. One that is completed is at `FINISH`,
/// unless a language model named another step as it completed the run.
pub fn last_step(state: &RunState) -> &str {
    let step = state.stated.as_ref().or(state.current.as_ref()).map_or("", StepName::as_str);
    // Events of one decision have one time.
    let is_named =
        state.advised.as_ref().is_some_and(|(at, it)| Some(*at) == state.ended_at && it == step);
    if state.standing == Standing::Completed && !is_named { FINISH } else { step }
}

/// A run that goes on holds its key, and one that is over where the definition says so.
fn holds_key(workflow: &Workflow, standing: &Standing) -> bool {
    let end = match standing {
        Standing::New => return false,
        Standing::Running | Standing::Waiting(_) => return true,
        Standing::Completed => End::Completed,
        Standing::Failed { .. } => End::Failed,
        Standing::Cancelled { .. } => End::Cancelled,
    };
    workflow.ends.keep_key.contains(&end)
}
