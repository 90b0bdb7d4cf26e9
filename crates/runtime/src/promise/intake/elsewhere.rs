//! Takes over files that lie in another folder. They are only read: each begins a run of this
//! project, whose own file is then written as any other.

use std::sync::Arc;

use definition::Workflow;
use engine::Refusal;
use futures_util::future::join_all;

use super::{TOGETHER, Taken, because, joined, sorting::list_files, unreadable};
use crate::{ExecuteError, FileSystem, Place, Projection, Runtime};

impl Runtime {
    /// Takes over the files of `workflow` that another folder has right in it or in some of its own
    /// folders. What this project has under the same key is left as it is. `progress` is told how
    /// many are done, of how many.
    pub async fn take_over(
        &self,
        workflow: &str,
        from: &str,
        folders: &[String],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Taken, ExecuteError> {
        // A file of this project that has no run yet goes before a stranger's.
        self.take_in_files(workflow, folders, &|_, _| {}).await?;
        let (Some(projection), Some(file_system)) =
            (self.find_projection(workflow), self.world.file_system())
        else {
            return Ok(Taken::default());
        };
        let mut taken = Taken::default();
        let found = find(projection, file_system, from, folders, &mut taken).await;
        let definition = self.find_to_begin(workflow)?;
        let mut done = 0;
        for places in found.chunks(TOGETHER) {
            let working =
                places.iter().map(|it| self.take_one(&**projection, file_system, &definition, it));
            for (place, begun) in places.iter().zip(join_all(working).await) {
                match begun {
                    Ok(true) => taken.begun.push(place.path.clone()),
                    Ok(false) => taken.known.push(place.path.clone()),
                    Err(ExecuteError::Refused(refusal)) => {
                        taken.unreadable.push(because(shown(place), &refusal));
                    }
                    Err(error) => return Err(error),
                }
            }
            done += places.len();
            progress(done, found.len());
        }
        Ok(taken)
    }

    /// Begins the run with this key from a text that was found elsewhere under some name, and
    /// writes its file. Returns whether it did: what this project has with the key is left as it
    /// is.
    pub async fn take_text(
        &self,
        workflow: &str,
        key: &str,
        (name, text): (&str, String),
    ) -> Result<bool, ExecuteError> {
        let Some(projection) = self.find_projection(workflow) else { return Ok(false) };
        // A file of this project that has no run yet goes before a stranger's.
        let Some(path) = projection.path(key) else { return Ok(false) };
        if self.take_in_file(workflow, key).await?.is_some() {
            return Ok(false);
        }
        let definition = self.find_to_begin(workflow)?;
        self.take_bytes(&**projection, &definition, &path, (name, text.into_bytes())).await
    }

    /// Begins the run of the file at `path` from what was found elsewhere under some name, and
    /// writes its file, unless the key is taken.
    async fn take_bytes(
        &self,
        projection: &dyn Projection,
        definition: &Arc<Workflow>,
        path: &str,
        bytes: (&str, Vec<u8>),
    ) -> Result<bool, ExecuteError> {
        match self.begin_with(projection, definition, path, bytes).await {
            Ok((run, ..)) => self.file_of(run).await.map(|_| true),
            Err(ExecuteError::Refused(Refusal::KeyTaken { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Begins a run from another folder's file and writes its own, unless there is one.
    async fn take_one(
        &self,
        projection: &dyn Projection,
        file_system: &dyn FileSystem,
        definition: &Arc<Workflow>,
        place: &Place,
    ) -> Result<bool, ExecuteError> {
        let Some(key) = projection.key(&place.path) else { return Ok(false) };
        if self.find_holder(projection.workflow(), &key).await?.is_some() {
            return Ok(false);
        }
        let name = shown(place);
        let read = file_system.read(place).await.map_err(|problem| unreadable(&name, problem))?;
        let Some((bytes, _)) = read else { return Ok(false) };
        self.take_bytes(projection, definition, &place.path, (&name, bytes)).await
    }
}

/// Returns the files in order. A folder that cannot be listed is told of.
async fn find(
    projection: &Arc<dyn Projection>,
    file_system: &dyn FileSystem,
    from: &str,
    folders: &[String],
    taken: &mut Taken,
) -> Vec<Place> {
    let place = Place { root: from.to_owned(), folder: from.to_owned(), path: String::new() };
    let (found, failed) = list_files(projection, file_system, &place, folders).await;
    taken.unreadable.extend(failed);
    let mut found: Vec<String> = found.into_iter().map(|(path, _)| path).collect();
    found.sort();
    found.into_iter().map(|path| Place { path, ..place.clone() }).collect()
}

fn shown(place: &Place) -> String {
    joined(&place.folder, &place.path)
}
