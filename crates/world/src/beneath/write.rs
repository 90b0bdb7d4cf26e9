//! Writes beneath a root: files as a whole, lines at the end of one, locks.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use cap_std::fs::{DirBuilder, OpenOptions};
use runtime::Stat;

use super::{Root, absent, check_regular, split, stat};

/// How often a draft is made. Writers hold a lock, so one try is enough as a rule.
const DRAFTS_MAX: usize = 8;

/// How many files this process has begun to place.
static PLACED: AtomicU64 = AtomicU64::new(0);

/// What a file that is written needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// It can be written again from the log, so it need not reach the disk now.
    Plain,
    /// That, and only its owner may read it.
    Closed,
    /// It holds what is nowhere else.
    Durable,
    /// That, and only its owner may read it.
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
            use cap_std::fs::DirBuilderExt as _;
            builder.mode(0o750);
        }
        builder
    }
}

impl Root {
    /// Opens a folder in this one, which is made if it is not there.
    pub fn make_folder(&self, path: &Path, care: Care) -> io::Result<Self> {
        match self.enter(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => return done,
        }
        let builder = care.folders();
        self.within(path, |it| self.dir.create_dir_with(it, &builder))?;
        self.enter(path)
    }

    /// Replaces a file: writes beside it, and moves that into its place. The folders above it are
    /// made. A file that is there keeps its permissions, unless it is private; a link to a file in
    /// this folder stays one.
    pub fn replace(&self, path: &Path, bytes: &[u8], care: Care) -> io::Result<Stat> {
        let path = self.relative(path)?;
        let is_link = absent(self.within(&path, |it| self.dir.read_link_contents(it)));
        let path = if let Ok(Some(_)) = is_link { self.resolve(&path)? } else { path };
        let (parent, name) = split(&path)?;
        let parent = self.make_folder(parent, care)?;
        let there = absent(parent.dir.symlink_metadata(name))?;
        if let Some(there) = &there {
            check_regular(&path, there.file_type())?;
        }
        let (draft, file) = parent.draft(name, care)?;
        if let (Some(there), false) = (there, care.is_private()) {
            file.set_permissions(there.permissions())?;
        }
        let stat = fill(file, bytes, care)?;
        parent.dir.rename(&draft, &parent.dir, name)?;
        parent.sync(care)?;
        Ok(stat)
    }

    /// Makes a file, unless there is one. It is there as a whole or not at all, also after a crash.
    /// Returns whether it was made.
    pub fn place_new(&self, path: &Path, bytes: &[u8], care: Care) -> io::Result<bool> {
        let (parent, name) = split(path)?;
        let parent = self.make_folder(parent, care)?;
        if parent.find_kind(Path::new(name))?.is_some() {
            return Ok(false);
        }
        // Several processes and threads may do this at the same moment.
        let (process, number) = (std::process::id(), PLACED.fetch_add(1, Ordering::Relaxed));
        let own = format!("{}.{process}.{number}", name.to_string_lossy());
        let (draft, file) = parent.draft(OsStr::new(&own), care)?;
        fill(file, bytes, care)?;
        let linked = parent.dir.hard_link(&draft, &parent.dir, name);
        let made = match linked {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            // Some file systems have no hard links.
            Err(_) => return parent.dir.rename(&draft, &parent.dir, name).map(|()| true),
        };
        parent.dir.remove_file(&draft)?;
        parent.sync(care)?;
        Ok(made)
    }

    /// Opens a regular file to add to its end. It is made for its owner alone if it is not there.
    pub fn open_append(&self, path: &Path) -> io::Result<(File, Stat)> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        self.open_regular(path, owned(&mut options))
    }

    /// Opens a regular file that is only locked. It is made if it is not there.
    pub fn open_lock(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let (file, _) = self.open_regular(path, options.write(true).create(true))?;
        Ok(file)
    }

    /// Gives a file another name, in place of what has that now.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (folder, name) = split(to)?;
        let folder = self.enter(folder)?;
        self.within(from, |it| self.dir.rename(it, &folder.dir, name))
    }

    /// Removes a file, or a link and not what it leads to.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.within(path, |it| self.dir.remove_file(it))
    }

    /// Makes an empty file beside one, of which it is to be the next text. What a crash left of an
    /// earlier one is removed: it may be read-only, or a link.
    fn draft(&self, name: &OsStr, care: Care) -> io::Result<(PathBuf, cap_std::fs::File)> {
        let draft = PathBuf::from(format!(".{}.tmp", name.to_string_lossy()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if care.is_private() {
            owned(&mut options);
        }
        for _ in 1..DRAFTS_MAX {
            absent(self.dir.remove_file(&draft))?;
            match self.dir.open_with(&draft, &options) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return Ok((draft, made?)),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, "others write it at the same moment"))
    }

    /// Waits until the names in the folder are on disk, where that matters.
    fn sync(&self, care: Care) -> io::Result<()> {
        if cfg!(unix) && care.is_durable() {
            self.dir.open(".")?.sync_all()?;
        }
        Ok(())
    }
}

/// Writes a draft. The clock of a file system ticks slowly, so that a change right after this one
/// could have the same time. A time between two ticks tells them apart.
fn fill(file: cap_std::fs::File, bytes: &[u8], care: Care) -> io::Result<Stat> {
    let mut file = file.into_std();
    file.write_all(bytes)?;
    #[expect(clippy::disallowed_methods, reason = "it is the time of a file, and of nothing else")]
    let now = SystemTime::now();
    file.set_modified(now)?;
    if care.is_durable() {
        file.sync_all()?;
    }
    Ok(stat(&cap_std::fs::File::from_std(file).metadata()?))
}

/// Has a file be its owner's alone from the first byte on.
fn owned(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
