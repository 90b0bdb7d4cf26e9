//! A file that is moved elsewhere: its run writes it no more.

use std::sync::Arc;

use engine::{Actor, Command, Refusal, RunId, RunState};

use super::looking::Found;
use crate::{ExecuteError, FileSystem, Held, Place, Request, Runtime, Target};

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

    /// Puts the file of a run that is over away: under another name in its folder (without its
    /// ending), or for good where none is given. The run gives its key up, and no file of it is
    /// written any more. Where it gave it up before, and its file is still there, that is finished.
    pub async fn put_away(
        &self,
        run: RunId,
        actor: Actor,
        name: impl FnOnce(&RunState) -> Option<String> + Send,
    ) -> Result<Option<String>, ExecuteError> {
        let mut view = self.load(run).await?;
        if !view.state.gave_up_key {
            let (target, command) = (Target::Run(run), Command::GiveUpKey);
            let request = Request { target, command, actor, request_id: None };
            view = self.execute(request).await?.view;
        }
        let (length, name) = (view.state.length, name(&view.state));
        if self.is_repeating() {
            // The call went on from here before, so the files were put away then.
            return Ok(name);
        }
        // They are those of before it gave its key up.
        Arc::make_mut(&mut view.state).gave_up_key = false;
        let places = self.places_of(&view);
        let (Some(file_system), Some(own)) = (self.world.file_system(), places.last().cloned())
        else {
            return Ok(name);
        };
        if let Err(problem) = move_away(file_system, &places, name.as_deref()).await {
            let path = own.path;
            return Err(Refusal::FileUnreadable { path, problem, is_corrupt: false }.into());
        }
        // Nothing is owed of it any more.
        self.note_nothing_owed(run, own.path, length);
        Ok(name)
    }
}

/// Moves files while nobody writes the last of them, which is the run's own.
async fn move_away(
    file_system: &dyn FileSystem,
    places: &[Place],
    name: Option<&str>,
) -> Result<(), String> {
    let Some(own) = places.last() else { return Ok(()) };
    let _held = file_system.lock(own).await?;
    for place in places {
        match name {
            Some(name) => file_system.rename(place, &named_after(name, &place.path)).await?,
            None => file_system.remove(place).await?,
        }
    }
    Ok(())
}

/// Returns a name with the ending of a path.
fn named_after(name: &str, path: &str) -> String {
    match path.rsplit_once('.') {
        Some((_, ending)) => format!("{name}.{ending}"),
        None => name.to_owned(),
    }
}
