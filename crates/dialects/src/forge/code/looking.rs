//! Looks at source files: one, or all of a project, within bounds.

use std::{collections::BTreeMap, sync::Arc};

use insight::code::{Graph, Language, Project, Source, Unparsed};

use super::{super::answer::Failure, language::is_own_folder};
use crate::kit::{Folder, Seeing, Sight};

/// How many files of a project are looked at.
const FILES_MAX: usize = 10_000;
/// How many folders of the project above a root are looked into for what names the package it is in.
const FOLDERS_ABOVE_MAX: usize = 16;

/// A project that was looked at.
pub(super) struct Gathered {
    pub(super) graph: Graph,
    /// How many files could not be read.
    pub(super) skipped: usize,
    /// Whether there is more than was looked at.
    pub(super) is_cut: bool,
}

/// Where a project is looked for.
#[derive(Clone)]
pub(super) struct Scope {
    /// The root of the whole, and the folder in it that is meant.
    pub(super) project: Folder,
    pub(super) root: Folder,
    pub(super) language: Language,
}

/// Reads one file of a project, as `understand` says.
pub(super) fn look_at_one(
    project: &Folder,
    (path, language): (String, Language),
    understand: impl Fn(Source<'_>) -> Result<String, Unparsed> + Clone + Send + 'static,
) -> Seeing<Result<String, Failure>> {
    let see = move |seen: &mut Option<Result<String, String>>, source: Sight<'_>| {
        *seen = Some(source.text.map_err(ToOwned::to_owned).and_then(|text| {
            let source = Source { language, path: source.path, text, stop: source.stop };
            understand(source).map_err(|error| error.to_string())
        }));
    };
    project.visit(vec![path.clone()], see).map(move |looked| {
        let (seen, _) = looked.map_err(unreadable)?;
        let answer = seen.into_iter().flatten().next();
        let answer = answer.unwrap_or_else(|| Err(Unparsed::Stopped.to_string()));
        answer.map_err(|problem| {
            let message = format!("`{path}` cannot be read: {problem}");
            let hint = "name a file by its absolute path, or by its path from the project's root";
            Failure::new("file_unreadable", message, hint)
        })
    })
}

/// Finds the files of a project in one language and what they import. Where a name is given it is
/// also found which of them may call it.
pub(super) fn look_at_project(
    scope: Scope,
    called: Option<&str>,
) -> Seeing<Result<Gathered, Failure>> {
    let language = scope.language;
    let blank = Project::new(language, scope.root.name());
    let blank = match called {
        Some(name) => blank.with_called(name),
        None => blank,
    };
    let is_manifest = move |name: &str| language.manifest() == Some(name);
    let files = move |it: &str| is_manifest(it) || Language::of_path(it) == Some(language);
    let walk = scope.root.walk(Arc::new(files), Arc::new(is_own_folder), FILES_MAX);
    walk.then(move |walked| {
        let walked = match walked {
            Ok(walked) => walked,
            Err(problem) => {
                let message =
                    format!("`{}` cannot be looked through: {problem}", scope.root.as_str());
                let hint = "name a folder as `root_path`";
                return Seeing::Seen(Err(Failure::new("folder_unreadable", message, hint)));
            }
        };
        let new = blank.clone();
        let see = move |seen: &mut Option<(Project, usize)>, source: Sight<'_>| {
            let (project, skipped) = seen.get_or_insert_with(|| (new.clone(), 0));
            let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", source.path));
            let (path, stop) = (source.path, source.stop);
            let is_known = match source.text {
                Ok(text) if is_manifest(name) => {
                    project.add_manifest(folder, text);
                    true
                }
                Ok(text) => project.add(Source { language, path, text, stop }).is_ok(),
                Err(_) => false,
            };
            *skipped += usize::from(!is_known);
        };
        let (found, root) = (walked.files, scope.root.clone());
        root.visit(found, see).then(move |looked| {
            let (seen, is_cut) = match looked {
                Ok(looked) => looked,
                Err(problem) => return Seeing::Seen(Err(unreadable(problem))),
            };
            find_outer_manifest(scope).map(move |outer| {
                let (mut project, mut skipped) = (blank, walked.unreadable);
                for (seen, unread) in seen.into_iter().flatten() {
                    project.merge(seen);
                    skipped += unread;
                }
                if let Some((inside, text)) = outer? {
                    project.add_outer_manifest(&inside, &text);
                }
                Ok(Gathered { graph: project.graph(), skipped, is_cut: is_cut || walked.is_cut })
            })
        })
    })
}

/// Says that files cannot be looked at.
pub(super) fn unreadable(problem: String) -> Failure {
    Failure::new("files_unreadable", problem, "call again")
}

/// Finds what names the package that the root is only a part of: where the root is in it, and the
/// text.
fn find_outer_manifest(scope: Scope) -> Seeing<Result<Option<(String, String)>, Failure>> {
    let Some(manifest) = scope.language.manifest() else { return Seeing::Seen(Ok(None)) };
    let Scope { project, root, .. } = scope;
    let outer =
        std::iter::successors(Some(root.clone()), |it| Some(it.parent()).filter(|up| up != it));
    let outer = outer.take(FOLDERS_ABOVE_MAX).take_while(|it| project.holds(it));
    let outer: Vec<Folder> = outer.collect();
    let path = move |folder: &Folder| format!("{}/{manifest}", folder.as_str());
    let see = |seen: &mut BTreeMap<String, String>, source: Sight<'_>| {
        seen.extend(source.text.map(|text| (source.path.to_owned(), text.to_owned())));
    };
    project.visit(outer.iter().map(path).collect(), see).map(move |looked| {
        let (seen, _) = looked.map_err(unreadable)?;
        let mut found: BTreeMap<String, String> = seen.into_iter().flatten().collect();
        let nearest = outer.iter().find_map(|it| Some((it, found.remove(&path(it))?)));
        let nearest = nearest.filter(|(it, _)| **it != root);
        Ok(nearest.map(|(folder, text)| (root.seen_from(folder), text)))
    })
}
