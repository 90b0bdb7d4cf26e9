//! Promised files: read, replaced as a whole, locked and listed, and never outside their folder.

use std::{
    fs::{self, DirBuilder, File, Metadata, TryLockError},
    io::{self, ErrorKind, Read as _, Write as _},
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use runtime::{Desk, Handled, Held, Inner, Kept, Looking, Place, Stat, Wanted, World as _};

use crate::{RealWorld, git, ledger, shelf, watched::Watched};

/// How many locks there are for all files of a folder. Two files may share one.
const LOCKS: u32 = 64;
/// How often a lock is tried, with pauses of up to two milliseconds: some ten seconds.
const LOCK_TRIES_MAX: u32 = 5_000;
/// The folder of the locks.
const LOCK_FOLDER: &str = ".locks";
/// The same for files that lie in the project's root, which belongs to other things.
const ROOT_LOCK_FOLDER: &str = ".milepost/locks";

impl Desk for RealWorld {
    fn has_folder<'a>(&'a self, folder: &'a str) -> Looking<'a, bool> {
        let folder = PathBuf::from(folder);
        Box::pin(async move {
            let looking = tokio::task::spawn_blocking(move || folder.is_dir()).await;
            looking.unwrap_or(false)
        })
    }

    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>> {
        handle(place, |place| absent(find(place).and_then(fs::metadata).map(|it| stat(&it))))
    }

    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>> {
        let max = self.settings.text_bytes_max;
        handle(place, move |place| absent(read(place, max)))
    }

    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        handle(place, move |place| write(place, &text, Care::Plain))
    }

    fn write_for_owner<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        handle(place, move |place| write(place, &text, Care::Closed))
    }

    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        handle(place, move |place| write(place, &text, Care::Durable))
    }

    fn write_privately<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        handle(place, move |place| write(place, &text, Care::Private))
    }

    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()> {
        let path = path.to_owned();
        handle(place, move |place| absent(rename(place, &path)).map(drop))
    }

    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()> {
        handle(place, |place| absent(find(place).and_then(fs::remove_file)).map(drop))
    }

    fn append<'a>(&'a self, place: &'a Place, line: String, bytes_max: u64) -> Handled<'a, ()> {
        handle(place, move |place| ledger::append(&enter(place)?, &line, bytes_max))
    }

    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held> {
        Box::pin(async move {
            let file = handle(place, open_lock).await?;
            for tries in 0..LOCK_TRIES_MAX {
                // No thread waits: whoever holds the lock may need one to get on.
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

    fn inner<'a>(&'a self, place: &'a Place, file: &'a str) -> Handled<'a, Arc<[Inner]>> {
        let (watch, file) = (self.inner.clone(), file.to_owned());
        handle(place, move |place| {
            let listing = find(place).and_then(|it| watch.list(&it, &file));
            Ok(absent(listing)?.unwrap_or_default())
        })
    }

    fn names<'a>(&'a self, place: &'a Place) -> Handled<'a, Vec<String>> {
        handle(place, |place| {
            Ok(absent(find(place).and_then(|it| shelf::names(&it)))?.unwrap_or_default())
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
                let names = absent(find(&inside).and_then(|it| shelf::names(&it)))?;
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
        let max = self.settings.file_bytes_max;
        handle(place, move |place| {
            let Some(folder) = absent(fs::canonicalize(&place.folder))? else {
                return Ok(vec![None; paths.len()]);
            };
            let shelf = shelf::Opened::new(&folder)?;
            let read = |path: &String| {
                let path = plain(path).ok()?;
                shelf.read(path, max)
            };
            Ok(paths.iter().map(read).collect())
        })
    }

    fn kept<'a>(&'a self, folder: &'a str) -> Looking<'a, Option<Kept>> {
        Box::pin(async move { git::kept(Path::new(folder)).await })
    }
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

/// Makes what is not there nothing.
fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns where a file or folder really is, which must be in its folder.
fn find(place: &Place) -> io::Result<PathBuf> {
    let folder = fs::canonicalize(&place.folder)?;
    let found = fs::canonicalize(folder.join(plain(&place.path)?))?;
    contained(&folder, found)
}

/// Refuses a path that could lead out by its own words.
fn plain(path: &str) -> io::Result<&Path> {
    let path = Path::new(path);
    if path.components().all(|it| matches!(it, Component::Normal(_) | Component::CurDir)) {
        return Ok(path);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "the path leads out of its folder"))
}

pub(crate) fn contained(folder: &Path, found: PathBuf) -> io::Result<PathBuf> {
    if found.starts_with(folder) {
        return Ok(found);
    }
    Err(io::Error::new(ErrorKind::PermissionDenied, "a link leads out of the folder"))
}

pub(crate) fn stat(metadata: &Metadata) -> Stat {
    let since = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let modified = since.map_or(0, |it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX));
    Stat { size: metadata.len(), modified }
}

fn read(place: &Place, max: u64) -> io::Result<(Vec<u8>, Stat)> {
    let file = File::open(find(place)?)?;
    let stat = stat(&file.metadata()?);
    if max < stat.size {
        let problem = format!("it has {} bytes, and at most {max} are taken", stat.size);
        return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    Ok((bytes, stat))
}

/// Makes the folder of a file, if it is not there, without following a link out of it.
fn make_parent(place: &Place, care: Care) -> io::Result<PathBuf> {
    let builder = care.folders();
    fs::metadata(&place.root)?;
    builder.create(&place.folder)?;
    let folder = fs::canonicalize(&place.folder)?;
    let mut parent = folder.clone();
    for part in plain(&place.path)?.parent().into_iter().flat_map(Path::components) {
        parent.push(part);
        match builder.create(&parent) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        parent = contained(&folder, fs::canonicalize(&parent)?)?;
    }
    Ok(parent)
}

/// Returns where a file is or is to be. Its folder is made, and a link does not lead out of it.
fn enter(place: &Place) -> io::Result<PathBuf> {
    let target = make_parent(place, Care::Plain)?
        .join(Path::new(&place.path).file_name().unwrap_or_default());
    Ok(absent(find(place))?.unwrap_or(target))
}

/// What a file that is written needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// It can be written again from the log, so it need not reach the disk now.
    Plain,
    /// That, and it is nobody else's business.
    Closed,
    /// It holds what is nowhere else.
    Durable,
    /// That, and it is nobody else's business.
    Private,
}

impl Care {
    fn is_durable(self) -> bool {
        matches!(self, Self::Durable | Self::Private)
    }

    fn is_private(self) -> bool {
        matches!(self, Self::Closed | Self::Private)
    }

    /// Makes the folders that such a file needs. Those of a private one are closed to strangers.
    fn folders(self) -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        if self.is_private() {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o750);
        }
        builder
    }
}

/// Writes beside the file, and moves that into its place. A file that is there keeps its
/// permissions, unless it is private, and a link to it stays one.
fn write(place: &Place, text: &str, care: Care) -> io::Result<Stat> {
    let parent = make_parent(place, care)?;
    let name = Path::new(&place.path).file_name().unwrap_or_default();
    let (mut target, draft) = (parent.join(name), parent.join(hidden(name)));
    // What a crash left may be read-only.
    absent(fs::remove_file(&draft))?;
    let mut file = create(&draft, care)?;
    file.write_all(text.as_bytes())?;
    if let Some(there) = absent(fs::symlink_metadata(&target))? {
        if there.is_symlink() {
            target = find(place)?;
        }
        if !care.is_private() {
            fs::set_permissions(&draft, fs::metadata(&target)?.permissions())?;
        }
    }
    if care.is_durable() {
        file.sync_all()?;
    }
    // The clock of a file system ticks slowly, so that a change right after this one could have the
    // same time. A time between two ticks tells them apart.
    #[expect(clippy::disallowed_methods, reason = "it is the time of a file, and of nothing else")]
    let now = SystemTime::now();
    file.set_modified(now)?;
    let stat = stat(&file.metadata()?);
    drop(file);
    fs::rename(&draft, &target)?;
    if care.is_durable() {
        File::open(target.parent().unwrap_or(&parent))?.sync_all()?;
    }
    Ok(stat)
}

/// A private file is so from the first byte on.
fn create(path: &Path, care: Care) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if care.is_private() {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// A file that has the name already is not written over: the new one gets a number.
fn rename(place: &Place, path: &str) -> io::Result<()> {
    let from = find(place)?;
    let wanted = Place { path: path.to_owned(), ..place.clone() };
    let parent = make_parent(&wanted, Care::Plain)?;
    let name = Path::new(&wanted.path);
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let ending =
        name.extension().map(|it| format!(".{}", it.to_string_lossy())).unwrap_or_default();
    let numbered = (2..).map(|number| format!("{stem}-{number}{ending}"));
    let mut names = std::iter::once(format!("{stem}{ending}")).chain(numbered);
    let free = names.find(|it| fs::symlink_metadata(parent.join(it)).is_err());
    fs::rename(from, parent.join(free.unwrap_or_default()))
}

/// One name, since whoever writes holds the lock: what a crash left is written over.
fn hidden(name: &std::ffi::OsStr) -> String {
    format!(".{}.tmp", name.to_string_lossy())
}

fn open_lock(place: &Place) -> io::Result<File> {
    let number =
        place.path.bytes().fold(0_u32, |sum, it| sum.wrapping_mul(31).wrapping_add(u32::from(it)));
    let is_root = Path::new(&place.folder).components().eq(Path::new(&place.root).components());
    let folder = if is_root { ROOT_LOCK_FOLDER } else { LOCK_FOLDER };
    let path = format!("{folder}/{:02}.lock", number % LOCKS);
    let parent = make_parent(&Place { path: path.clone(), ..place.clone() }, Care::Plain)?;
    let ignored = parent.join(".gitignore");
    if !ignored.exists() {
        fs::write(ignored, "*\n")?;
    }
    let name = Path::new(&path).file_name().unwrap_or_default();
    File::options().create(true).truncate(false).write(true).open(parent.join(name))
}

fn scan(place: &Place, wanted: &Wanted, watched: &Watched) -> io::Result<Vec<(String, Stat)>> {
    let folder = find(place)?;
    // All files are kept in mind, whoever asks for which of them.
    let look = |name: &str| {
        let metadata = fs::symlink_metadata(folder.join(name)).ok();
        metadata.filter(Metadata::is_file).map(|it| stat(&it))
    };
    let mut found = watched.list(folder.clone(), || list(&folder), look)?;
    found.retain(|(name, _)| wanted(name));
    Ok(found)
}

/// Looks at every file of a folder.
fn list(folder: &Path) -> io::Result<Vec<(String, Stat)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // One that was moved away meanwhile is not there.
        if let Some(metadata) = absent(entry.metadata())?.filter(Metadata::is_file) {
            found.push((name, stat(&metadata)));
        }
    }
    Ok(found)
}
