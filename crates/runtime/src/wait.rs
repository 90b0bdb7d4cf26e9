//! Waits for a run to change, no matter who changes it.

use std::time::Duration;

use engine::RunId;

use crate::{ExecuteError, Runtime, View, watch};

impl Runtime {
    /// Returns the run once it has more than `length` events, or after `duration` as it is then.
    pub async fn wait(
        &self,
        run: RunId,
        length: u64,
        duration: Duration,
    ) -> Result<View, ExecuteError> {
        // Listening begins before looking, so that nothing falls between the two.
        let mut changed = self.store.changed();
        let duration = duration.min(self.settings.wait_max);
        let over = self.world.sleep(duration);
        tokio::pin!(over);
        loop {
            let view = self.load(run).await?;
            if length < view.state.length {
                return Ok(view);
            }
            let woken = watch::unhurried(async {
                tokio::select! {
                    () = &mut over => None,
                    woken = changed.changed() => Some(woken),
                }
            });
            match woken.await {
                None => return self.load(run).await,
                Some(Err(_)) => return Ok(view),
                Some(Ok(())) => {}
            }
        }
    }
}
