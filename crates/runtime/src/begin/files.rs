//! Gives a copy of a run a folder of its own, where its workflow has one for each key: the files
//! that the original worked from and had left by then are copied into it.

use std::collections::BTreeSet;

use engine::{Refusal, find_needed, find_promised};

use crate::{ExecuteError, FileSystem, Place, Runtime, View};

/// A folder of the project, seen from its root.
struct Home<'a> {
    file_system: &'a dyn FileSystem,
    root: &'a str,
    folder: String,
}

impl Home<'_> {
    fn place(&self, path: &str) -> Place {
        let path = format!("{}/{path}", self.folder);
        Place { root: self.root.to_owned(), folder: self.root.to_owned(), path }
    }

    async fn has(&self, path: &str) -> bool {
        matches!(self.file_system.stat(&self.place(path)).await, Ok(Some(_)))
    }
}

impl Runtime {
    /// Copies the files of a run for `copy`, if that has a folder of its own. Returns what could
    /// not be done as it should.
    pub(super) async fn copy_files(
        &self,
        view: &View,
        copy: &View,
    ) -> Result<Vec<String>, ExecuteError> {
        let Some((from, to)) = self.homes(view, copy) else { return Ok(Vec::new()) };
        self.check_free(copy, &to).await?;
        let mut notices = Vec::new();
        for path in paths(copy) {
            if let Err(problem) = self.copy_file(copy, (&from, &to), &path).await {
                notices.push(format!("`{path}`: {problem}"));
            }
        }
        Ok(notices)
    }

    /// Returns both folders, where there are two.
    fn homes<'a>(&'a self, view: &'a View, copy: &View) -> Option<(Home<'a>, Home<'a>)> {
        let (file_system, root) = (self.world.file_system()?, view.state.root());
        let projection = self.find_covering(&view.workflow)?;
        let home = |of: &View| {
            let folder = projection.home(of.state.key()?)?;
            Some(Home { file_system, root, folder })
        };
        let (from, to) = (home(view)?, home(copy)?);
        (from.folder != to.folder).then_some((from, to))
    }

    /// Refuses a folder that is another run's.
    async fn check_free(&self, copy: &View, to: &Home<'_>) -> Result<(), ExecuteError> {
        let Some(key) = copy.state.key() else { return Ok(()) };
        if let Some(run) = self.find_newest(copy.workflow.name.as_str(), key).await? {
            let (key, run) = (key.to_owned(), run.to_string());
            return Err(Refusal::KeyTaken { key, run }.into());
        }
        let projection = self.find_covering(&copy.workflow);
        let Some(own) = projection.and_then(|it| it.path(key)) else { return Ok(()) };
        let place = Place { path: own.clone(), ..to.place("") };
        if matches!(to.file_system.stat(&place).await, Ok(None)) {
            return Ok(());
        }
        let problem = format!("`{own}` is there already, or cannot be looked at");
        Err(Refusal::ParameterInvalid { field: "key".to_owned(), problem }.into())
    }

    /// Copies one file. What is there already stays as it is.
    async fn copy_file(
        &self,
        copy: &View,
        (from, to): (&Home<'_>, &Home<'_>),
        path: &str,
    ) -> Result<(), String> {
        if to.has(path).await {
            return Ok(());
        }
        let seen = copy.state.artifacts.get(path);
        let Some((bytes, _)) = from.file_system.read(&from.place(path)).await? else {
            return seen.map_or(Ok(()), |_| Err("it is gone, so the copy lacks it".to_owned()));
        };
        let is_same = seen.is_none_or(|it| it.artifact.sha256 == definition::Digest::of(&bytes));
        let text = String::from_utf8(bytes).map_err(|_| "it is not text, so the copy lacks it")?;
        to.file_system.write_privately(&to.place(path), text).await?;
        if is_same {
            return Ok(());
        }
        Err("it was changed since then, and the copy has it as it is now".to_owned())
    }
}

/// Returns the files that a run had left, and those that are given to it from outside.
fn paths(copy: &View) -> BTreeSet<String> {
    let (workflow, state) = (&copy.workflow, &*copy.state);
    let steps = || workflow.steps.iter();
    let promised: BTreeSet<String> =
        steps().flat_map(|it| find_promised(workflow, state, it, None)).collect();
    let needed = steps().flat_map(|it| find_needed(workflow, state, it, None));
    let given = needed.filter(|it| !promised.contains(it));
    state.artifacts.keys().cloned().chain(given).collect()
}
