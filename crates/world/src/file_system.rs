//! Promised files: read, replaced as a whole, locked and listed, and never outside their folder.

pub(crate) use std::fs::File as LockFile;
use std::{
    fs::{File, TryLockError},
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use runtime::{
    FileSystem, Handled, Held, Kept, Looking, Place, Stat, Subfolder, Wanted, World as _,
};

use crate::{
    Permits, RealWorld,
    beneath::{Care, Root, absent},
    event_log,
    files::{FILE_BYTES_MAX, TEXT_BYTES_MAX},
    git,
    watched::Watched,
};

/// How many locks there are for all files of a folder. Two files may share one.
const LOCKS: u32 = 64;
/// How often a lock is tried, with pauses of up to two milliseconds: some ten seconds.
const LOCK_TRIES_MAX: u32 = 5_000;
/// The folder of the locks.
const LOCK_FOLDER: &str = ".locks";
/// The same for files that lie in the project's root, which belongs to other things.
const ROOT_LOCK_FOLDER: &str = ".milepost/locks";

impl FileSystem for RealWorld {
    fn has_folder<'a>(&'a self, folder: &'a str) -> Looking<'a, bool> {
        let folder = PathBuf::from(folder);
        Box::pin(async move {
            let permits = Arc::clone(&self.settings.permits);
            let look = move || permits.serves(&folder) && Root::open(&folder).is_ok();
            let looking = tokio::task::spawn_blocking(look).await;
            looking.unwrap_or(false)
        })
    }

    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>> {
        self.change(place, |place| {
            let path = plain(&place.path)?;
            absent(open(place).and_then(|it| it.stat(path)))
        })
    }

    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>> {
        handle(place, |place| {
            let path = plain(&place.path)?;
            absent(open(place).and_then(|it| it.read(path, TEXT_BYTES_MAX)))
        })
    }

    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.change(place, move |place| write(place, &text, Care::Plain))
    }

    fn write_for_owner<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.change(place, move |place| write(place, &text, Care::Closed))
    }

    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.change(place, move |place| write(place, &text, Care::Durable))
    }

    fn write_privately<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.change(place, move |place| write(place, &text, Care::Private))
    }

    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()> {
        let path = path.to_owned();
        self.change(place, move |place| absent(rename(place, &path)).map(drop))
    }

    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()> {
        self.change(place, |place| {
            let path = plain(&place.path)?;
            absent(open(place).and_then(|it| it.remove(path))).map(drop)
        })
    }

    fn append<'a>(&'a self, place: &'a Place, line: String, bytes_max: u64) -> Handled<'a, ()> {
        // The log is where the user's own settings say.
        handle(place, move |place| append(place, &line, bytes_max))
    }

    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held> {
        Box::pin(async move {
            let file = self.open_lock(place).await?;
            for tries in 0..LOCK_TRIES_MAX {
                // No thread waits: anyone who holds the lock may need one to get on.
                match file.try_lock() {
                    Ok(()) => return Ok(Box::new(file) as Held),
                    Err(TryLockError::WouldBlock) => {
                        let pause = Duration::from_micros(u64::from(tries.min(20)) * 100 + 50);
                        self.sleep(pause).await;
                    }
                    Err(TryLockError::Error(error)) => return Err(error.to_string()),
                }
            }
            Err("others keep it locked".to_owned())
        })
    }

    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>> {
        let watched = self.watched.clone();
        handle(place, move |place| Ok(absent(scan(place, &wanted, &watched))?.unwrap_or_default()))
    }

    fn inner<'a>(&'a self, place: &'a Place, file: &'a str) -> Handled<'a, Arc<[Subfolder]>> {
        let (watch, file) = (self.inner.clone(), file.to_owned());
        handle(place, move |place| {
            let listing = enter(place).and_then(|it| watch.list(&it, &file));
            Ok(absent(listing)?.unwrap_or_default())
        })
    }

    fn names<'a>(&'a self, place: &'a Place) -> Handled<'a, Vec<String>> {
        handle(place, |place| {
            Ok(absent(enter(place).and_then(|it| it.names()))?.unwrap_or_default())
        })
    }

    fn list_all<'a>(
        &'a self,
        place: &'a Place,
        folders: Vec<String>,
        wanted: Wanted,
    ) -> Handled<'a, Vec<Vec<String>>> {
        handle(place, move |place| {
            let list = |name: &String| {
                let inside = Place { path: name.clone(), ..place.clone() };
                let names = absent(enter(&inside).and_then(|it| it.names()))?;
                let files = names.unwrap_or_default().into_iter().filter(|it| !it.ends_with('/'));
                Ok(files.filter(|it| wanted(it)).collect())
            };
            folders.iter().map(list).collect()
        })
    }

    fn read_all<'a>(
        &'a self,
        place: &'a Place,
        paths: Vec<String>,
    ) -> Handled<'a, Vec<Option<Vec<u8>>>> {
        handle(place, move |place| {
            let Some(folder) = absent(open(place))? else {
                return Ok(vec![None; paths.len()]);
            };
            let read =
                |path: &String| folder.read(plain(path).ok()?, FILE_BYTES_MAX).ok().map(|it| it.0);
            Ok(paths.iter().map(read).collect())
        })
    }

    fn kept<'a>(&'a self, folder: &'a str) -> Looking<'a, Option<Kept>> {
        Box::pin(async move { git::kept(Path::new(folder)).await })
    }
}

impl RealWorld {
    /// Opens a lock beside the files of a folder, which may be one of Milepost's own.
    fn open_lock<'a>(&self, place: &'a Place) -> Handled<'a, File> {
        let permits = Arc::clone(&self.settings.permits);
        handle(place, move |place| {
            check_foreign(place, &[GIT])?;
            check_served(&*permits, place)?;
            open_lock(place)
        })
    }

    /// Changes something, or finds out whether it changed, if the place belongs to the project.
    fn change<'a, T: Send + 'static>(
        &self,
        place: &'a Place,
        doing: impl FnOnce(&Place) -> io::Result<T> + Send + 'static,
    ) -> Handled<'a, T> {
        let permits = Arc::clone(&self.settings.permits);
        handle(place, move |place| {
            check_foreign(place, &[GIT, OWN])?;
            check_served(&*permits, place)?;
            doing(place)
        })
    }
}

fn check_served(permits: &dyn Permits, place: &Place) -> io::Result<()> {
    if permits.serves(Path::new(&place.root)) {
        return Ok(());
    }
    let problem = format!("`{}` does not belong to this project", place.root);
    Err(io::Error::new(ErrorKind::PermissionDenied, problem))
}

/// The folders that belong to git and to Milepost itself.
const GIT: &str = ".git";
const OWN: &str = ".milepost";

/// Refuses a place in one of these folders: what a file there says has power over more than the run.
fn check_foreign(place: &Place, folders: &[&str]) -> io::Result<()> {
    let whole = Path::new(&place.folder).join(&place.path);
    let is_foreign = |it: Component<'_>| {
        let name = it.as_os_str().to_string_lossy().to_lowercase();
        folders.contains(&name.as_str())
    };
    if !whole.components().any(is_foreign) {
        return Ok(());
    }
    let problem = format!("`{}` is in a folder of git or Milepost itself", whole.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, problem))
}

/// Does something that may take its time elsewhere.
fn handle<T: Send + 'static>(
    place: &Place,
    doing: impl FnOnce(&Place) -> io::Result<T> + Send + 'static,
) -> Handled<'_, T> {
    let place = place.clone();
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(move || doing(&place)).await;
        match done {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    })
}

/// Opens the folder of a place.
fn open(place: &Place) -> io::Result<Root> {
    Root::of(Path::new(&place.root), Path::new(&place.folder))
}

/// Opens the folder of a place to write in it. It is made if it is not there.
fn make(place: &Place, care: Care) -> io::Result<Root> {
    Root::make(Path::new(&place.root), Path::new(&place.folder), care)
}

/// Opens the folder that a place is.
fn enter(place: &Place) -> io::Result<Root> {
    open(place)?.enter(plain(&place.path)?)
}

/// Refuses a path that could lead out by its own words.
fn plain(path: &str) -> io::Result<&Path> {
    let path = Path::new(path);
    if path.components().all(|it| matches!(it, Component::Normal(_) | Component::CurDir)) {
        return Ok(path);
    }
    let problem = format!("`{}` leads out of its folder", path.display());
    Err(io::Error::new(ErrorKind::InvalidInput, problem))
}

fn write(place: &Place, text: &str, care: Care) -> io::Result<Stat> {
    make(place, care)?.replace(plain(&place.path)?, text.as_bytes(), care)
}

fn append(place: &Place, line: &str, bytes_max: u64) -> io::Result<()> {
    event_log::append(&make(place, Care::Plain)?, plain(&place.path)?, (line, bytes_max))
}

/// A file that has the name already is not written over: the new one gets a number.
fn rename(place: &Place, path: &str) -> io::Result<()> {
    let folder = open(place)?;
    let wanted = plain(path)?;
    let parent = wanted.parent().unwrap_or(Path::new(""));
    folder.make_folder(parent, Care::Plain)?;
    let stem = wanted.file_stem().unwrap_or_default().to_string_lossy();
    let ending =
        wanted.extension().map(|it| format!(".{}", it.to_string_lossy())).unwrap_or_default();
    let numbered = (2..).map(|number| format!("{stem}-{number}{ending}"));
    for name in std::iter::once(format!("{stem}{ending}")).chain(numbered) {
        let to = parent.join(name);
        if folder.find_kind(&to)?.is_none() {
            return folder.rename(plain(&place.path)?, &to);
        }
    }
    Ok(())
}

fn open_lock(place: &Place) -> io::Result<File> {
    let number =
        place.path.bytes().fold(0_u32, |sum, it| sum.wrapping_mul(31).wrapping_add(u32::from(it)));
    let is_root = Path::new(&place.folder).components().eq(Path::new(&place.root).components());
    let folder = if is_root { ROOT_LOCK_FOLDER } else { LOCK_FOLDER };
    let locks = make(place, Care::Plain)?.make_folder(Path::new(folder), Care::Plain)?;
    locks.place_new(Path::new(".gitignore"), b"*\n", Care::Plain)?;
    locks.open_lock(Path::new(&format!("{:02}.lock", number % LOCKS)))
}

fn scan(place: &Place, wanted: &Wanted, watched: &Watched) -> io::Result<Vec<(String, Stat)>> {
    let folder = enter(place)?;
    // All files are kept in mind, no matter who asks for which of them.
    let mut found = watched.list(&folder)?;
    found.retain(|(name, _)| wanted(name));
    Ok(found)
}
