//! What graphs are called. A file must be read for that, so it is kept until the file changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use definition::{Files, ParseError, WorkflowName, find_graph_name};
use parking_lot::Mutex;
use runtime::Stat;

use crate::beneath::Root;

/// The names of graphs, by their files.
#[derive(Debug, Default)]
pub(crate) struct GraphNames(Mutex<BTreeMap<PathBuf, Known>>);

#[derive(Debug)]
struct Known {
    /// What changes when the file does.
    stamp: Option<Stat>,
    name: Result<WorkflowName, ParseError>,
}

/// Returns whether a file is to be taken for a graph, going by its name.
pub(super) fn is_named_as_graph(path: &Path) -> bool {
    let is_hidden =
        path.file_name().and_then(|it| it.to_str()).is_none_or(|it| it.starts_with('.'));
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let is_yaml = ["yaml", "yml"].iter().any(|it| ending.eq_ignore_ascii_case(it));
    is_yaml && !is_hidden
}

impl GraphNames {
    /// Returns what the graph in a file is called; the file's own name and the reason where that
    /// cannot be told.
    pub(super) fn find(
        &self,
        folder: &Root,
        file: &str,
        files: &dyn Files,
    ) -> (WorkflowName, Option<ParseError>) {
        let (path, stamp) = (folder.path().join(file), folder.stat(Path::new(file)).ok());
        let mut all = self.0.lock();
        let known = all.get(&path).filter(|it| it.stamp.is_some() && it.stamp == stamp);
        let name = known.map_or_else(|| find_graph_name(file, files), |it| it.name.clone());
        if known.is_none() {
            all.insert(path, Known { stamp, name: name.clone() });
        }
        match name {
            Ok(name) => (name, None),
            Err(error) => (name_of_file(file), Some(error)),
        }
    }

    /// Forgets the files that are not there any more.
    pub(super) fn forget_all_but(&self, there: &BTreeSet<PathBuf>) {
        self.0.lock().retain(|path, _| there.contains(path));
    }
}

/// A name for a graph that has none: its file's, or what is left of it.
fn name_of_file(file: &str) -> WorkflowName {
    let tame: String = file.chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
    let tame: String = tame.chars().take(30).collect();
    WorkflowName::parse(file)
        .or_else(|_| WorkflowName::parse(&tame))
        .expect("a few letters are a name")
}
