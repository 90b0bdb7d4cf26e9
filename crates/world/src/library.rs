//! Finds workflows: in the folders that the configuration names, then among the built-in.
//!
//! A workflow is a folder, or a graph in one YAML file. Folders and files are looked for again each
//! time; what a graph is called is read again only when its file has changed.

mod graphs;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use definition::{
    Diagnostic, Digest, FileError, Files, Label, ParseError, ParseErrorKind, Severity, WorkflowName,
};
use runtime::Found;

use crate::{
    WorldSettings,
    beneath::{self, Root},
};
pub(crate) use graphs::GraphNames;

/// Every file of the built-in workflows, by its path below `workflows/`.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// The digest and the name of every definition that was ever built in, one a line.
const DIGESTS: &str = include_str!("library/digests.txt");

/// The largest file of a definition, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub(crate) fn find(settings: &WorldSettings, names: &GraphNames) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for folder in &settings.workflow_dirs {
        let mut here = find_in(folder, names, &mut known);
        here.retain(|it| !seen.contains(&it.name));
        seen.extend(here.iter().map(|it| it.name.clone()));
        found.extend(here);
    }
    names.forget_all_but(&known);
    if settings.has_builtin {
        let names = builtin_names().into_iter().filter(|it| !seen.contains(it));
        found.extend(names.map(|name| Found {
            name,
            origin: "built in".to_owned(),
            is_builtin: true,
            files: Arc::new(BuiltinFiles),
            file: None,
            refused: None,
        }));
    }
    found
}

/// A workflow that is not used, because another one has its name and comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    pub name: WorkflowName,
    /// Where it is, in words for people, and where the one is that is used.
    pub origin: String,
    pub by: String,
}

pub(crate) fn find_hidden(settings: &WorldSettings, names: &GraphNames) -> Vec<Hidden> {
    let folders = settings.workflow_dirs.iter();
    let own = folders.flat_map(|it| find_in(it, names, &mut BTreeSet::new()));
    let own = own.map(|it| (it.name, it.origin));
    let builtin = builtin_names().into_iter().filter(|_| settings.has_builtin);
    let all = own.chain(builtin.map(|it| (it, "built in".to_owned())));
    let mut used: BTreeMap<WorkflowName, String> = BTreeMap::new();
    let mut hidden = Vec::new();
    for (name, origin) in all {
        match used.get(&name) {
            Some(by) if *by != origin => hidden.push(Hidden { by: by.clone(), name, origin }),
            Some(_) => {}
            None => drop(used.insert(name, origin)),
        }
    }
    hidden
}

/// What a workflow's folder has at least one of. Another one only holds files of graphs.
const PARTS: [&str; 3] = ["index.md", "steps", "graph.yaml"];

/// Whether a folder is a workflow, be it an incomplete one.
fn holds_workflow(folder: &Root) -> bool {
    PARTS.iter().any(|it| !matches!(folder.find_kind(Path::new(it)), Ok(None)))
}

/// Whether there is a folder that is a workflow, be it an incomplete one.
pub fn is_workflow(folder: &Path) -> bool {
    Root::open(folder).is_ok_and(|it| holds_workflow(&it))
}

/// Finds the workflows in one folder, by name. Those with one name are refused, all of them.
fn find_in(folder: &Path, names: &GraphNames, known: &mut BTreeSet<PathBuf>) -> Vec<Found> {
    let opened = Root::open(folder).and_then(|it| it.names().map(|names| (it, names)));
    let Ok((opened, entries)) = opened else {
        tracing::debug!(folder = %folder.display(), "no workflows: the folder cannot be read");
        return Vec::new();
    };
    let files: Arc<FolderFiles> = Arc::new(FolderFiles { base: folder.to_owned() });
    let mut found: Vec<Found> = Vec::new();
    for entry in entries {
        let file = entry.trim_end_matches('/');
        let path = Path::new(file);
        let (name, graph, refused) = if !entry.ends_with('/') && graphs::is_named_as_graph(path) {
            let (name, refused) = names.find(&opened, file, &*files);
            known.insert(folder.join(file));
            (name, Some(file.to_owned()), refused)
        } else if opened.enter(path).map_or(entry.ends_with('/'), |it| holds_workflow(&it)) {
            let Ok(name) = WorkflowName::parse(file) else { continue };
            (name, None, None)
        } else {
            continue;
        };
        found.push(Found {
            name,
            origin: folder.display().to_string(),
            is_builtin: false,
            files: Arc::<FolderFiles>::clone(&files),
            file: graph,
            refused,
        });
    }
    found.sort_by(|one, two| (&one.name, &one.file).cmp(&(&two.name, &two.file)));
    refuse_duplicates(&mut found);
    found
}

fn refuse_duplicates(found: &mut [Found]) {
    let place = |it: &Found| it.file.clone().unwrap_or_else(|| it.name.to_string());
    let mut places: BTreeMap<WorkflowName, Vec<String>> = BTreeMap::new();
    for it in found.iter() {
        places.entry(it.name.clone()).or_default().push(place(it));
    }
    for it in found {
        let same = places.get(&it.name).map_or(&[][..], Vec::as_slice);
        let own = place(it);
        let others: Vec<String> =
            same.iter().filter(|it| **it != own).map(|it| format!("`{it}`")).collect();
        if others.is_empty() || it.refused.is_some() {
            continue;
        }
        let message = format!("the name `{}` is also that of {}", it.name, others.join(", "));
        it.refused = Some(refuse("name_duplicate", own, message, "give each a name of its own"));
    }
}

fn refuse(code: &'static str, file: String, message: String, help: &str) -> ParseError {
    let label = Label { file, line: None, column: None, width: 1 };
    let (severity, help) = (Severity::Error, Some(help.to_owned()));
    let diagnostics = vec![Diagnostic { severity, code, message, help, label }];
    ParseError { kind: ParseErrorKind::Invalid, diagnostics }
}

/// Returns whether a definition is or was a part of the program, by its digest.
///
/// A run is pinned to the text that it began with, so one that is older than this release has an
/// earlier digest, and the same rights.
pub fn is_builtin(definition: &Digest) -> bool {
    static KNOWN: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let lines = DIGESTS.lines().filter(|it| !it.starts_with('#'));
        lines.filter_map(|it| it.split(' ').next()).collect()
    });
    known.contains(definition.as_str())
}

fn builtin_names() -> BTreeSet<WorkflowName> {
    let folder = |(path, _): &(&str, &str)| path.split('/').next().map(WorkflowName::parse);
    BUILTIN.iter().filter_map(folder).flatten().collect()
}

/// The files that are a part of the program.
struct BuiltinFiles;

impl Files for BuiltinFiles {
    fn read(&self, path: &str) -> Result<String, FileError> {
        let found = BUILTIN.iter().find(|it| it.0 == path);
        found.map(|it| it.1.to_owned()).ok_or(FileError::Missing)
    }

    fn has_folder(&self, path: &str) -> bool {
        let is_below = |it: &str| it.strip_prefix(path).is_some_and(|it| it.starts_with('/'));
        BUILTIN.iter().any(|it| is_below(it.0))
    }
}

/// The files below one folder of definitions, and no others.
struct FolderFiles {
    base: PathBuf,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the system has kinds that no release lists")]
fn unreadable(error: &io::Error) -> FileError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileError::Missing,
        ErrorKind::FileTooLarge => FileError::TooLarge { max: FILE_BYTES_MAX },
        _ if beneath::is_escape(error) => FileError::Outside,
        // It says what it is instead of a regular file.
        ErrorKind::InvalidInput => FileError::Unreadable(error.to_string()),
        kind => FileError::Unreadable(kind.to_string()),
    }
}

impl Files for FolderFiles {
    fn read(&self, path: &str) -> Result<String, FileError> {
        let read = Root::open(&self.base).and_then(|it| it.read(Path::new(path), FILE_BYTES_MAX));
        let (bytes, _) = read.map_err(|error| unreadable(&error))?;
        String::from_utf8(bytes).map_err(|_| FileError::NotText)
    }

    fn has_folder(&self, path: &str) -> bool {
        Root::open(&self.base).and_then(|it| it.enter(Path::new(path))).is_ok()
    }

    fn list(&self, path: &str) -> Vec<String> {
        let folder = Root::open(&self.base).and_then(|it| it.enter(Path::new(path)));
        let names = folder.and_then(|it| it.names()).unwrap_or_default();
        names.into_iter().filter(|it| !it.ends_with('/')).collect()
    }
}
