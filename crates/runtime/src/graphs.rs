//! Graphs in folders of the project: read when someone names the folder, beside the workflows that
//! the server knows by name.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use definition::{Diagnostic, FileError, Files, MemoryFiles, ParseError, Workflow, parse_graph};
use engine::{GRAPH_BYTES_MAX, Graphs};

use crate::{Runtime, Wanted};

/// How often a graph is read again because it names files that were not known: at least once for
/// each level that files may refer to others.
const ROUNDS_MAX: usize = 8;

impl Runtime {
    /// Looks through a folder of the project; `None` where there is none.
    pub async fn find_graphs(&self, folder: &str) -> Result<Option<Graphs>, String> {
        let wanted: Wanted = Arc::new(|name| {
            [".yaml", ".yml"].iter().any(|it| name.ends_with(it)) && !name.starts_with('.')
        });
        let Some(names) = self.list_names(folder, wanted).await? else { return Ok(None) };
        let mut texts = BTreeMap::new();
        let mut found = Graphs::default();
        for name in &names {
            match self.read_text(&inside(folder, name)).await {
                Ok(Some(text)) if GRAPH_BYTES_MAX < text.len() => {
                    let bytes = text.len();
                    let problem =
                        format!("it has {bytes} bytes, and at most {GRAPH_BYTES_MAX} are taken");
                    found.invalid.push((name.clone(), problem));
                }
                Ok(Some(text)) => drop(texts.insert(name.clone(), text)),
                Ok(None) => {}
                Err(problem) => found.invalid.push((name.clone(), problem)),
            }
        }
        let listed: Vec<String> = texts.keys().cloned().collect();
        let mut files = MemoryFiles(texts);
        for name in listed {
            match self.parse_in(folder, &name, &mut files).await {
                Ok((workflow, _)) => found.graphs.push((name, workflow)),
                Err(error) => {
                    let told: Vec<String> =
                        error.diagnostics.iter().map(ToString::to_string).collect();
                    found.invalid.push((name, told.join("; ")));
                }
            }
        }
        drop_duplicates(&mut found);
        found.invalid.sort();
        Ok(Some(found))
    }

    /// Reads the graph in a file of the project, and what is doubtful about it; `None` where there is
    /// no file.
    pub async fn read_graph(
        &self,
        path: &str,
    ) -> Result<Option<Result<(Workflow, Vec<Diagnostic>), ParseError>>, String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(text) = self.read_text(path).await? else { return Ok(None) };
        let mut files = MemoryFiles([(name.to_owned(), text)].into());
        Ok(Some(self.parse_in(folder, name, &mut files).await))
    }

    /// Reads a graph of a folder of the project. The files that it is made of are read when it names
    /// them, wherever they lie below the folder.
    async fn parse_in(
        &self,
        folder: &str,
        name: &str,
        files: &mut MemoryFiles,
    ) -> Result<(Workflow, Vec<Diagnostic>), ParseError> {
        for _ in 0..ROUNDS_MAX {
            let seeking = Seeking { known: files, missing: RefCell::default() };
            let read = parse_graph(None, name, &seeking);
            let mut is_news = false;
            for path in seeking.missing.into_inner() {
                if let Ok(Some(text)) = self.read_text(&inside(folder, &path)).await {
                    is_news = true;
                    files.0.insert(path, text);
                }
            }
            if !is_news {
                return read;
            }
        }
        parse_graph(None, name, files)
    }
}

fn inside(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Files that notice which ones are asked for and not known yet.
struct Seeking<'a> {
    known: &'a MemoryFiles,
    missing: RefCell<BTreeSet<String>>,
}

impl Files for Seeking<'_> {
    fn read(&self, path: &str) -> Result<String, FileError> {
        let read = self.known.read(path);
        if read == Err(FileError::Missing) {
            self.missing.borrow_mut().insert(path.to_owned());
        }
        read
    }

    fn has_folder(&self, path: &str) -> bool {
        self.known.has_folder(path)
    }
}

/// Of two files with one name neither can be meant.
fn drop_duplicates(found: &mut Graphs) {
    let mut count: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, workflow) in &found.graphs {
        count.entry(workflow.name.to_string()).or_default().push(file.clone());
    }
    for (name, files) in count.iter().filter(|(_, files)| 1 < files.len()) {
        found.graphs.retain(|(_, it)| it.name.as_str() != name);
        let list = files.join(", ");
        let problem = format!("duplicate workflow name `{name}`: it is that of {list}");
        found.invalid.extend(files.iter().map(|it| (it.clone(), problem.clone())));
    }
}
