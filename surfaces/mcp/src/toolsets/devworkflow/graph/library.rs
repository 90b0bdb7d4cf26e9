//! Which graphs there are: those that the server knows by name, and those in a folder of the
//! project.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use definition::{
    Diagnostic, FileError, Files, Form, MemoryFiles, ParseError, Severity, Workflow, parse_graph,
};
use engine::Refusal;
use runtime::Wanted;

use super::{answer::Failure, context::find_named, session, words::cut};
use crate::tool::Call;

/// The largest definition that is taken, in bytes.
const YAML_BYTES_MAX: usize = 256 * 1024;
/// How many near names are told to anyone who gave one that is unknown.
const NEAR_MAX: usize = 3;
/// How often a graph is read again because it names files that were not known: at least once for
/// each level that files may refer to others.
const ROUNDS_MAX: usize = 8;
/// The name of a definition that came without a file.
const INLINE: &str = "inline.yaml";

/// What may be written to start a workflow.
pub(super) const FORMS: &str = "**Accepted forms of `context`:**\n1. `workflow: NAME`, a workflow \
     that `workflow_discovery` lists.\n2. `workflow: NAME`, then a line `yaml:` and below it a \
     definition in YAML, which goes by that name.\n3. A definition in YAML that has a `name`.";

/// A graph that was found by its name.
pub(super) struct Lookup {
    pub(super) workflow: Workflow,
    /// Where it lies, in words for people.
    pub(super) file: Option<String>,
}

/// What is in a folder.
#[derive(Default)]
pub(super) struct Folder {
    /// With their files, by name.
    pub(super) graphs: Vec<(String, Workflow)>,
    /// Files that cannot be used, and why.
    pub(super) invalid: Vec<(String, String)>,
}

/// Finds the graph of this name: exactly, or in another case if only one fits then.
pub(super) async fn find(call: &Call<'_>, name: &str) -> Result<Lookup, Failure> {
    let own = in_folders(call).await;
    if let Some(found) = find_exact(call, name, &own)? {
        return Ok(found);
    }
    let mut known = own;
    for (file, workflow) in shipped(call, &[]) {
        add(&mut known, file, workflow);
    }
    let names: Vec<&str> = known.iter().map(|(_, it)| it.name.as_str()).collect();
    let Some(meant) = find_named(&names, name).map(ToOwned::to_owned) else {
        return Err(unknown(name, &names));
    };
    let found = known.into_iter().find(|(_, it)| it.name.as_str() == meant);
    let (file, workflow) = found.ok_or_else(|| unknown(name, &[]))?;
    Ok(Lookup { workflow, file: Some(file) })
}

/// Returns the graph of this very name as it is now.
pub(super) async fn find_current(call: &Call<'_>, name: &str) -> Option<Workflow> {
    let own = in_folders(call).await;
    find_exact(call, name, &own).ok().flatten().map(|it| it.workflow)
}

/// Finds the graph of this very name: in the folders, else among all that the server knows, of
/// which no other is read for it.
fn find_exact(
    call: &Call<'_>,
    name: &str,
    own: &[(String, Workflow)],
) -> Result<Option<Lookup>, Failure> {
    if let Some((file, workflow)) = own.iter().find(|(_, it)| it.name.as_str() == name) {
        return Ok(Some(Lookup { workflow: workflow.clone(), file: Some(file.clone()) }));
    }
    match call.runtime.find_listed(name) {
        Ok(found) if found.workflow.form == Form::Graph => {
            Ok(Some(Lookup { workflow: found.workflow, file: Some(found.origin) }))
        }
        Err(Refusal::WorkflowInvalid { problem, .. }) => Err(invalid(name, &problem)),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The folder of workflows unless a call names another.
pub(super) fn usual_folder(call: &Call<'_>) -> String {
    format!("{}/workflows", session::options(call).directory.trim_end_matches('/'))
}

/// Returns the graphs of the usual folder, then those of the folder that was last looked through.
async fn in_folders(call: &Call<'_>) -> Vec<(String, Workflow)> {
    let mut known: Vec<(String, Workflow)> = Vec::new();
    let usual = usual_folder(call);
    let last = session::options(call).memory.folder().filter(|it| *it != usual);
    for folder in std::iter::once(usual).chain(last) {
        if let Ok(Some(found)) = scan(call, &folder).await {
            for (file, workflow) in found.graphs {
                add(&mut known, format!("{folder}/{file}"), workflow);
            }
        }
    }
    known
}

/// Adds a graph. The first of a name counts.
fn add(known: &mut Vec<(String, Workflow)>, file: String, workflow: Workflow) {
    if !known.iter().any(|(_, it)| it.name == workflow.name) {
        known.push((file, workflow));
    }
}

/// Returns the graphs that the server knows, but for those of these names.
pub(super) fn shipped(call: &Call<'_>, but: &[&str]) -> Vec<(String, Workflow)> {
    let (listed, _) = call.runtime.list_workflows();
    let graphs = listed.into_iter().filter(|it| it.workflow.form == Form::Graph);
    let graphs = graphs.filter(|it| !but.contains(&it.workflow.name.as_str()));
    graphs.map(|it| (it.origin, it.workflow)).collect()
}

/// Looks through a folder of the project; `None` where there is none.
pub(super) async fn scan(call: &Call<'_>, folder: &str) -> Result<Option<Folder>, String> {
    let wanted: Wanted = Arc::new(|name| {
        [".yaml", ".yml"].iter().any(|it| name.ends_with(it)) && !name.starts_with('.')
    });
    let Some(names) = call.runtime.list_names(folder, wanted).await? else { return Ok(None) };
    let mut texts = BTreeMap::new();
    let mut found = Folder::default();
    for name in &names {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match call.runtime.read_text(&path).await {
            Ok(Some(text)) if YAML_BYTES_MAX < text.len() => {
                let bytes = text.len();
                let problem =
                    format!("it has {bytes} bytes, and at most {YAML_BYTES_MAX} are taken");
                found.invalid.push((name.clone(), problem));
            }
            Ok(Some(text)) => {
                texts.insert(name.clone(), text);
            }
            Ok(None) => {}
            Err(problem) => found.invalid.push((name.clone(), problem)),
        }
    }
    let listed: Vec<String> = texts.keys().cloned().collect();
    let mut files = MemoryFiles(texts);
    for name in listed {
        match parse_in(call, folder, &name, &mut files).await {
            Ok((workflow, _)) => found.graphs.push((name, workflow)),
            Err(error) => found.invalid.push((name, told(&error.diagnostics).join("; "))),
        }
    }
    drop_duplicates(&mut found);
    found.invalid.sort();
    Ok(Some(found))
}

/// Reads a graph of a folder of the project. The files that it is made of are read when it names
/// them, wherever they lie below the folder.
pub(super) async fn parse_in(
    call: &Call<'_>,
    folder: &str,
    name: &str,
    files: &mut MemoryFiles,
) -> Result<(Workflow, Vec<Diagnostic>), ParseError> {
    for _ in 0..ROUNDS_MAX {
        let seeking = Seeking { known: files, missing: RefCell::default() };
        let read = parse_graph(None, name, &seeking);
        let mut is_news = false;
        for path in seeking.missing.into_inner() {
            let inside = if folder.is_empty() { path.clone() } else { format!("{folder}/{path}") };
            if let Ok(Some(text)) = call.runtime.read_text(&inside).await {
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
fn drop_duplicates(found: &mut Folder) {
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

/// Reads a graph that came with a call, and what is doubtful about it.
pub(super) fn read(name: Option<&str>, yaml: &str) -> Result<(Workflow, Vec<String>), Failure> {
    super::answer::check_size("the YAML", yaml, YAML_BYTES_MAX)?;
    let files = MemoryFiles([(INLINE.to_owned(), yaml.to_owned())].into());
    match parse_graph(name, INLINE, &files) {
        Ok((workflow, doubts)) => Ok((workflow, told(&doubts))),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Returns what is wrong or doubtful, a line each, without the name of a file that nobody has.
pub(super) fn told(diagnostics: &[Diagnostic]) -> Vec<String> {
    let plain = |it: &Diagnostic| {
        let text = it.to_string();
        match text.strip_prefix(INLINE) {
            Some(rest) if rest.starts_with(": ") => rest.trim_start_matches(": ").to_owned(),
            Some(rest) => format!("line {}", rest.trim_start_matches(':')),
            None => text,
        }
    };
    diagnostics.iter().map(plain).collect()
}

fn unreadable(error: &ParseError) -> Failure {
    let errors: Vec<Diagnostic> =
        error.diagnostics.iter().filter(|it| it.severity == Severity::Error).cloned().collect();
    // Without its bare bones it is not a definition; with them it is one that does not hold together.
    let is_bare = errors.iter().any(|it| matches!(it.code, "yaml_invalid" | "key_missing"));
    let cause = if is_bare {
        "Invalid YAML content - failed validation"
    } else {
        "Failed to load workflow from provided YAML - invalid structure"
    };
    Failure::new(
        "YAML_FORMAT_ERROR",
        format!("❌ **YAML Format Error:** {cause}\n\n- {}", told(&errors).join("\n- ")),
        "fix what is named; `workflow_creation_guidance` has a whole example",
    )
}

fn invalid(name: &str, problem: &str) -> Failure {
    Failure::new(
        "WORKFLOW_INVALID",
        format!("❌ **Workflow Invalid:** {}\n\n{problem}", cut(name, 120)),
        "fix its file; `validate_workflow_file` checks it",
    )
}

fn unknown(name: &str, names: &[&str]) -> Failure {
    let name = cut(name, 120);
    let near = nearest(&name, names);
    let near = if near.is_empty() { "none".to_owned() } else { near.join(", ") };
    Failure::new(
        "WORKFLOW_NOT_FOUND",
        format!(
            "❌ **Workflow Not Found:** {name}\n\n**Nearest names:** {near}\n\n\
             `workflow_discovery` lists all of them; `workflow_creation_guidance` says how to \
             write one."
        ),
        "call `workflow_discovery`, then start one of those it lists",
    )
}

/// Returns the names that have most in common with `wanted`, best first.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    let letters = |text: &str| -> String {
        text.to_lowercase().chars().filter(|it| it.is_alphanumeric()).collect()
    };
    let own = letters(wanted);
    let shared = |name: &str| strsim::sorensen_dice(&own, &letters(name));
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|it| (shared(it), *it)).collect();
    // Names that have nothing in common help only where there are no others.
    if ranked.iter().any(|(shared, _)| 0.0 < *shared) {
        ranked.retain(|(shared, _)| 0.0 < *shared);
    }
    ranked.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(two.1)));
    ranked.into_iter().take(NEAR_MAX).map(|(_, it)| it).collect()
}

/// Returns a folder or file that a caller names as it is seen from the root; nothing outside of it.
pub(super) fn inside(call: &Call<'_>, path: &str) -> Result<String, String> {
    let (root, path) = (call.runtime.settings().root.as_str(), path.trim());
    let relative = match path.strip_prefix(root) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        Some(_) | None => path,
    };
    let is_absolute = relative.len() == path.len()
        && (path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":"));
    let climbs = relative.split(['/', '\\']).any(|it| it == "..");
    if is_absolute || climbs || path.contains('\0') {
        return Err(format!("`{}` lies outside of the project", cut(path, 120)));
    }
    let parts: Vec<&str> = relative.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_come_first() {
        let names = ["Debugging Workflow", "Default Coding Workflow", "Tiny", "Simple"];
        assert_eq!(nearest("tini", &names).first(), Some(&"Tiny"));
        let found = nearest("coding workflow", &names);
        assert_eq!(found.first(), Some(&"Default Coding Workflow"));
        assert_eq!(found, ["Default Coding Workflow", "Debugging Workflow", "Tiny"]);
        assert_eq!(nearest("zzz", &names).len(), 3);
    }
}
