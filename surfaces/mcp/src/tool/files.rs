//! What a dialect sees of files, and how what it writes gets there. This opens nothing outside of the
//! project and of the folders that the settings name.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

use dialects::{
    forge::place,
    kit::{Caller, Eye, Files, Folder, Sight, Text, Write},
};
use runtime::{FileSystem, Handled, Place, Runtime, Tree, Visit, Walk, Wanted};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The largest file that is visited. Code that people write is far smaller.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// How long files are visited. Clients give up after a minute or so.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many threads read source code, for all calls together. Whoever makes the pool of threads that
/// may block must give it more than these, because the other tools need some too.
pub const READERS_MAX: usize = 4;

/// One permit for each thread that reads source code; no more of them than there are cores. A call
/// that finds none waits, within the limit that every call has.
static READERS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.clamp(1, READERS_MAX))
});

/// The files as a call sees them.
pub(super) struct Reach<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) caller: &'a Caller,
}

impl Reach<'_> {
    /// Looks, and goes on with what is seen.
    pub(super) async fn look<N: Send + 'static>(&self, files: Files<N>) -> N {
        match files {
            Files::Text(folder, path, then) => then(self.text(&folder, &path).await),
            Files::Texts(folder, paths, then) => then(self.texts(&folder, paths).await),
            Files::Stats(folder, paths, then) => {
                let mut stats = Vec::new();
                for path in paths {
                    stats.push(self.stat(&folder, &path).await.ok().flatten());
                }
                then(stats)
            }
            Files::IsThere(folder, then) => then(self.is_there(&folder).await),
            Files::Names(folder, folders, wanted, then) => {
                let place = self.place(&folder, "");
                then(match (self.file_system(), place) {
                    (Ok(it), Ok(place)) => it.list_all(&place, folders, wanted).await,
                    (Err(problem), _) | (_, Err(problem)) => Err(problem),
                })
            }
            Files::Everything(folder, folders, then) => {
                let mut names = Vec::new();
                for inner in folders {
                    names.push(self.names(&folder, &inner).await.unwrap_or_default());
                }
                then(names)
            }
            Files::Folders(folder, file, then) => {
                let place = self.place(&folder, "");
                then(match (self.file_system(), place) {
                    (Ok(it), Ok(place)) => it.inner(&place, file).await,
                    (Err(problem), _) | (_, Err(problem)) => Err(problem),
                })
            }
            Files::Repository(folder, then) => {
                let kept = match self.file_system() {
                    Ok(it) => it.kept(folder.as_str()).await,
                    Err(_) => None,
                };
                then(kept.unwrap_or_default())
            }
            Files::Walk(folder, files, folders, files_max, then) => {
                let (root, folder) = (self.project(), folder.as_str().to_owned());
                let (stop, reader) = (Stop::default(), Reader::take().await);
                let files = reader.holds(files);
                let flag = Arc::clone(&stop.0);
                let walk = Walk { root, folder, files, folders, files_max, stop: flag };
                then(match self.tree() {
                    Ok(tree) => tree.walk(walk).await,
                    Err(problem) => Err(problem),
                })
            }
            Files::Visit(folder, eyes, then) => {
                let visited = self.visit(&folder, eyes).await;
                let reader = Reader::take().await;
                // Following ten thousand imports takes a moment that others need not wait for.
                let following = tokio::task::spawn_blocking(move || {
                    let next = then(visited);
                    drop(reader);
                    next
                });
                match following.await {
                    Ok(next) => next,
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                }
            }
            Files::Keep(folder, path, text, then) => {
                if self.is_there(&folder).await {
                    let (path, text) = (path.to_owned(), Text::Whole(text));
                    let write = Write { folder, path, text, is_private: true };
                    if let Err(problem) = self.write(write).await {
                        tracing::debug!("a file that was made of others is not kept: {problem}");
                    }
                }
                then(())
            }
        }
    }

    /// Writes a file. Its folder is made if it is not there.
    pub(super) async fn write(&self, write: Write) -> Result<(), String> {
        let Write { folder, path, text, is_private } = write;
        let file_system = self.file_system()?;
        // Locks lie in the project, and not among the specs.
        let root = self.project();
        let lock =
            Place { folder: root.clone(), root, path: format!("{}/{path}", folder.as_str()) };
        let _held = file_system.lock(&lock).await?;
        let text = match text {
            Text::Whole(text) => text,
            Text::Amended(amend) => {
                let text = self.text(&folder, &path).await?;
                let Some(text) = amend(text.as_deref()) else { return Ok(()) };
                text
            }
        };
        let place = self.place(&folder, &path)?;
        if is_private {
            file_system.write_privately(&place, text).await.map(drop)
        } else {
            file_system.write_durably(&place, text).await.map(drop)
        }
    }

    /// Returns whether a file is there.
    pub(super) async fn has(&self, folder: &Folder, path: &str) -> bool {
        self.stat(folder, path).await.is_ok_and(|it| it.is_some())
    }

    /// Removes a file.
    pub(super) async fn remove(&self, folder: &Folder, path: &str) -> Result<(), String> {
        self.file_system()?.remove(&self.place(folder, path)?).await
    }

    async fn text(&self, folder: &Folder, path: &str) -> Result<Option<String>, String> {
        let place = self.place(folder, path)?;
        let Some((bytes, _)) = self.file_system()?.read(&place).await? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| "it is not text".to_owned())
    }

    async fn texts(
        &self,
        folder: &Folder,
        paths: Vec<String>,
    ) -> Result<Vec<Option<String>>, String> {
        let found = self.file_system()?.read_all(&self.place(folder, "")?, paths).await?;
        let text = |bytes: Option<Vec<u8>>| bytes.and_then(|it| String::from_utf8(it).ok());
        Ok(found.into_iter().map(text).collect())
    }

    async fn stat(&self, folder: &Folder, path: &str) -> Result<Option<runtime::Stat>, String> {
        self.file_system()?.stat(&self.place(folder, path)?).await
    }

    async fn names(&self, folder: &Folder, path: &str) -> Result<Vec<String>, String> {
        self.file_system()?.names(&self.place(folder, path)?).await
    }

    async fn is_there(&self, folder: &Folder) -> bool {
        match (self.file_system(), self.place(folder, "")) {
            (Ok(file_system), Ok(place)) => file_system.has_folder(&place.folder).await,
            (Err(_), _) | (_, Err(_)) => false,
        }
    }

    /// Visits files with several pairs of eyes, until all are seen or it has taken long enough. Each
    /// pair begins as soon as a thread may read for it. The time counts from the first one on.
    async fn visit(&self, folder: &Folder, eyes: Vec<(Vec<String>, Eye)>) -> Result<bool, String> {
        let (tree, project) = (self.tree()?, self.project());
        let folders = (project.as_str(), folder.as_str());
        let stop = Stop::default();
        let flag = Arc::clone(&stop.0);
        let mut first = Some(Reader::take().await);
        let mut visiting = Box::pin(async move {
            let mut visits: Vec<Handled<'_, ()>> = Vec::new();
            for (paths, eye) in eyes {
                if flag.load(Ordering::Relaxed) {
                    break;
                }
                let reader = match first.take() {
                    Some(first) => first,
                    None => Reader::take().await,
                };
                let visit = watched(eye, Arc::clone(&flag), reader);
                visits.push(tree.visit(folders, paths, FILE_BYTES_MAX, visit));
            }
            drop(first);
            for visit in visits {
                visit.await?;
            }
            Ok::<(), String>(())
        });
        tokio::select! {
            biased;
            visited = &mut visiting => visited.map(|()| false),
            () = self.runtime.sleep(PATIENCE) => {
                stop.0.store(true, Ordering::Relaxed);
                visiting.await.map(|()| true)
            }
        }
    }

    /// Returns where a path of a folder is. Only what is in the project, or in a folder that the
    /// settings name, is reached.
    fn place(&self, folder: &Folder, path: &str) -> Result<Place, String> {
        let project = place::project(self.caller);
        let root = place::reach(self.caller, folder)?;
        // The root is never made, so it must be one that is there.
        let root = if root == project { root.as_str().to_owned() } else { "/".to_owned() };
        Ok(Place { root, folder: folder.as_str().to_owned(), path: path.to_owned() })
    }

    fn project(&self) -> String {
        place::project(self.caller).as_str().to_owned()
    }

    fn file_system(&self) -> Result<&dyn FileSystem, String> {
        self.runtime.file_system().ok_or_else(|| "no files can be reached here".to_owned())
    }

    fn tree(&self) -> Result<&dyn Tree, String> {
        self.runtime.tree().ok_or_else(|| "no files can be looked at here".to_owned())
    }
}

/// Returns a visit that ends when the flag is set. It holds its reader until it is over, also where
/// the call that wants it is given up before.
fn watched(eye: Eye, flag: Arc<AtomicBool>, reader: Reader) -> Visit {
    Box::new(move |path, text| {
        let _held = &reader;
        if flag.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        eye(Sight { path, text, stop: &flag });
        ControlFlow::Continue(())
    })
}

/// The right to read source code on a thread.
struct Reader(Option<SemaphorePermit<'static>>);

impl Reader {
    /// Waits until one is free.
    async fn take() -> Self {
        // The semaphore is never closed.
        Self(READERS.acquire().await.ok())
    }

    /// Returns the same question, which holds the reader as long as it may be asked.
    fn holds(self, wanted: Wanted) -> Wanted {
        Arc::new(move |name: &str| {
            let _held = &self.0;
            wanted(name)
        })
    }
}

/// Tells anyone who looks that it is enough, also when nobody waits any more.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
