//! A workflow as it was found: where it is, before it is read.

use std::sync::Arc;

use definition::{
    Diagnostic, Files, ParseError, Source, Workflow, WorkflowName, find_unlinked, lint, parse,
    parse_graph, parse_new,
};

/// A workflow's folder, or the one file of a graph, before it is read.
pub struct Found {
    pub name: WorkflowName,
    /// Where it is, in words for people.
    pub origin: String,
    /// Whether it is a part of the program, so that nothing can be wrong with it.
    pub is_builtin: bool,
    pub files: Arc<dyn Files + Send + Sync>,
    /// The file of a graph that has no folder of its own.
    pub file: Option<String>,
    /// Why it cannot be used, whatever its files say: another one has its name, say.
    pub refused: Option<ParseError>,
}

impl Found {
    /// Reads it.
    pub fn read(&self) -> Result<Workflow, ParseError> {
        match (&self.refused, &self.file) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(file)) => {
                let read = parse_graph(Some(self.name.as_str()), file, &*self.files);
                read.map(|(workflow, _)| workflow)
            }
            (None, None) => parse_new(&self.name, &*self.files),
        }
    }

    /// Returns everything that is wrong or doubtful with it, at its places in the files.
    pub fn check(&self) -> Vec<Diagnostic> {
        let checked = match (&self.refused, &self.file) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(file)) => {
                let read = parse_graph(Some(self.name.as_str()), file, &*self.files);
                read.map(|(_, doubtful)| doubtful)
            }
            (None, None) => parse(&self.name, &*self.files).map(|workflow| {
                let unlinked = find_unlinked(&workflow, &*self.files);
                lint(&workflow).into_iter().chain(unlinked).collect()
            }),
        };
        checked.unwrap_or_else(|error| error.diagnostics)
    }

    /// Returns whether it is written as a graph.
    pub(crate) fn is_graph(&self) -> bool {
        let file = format!("{}/graph.yaml", self.name);
        self.file.is_some() || self.files.read(&file).is_ok()
    }

    /// Returns whether the files still say what they said.
    pub(crate) fn is_unchanged(&self, source: &Source) -> bool {
        let is_same = |(path, text): (&String, &String)| {
            self.files.read(&self.place(path)).is_ok_and(|it| it == *text)
        };
        source.files.iter().all(is_same)
    }

    /// Returns where a file is that is stored as `path`: a graph is stored in a folder of its own.
    fn place(&self, path: &str) -> String {
        let Some(file) = &self.file else { return path.to_owned() };
        let inside = path.strip_prefix(self.name.as_str()).and_then(|it| it.strip_prefix('/'));
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        match inside {
            Some("graph.yaml") => file.clone(),
            Some(rest) if folder.is_empty() => rest.to_owned(),
            Some(rest) => format!("{folder}/{rest}"),
            None => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use definition::MemoryFiles;

    use super::*;

    const GRAPH: &str = "name: G\ndescription: D\nworkflow: {goal: G, root: a, tree: {a: \
                         {workflow: parts/b.yaml}}}\n";
    const PART: &str =
        "name: P\ndescription: D\nworkflow: {goal: G, root: x, tree: {x: {goal: X}}}\n";

    fn found(folder: &str, part: &str) -> Found {
        let files = [("g.yaml", GRAPH), ("parts/b.yaml", part)];
        let files: BTreeMap<String, String> =
            files.map(|(path, text)| (format!("{folder}{path}"), text.to_owned())).into();
        Found {
            name: WorkflowName::parse("G").unwrap(),
            origin: String::new(),
            is_builtin: false,
            files: Arc::new(MemoryFiles(files)),
            file: Some(format!("{folder}g.yaml")),
            refused: None,
        }
    }

    #[test]
    fn a_graph_is_unchanged_while_all_its_files_are() {
        for folder in ["", "sub/"] {
            let source = found(folder, PART).read().unwrap().source;
            assert!(found(folder, PART).is_unchanged(&source));
            assert!(!found(folder, "name: Q\n").is_unchanged(&source));
        }
    }
}
