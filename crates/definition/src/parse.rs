//! From the text of a folder, or of a graph, to a [`Workflow`], or to diagnostics.
//!
//! ```text
//! load      files, includes                text, and where each piece of it came from
//! front_matter, node                       YAML, as a tree that knows its places
//! version1  the tree of an older text      … as the newest language has it
//! markdown  links, sections, goals         what the text itself says
//! index, step, rules, each, on             the tree, read key by key
//! derive    what follows from other steps
//! graph     one YAML file in place of it   nodes, which become steps
//! ```
//!
//! Reading goes on after a mistake, so that an author hears of all of them at once.

mod derive;
mod each;
mod front_matter;
mod graph;
mod index;
mod keys;
mod load;
pub(crate) mod markdown;
mod node;
mod on;
mod path;
mod reader;
pub(crate) mod rules;
mod step;
mod values;
mod version1;
mod yaml;

use std::{collections::BTreeMap, fmt};

use crate::{
    Diagnostic, FAILED, FINISH, Files, Label, Severity, Source, Step, StepName, Var, Workflow,
    WorkflowName,
};

pub(crate) use graph::parse_stored;
pub use graph::{find_graph_name, parse_graph};
pub(crate) use load::Document;
use load::{Loader, Missing};
use markdown::Link;
use node::Node;
use reader::Reader;
pub(crate) use yaml::read_front_matter;

/// The version of the definition language. What a text is written in is part of its digest.
const LANGUAGE: u32 = 3;

/// The first language in which a `next` may not end with a condition.
const CLOSED_ROUTES: u32 = 3;

/// How many steps a workflow may have.
const STEPS_MAX: usize = 500;
/// How many diagnostics are kept.
const DIAGNOSTICS_MAX: usize = 100;

/// Why a definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub kind: ParseErrorKind,
    /// At least one error, and whatever else was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

/// The class of a [`ParseError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The folder, its index or its `steps` folder is not there.
    NotFound,
    /// It is there, and something in it is wrong: the file of a step is missing, say.
    Invalid,
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        for (at, error) in errors.enumerate() {
            let end = if at > 0 { "\n" } else { "" };
            // Some messages are fixed from outside, and name their file themselves.
            let is_named = error.label.line.is_none() && error.message.contains(&error.label.file);
            match &error.help {
                Some(help) if is_named => write!(out, "{end}{} ({help})", error.message)?,
                None if is_named => write!(out, "{end}{}", error.message)?,
                Some(_) | None => write!(out, "{end}{error}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// Reads the workflow called `name`: its index, its steps, and all that they include.
///
/// What was stored of a graph is read here, too.
pub fn parse(name: &WorkflowName, files: &dyn Files) -> Result<Workflow, ParseError> {
    read(name, files).map(|(workflow, _)| workflow)
}

/// Reads the workflow called `name` for new runs.
///
/// Front matter that would have no effect is refused here. [`parse`] reads it as prose, since a run
/// may have been started with that text.
pub fn parse_new(name: &WorkflowName, files: &dyn Files) -> Result<Workflow, ParseError> {
    let (workflow, layout) = read(name, files)?;
    let mut problems = Problems::default();
    layout.lost.into_iter().for_each(|it| problems.push(it));
    if problems.has_errors() { Err(invalid(problems)) } else { Ok(workflow) }
}

fn read(name: &WorkflowName, files: &dyn Files) -> Result<(Workflow, Layout), ParseError> {
    let read = parse_with_layout(name, files);
    match read {
        Err(error) if error.kind == ParseErrorKind::NotFound && graph::is_there(name, files) => {
            parse_stored(name, files).map(|(workflow, _)| (workflow, Layout::default()))
        }
        Ok(_) | Err(_) => read,
    }
}

/// Where everything in a workflow is written.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) index: Document,
    pub(crate) links: Vec<Link>,
    /// In the order of the workflow's steps.
    pub(crate) steps: Vec<Document>,
    /// Front matter that was read as prose, and so has no effect.
    pub(crate) lost: Vec<Diagnostic>,
}

/// What is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Diagnostic>);

impl Problems {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        // Warnings must not keep the first error out: it says that nothing can be run.
        let is_first = diagnostic.severity == Severity::Error && !self.has_errors();
        if self.0.len() == DIAGNOSTICS_MAX && is_first {
            self.0.pop();
        }
        if self.0.len() < DIAGNOSTICS_MAX {
            self.0.push(diagnostic);
        }
    }

    fn has_errors(&self) -> bool {
        self.0.iter().any(|it| it.severity == Severity::Error)
    }
}

pub(crate) fn parse_with_layout(
    name: &WorkflowName,
    files: &dyn Files,
) -> Result<(Workflow, Layout), ParseError> {
    let mut loader = Loader::new(files);
    let mut index = load_index(name, files, &mut loader)?;
    let language = find_language(&index, &mut loader.problems);
    if language == 1 {
        rewrite(&mut index, version1::rewrite_index, &mut loader.problems);
    }
    let index = index;
    let links = read_links(&index, &mut loader.problems);
    let names: Vec<StepName> = links.iter().filter_map(|it| it.name.clone()).collect();
    let problems = &mut loader.problems;
    let mut reader = Reader { document: &index, steps: &names, language, problems };
    let mut workflow = index::read(&mut reader, name);
    let read = (language, &workflow.vars);
    let (mut steps, documents) = load_steps((name, &index, &links), read, &mut loader);
    if language != 1 {
        derive::complete(&mut steps, &documents, &mut loader.problems);
    }
    each::check_shared(&steps, &documents, &mut loader.problems);
    rules::check_reviewed(&steps, &documents, &mut loader.problems);
    if language >= CLOSED_ROUTES {
        let open = rules::find_open_routes(&steps, &documents).into_iter();
        open.for_each(|it| loader.problems.push(it));
    }
    let lost = std::mem::take(&mut loader.lost);
    if loader.problems.has_errors() {
        lost.into_iter().for_each(|it| loader.problems.push(it));
        return Err(invalid(loader.problems));
    }
    workflow.steps = steps;
    workflow.journal |= language != 1 && derive::rotates(&workflow);
    workflow.goal = markdown::index_goal(&index.body.text);
    workflow.index.clone_from(&index.body.text);
    workflow.set_source(keep(name, loader));
    Ok((workflow, Layout { index, links, steps: documents, lost }))
}

/// Checks the folder, its index and its `steps`, in this order, and reads the index.
fn load_index(
    name: &WorkflowName,
    files: &dyn Files,
    loader: &mut Loader<'_>,
) -> Result<Document, ParseError> {
    if !files.has_folder(name.as_str()) {
        let message = format!("Workflow directory not found: {name}");
        return Err(not_found("workflow_missing", name.to_string(), message));
    }
    let file = format!("{name}/index.md");
    let index = loader.load(&file);
    if index.as_ref().is_err_and(|it| *it == Missing::File) {
        let message = format!("Workflow index file not found: {file}");
        return Err(not_found("index_missing", file, message));
    }
    let folder = format!("{name}/steps");
    if !files.has_folder(&folder) {
        let message = format!("Workflow steps directory not found: {folder}");
        return Err(not_found("steps_folder_missing", folder, message));
    }
    index.map_err(|_| invalid(std::mem::take(&mut loader.problems)))
}

/// Returns which version of the language a text says that it is written in.
fn find_language(index: &Document, problems: &mut Problems) -> u32 {
    let Some(node) = index.front.as_ref().and_then(|it| it.child("language")) else { return 1 };
    let said = node.to_json().as_u64().and_then(|it| u32::try_from(it).ok());
    said.filter(|it| (1..=LANGUAGE).contains(it)).unwrap_or_else(|| {
        let message = format!("`language` must be a number from 1 to {LANGUAGE}");
        let help = "a later release may know it".to_owned();
        let label = index.label(node);
        problems.push(Diagnostic::error("language_unknown", label, message).with_help(help));
        LANGUAGE
    })
}

/// Rewrites the front matter of a text in language 1.
fn rewrite(document: &mut Document, rewrite: fn(&mut Node), problems: &mut Problems) {
    if let Some(on) = document.front.as_ref().and_then(|it| it.child("on")) {
        let help = "write `language: 2` in `index.md`".to_owned();
        let (label, message) = (document.label(on), "`on` is a key of language 2");
        problems.push(Diagnostic::error("key_unknown", label, message).with_help(help));
    }
    document.front.as_mut().into_iter().for_each(rewrite);
}

fn load_steps(
    (name, index, links): (&WorkflowName, &Document, &[Link]),
    (language, vars): (u32, &BTreeMap<String, Var>),
    loader: &mut Loader<'_>,
) -> (Vec<Step>, Vec<Document>) {
    let names: Vec<StepName> = links.iter().filter_map(|it| it.name.clone()).collect();
    let mut steps = Vec::new();
    let mut documents = Vec::new();
    for link in links {
        let Some(step_name) = &link.name else { continue };
        let Some(mut document) = load_step(name, link, index, loader) else { continue };
        if language == 1 {
            rewrite(&mut document, version1::rewrite_step, &mut loader.problems);
        }
        let problems = &mut loader.problems;
        let reader = Reader { document: &document, steps: &names, language, problems };
        if let Some(step) = step::read(reader, step_name, vars) {
            steps.push(step);
            documents.push(document);
        }
    }
    (steps, documents)
}

fn not_found(code: &'static str, file: String, message: String) -> ParseError {
    let diagnostics = vec![Diagnostic::error(code, Label::whole(file), message)];
    ParseError { kind: ParseErrorKind::NotFound, diagnostics }
}

/// Puts what is wrong in the order in which one would read the files.
fn invalid(problems: Problems) -> ParseError {
    let mut files: Vec<String> = Vec::new();
    for diagnostic in &problems.0 {
        if !files.contains(&diagnostic.label.file) {
            files.push(diagnostic.label.file.clone());
        }
    }
    let mut diagnostics = problems.0;
    diagnostics.sort_by_key(|it| {
        let file = files.iter().position(|file| *file == it.label.file);
        (file, it.label.line.is_none(), it.label.line, it.label.column)
    });
    ParseError { kind: ParseErrorKind::Invalid, diagnostics }
}

/// Finds the links of the index and checks their names.
fn read_links(index: &Document, problems: &mut Problems) -> Vec<Link> {
    let file = &index.file;
    let mut links = markdown::find_links(&index.body.text);
    for at in 0..links.len() {
        let (before, rest) = links.split_at_mut(at);
        let Some(link) = rest.first_mut() else { break };
        let label = index.body_label(link.start, link.width);
        if link.title == FAILED {
            let message = format!("a step must not be called `{FAILED}`");
            let help = "deciders say it to fail a run".to_owned();
            problems.push(Diagnostic::error("step_reserved", label, message).with_help(help));
        } else if before.iter().any(|it| it.title == link.title) {
            let title = &link.title;
            let message =
                format!("Duplicate step name '{title}' found in workflow index file: {file}");
            problems.push(Diagnostic::error("step_duplicate", label, message));
        } else {
            match StepName::parse(&link.title) {
                Ok(name) => link.name = Some(name),
                Err(error) => {
                    let message = format!("`{}` cannot name a step: {error}", link.title);
                    problems.push(Diagnostic::error("step_name_invalid", label, message));
                }
            }
        }
    }
    check_count(index, &links, problems);
    links
}

fn check_count(index: &Document, links: &[Link], problems: &mut Problems) {
    let file = &index.file;
    if links.iter().all(|it| it.title == FINISH) {
        let message = format!("No steps found in workflow index file: {file}");
        let open = markdown::open_fence_help(index);
        let help = open.unwrap_or_else(|| "write `1. [Name](steps/name.md)`".to_owned());
        let label = Label::whole(file);
        problems.push(Diagnostic::error("steps_missing", label, message).with_help(help));
    }
    if links.len() > STEPS_MAX {
        let message = format!("a workflow has at most {STEPS_MAX} steps, and here are more");
        problems.push(Diagnostic::error("steps_too_many", Label::whole(file), message));
    }
}

fn load_step(
    name: &WorkflowName,
    link: &Link,
    index: &Document,
    loader: &mut Loader<'_>,
) -> Option<Document> {
    let label = index.body_label(link.start, link.width);
    let file = match path::resolve(name.as_str(), &link.path) {
        Ok(file) => file,
        Err(error) => {
            let message = format!("step file `{}` {error}", link.path);
            loader.problems.push(Diagnostic::error("path_outside", label, message));
            return None;
        }
    };
    let loaded = loader.load(&file);
    if loaded.as_ref().is_err_and(|it| *it == Missing::File) {
        let message = format!("Step file does not exist: {file}");
        loader.problems.push(Diagnostic::error("step_file_missing", label, message));
    }
    loaded.ok()
}

/// Gathers what was read, in such a way that reading it again gives the same.
fn keep(name: &WorkflowName, loader: Loader<'_>) -> Source {
    let mut files = loader.into_files();
    let folder = format!("{name}/steps/");
    // The folder must be there even if every link leads elsewhere.
    if !files.keys().any(|it| it.starts_with(&folder)) {
        files.insert(format!("{folder}.keep"), String::new());
    }
    Source { files }
}
