//! Looks at files: one, or all of a project, within bounds and only as long as anyone waits.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use insight::code::{Graph, Language, Project, Source, Unparsed};
use parking_lot::Mutex;
use runtime::{Handled, Tree, Walk};
use tokio::sync::Semaphore;

use super::place::is_own_folder;
use crate::{
    tool::Call,
    toolsets::forge::{answer::Failure, place::Folder},
};

/// How many files of a project are looked at.
const FILES_MAX: usize = 10_000;
/// The largest file that is looked at. Code that people write is far smaller.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// How long is looked. Clients give up after a minute or so.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many files are looked at side by side.
const EYES: usize = 4;
/// How many folders of the project above a root are looked into for what names the package it is in.
const FOLDERS_ABOVE_MAX: usize = 16;

/// How many projects are looked at side by side: the rest of the server wants to get on.
static PROJECTS: Semaphore = Semaphore::const_new(2);

/// What was looked at.
pub(super) struct Looked<T> {
    /// What each pair of eyes has seen.
    pub(super) seen: Vec<T>,
    /// Whether there was no time for all of it.
    pub(super) is_cut: bool,
}

/// A project that was looked at.
pub(super) struct Gathered {
    pub(super) graph: Graph,
    /// How many files could not be read.
    pub(super) skipped: usize,
    /// Whether there is more than was looked at.
    pub(super) is_cut: bool,
}

/// Reads one file, as `understand` says.
pub(super) async fn look_at_one(
    call: &Call<'_>,
    (path, language): (&str, Language),
    understand: impl Fn(Source<'_>) -> Result<String, Unparsed> + Clone + Send + 'static,
) -> Result<String, Failure> {
    let see = move |seen: &mut Option<Result<String, String>>, source: Seen<'_>| {
        let (path, stop) = (source.path, source.stop);
        *seen = Some(source.text.map_err(ToOwned::to_owned).and_then(|text| {
            let source = Source { language, path, text, stop };
            understand(source).map_err(|error| error.to_string())
        }));
    };
    let root = Folder::project(call);
    let looked = look(call, &root, vec![path.to_owned()], see).await?;
    let answer = looked.seen.into_iter().flatten().next();
    let answer = answer.unwrap_or_else(|| Err(Unparsed::Stopped.to_string()));
    answer.map_err(|problem| {
        let message = format!("`{path}` cannot be read: {problem}");
        let hint = "name a file by its absolute path, or by its path from the project's root";
        Failure::new("file_unreadable", message, hint)
    })
}

/// Finds the files of a project in one language and what they import. Where a name is given it is
/// also found which of them may call it.
pub(super) async fn look_at_project(
    call: &Call<'_>,
    root: &Folder,
    language: Language,
    called: Option<&str>,
) -> Result<Gathered, Failure> {
    let _turn = PROJECTS.acquire().await;
    let new = || {
        let project = Project::new(language, root.name());
        match called {
            Some(name) => project.with_called(name),
            None => project,
        }
    };
    let is_manifest = move |name: &str| language.manifest() == Some(name);
    let walk = Walk {
        root: Folder::project(call).as_str().to_owned(),
        folder: root.as_str().to_owned(),
        files: Arc::new(move |it: &str| is_manifest(it) || Language::of_path(it) == Some(language)),
        folders: Arc::new(is_own_folder),
        files_max: FILES_MAX,
    };
    let walked = tree(call)?.walk(walk).await.map_err(|problem| {
        let message = format!("`{}` cannot be looked through: {problem}", root.as_str());
        Failure::new("folder_unreadable", message, "name a folder as `root_path`")
    })?;
    let blank = new();
    let see = move |seen: &mut Option<(Project, usize)>, source: Seen<'_>| {
        let (project, skipped) = seen.get_or_insert_with(|| (blank.clone(), 0));
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
    let looked = look(call, root, walked.files, see).await?;
    let is_cut = walked.is_cut || looked.is_cut;
    let mut project = new();
    let mut skipped = walked.unreadable;
    for (seen, unread) in looked.seen.into_iter().flatten() {
        project.merge(seen);
        skipped += unread;
    }
    if let Some(manifest) = language.manifest() {
        add_outer_manifest(call, root, manifest, &mut project).await?;
    }
    // Following ten thousand imports takes a moment that others need not wait for.
    let graph = tokio::task::spawn_blocking(move || project.graph()).await;
    let graph = graph.map_err(|error| {
        Failure::new("files_unreadable", error.to_string(), "call again, with another `root_path`")
    })?;
    Ok(Gathered { graph, skipped, is_cut })
}

/// A file that is being looked at.
pub(super) struct Seen<'a> {
    pub(super) path: &'a str,
    /// Or why there is none.
    pub(super) text: Result<&'a str, &'a str>,
    pub(super) stop: &'a AtomicBool,
}

/// Looks at files with several pairs of eyes, until all are seen or it has taken long enough.
pub(super) async fn look<T: Default + Send + 'static>(
    call: &Call<'_>,
    root: &Folder,
    paths: Vec<String>,
    see: impl Fn(&mut T, Seen<'_>) + Clone + Send + 'static,
) -> Result<Looked<T>, Failure> {
    let tree = tree(call)?;
    let project = Folder::project(call);
    let folders = (project.as_str(), root.as_str());
    let stop = Stop::default();
    let mut visits: Vec<Handled<'_, ()>> = Vec::new();
    let mut all = Vec::new();
    for paths in dealt(paths) {
        let (see, flag, seen) =
            (see.clone(), Arc::clone(&stop.0), Arc::new(Mutex::new(T::default())));
        all.push(Arc::clone(&seen));
        let visit = move |path: &str, text: Result<&str, &str>| {
            if flag.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            see(&mut seen.lock(), Seen { path, text, stop: &flag });
            ControlFlow::Continue(())
        };
        visits.push(tree.visit(folders, paths, FILE_BYTES_MAX, Box::new(visit)));
    }
    let mut looking = Box::pin(async move {
        for visit in visits {
            visit.await?;
        }
        Ok::<(), String>(())
    });
    let mut is_cut = false;
    let looked = tokio::select! {
        biased;
        looked = &mut looking => looked,
        () = call.runtime.sleep(PATIENCE) => {
            is_cut = true;
            stop.0.store(true, Ordering::Relaxed);
            looking.await
        }
    };
    looked.map_err(|problem| Failure::new("files_unreadable", problem, "call again"))?;
    let seen = all.into_iter().map(|it| std::mem::take(&mut *it.lock()));
    Ok(Looked { seen: seen.collect(), is_cut })
}

/// Tells anyone who looks that it is enough, also when nobody waits any more.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Deals paths out like cards, so that large files come to all.
fn dealt(paths: Vec<String>) -> Vec<Vec<String>> {
    let mut hands: Vec<Vec<String>> = vec![Vec::new(); EYES.min(paths.len())];
    let count = hands.len().max(1);
    for (number, path) in paths.into_iter().enumerate() {
        if let Some(hand) = hands.get_mut(number % count) {
            hand.push(path);
        }
    }
    hands
}

/// Takes in what names the package that the root is only a part of.
async fn add_outer_manifest(
    call: &Call<'_>,
    root: &Folder,
    manifest: &str,
    project: &mut Project,
) -> Result<(), Failure> {
    let project_root = Folder::project(call);
    let outer =
        std::iter::successors(Some(root.clone()), |it| Some(it.parent()).filter(|up| up != it));
    let outer = outer.take(FOLDERS_ABOVE_MAX).take_while(|it| project_root.holds(it));
    let outer: Vec<Folder> = outer.collect();
    let path = |folder: &Folder| format!("{}/{manifest}", folder.as_str());
    let see = |seen: &mut BTreeMap<String, String>, source: Seen<'_>| {
        seen.extend(source.text.map(|text| (source.path.to_owned(), text.to_owned())));
    };
    let looked = look(call, &project_root, outer.iter().map(path).collect(), see).await?;
    let found: BTreeMap<String, String> = looked.seen.into_iter().flatten().collect();
    let nearest = outer.iter().find_map(|it| Some((it, found.get(&path(it))?)));
    if let Some((folder, text)) = nearest.filter(|(it, _)| *it != root) {
        project.add_outer_manifest(&root.seen_from(folder), text);
    }
    Ok(())
}

fn tree<'a>(call: &Call<'a>) -> Result<&'a dyn Tree, Failure> {
    let missing = || Failure::new("files_unreadable", "no files can be looked at here", "");
    call.runtime.tree().ok_or_else(missing)
}
