//! Where the files of runs are, and what lies beside them.

use std::{path::Path, sync::Arc};

use definition::Workflow;
use engine::Recorded;

use super::{Promise, Rendering};
use crate::{FileSystem, Place, Projection, Runtime, View};

impl Runtime {
    /// Returns the folder that the artifacts of a run are in.
    pub fn home_of(&self, view: &View) -> String {
        self.home(&view.workflow, view.state.root(), view.state.key())
    }

    /// Returns the root of a run, and the folder that its artifacts are in.
    pub fn folders_of(&self, view: &View) -> (String, String) {
        (view.state.root().to_owned(), self.home_of(view))
    }

    /// Returns the folder that the artifacts of a run with this root and key are in.
    pub(crate) fn home(&self, workflow: &Workflow, root: &str, key: Option<&str>) -> String {
        let projection = self.find_covering(workflow);
        match projection.zip(key).and_then(|(projection, key)| projection.home(key)) {
            Some(home) => Path::new(root).join(home).to_string_lossy().into_owned(),
            None => root.to_owned(),
        }
    }

    pub(crate) fn find_covering(&self, workflow: &Workflow) -> Option<&Arc<dyn Projection>> {
        self.promises.projections.iter().find(|it| it.covers(workflow))
    }

    pub(crate) fn find_projection(&self, workflow: &str) -> Option<&Arc<dyn Projection>> {
        self.promises.projections.iter().find(|it| it.workflow() == workflow)
    }

    /// Returns the folder that runs of a workflow which begin here are worked on in.
    pub fn root_for(&self, workflow: &str) -> &str {
        let own = self.find_projection(workflow).and_then(|it| it.layout().root.as_deref());
        own.unwrap_or(&self.settings.root)
    }

    pub(super) fn promise(&self, view: &View) -> Option<Promise<'_>> {
        let projection = self.find_covering(&view.workflow)?;
        // A file whose run gave it up was put away, or is the next run's.
        let key = view.state.key().filter(|_| !view.state.gave_up_key)?.to_owned();
        let place = place(&**projection, view.state.root(), projection.path(&key)?);
        Some(Promise {
            projection,
            file_system: self.world.file_system()?,
            run: view.state.run,
            workflow: Arc::clone(&view.workflow),
            key,
            shown: shown(&**projection, &place.path),
            place,
        })
    }

    /// Returns the file of a run as people name it, if it has one.
    pub(crate) fn path_shown(&self, view: &View) -> Option<String> {
        self.promise(view).map(|it| it.shown)
    }

    /// Returns where the file of a run is, if it has one. What is written beside it comes first: as
    /// long as its own is there, something is left to do.
    pub(crate) fn places_of(&self, view: &View) -> Vec<Place> {
        let Some(promise) = self.promise(view) else { return Vec::new() };
        let beside = promise.projection.beside(&view.workflow, &view.state).into_iter();
        let beside = beside.map(|(path, _)| Place { path, ..promise.place.clone() });
        beside.chain([promise.place.clone()]).collect()
    }

    /// Returns what the file of a run, and what is written beside it, will say once these events
    /// are in its log, by path from the run's root.
    pub(crate) fn foresee(&self, view: &View, events: &[Recorded]) -> Vec<(String, String)> {
        let Some(promise) = self.promise(view) else { return Vec::new() };
        let state = Arc::clone(&view.state);
        let mut file = Rendering::of(promise.projection, &promise.workflow, state);
        events.iter().for_each(|it| file.apply(it));
        let home = promise.projection.home(&promise.key).map(|it| format!("{it}/"));
        // Anyone who does the chore sees paths from where the artifacts are.
        let seen = |path: String| match home.as_deref().and_then(|it| path.strip_prefix(it)) {
            Some(inside) => inside.to_owned(),
            None => path,
        };
        let beside = file.beside().into_iter();
        let beside = beside.map(|(path, text)| (seen(shown(&**promise.projection, &path)), text));
        let own = (seen(promise.shown.clone()), file.text().to_owned());
        std::iter::once(own).chain(beside).collect()
    }

    /// Reads a small file that lies beside the promised ones; `None` where there is none.
    pub async fn read_beside(&self, workflow: &str, path: &str) -> Result<Option<String>, String> {
        let Some((place, file_system)) = self.beside(workflow, path) else { return Ok(None) };
        let Some((bytes, _)) = file_system.read(&place).await? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
    }

    /// Makes a file beside the promised ones, unless there is one. Returns whether it did.
    pub async fn make_beside(
        &self,
        workflow: &str,
        path: &str,
        text: String,
    ) -> Result<bool, String> {
        let Some((place, file_system)) = self.beside(workflow, path) else { return Ok(false) };
        let _held = file_system.lock(&place).await?;
        if file_system.stat(&place).await?.is_some() {
            return Ok(false);
        }
        file_system.write_durably(&place, text).await.map(|_| true)
    }

    /// Returns whether there is a folder beside the promised files.
    pub async fn has_beside(&self, workflow: &str, path: &str) -> bool {
        let Some((place, file_system)) = self.beside(workflow, path) else { return false };
        let folder = Path::new(&place.folder).join(&place.path);
        file_system.has_folder(&folder.to_string_lossy()).await
    }

    fn beside(&self, workflow: &str, path: &str) -> Option<(Place, &dyn FileSystem)> {
        let projection = self.find_projection(workflow)?;
        let place = place(&**projection, self.root_for(workflow), path.to_owned());
        Some((place, self.world.file_system()?))
    }
}

pub(crate) fn place(projection: &dyn Projection, root: &str, path: String) -> Place {
    let folder = Path::new(root).join(&projection.layout().folder);
    Place { root: root.to_owned(), folder: folder.to_string_lossy().into_owned(), path }
}

pub(crate) fn shown(projection: &dyn Projection, path: &str) -> String {
    match projection.layout().folder.trim_end_matches('/') {
        "" => path.to_owned(),
        folder => format!("{folder}/{path}"),
    }
}
