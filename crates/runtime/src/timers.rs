//! Looks after runs whose time has come while nobody asks about them.

use engine::{Command, Surface};
use store::Filter;

use crate::{ExecuteError, Request, Runtime, fault};

/// How many runs one sweep looks after.
const SWEEP_MAX: u32 = 100;

impl Runtime {
    /// Lets the clock speak in every run of the project that is due, and returns how many were.
    pub async fn sweep(&self) -> Result<usize, ExecuteError> {
        let filter = Filter {
            project: Some(self.settings.project.clone()),
            due_by: Some(self.world.steady()),
            limit: SWEEP_MAX,
            ..Filter::default()
        };
        let due = self.store.list(filter).await.map_err(fault)?.rows;
        let mut expired = 0;
        for row in due {
            let request = Request::own(row.run, Command::ExpireStep, Surface::Timer);
            match self.execute(request).await {
                Ok(_) => expired += 1,
                // Someone else was faster.
                Err(ExecuteError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(expired)
    }
}
