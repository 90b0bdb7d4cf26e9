//! Graphs: workflows in one YAML file, whose nodes become steps.
//!
//! ```text
//! read      one file, key by key                a graph of its own
//! compose   files that refer to others          one graph
//! ways      is each node reached, and the end?  refused, if not
//! steps     nodes                               steps
//! ```
//!
//! A graph is stored as `NAME/graph.yaml`, with the files it is made of beside it.

mod compose;
pub(super) mod read;
mod steps;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use super::{ParseError, invalid, path};
use crate::{
    Action, Answers, Choices, Condition, Decider, Deed, Diagnostic, End, Ends, FileError, Files,
    Form, Input, Label, Limits, Rotation, Rule, Source, Var, VarKind, Workflow, WorkflowName,
    inputs, suggest,
};
use compose::Library;
use read::Graph;

/// How many nodes a graph may have, those of other files included.
const NODES_MAX: usize = 500;
/// A graph may go round as often as it likes: anyone who goes through it chooses each way.
const VISITS_MAX: u32 = 1_000_000;
/// How long a journal may grow before it is archived, in characters.
const LOG_CHARS_MAX: u64 = 5_000;

/// Reads the graph in the file at `path`, and returns it with what is doubtful about it.
///
/// `name` goes before the name that the file has.
pub fn parse_graph(
    name: Option<&str>,
    path: &str,
    files: &dyn Files,
) -> Result<(Workflow, Vec<Diagnostic>), ParseError> {
    let is_stored = name.is_some_and(|it| path == file_of(it));
    let folder = if is_stored { "" } else { path::folder(path) };
    let mut library = Library::new(files, folder);
    library.load(path, &mut Vec::new());
    let name = find_name(name, path, &mut library);
    let placed = if library.problems.has_errors() {
        Ok(Vec::new())
    } else {
        compose::compose(&library, path)
    };
    let placed = placed.unwrap_or_else(|it| {
        library.problems.push(it);
        Vec::new()
    });
    ways::check(&placed, &mut library.problems);
    let inputs = gather_inputs(&mut library, path);
    let texts = std::mem::take(&mut library.texts);
    let source = name.as_ref().and_then(|it| keep(it, (path, folder), texts, &mut library));
    let graph = library.graph(path);
    let (Some(name), Some(source), Some(graph), false) =
        (name, source, graph, library.problems.has_errors())
    else {
        return Err(invalid(library.problems));
    };
    let mut workflow = describe(name, graph, source);
    workflow.inputs = inputs;
    workflow.steps = placed.iter().filter_map(steps::make).collect();
    Ok((workflow, invalid(library.problems).diagnostics))
}

/// Returns the name that the graph in the file at `path` has, whatever else is wrong with it.
pub fn find_graph_name(path: &str, files: &dyn Files) -> Result<WorkflowName, ParseError> {
    let mut library = Library::new(files, path::folder(path));
    library.load_alone(path);
    let name = find_name(None, path, &mut library);
    name.ok_or_else(|| invalid(library.problems))
}

/// Reads a graph that lies where it is stored, beside its files.
pub(crate) fn parse_stored(
    name: &WorkflowName,
    files: &dyn Files,
) -> Result<(Workflow, Vec<Diagnostic>), ParseError> {
    parse_graph(Some(name.as_str()), &file_of(name.as_str()), files)
}

/// The file that a graph is stored as.
fn file_of(name: &str) -> String {
    format!("{name}/graph.yaml")
}

/// Returns whether a graph of this name is stored.
pub(super) fn is_there(name: &WorkflowName, files: &dyn Files) -> bool {
    files.read(&file_of(name.as_str())) != Err(FileError::Missing)
}

fn find_name(given: Option<&str>, file: &str, library: &mut Library<'_>) -> Option<WorkflowName> {
    let graph = library.graph(file)?;
    let label = given.map_or_else(|| graph.name_label.clone(), |_| Label::whole(file));
    let found = given.map(str::to_owned).or_else(|| graph.name.clone());
    let Some(text) = found else {
        let message = "Workflow name is required";
        library.problems.push(Diagnostic::error("key_missing", label, message));
        return None;
    };
    WorkflowName::parse(&text)
        .map_err(|error| {
            let message = format!("`{text}` cannot name a workflow: {error}");
            library.problems.push(Diagnostic::error("name_invalid", label, message));
        })
        .ok()
}

/// Gathers the inputs of all files, and warns of texts that name others.
fn gather_inputs(library: &mut Library<'_>, file: &str) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let first = library.graph(file).into_iter();
    for input in first.chain(library.graphs()).flat_map(|it| &it.inputs) {
        if !inputs.iter().any(|it| it.name == input.name) {
            inputs.push(input.clone());
        }
    }
    let names: Vec<&str> = inputs.iter().map(|it| it.name.as_str()).collect();
    let is_known = |it: &str| inputs::is_always_there(it) || names.contains(&it);
    let mentions = library.graphs().flat_map(|it| &it.mentions);
    let unknown: Vec<Diagnostic> = mentions
        .filter(|(name, _)| !is_known(name))
        .map(|(name, label)| {
            let message = format!("there is no input `{name}`: its placeholder stays as it is");
            let help = suggest::help(name, names.iter().copied());
            Diagnostic::warning("input_unknown", label.clone(), message).with_help(help)
        })
        .collect();
    unknown.into_iter().for_each(|it| library.problems.push(it));
    inputs
}

/// Gathers what was read, in such a way that reading it again gives the same.
fn keep(
    name: &WorkflowName,
    (path, folder): (&str, &str),
    texts: BTreeMap<String, String>,
    library: &mut Library<'_>,
) -> Option<Source> {
    let first = file_of(name.as_str());
    if path == first {
        return Some(Source { files: texts });
    }
    let mut files = BTreeMap::new();
    for (file, text) in texts {
        let rest = file.strip_prefix(folder).unwrap_or(&file).trim_start_matches('/');
        let stored = if file == path { first.clone() } else { format!("{name}/{rest}") };
        if stored == first && file != path {
            let message = "a file that a graph is made of must not be called `graph.yaml`";
            let refusal = Diagnostic::error("name_invalid", Label::whole(file), message);
            library.problems.push(refusal.with_help("rename it".to_owned()));
            return None;
        }
        files.insert(stored, text);
    }
    Some(Source { files })
}

/// All but the inputs and the steps.
fn describe(name: WorkflowName, graph: &Graph, source: Source) -> Workflow {
    let var = |kind, default| Var { kind, default, one_of: Vec::new() };
    let vars = [
        ("status", var(VarKind::String, "READY".into())),
        ("log_chars_max", var(VarKind::Integer, LOG_CHARS_MAX.into())),
    ];
    let mut workflow = Workflow {
        goal: graph.goal.clone(),
        decider: Some(Decider::Client),
        vars: vars.map(|(name, var)| (name.to_owned(), var)).into(),
        limits: Limits { visits_max: VISITS_MAX },
        answers: Answers::Relayed,
        ends: Ends {
            early: true,
            keep_key: BTreeSet::from([End::Completed, End::Failed, End::Cancelled]),
        },
        choices: Choices::Listed,
        journal: true,
        rules: vec![rotation()],
        form: Form::Graph,
        index: format!("{}\n\n# Goal\n\n{}\n", graph.description, graph.goal),
        ..Workflow::plain(name)
    };
    workflow.set_source(source);
    workflow
}

/// A journal that has grown long is archived.
fn rotation() -> Rule {
    let when = Condition::parse("journal.chars > vars.log_chars_max");
    Rule {
        name: "LOG_ROTATE".to_owned(),
        when: when.expect("the condition is fixed, and a test compiles it"),
        actions: vec![Action { when: None, deed: Deed::Rotate(Rotation::Whole, None) }],
    }
}
