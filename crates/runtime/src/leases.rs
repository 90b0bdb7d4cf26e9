//! Extends leases. A heartbeat moves a column of the store, and writes no event.

use std::time::Duration;

use engine::{Lease, Refusal, RunId, lease_until};
use store::{Heartbeat, Touch};

use crate::{ExecuteError, Runtime, fault};

impl Runtime {
    /// Extends the lease with this number, and returns it with its new end by the wall clock.
    pub async fn extend_lease(
        &self,
        run: RunId,
        generation: u64,
        duration: Option<Duration>,
    ) -> Result<Lease, ExecuteError> {
        let view = self.load(run).await?;
        let held = view.state.leases.values().find(|it| it.generation == generation).cloned();
        let Some(lease) = held else { return Err(Refusal::LeaseUnknown(generation).into()) };
        let step = view.workflow.find_step(&lease.step);
        let now = self.world.steady();
        let until = lease_until(step, duration, now, &self.settings.bounds);
        let beat = Heartbeat { run, generation, now, until };
        if !self.store.touch(Touch::Lease(beat)).await.map_err(fault)? {
            return Err(Refusal::LeaseStale { step: lease.step, given: generation }.into());
        }
        let view = self.load(run).await?;
        let moved = view.leases.iter().find(|it| it.generation == generation);
        Ok(view.shown(moved.unwrap_or(&lease)))
    }
}
