//! Says what files say that no run was begun from, and begins none.

use std::collections::HashSet;

use engine::Progress;
use futures_util::future::join_all;

use super::TOGETHER;
use crate::{
    ExecuteError, FileSystem, Projection, Runtime, Stat, Taken, Unreadable, Unseen,
    promise::{place, shown},
};

impl Runtime {
    /// Takes in every file of `workflow` right in one of these folders that changed and has a run,
    /// and says what the files say that have none. [`Runtime::take_in_files`] begins runs from those.
    pub async fn take_in_changed(
        &self,
        workflow: &str,
        folders: &[String],
    ) -> Result<Taken, ExecuteError> {
        let (Some(projection), Some(file_system)) =
            (self.find_projection(workflow), self.world.file_system())
        else {
            return Ok(Taken::default());
        };
        let marks = self.marks(workflow).await?;
        let found = self.find_files(projection, file_system, folders).await;
        let mut sorted = self.sort_out(projection, &marks, found, folders);
        let mut unseen: Vec<Unseen> = sorted.unseen.drain(..).map(|(_, it)| it).collect();
        let mut unreadable = Vec::new();
        if !sorted.new.is_empty() {
            // A run whose file nobody noted has it all the same.
            let rows = self.list_here(workflow).await?;
            let keys: HashSet<String> = rows.into_iter().filter_map(|it| it.summary.key).collect();
            let has_run = |it: &String| projection.key(it).is_some_and(|it| keys.contains(&it));
            let (known, new): (Vec<String>, Vec<String>) =
                sorted.new.into_iter().partition(has_run);
            sorted.new = known;
            for paths in new.chunks(TOGETHER) {
                let reading =
                    paths.iter().map(|it| self.read_unseen(&**projection, file_system, it));
                for looked in join_all(reading).await.into_iter().flatten() {
                    match looked {
                        Ok(it) => unseen.push(it),
                        Err(it) => unreadable.push(it),
                    }
                }
            }
        }
        let mut taken = self.take_in(&**projection, sorted, &|_, _| {}).await?;
        taken.unseen = unseen;
        taken.unreadable.extend(unreadable);
        taken.unreadable.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(taken)
    }

    /// Reads one file; `None` where it is not one that a run could be begun from.
    async fn read_unseen(
        &self,
        projection: &dyn Projection,
        file_system: &dyn FileSystem,
        path: &str,
    ) -> Option<Result<Unseen, Unreadable>> {
        let place = place(projection, self.root_for(projection.workflow()), path.to_owned());
        let wrong = |problem| Unreadable { path: shown(projection, path), problem };
        let (bytes, stat) = match file_system.read(&place).await {
            Ok(Some(read)) => read,
            Ok(None) => return Some(Err(wrong("it is a link that leads nowhere".to_owned()))),
            Err(problem) => return Some(Err(wrong(problem))),
        };
        let text = String::from_utf8(bytes).map_err(|error| error.to_string());
        let reading = text.and_then(|it| projection.read(&it));
        Some(match reading {
            Ok(reading) => {
                let unseen = Unseen {
                    key: projection.key(path)?,
                    status: reading.stood,
                    step: reading.stated,
                    has_begun: reading.steps.values().any(|it| it.progress != Progress::Idle),
                    started_at: reading.started_at,
                    updated_at: reading.updated_at,
                };
                let kept = (stat, unseen.clone());
                self.promises.scanned.lock().unseen.insert(path.to_owned(), kept);
                Ok(unseen)
            }
            Err(problem) => {
                self.note_unreadable(path, stat, problem.clone());
                Err(wrong(problem))
            }
        })
    }

    /// Notes that a file cannot be read as it is.
    pub(super) fn note_unreadable(&self, path: &str, stat: Stat, problem: String) {
        self.promises.scanned.lock().unreadable.insert(path.to_owned(), (stat, problem));
    }
}
