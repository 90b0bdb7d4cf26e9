//! The one place that opens files whose paths a caller, a repository or the text of another file
//! can choose.
//!
//! A [`Root`] is an open folder. Everything is opened beneath its handle, so no link and no `..`
//! leads out of it, also when files are swapped meanwhile. Opening never waits. What was opened is
//! checked on the handle that is then used, so nothing can change between the check and the use.
//! `docs/design/0015-files-are-opened-beneath-a-root.md` says why.

mod link;
mod write;

use std::{
    ffi::OsStr,
    io::{self, ErrorKind, Read as _},
    path::{Component, Path, PathBuf},
    time::UNIX_EPOCH,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirEntry, FileType, Metadata, OpenOptions},
};
use runtime::Stat;

pub(crate) use self::link::is_escape;
pub use self::write::Care;

/// A folder that is not left.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    /// As it was named.
    path: PathBuf,
    /// What people are told that a link leads out of.
    called: &'static str,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    Folder,
    Link,
    /// A FIFO, a socket, a device.
    Other,
}

/// A name in a folder.
#[derive(Debug)]
pub struct Entry(DirEntry);

impl Root {
    /// Opens a folder that a person or the settings named. Links on the way to it are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority());
        let dir =
            dir.map_err(|error| blocked(path, error, |it| Some(it.metadata().ok()?.is_dir())))?;
        Ok(Self { dir, path: path.to_owned(), called: "its folder" })
    }

    /// Opens the folder of a project.
    pub fn project(path: &Path) -> io::Result<Self> {
        Ok(Self { called: "the project", ..Self::open(path)? })
    }

    /// Opens a folder beneath the root of a project. One that does not lie in it by its words was
    /// named by the settings, and is a root of its own.
    pub fn of(root: &Path, folder: &Path) -> io::Result<Self> {
        let project = Self::project(root)?;
        match project.find_folder(folder) {
            Some(inside) => project.enter(&inside),
            None => Self::open(folder),
        }
    }

    /// Opens such a folder to write in it. It is made if it is not there, the root never.
    pub fn make(root: &Path, folder: &Path, care: Care) -> io::Result<Self> {
        let project = Self::project(root)?;
        if let Some(inside) = project.find_folder(folder) {
            return project.make_folder(&inside, care);
        }
        Dir::create_ambient_dir_all(folder, ambient_authority())?;
        Self::open(folder)
    }

    /// Returns a folder as it is seen from here, unless the settings name one elsewhere. Whatever is
    /// below `/` is elsewhere: nothing is kept from leaving that.
    fn find_folder(&self, folder: &Path) -> Option<PathBuf> {
        self.path.parent()?;
        let inside = self.find_inside(folder)?;
        let has_detour = inside.components().any(|it| it == Component::ParentDir);
        (!has_detour).then_some(inside)
    }

    /// Returns the path that the folder was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in this one.
    pub fn enter(&self, path: &Path) -> io::Result<Self> {
        let path = self.relative(path)?;
        if path.as_os_str().is_empty() {
            return Ok(Self {
                dir: self.dir.try_clone()?,
                path: self.path.clone(),
                called: self.called,
            });
        }
        let dir = self.within(&path, |it| self.dir.open_dir(it))?;
        Ok(Self { dir, path: self.path.join(path), called: "its folder" })
    }

    /// Opens a regular file to read it.
    pub fn open_read(&self, path: &Path) -> io::Result<(std::fs::File, Stat)> {
        let mut options = OpenOptions::new();
        self.open_regular(path, options.read(true))
    }

    /// Reads a regular file of at most `max` bytes.
    pub fn read(&self, path: &Path, max: u64) -> io::Result<(Vec<u8>, Stat)> {
        let (file, stat) = self.open_read(path)?;
        Ok((read_handle(&file, &stat, max)?, stat))
    }

    /// Reads a regular file of at most `max` bytes as a text.
    pub fn read_text(&self, path: &Path, max: u64) -> io::Result<String> {
        text(self.read(path, max)?.0)
    }

    /// Looks at a regular file from outside.
    pub fn stat(&self, path: &Path) -> io::Result<Stat> {
        let about = self.within(path, |it| self.dir.metadata(it))?;
        check_regular(path, about.file_type())?;
        Ok(stat(&about))
    }

    /// Looks at what has a name from outside, without following a link there.
    pub(crate) fn find_named(&self, path: &Path) -> Option<Stat> {
        let about = self.within(path, |it| self.dir.symlink_metadata(it)).ok()?;
        Some(stat(&about))
    }

    /// Returns what is at a path, without following a link there; `None` where nothing is.
    pub fn find_kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        let about = self.within(path, |it| self.dir.symlink_metadata(it));
        Ok(absent(about)?.map(|it| kind(it.file_type())))
    }

    /// Returns what is in the folder, in no order.
    pub fn list(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>> + use<>> {
        Ok(self.dir.entries()?.map(|it| it.map(Entry)))
    }

    /// Returns the names in the folder in order, those of folders with `/` at the end.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.list()? {
            let entry = entry?;
            let Some(mut name) = entry.name() else { continue };
            if entry.kind().is_ok_and(|it| it == Kind::Folder) {
                name.push('/');
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Tells folders apart, whatever they are called.
    pub(crate) fn id(&self) -> io::Result<(u64, u64)> {
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt as _;
            let about = self.dir.dir_metadata()?;
            Ok((about.dev(), about.ino()))
        }
        #[cfg(not(unix))]
        Ok((0, 0))
    }

    /// Returns the handle of the folder.
    #[cfg(target_os = "linux")]
    pub(crate) fn handle(&self) -> &Dir {
        &self.dir
    }

    /// Opens a file without waiting for anyone, and refuses what is not a regular file.
    fn open_regular(
        &self,
        path: &Path,
        options: &mut OpenOptions,
    ) -> io::Result<(std::fs::File, Stat)> {
        let options = unblocked(options);
        let file = self.within(path, |it| self.dir.open_with(it, options));
        let file = file.map_err(|error| self.explain(path, error))?;
        let about = file.metadata()?;
        check_regular(path, about.file_type())?;
        Ok((file.into_std(), stat(&about)))
    }

    /// What is not a regular file may refuse to be opened in its own words: say what it is instead.
    fn explain(&self, path: &Path, error: io::Error) -> io::Error {
        if error.kind() == ErrorKind::NotFound {
            return error;
        }
        let about = self.within(path, |it| self.dir.metadata(it));
        let named = about.and_then(|it| check_regular(path, it.file_type()));
        named.err().filter(|it| it.kind() == ErrorKind::InvalidInput).unwrap_or(error)
    }
}

impl Entry {
    /// Returns the name, if it is a text.
    pub fn name(&self) -> Option<String> {
        self.0.file_name().into_string().ok()
    }

    /// Returns what it stands for. Links are not followed.
    pub fn kind(&self) -> io::Result<Kind> {
        match kind(self.0.file_type()?) {
            // Some file systems say it only when asked for more.
            Kind::Other => Ok(kind(self.0.metadata()?.file_type())),
            kind @ (Kind::File | Kind::Folder | Kind::Link) => Ok(kind),
        }
    }

    /// Looks at it from outside; `None` where it is gone. A link is not followed.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        Ok(absent(self.0.metadata())?.map(|it| stat(&it)))
    }
}

/// Reads a regular file that a person, the settings or git named, of at most `max` bytes, as a
/// text. Links are followed.
pub fn read_named(path: &Path, max: u64) -> io::Result<String> {
    let mut options = OpenOptions::new();
    let options = unblocked(options.read(true));
    let file = cap_std::fs::File::open_ambient_with(path, options, ambient_authority())?;
    let about = file.metadata()?;
    check_regular(path, about.file_type())?;
    text(read_handle(&file.into_std(), &stat(&about), max)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
}

/// Reads an open file to its end, if that comes within `max` bytes.
pub(crate) fn read_handle(file: &std::fs::File, stat: &Stat, max: u64) -> io::Result<Vec<u8>> {
    let too_large = |size: u64| {
        let problem = format!("it has {size} bytes, and at most {max} are read");
        Err(io::Error::new(ErrorKind::FileTooLarge, problem))
    };
    if max < stat.size {
        return too_large(stat.size);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default());
    // It may grow while it is read.
    let size = file.take(max.saturating_add(1)).read_to_end(&mut bytes)? as u64;
    if max < size { too_large(size) } else { Ok(bytes) }
}

/// Makes what is not there nothing.
pub fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Names the first part of a path that must be a folder and is none. The system says only that
/// there is one.
fn blocked(path: &Path, error: io::Error, is_folder: impl Fn(&Path) -> Option<bool>) -> io::Error {
    if error.kind() != ErrorKind::NotADirectory {
        return error;
    }
    let mut parts: Vec<&Path> = path.ancestors().filter(|it| !it.as_os_str().is_empty()).collect();
    parts.reverse();
    let Some(part) = parts.into_iter().find(|it| is_folder(it) == Some(false)) else {
        return error;
    };
    let problem =
        format!("`{}` is not a folder; move it away, or put a folder in its place", part.display());
    io::Error::new(ErrorKind::NotADirectory, problem)
}

/// Keeps opening from waiting for the other end of a FIFO.
fn unblocked(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        let flag = rustix::fs::OFlags::NONBLOCK.bits();
        options.custom_flags(i32::try_from(flag).unwrap_or_default());
    }
    options
}

fn check_regular(path: &Path, kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let problem = format!(
        "`{}` is {}, not a regular file; move it away, or put a file in its place",
        path.display(),
        describe(kind)
    );
    Err(io::Error::new(ErrorKind::InvalidInput, problem))
}

fn kind(kind: FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

fn describe(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a FIFO";
        } else if kind.is_socket() {
            return "a socket";
        } else if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    match self::kind(kind) {
        Kind::Folder => "a folder",
        Kind::Link => "a link",
        Kind::File | Kind::Other => "something else",
    }
}

fn stat(about: &Metadata) -> Stat {
    let modified = about.modified().ok().map(cap_std::time::SystemTime::into_std);
    let since = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let modified = since.map_or(0, |it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX));
    Stat { size: about.len(), modified }
}

/// Returns the folder that a path is in, and its name there.
fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let name = path.file_name().filter(|_| !path.as_os_str().is_empty());
    let problem = || io::Error::new(ErrorKind::InvalidInput, "the path names no file");
    Ok((path.parent().unwrap_or(Path::new("")), name.ok_or_else(problem)?))
}

#[cfg(test)]
mod tests;
