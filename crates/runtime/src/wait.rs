//! Waits for a run to change, whoever changes it.

use std::time::Duration;

use engine::RunId;

use crate::{ExecuteError, Runtime, View};

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
            tokio::select! {
                () = &mut over => return self.load(run).await,
                woken = changed.changed() => {
                    if woken.is_err() {
                        return Ok(view);
                    }
                }
            }
        }
    }
}
