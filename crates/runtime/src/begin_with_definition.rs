//! Begins runs of workflows that are handed in rather than found by name, reads texts of the
//! project for them, and puts the files of runs away that are over.

use std::sync::Arc;

use definition::Workflow;
use engine::{Actor, Command, Fact, FileFact, Question, Refusal, RunId, RunState};

use crate::{
    ExecuteError, FileSystem, Outcome, Place, Request, Runtime, Target, View, Wanted,
    execute::Checks,
};

/// A workflow that is handed in, and the run that begins with it.
#[derive(Debug, Clone)]
pub struct Given {
    pub workflow: Arc<Workflow>,
    pub run: RunId,
}

impl Runtime {
    /// Returns an id that no run has.
    pub fn new_run(&self) -> RunId {
        self.world.new_run()
    }

    /// Begins a run of a workflow that is handed in, by an id that was known before.
    pub async fn begin_given(
        &self,
        given: Given,
        request: Request,
    ) -> Result<Outcome, ExecuteError> {
        // The id and the key are new with each call, so a call that is sent again is known by the
        // rest of what it asks for.
        let context = request.command.start().map(|it| (&it.context, &it.vars));
        let asked = format!("begin {} {context:?}", given.workflow.digest.as_str());
        let key = self.next_key(request.request_id.clone(), &asked)?;
        let mut outcome = match self.find_repeated(key.as_ref()).await? {
            Some(outcome) => outcome,
            None => {
                let view = View {
                    project: self.settings.project.clone(),
                    workflow: given.workflow,
                    state: Arc::new(RunState::new(given.run)),
                    leases: Vec::new(),
                };
                let decided = self.decide(&view, &request.command, &mut Checks::new()).await?;
                let outcome = self.append(&view, decided, &request, key.clone()).await;
                self.or_repeated(outcome, key.as_ref()).await?
            }
        };
        let notices = match self.pinned(outcome.view.state.run) {
            Some(_) => self.finish_files(outcome.view.state.run).await,
            None => Vec::new(),
        };
        outcome.file = self.keep_promise(&outcome.view, notices).await;
        Ok(outcome)
    }

    /// Returns a run as it is now, once what was written into its file is taken in, and what was
    /// noticed on the way.
    pub async fn view_in_step(&self, run: RunId) -> Result<(View, Vec<String>), ExecuteError> {
        let view = self.load(run).await?;
        let (view, file) = self.sync(view).await?;
        let is_owed = view.state.standing.is_live() && self.path_shown(&view).is_some();
        if file.is_none() && is_owed {
            return Err(Refusal::WorkspaceNotHere { root: view.state.root().to_owned() }.into());
        }
        Ok((view, file.map(|it| it.notices).unwrap_or_default()))
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
            view = self.give_up_key(view, actor).await?;
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

    async fn give_up_key(&self, view: View, actor: Actor) -> Result<View, ExecuteError> {
        let target = Target::Run(view.state.run);
        let key = self.next_key(None, &format!("{target:?} give up key"))?;
        if let Some(outcome) = self.find_repeated(key.as_ref()).await? {
            return Ok(outcome.view);
        }
        let (view, _) = self.sync_untold(view).await?;
        let request = Request { target, command: Command::GiveUpKey, actor, request_id: None };
        Ok(self.commit(&request, key, Some(view)).await?.view)
    }

    /// Reads a text in the project; `None` where there is none.
    pub async fn read_text(&self, path: &str) -> Result<Option<String>, String> {
        let question = Question::File(path.to_owned());
        let root = self.settings.root.as_str();
        match self.world.look((root, root), &question).await {
            Some(Fact::File(FileFact::Present { text: Some(text), .. })) => Ok(Some(text)),
            Some(Fact::File(FileFact::Present { text: None, size, .. })) => {
                Err(format!("it is not text, or too large with its {size} bytes"))
            }
            Some(Fact::File(FileFact::Unreadable(problem))) => Err(problem),
            Some(
                Fact::File(FileFact::Missing)
                | Fact::Git(_)
                | Fact::Branch(_)
                | Fact::Check(_)
                | Fact::Model(_),
            )
            | None => Ok(None),
        }
    }

    /// Returns the names of the files right in a folder of the project that are wanted, in order;
    /// `None` where there is no such folder.
    pub async fn list_names(
        &self,
        folder: &str,
        wanted: Wanted,
    ) -> Result<Option<Vec<String>>, String> {
        let Some(file_system) = self.world.file_system() else { return Ok(None) };
        let root = self.settings.root.clone();
        let inside = std::path::Path::new(&root).join(folder);
        if !file_system.has_folder(&inside.to_string_lossy()).await {
            return Ok(None);
        }
        let place = Place { folder: root.clone(), root, path: folder.to_owned() };
        let found = file_system.scan(&place, wanted).await?;
        let mut names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        names.sort();
        Ok(Some(names))
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
