//! A world that is only what a test says: a clock that is set, files in memory, ids that count.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering},
    },
    time::Duration,
};

use definition::{Answers, Digest, MemoryFiles, WorkflowName};
use engine::{Bounds, ChoreOutcome, Fact, FileFact, GitDeed, Question, RunId, Timestamp};
use runtime::{
    FileSystem, Found, Handled, Held, Kept, Looking, Place, Runtime, Settings, Stat, Subfolder,
    Tree, Visit, Walk, Walked, Wanted, World,
};
use store::{SqliteStore, Store};

/// What tests set.
pub(crate) struct Stage {
    now: AtomicI64,
    runs: AtomicU8,
    /// Artifacts, by path.
    files: Mutex<BTreeMap<String, String>>,
    /// Promised files, by path.
    file_system: Mutex<BTreeMap<String, (String, Stat)>>,
    /// The files that git tracks.
    tracked: Mutex<Vec<String>>,
    /// The promised file that cannot be renamed.
    stuck: Mutex<String>,
    writes: AtomicI64,
    /// The files of definitions, by path.
    definitions: Mutex<BTreeMap<String, String>>,
    /// Whether a wait lasts until it is woken, instead of no time at all.
    is_patient: bool,
    /// Whether looking for workflows panics.
    is_broken: AtomicBool,
    /// Whether chores are done as soon as they are due, and a wait takes its time.
    is_lively: AtomicBool,
    /// Whether files are visited on threads, and only once `reading` is free.
    is_slow: AtomicBool,
    /// Whoever holds it keeps those threads busy.
    pub(crate) reading: Arc<tokio::sync::Mutex<()>>,
}

impl Stage {
    /// Returns a stage with no files, at ten in the morning.
    pub(crate) fn new(is_patient: bool) -> Self {
        let now = Timestamp::parse("2026-11-15T10:00:00Z").unwrap();
        Self {
            now: AtomicI64::new(now.0),
            runs: AtomicU8::new(0),
            files: Mutex::default(),
            file_system: Mutex::default(),
            tracked: Mutex::default(),
            stuck: Mutex::default(),
            writes: AtomicI64::new(0),
            definitions: Mutex::default(),
            is_patient,
            is_broken: AtomicBool::new(false),
            is_lively: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            reading: Arc::default(),
        }
    }

    /// Has files visited on threads, each of which waits until `reading` is free.
    pub(crate) fn slow_down(&self) {
        self.is_slow.store(true, Ordering::SeqCst);
    }

    /// Makes anyone who looks for workflows panic.
    pub(crate) fn break_down(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
    }

    /// Has chores done as soon as they are due, and waits take their time.
    pub(crate) fn enliven(&self) {
        self.is_lively.store(true, Ordering::SeqCst);
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).unwrap();
        self.now.fetch_add(micros, Ordering::SeqCst);
    }

    /// Writes an artifact.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.files.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// Removes every artifact.
    pub(crate) fn clear_files(&self) {
        self.files.lock().unwrap().clear();
    }

    /// Writes a file of a definition.
    pub(crate) fn define(&self, path: &str, text: &str) {
        self.definitions.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// Removes every file of a definition.
    pub(crate) fn forget(&self, name: &str) {
        let prefix = format!("{name}/");
        self.definitions.lock().unwrap().retain(|path, _| !path.starts_with(&prefix));
    }

    /// Writes every file of a text that has `== PATH` before each of them.
    pub(crate) fn define_all(&self, text: &str) {
        let text = format!("\n{text}");
        for file in text.split("\n== ").skip(1) {
            let (path, text) = file.split_once('\n').unwrap();
            self.define(path.trim(), text);
        }
    }

    /// Puts a file where promised files are.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let stat = Stat { size: text.len() as u64, modified: 0 };
        self.file_system.lock().unwrap().insert(path.to_owned(), (text.to_owned(), stat));
    }

    /// Has git track a file.
    pub(crate) fn track(&self, path: &str) {
        self.tracked.lock().unwrap().push(path.to_owned());
    }

    /// Writes into a promised file, as a person would.
    pub(crate) fn rewrite(&self, path: &str, change: impl Fn(&str) -> String) {
        let mut file_system = self.file_system.lock().unwrap();
        let (text, stat) = file_system.get_mut(path).unwrap();
        *text = change(text);
        stat.modified = -1 - stat.modified;
        stat.size = text.len() as u64;
    }

    /// Returns what a promised file says.
    pub(crate) fn promised(&self, path: &str) -> Option<String> {
        self.file_system.lock().unwrap().get(path).map(|(text, _)| text.clone())
    }

    /// Lets no one rename this promised file.
    pub(crate) fn stick(&self, path: &str) {
        path.clone_into(&mut self.stuck.lock().unwrap());
    }

    /// Returns the names of the promised files.
    pub(crate) fn promised_names(&self) -> Vec<String> {
        self.file_system.lock().unwrap().keys().cloned().collect()
    }

    /// Returns the id of the `number`th run.
    pub(crate) fn run(number: u8) -> RunId {
        let mut bytes = *b"\x01\x9a\0\0\0\0\x70\0\x80\0\0\0\0\0\0\0";
        bytes[15] = number;
        RunId::from_bytes(bytes)
    }

    /// Returns a runtime that acts on this stage.
    pub(crate) fn runtime(self: &Arc<Self>) -> Arc<Runtime> {
        self.runtime_with(&mcp::Dialects::default())
    }

    /// Returns one that is told what these settings say.
    pub(crate) fn runtime_with(self: &Arc<Self>, dialects: &mcp::Dialects) -> Arc<Runtime> {
        self.runtime_over(Arc::new(SqliteStore::in_memory().unwrap()), dialects, None)
    }

    /// Returns one that keeps its runs in this store.
    pub(crate) fn runtime_over(
        self: &Arc<Self>,
        store: Arc<dyn Store>,
        dialects: &mcp::Dialects,
        gates: Option<Answers>,
    ) -> Arc<Runtime> {
        let settings = Settings {
            project: "test".to_owned(),
            root: "/project".to_owned(),
            bounds: Bounds::default(),
            gates,
            policies: dialects.policies(),
            has_model: false,
            fail_on_model_error: false,
            brief_tokens: 2_500,
            wait_max: Duration::from_secs(50),
            states_max: 8,
            states_bytes_max: 16 << 20,
        };
        let world = Arc::new(Acting(Arc::clone(self)));
        let runtime = Runtime::new(store, world, settings);
        let sessions = mcp::devworkflow::SessionFiles::new(&mcp::Dialects::default().devworkflow);
        let scenes = mcp::StateFiles::default();
        let specs = dialects::forge::SpecFiles::default();
        let files: Vec<Arc<dyn runtime::Projection>> =
            vec![Arc::new(scenes), Arc::new(sessions), Arc::new(specs)];
        Arc::new(runtime.with_projections(files))
    }
}

struct Acting(Arc<Stage>);

impl World for Acting {
    fn file_system(&self) -> Option<&dyn FileSystem> {
        Some(self)
    }

    fn tree(&self) -> Option<&dyn Tree> {
        Some(self)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.0.now.load(Ordering::SeqCst))
    }

    fn new_run(&self) -> RunId {
        Stage::run(self.0.runs.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn look<'a>(
        &'a self,
        _folders: (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>> {
        let fact = match question {
            Question::Git => Fact::Git(None),
            Question::Branch(_) => Fact::Branch(None),
            Question::Check { .. } => Fact::Check(engine::CheckFact::NotAllowed),
            Question::Model { .. } => unreachable!("no language model is there"),
            Question::Beside(_) => Fact::File(FileFact::Missing),
            Question::File(path) => Fact::File(match self.0.files.lock().unwrap().get(path) {
                Some(text) => FileFact::Present {
                    sha256: Digest::of(text.as_bytes()),
                    size: text.len() as u64,
                    text: Some(text.clone()),
                    modified: None,
                },
                None => FileFact::Missing,
            }),
        };
        Box::pin(std::future::ready(Some(fact)))
    }

    fn find_workflows(&self) -> Vec<Found> {
        assert!(!self.0.is_broken.load(Ordering::SeqCst), "the library is on fire");
        let files = self.0.definitions.lock().unwrap().clone();
        let mut names: Vec<&str> =
            files.keys().filter_map(|it| it.split_once('/')).map(|it| it.0).collect();
        names.dedup();
        let found = |name: &str| Found {
            name: WorkflowName::parse(name).unwrap(),
            is_builtin: false,
            origin: "the test".to_owned(),
            files: Arc::new(MemoryFiles(files.clone())),
            file: None,
            refused: None,
        };
        names.into_iter().map(found).collect()
    }

    fn do_chore<'a>(
        &'a self,
        _folders: (&'a str, &'a str),
        _deed: &'a GitDeed,
        _texts: &'a [(String, String)],
        _held: Option<&'a Held>,
    ) -> Looking<'a, Option<ChoreOutcome>> {
        let outcome = if self.0.is_lively.load(Ordering::SeqCst) {
            let detail = "done".to_owned();
            ChoreOutcome::Done { detail, warnings: Vec::new(), pushed: None }
        } else {
            ChoreOutcome::Failed { reason: "nothing here can do that".to_owned() }
        };
        Box::pin(std::future::ready(Some(outcome)))
    }

    fn sleep(&self, duration: Duration) -> Looking<'_, ()> {
        if self.0.is_lively.load(Ordering::SeqCst) {
            self.0.pass(duration);
        }
        if self.0.is_patient {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(()))
    }
}

/// Promised files are in memory too. A file's time is how many were written before it.
impl FileSystem for Acting {
    fn has_folder<'a>(&'a self, _folder: &'a str) -> Looking<'a, bool> {
        Box::pin(std::future::ready(true))
    }

    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>> {
        let found = self.0.file_system.lock().unwrap().get(&key(place)).map(|(_, stat)| *stat);
        Box::pin(std::future::ready(Ok(found)))
    }

    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>> {
        let found = self.0.file_system.lock().unwrap().get(&key(place)).cloned();
        let found = found.map(|(text, stat)| (text.into_bytes(), stat));
        Box::pin(std::future::ready(Ok(found)))
    }

    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        let modified = self.0.writes.fetch_add(1, Ordering::SeqCst);
        let stat = Stat { size: text.len() as u64, modified };
        self.0.file_system.lock().unwrap().insert(key(place), (text, stat));
        Box::pin(std::future::ready(Ok(stat)))
    }

    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()> {
        if *self.0.stuck.lock().unwrap() == place.path {
            return Box::pin(std::future::ready(Err("it is stuck".to_owned())));
        }
        let mut file_system = self.0.file_system.lock().unwrap();
        if let Some(file) = file_system.remove(&key(place)) {
            file_system.insert(path.to_owned(), file);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()> {
        self.0.file_system.lock().unwrap().remove(&key(place));
        Box::pin(std::future::ready(Ok(())))
    }

    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write(place, text)
    }

    fn lock<'a>(&'a self, _place: &'a Place) -> Handled<'a, Held> {
        let held: Held = Box::new(());
        Box::pin(std::future::ready(Ok(held)))
    }

    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>> {
        if is_anywhere(place) {
            let files = self.0.file_system.lock().unwrap();
            let inside = format!("{}/", place.folder);
            let names =
                files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&inside)?, file)));
            let found = names.filter(|(name, _)| !name.contains('/') && wanted(name));
            let found = found.map(|(name, (_, stat))| (name.to_owned(), *stat)).collect();
            return Box::pin(std::future::ready(Ok(found)));
        }
        if !place.path.is_empty() {
            // A folder of the project, and not of promised files.
            let files = self.0.files.lock().unwrap();
            let names =
                files.keys().filter_map(|it| it.strip_prefix(&place.path)?.strip_prefix('/'));
            let found = names.filter(|it| !it.contains('/') && wanted(it));
            let found = found.map(|it| (it.to_owned(), Stat::default())).collect();
            return Box::pin(std::future::ready(Ok(found)));
        }
        let files = self.0.file_system.lock().unwrap();
        let is_here = |path: &str| place.path.is_empty() && !path.contains('/') && wanted(path);
        let found = files.iter().filter(|(path, _)| is_here(path));
        let found = found.map(|(path, (_, stat))| (path.clone(), *stat)).collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn inner<'a>(&'a self, place: &'a Place, file: &'a str) -> Handled<'a, Arc<[Subfolder]>> {
        let names = self.below(place).into_iter();
        let folders = names.filter_map(|it| Some(it.strip_suffix('/')?.to_owned()));
        let folders = folders.filter(|it| !it.starts_with('.'));
        let found = folders.map(|name| {
            let stat = self.text(place, &format!("{name}/{file}"));
            let stat = stat.map(|it| Stat { size: it.len() as u64, modified: 0 });
            Subfolder { name, stat, touched: 0 }
        });
        Box::pin(std::future::ready(Ok(found.collect())))
    }

    fn names<'a>(&'a self, place: &'a Place) -> Handled<'a, Vec<String>> {
        Box::pin(std::future::ready(Ok(self.below(place))))
    }

    fn list_all<'a>(
        &'a self,
        place: &'a Place,
        folders: Vec<String>,
        wanted: Wanted,
    ) -> Handled<'a, Vec<Vec<String>>> {
        let list = |path: String| {
            let inside = format!("{}/", place.folder);
            let promised = self.0.file_system.lock().unwrap();
            let promised = promised.keys().filter_map(|it| it.strip_prefix(&inside));
            let promised = promised.filter(|it| path == "." && !it.contains('/'));
            let mut names: Vec<String> = promised.map(ToOwned::to_owned).collect();
            names.append(&mut self.below(&Place { path, ..place.clone() }));
            names.retain(|it| !it.ends_with('/') && wanted(it));
            names
        };
        Box::pin(std::future::ready(Ok(folders.into_iter().map(list).collect())))
    }

    fn read_all<'a>(
        &'a self,
        place: &'a Place,
        paths: Vec<String>,
    ) -> Handled<'a, Vec<Option<Vec<u8>>>> {
        let read = |path: String| {
            let file_system = self.0.file_system.lock().unwrap();
            let promised = file_system.get(&path).map(|(text, _)| text.clone());
            promised.or_else(|| self.text(place, &path)).map(String::into_bytes)
        };
        Box::pin(std::future::ready(Ok(paths.into_iter().map(read).collect())))
    }

    fn kept<'a>(&'a self, _folder: &'a str) -> Looking<'a, Option<Kept>> {
        let files = self.0.tracked.lock().unwrap().clone();
        let kept = (!files.is_empty()).then(|| Kept { files, ..Kept::default() });
        Box::pin(std::future::ready(kept))
    }
}

impl Acting {
    /// Returns an artifact of a folder in the project.
    fn text(&self, place: &Place, path: &str) -> Option<String> {
        let whole = format!("{}/{path}", place.folder);
        let inside = whole.strip_prefix("/project/")?;
        self.0.files.lock().unwrap().get(inside).cloned()
    }

    /// Returns the names right in a folder of artifacts.
    fn below(&self, place: &Place) -> Vec<String> {
        let whole = format!("{}/{}/", place.folder, place.path);
        let parts = whole.split('/').filter(|it| !it.is_empty() && *it != "." && *it != "project");
        let prefix: String = parts.map(|it| format!("{it}/")).collect();
        let files = self.0.files.lock().unwrap();
        let mut names: Vec<String> = files
            .keys()
            .filter_map(|it| it.strip_prefix(&prefix))
            .map(|it| it.split_once('/').map_or(it.to_owned(), |(name, _)| format!("{name}/")))
            .collect();
        names.dedup();
        names
    }
}

/// Whether a file is in a folder that is named by its whole path.
fn is_anywhere(place: &Place) -> bool {
    place.root == "/" || place.folder.starts_with("/project/.specs")
}

fn key(place: &Place) -> String {
    if is_anywhere(place) {
        return format!("{}/{}", place.folder, place.path);
    }
    place.path.clone()
}

/// The files of the project are all there is.
impl Tree for Acting {
    fn walk(&self, walk: Walk) -> Handled<'_, Walked> {
        let files = self.0.files.lock().unwrap();
        let root = inside_project(&walk.folder, "");
        let below = files.keys().filter_map(|it| it.strip_prefix(&root));
        let is_wanted = |path: &&str| {
            let mut parts: Vec<&str> = path.split('/').collect();
            let name = parts.pop().unwrap();
            (walk.files)(name) && parts.iter().all(|it| (walk.folders)(it))
        };
        let mut found: Vec<String> = below.filter(is_wanted).map(str::to_owned).collect();
        let is_cut = walk.files_max < found.len();
        found.truncate(walk.files_max);
        let is_there = files.keys().any(|it| it.starts_with(&root));
        let walked = Walked { files: found, unreadable: 0, is_cut };
        let walked = if is_there { Ok(walked) } else { Err("it is not there".to_owned()) };
        Box::pin(std::future::ready(walked))
    }

    fn visit(
        &self,
        (_, root): (&str, &str),
        paths: Vec<String>,
        bytes_max: u64,
        mut visit: Visit,
    ) -> Handled<'_, ()> {
        if self.0.is_slow.load(Ordering::SeqCst) {
            let reading = Arc::clone(&self.0.reading);
            let visiting = tokio::task::spawn_blocking(move || {
                drop(reading.blocking_lock());
                let mut paths = paths.into_iter();
                while paths.next().is_some_and(|it| visit(&it, Ok("")).is_continue()) {}
            });
            return Box::pin(async move { visiting.await.map_err(|it| it.to_string()) });
        }
        for path in paths {
            let text = self.0.files.lock().unwrap().get(&inside_project(root, &path)).cloned();
            let text = text.ok_or("it is not there");
            let text = text.and_then(|it| {
                if (it.len() as u64) <= bytes_max { Ok(it) } else { Err("it is too large") }
            });
            if visit(&path, text.as_deref().map_err(|it| *it)).is_break() {
                break;
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Returns a path as it is seen from the project's root.
fn inside_project(root: &str, path: &str) -> String {
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") };
    path.strip_prefix("/project/").unwrap_or(&path).to_owned()
}
