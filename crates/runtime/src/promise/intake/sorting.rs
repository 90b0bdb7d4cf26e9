//! Tells files that are as they were left from those that are new, changed or gone.

use std::{collections::HashSet, sync::Arc};

use engine::RunId;
use store::{FileFilter, FileMark, Filter, Row};

use super::{Marks, joined};
use crate::{
    ExecuteError, FileSystem, Place, Projection, Runtime, Stat, Unreadable, Unseen, Wanted, fault,
    promise::{place, shown, told},
};

impl Runtime {
    /// Returns what is known of the files of a workflow. Read again only when something happened.
    pub(super) async fn marks(&self, workflow: &str) -> Result<Arc<Marks>, ExecuteError> {
        let position = *self.store.changed().borrow();
        if let Some((at, marks)) = &self.promises.scanned.lock().marks
            && *at == position
        {
            return Ok(Arc::clone(marks));
        }
        let filter = FileFilter {
            project: Some(self.settings.project.clone()),
            workflow: Some(workflow.to_owned()),
            ..FileFilter::default()
        };
        let mut marks = Marks::new();
        let mut files = self.store.files(filter).await.map_err(fault)?;
        self.keep_here(workflow, &mut files).await?;
        for (run, mark) in files {
            // Of several runs that had the file one after the other, the newest has it.
            let is_newer = marks.get(&mark.path).is_none_or(|(known, _)| *known < run);
            if is_newer {
                marks.insert(mark.path.clone(), (run, mark));
            }
        }
        let marks = Arc::new(marks);
        self.promises.scanned.lock().marks = Some((position, Arc::clone(&marks)));
        Ok(marks)
    }

    /// Keeps the files of runs whose root is here: another worktree, or another folder of this
    /// project, may have files of the same names.
    async fn keep_here(
        &self,
        workflow: &str,
        files: &mut Vec<(RunId, FileMark)>,
    ) -> Result<(), ExecuteError> {
        let is_known =
            |it: &(RunId, FileMark)| self.promises.scanned.lock().is_here.contains_key(&it.0);
        if !files.iter().all(is_known) {
            let rows = self.list_here(workflow).await?;
            let here: HashSet<RunId> = rows.iter().map(|it| it.run).collect();
            let found = files.iter().map(|(run, _)| (*run, here.contains(run)));
            self.promises.scanned.lock().is_here.extend(found);
        }
        let scanned = self.promises.scanned.lock();
        files.retain(|(run, _)| scanned.is_here.get(run) == Some(&true));
        Ok(())
    }

    /// Returns the runs of a workflow whose root is here.
    pub(super) async fn list_here(&self, workflow: &str) -> Result<Vec<Row>, ExecuteError> {
        let filter = Filter {
            project: Some(self.settings.project.clone()),
            workflow: Some(workflow.to_owned()),
            root: Some(self.root_for(workflow).to_owned()),
            limit: u32::MAX,
            ..Filter::default()
        };
        Ok(self.store.list(filter).await.map_err(fault)?.rows)
    }

    pub(super) async fn find_files(
        &self,
        projection: &Arc<dyn Projection>,
        file_system: &dyn FileSystem,
        folders: &[String],
    ) -> Vec<(String, Stat)> {
        let root = self.root_for(projection.workflow());
        let place = place(&**projection, root, String::new());
        let (found, failed) = list_files(projection, file_system, &place, folders).await;
        for Unreadable { path, problem } in failed {
            tracing::warn!(path, problem, "cannot be listed");
        }
        found
    }

    /// Tells files that are as they were left from those that are new, changed or gone.
    pub(super) fn sort_out(
        &self,
        projection: &Arc<dyn Projection>,
        marks: &Marks,
        found: Vec<(String, Stat)>,
        folders: &[String],
    ) -> Sorted {
        let mut sorted = Sorted::default();
        let mut scanned = self.promises.scanned.lock();
        for (path, stat) in found {
            let unseen = scanned.unseen.get(&path).filter(|it| it.0 == stat);
            if let Some((_, unseen)) = unseen.filter(|_| !marks.contains_key(&path)) {
                sorted.unseen.push((path, unseen.clone()));
                continue;
            }
            match (marks.get(&path), scanned.unreadable.get(&path)) {
                (Some((_, mark)), _) if told(mark) == stat && mark.owed <= mark.written => {
                    sorted.known.push(path);
                }
                (Some((run, _)), _) => sorted.moved.push((*run, path)),
                (None, Some((then, problem))) if *then == stat => {
                    let (path, problem) = (shown(&**projection, &path), problem.clone());
                    sorted.unreadable.push(Unreadable { path, problem });
                }
                (None, _) => {
                    scanned.unreadable.remove(&path);
                    sorted.new.push(path);
                }
            }
        }
        let gone = find_gone(&sorted, marks, folders);
        sorted.moved.extend(gone);
        sorted.unreadable.sort_by(|one, two| one.path.cmp(&two.path));
        sorted
    }
}

/// Returns the files right in some folders of a place that are such ones, and the folders that
/// cannot be listed.
pub(super) async fn list_files(
    projection: &Arc<dyn Projection>,
    file_system: &dyn FileSystem,
    place: &Place,
    folders: &[String],
) -> (Vec<(String, Stat)>, Vec<Unreadable>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for folder in folders {
        let place = Place { path: folder.clone(), ..place.clone() };
        let (inside, names) = (folder.clone(), Arc::clone(projection));
        let wanted: Wanted = Arc::new(move |name| names.key(&joined(&inside, name)).is_some());
        match file_system.scan(&place, wanted).await {
            Ok(files) => {
                found.extend(files.into_iter().map(|(it, stat)| (joined(folder, &it), stat)));
            }
            Err(problem) => {
                let path = joined(&place.folder, folder);
                failed.push(Unreadable { path, problem });
            }
        }
    }
    (found, failed)
}

#[derive(Default)]
pub(super) struct Sorted {
    pub(super) known: Vec<String>,
    /// Changed or gone.
    pub(super) moved: Vec<(RunId, String)>,
    pub(super) new: Vec<String>,
    /// New ones that are as they were when they were looked at.
    pub(super) unseen: Vec<(String, Unseen)>,
    pub(super) unreadable: Vec<Unreadable>,
}

/// Returns the files that are known to be in these folders, and are not there.
fn find_gone(sorted: &Sorted, marks: &Marks, folders: &[String]) -> Vec<(RunId, String)> {
    let is_scanned = |path: &str| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.iter().any(|it| it == folder)
    };
    let wanted = marks.keys().filter(|it| is_scanned(it)).count();
    if sorted.known.len() + sorted.moved.len() == wanted {
        return Vec::new();
    }
    let moved = sorted.moved.iter().map(|(_, path)| path);
    let seen: HashSet<&String> = sorted.known.iter().chain(moved).collect();
    let is_gone = |path: &String| is_scanned(path) && !seen.contains(path);
    let gone = marks.iter().filter(|(path, _)| is_gone(path));
    let mut gone: Vec<(RunId, String)> = gone.map(|(path, it)| (it.0, path.clone())).collect();
    gone.sort();
    gone
}
