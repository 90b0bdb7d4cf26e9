//! A run and its file, as they are shown to those who word them.

use alloc::{string::String, sync::Arc, vec::Vec};

use definition::Workflow;

use crate::{Lease, RunState};

/// A run, as far as it has come.
#[derive(Debug, Clone)]
pub struct View {
    pub project: String,
    pub workflow: Arc<Workflow>,
    pub state: Arc<RunState>,
    /// With the ends that heartbeats have moved, by the steady clock.
    pub leases: Vec<Lease>,
}

impl View {
    /// Returns a lease with its end by the wall clock, as it stood at the run's last event.
    #[must_use]
    pub fn shown(&self, lease: &Lease) -> Lease {
        let until = lease.until.translate(self.state.steady, self.state.updated_at);
        Lease { until, ..lease.clone() }
    }
}

/// A run's file, in step with its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// The file as people name it, from the run's root.
    pub path: String,
    pub text: String,
    /// What was found and done on the way, for the caller to know.
    pub notices: Vec<String>,
}
