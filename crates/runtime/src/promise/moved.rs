//! A file that is moved elsewhere: its run writes it no more.

use engine::{Actor, Command, RunId};

use super::looking::Found;
use crate::{ExecuteError, Held, Request, Runtime, Target};

/// A run that gave its file up. Nobody writes the file while this is kept.
pub struct Released {
    pub run: RunId,
    _held: Option<Held>,
}

impl Runtime {
    /// Has the newest run with this key be over and give the key up, for a file that is about to be
    /// moved. The file is brought into step first. Returns the run, if there is one.
    pub async fn release(
        &self,
        workflow: &str,
        key: &str,
        (reason, actor): (String, Actor),
    ) -> Result<Option<Released>, ExecuteError> {
        let Some(view) = self.find_holder(workflow, key).await? else { return Ok(None) };
        let run = view.state.run;
        let (view, _) = self.sync_untold(view).await?;
        let mut commands = Vec::new();
        if view.state.standing.is_live() {
            commands.push(Command::CancelRun { reason });
        }
        commands.push(Command::GiveUpKey);
        let promise = self.promise(&view);
        // Nobody begins a run from the file either, until it is moved.
        let held = match &promise {
            Some(promise) => promise.file_system.lock(&promise.place).await.ok(),
            None => None,
        };
        let (target, command) = (Target::Run(run), Command::All(commands));
        let request = Request { target, command, actor, request_id: None };
        let length = self.commit(&request, None, Some(view.clone())).await?.view.state.length;
        let Some(promise) = promise else { return Ok(Some(Released { run, _held: held })) };
        let known = self.known_file(&promise);
        let mut known = known.lock().await;
        // What others did just before it was given up belongs into the file too.
        if let Found::Behind = self.look_at(&promise, &mut known).await?
            && let Err(problem) = promise.write(&mut known).await
        {
            tracing::warn!(path = promise.shown, problem, "a file was not written");
        }
        // Nothing is owed of it any more.
        self.note_nothing_owed(run, promise.place.path.clone(), length);
        Ok(Some(Released { run, _held: held }))
    }
}
