//! Graphs that are made of others: the files, and their nodes put into one graph.
//!
//! ```text
//! a ──► b: workflow ./other.yaml ──► c        other.yaml:  x ──► y
//! a ──► b_x ──► b_y ──► c
//! ```

use std::collections::BTreeMap;

use super::{
    super::{
        Document, Problems,
        load::unreadable,
        path,
        yaml::{self, Kind},
    },
    NODES_MAX,
    read::{self, Graph, Task, Vertex},
};
use crate::{Criterion, Diagnostic, FileError, Files, Label};

/// How large a file may be, in bytes.
const FILE_BYTES_MAX: usize = 256 << 10;
/// How deep files may refer to others.
const DEPTH_MAX: usize = 5;
/// How many files a graph may be made of.
const FILES_MAX: usize = 64;

/// The files of a graph, as far as they were read.
pub(super) struct Library<'a> {
    pub(super) problems: Problems,
    files: &'a dyn Files,
    /// The folder that every file must be in; empty for the definitions folder itself.
    folder: &'a str,
    /// As they are stored: unchanged.
    pub(super) texts: BTreeMap<String, String>,
    graphs: BTreeMap<String, Loaded>,
}

struct Loaded {
    graph: Option<Graph>,
    /// How deep the files below it refer to others.
    height: usize,
    /// The paths of the files it refers to, by the path as it is written.
    others: BTreeMap<String, String>,
}

impl<'a> Library<'a> {
    pub(super) fn new(files: &'a dyn Files, folder: &'a str) -> Self {
        let (texts, graphs) = (BTreeMap::new(), BTreeMap::new());
        Self { problems: Problems::default(), files, folder, texts, graphs }
    }

    pub(super) fn graph(&self, file: &str) -> Option<&Graph> {
        self.graphs.get(file)?.graph.as_ref()
    }

    /// Returns all graphs: what a graph takes must be declared in one of them.
    pub(super) fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.graphs.values().filter_map(|it| it.graph.as_ref())
    }

    /// Reads a file and all that it refers to; `chain` leads from the first file to it.
    pub(super) fn load(&mut self, file: &str, chain: &mut Vec<String>) {
        let graph = self.load_graph(file);
        let mut loaded = Loaded { graph, height: 0, others: BTreeMap::new() };
        chain.push(file.to_owned());
        let vertices = loaded.graph.iter().flat_map(|it| &it.vertices);
        for vertex in vertices {
            let Task::Other { path, label } = &vertex.task else { continue };
            if let Some((other, height)) = self.load_other(path, label, chain) {
                loaded.others.insert(path.clone(), other);
                loaded.height = loaded.height.max(height + 1);
            }
        }
        chain.pop();
        self.graphs.insert(file.to_owned(), loaded);
    }

    /// Reads a file, but none that it refers to.
    pub(super) fn load_alone(&mut self, file: &str) {
        let graph = self.load_graph(file);
        let loaded = Loaded { graph, height: 0, others: BTreeMap::new() };
        self.graphs.insert(file.to_owned(), loaded);
    }

    fn load_graph(&mut self, file: &str) -> Option<Graph> {
        let yaml = self.read(file)?;
        let mut document = Document { file: file.to_owned(), yaml, ..Document::default() };
        let told = self.problems.0.len();
        document.front = yaml::parse(&document.yaml, file, Kind::Graph, &mut self.problems);
        // What cannot be read at all is not also called empty.
        if told < self.problems.0.len() { None } else { read::read(&document, &mut self.problems) }
    }

    /// Reads a file that another refers to, and returns its path and its height.
    fn load_other(
        &mut self,
        wanted: &str,
        label: &Label,
        chain: &mut Vec<String>,
    ) -> Option<(String, usize)> {
        let file = match self.find_other(wanted, label, chain) {
            Ok(file) => file,
            Err(diagnostic) => {
                self.problems.push(diagnostic);
                return None;
            }
        };
        if !self.graphs.contains_key(&file) {
            self.load(&file, chain);
        }
        let height = self.graphs.get(&file)?.height;
        if DEPTH_MAX < chain.len() + height {
            self.problems.push(too_deep(label));
            return None;
        }
        Some((file, height))
    }

    fn find_other(
        &self,
        wanted: &str,
        label: &Label,
        chain: &[String],
    ) -> Result<String, Diagnostic> {
        let from = chain.last().map_or("", String::as_str);
        let outside = |why: String| {
            let message = format!("composed file `{wanted}` {why}");
            Diagnostic::error("path_outside", label.clone(), message)
        };
        let file =
            path::resolve(path::folder(from), wanted).map_err(|it| outside(it.to_string()))?;
        let is_inside = self.folder.is_empty()
            || file.strip_prefix(self.folder).is_some_and(|it| it.starts_with('/'));
        if !is_inside {
            return Err(outside("leads out of the workflow's folder".to_owned()));
        }
        if let Some(first) = chain.iter().position(|it| *it == file) {
            let round = chain.get(first..).unwrap_or_default().join(" -> ");
            let message = format!("files refer to each other in a circle: {round} -> {file}");
            return Err(Diagnostic::error("include_circular", label.clone(), message));
        }
        if DEPTH_MAX < chain.len() {
            return Err(too_deep(label));
        }
        if !self.graphs.contains_key(&file) && FILES_MAX <= self.texts.len() {
            let message = format!("a graph is made of at most {FILES_MAX} files");
            return Err(Diagnostic::error("includes_too_many", label.clone(), message));
        }
        // Reading it again says the same again, at the place where it is referred to.
        if !self.texts.contains_key(&file) && self.files.read(&file) == Err(FileError::Missing) {
            let message = format!("composed file `{wanted}` does not exist");
            return Err(Diagnostic::error("file_missing", label.clone(), message));
        }
        Ok(file)
    }

    /// Reads a file, and returns its text without a byte order mark and with `\n` alone.
    fn read(&mut self, file: &str) -> Option<String> {
        let whole = Label::whole(file);
        let text = match self.files.read(file) {
            Ok(text) => text,
            Err(error) => {
                self.problems.push(unreadable(whole, file, &error));
                return None;
            }
        };
        if FILE_BYTES_MAX < text.len() {
            let size = text.len();
            let message =
                format!("a graph's file has at most {FILE_BYTES_MAX} bytes, and this one {size}");
            self.problems.push(Diagnostic::error("file_too_large", whole, message));
            return None;
        }
        let plain = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        self.texts.insert(file.to_owned(), text);
        Some(plain)
    }
}

fn too_deep(label: &Label) -> Diagnostic {
    let message = format!("files refer to others more than {DEPTH_MAX} deep");
    Diagnostic::error("include_too_deep", label.clone(), message)
}

/// A node in its place in the whole graph.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) label: Label,
    pub(super) goal: String,
    pub(super) instructions: String,
    pub(super) criteria: Vec<Criterion>,
    pub(super) next: Vec<String>,
    pub(super) workflows: Vec<String>,
    pub(super) needs_approval: bool,
}

/// Where one gets to from the last nodes of a file.
#[derive(Default)]
struct Exits {
    next: Vec<String>,
    workflows: Vec<String>,
    needs_approval: bool,
}

/// Puts the nodes of all files into one graph, its root first.
pub(super) fn compose(library: &Library<'_>, file: &str) -> Result<Vec<Placed>, Diagnostic> {
    let mut weaver = Weaver { library, placed: Vec::new(), visits: 0 };
    weaver.place(file, "", &Exits::default())?;
    let mut placed = weaver.placed;
    let root = library.graph(file).map(|it| it.root.clone()).unwrap_or_default();
    let root = find_entry(library, file, "", &root);
    if let Some(at) = placed.iter().position(|it| Some(&it.name) == root.as_ref())
        && let Some(first) = placed.get_mut(..=at)
    {
        first.rotate_right(1);
    }
    Ok(placed)
}

/// Returns where one enters a node: its own name, or the root of the file in its place.
fn find_entry(library: &Library<'_>, file: &str, prefix: &str, name: &str) -> Option<String> {
    let loaded = library.graphs.get(file)?;
    match &loaded.graph.as_ref()?.find(name)?.task {
        Task::Own { .. } => Some(format!("{prefix}{name}")),
        Task::Other { path, .. } => {
            let other = loaded.others.get(path)?;
            let root = &library.graph(other)?.root;
            find_entry(library, other, &format!("{prefix}{name}_"), root)
        }
    }
}

struct Weaver<'a> {
    library: &'a Library<'a>,
    placed: Vec<Placed>,
    /// Files can multiply each other, so what is looked at is counted, too.
    visits: usize,
}

impl Weaver<'_> {
    fn place(&mut self, file: &str, prefix: &str, exits: &Exits) -> Result<(), Diagnostic> {
        let library = self.library;
        let Some(loaded) = library.graphs.get(file) else { return Ok(()) };
        for vertex in loaded.graph.iter().flat_map(|it| &it.vertices) {
            self.count(&vertex.label)?;
            let found = |it: &String| find_entry(library, file, prefix, it);
            let next: Vec<String> = vertex.next.iter().filter_map(found).collect();
            let exits = leave(vertex, next, exits);
            let name = format!("{prefix}{}", vertex.name);
            match &vertex.task {
                Task::Own { goal, instructions, criteria } => self.placed.push(Placed {
                    name,
                    label: vertex.label.clone(),
                    goal: goal.clone(),
                    instructions: instructions.clone(),
                    criteria: criteria.clone(),
                    next: exits.next,
                    workflows: exits.workflows,
                    needs_approval: exits.needs_approval,
                }),
                Task::Other { path, .. } => {
                    let Some(other) = loaded.others.get(path) else { continue };
                    self.place(other, &format!("{name}_"), &exits)?;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, label: &Label) -> Result<(), Diagnostic> {
        self.visits += 1;
        if NODES_MAX < self.visits {
            let message = format!("a graph has at most {NODES_MAX} nodes, and here are more");
            return Err(Diagnostic::error("steps_too_many", label.clone(), message));
        }
        Ok(())
    }
}

/// Where one gets to from a node. The last nodes of a file lead on to where the file leads.
fn leave(vertex: &Vertex, next: Vec<String>, exits: &Exits) -> Exits {
    let mut workflows = vertex.workflows.clone();
    if !next.is_empty() {
        return Exits { next, workflows, needs_approval: vertex.needs_approval };
    }
    workflows.extend(exits.workflows.iter().cloned());
    let needs_approval = vertex.needs_approval || exits.needs_approval;
    Exits { next: exits.next.clone(), workflows, needs_approval }
}
