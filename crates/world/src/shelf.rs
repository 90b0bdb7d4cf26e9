//! Reads many small files of one folder, and never one that a link leads to outside of it.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use crate::desk::contained;

/// Returns the names in a folder in order, those of folders with `/` at the end.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(mut name) = entry.file_name().into_string() else { continue };
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_unstable();
    Ok(names)
}

/// A folder whose files are read.
pub(crate) struct Opened {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    folder: File,
}

impl Opened {
    /// Opens a folder, whose path has no links in it.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            #[cfg(target_os = "linux")]
            folder: File::open(path)?,
        })
    }

    /// Reads a file that is at most so large.
    pub(crate) fn read(&self, path: &Path, max: u64) -> Option<Vec<u8>> {
        let file = self.open(path).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || max < metadata.len() {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.take(max).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The system itself sees to it that no link leads out, which costs nothing.
    #[cfg(target_os = "linux")]
    fn open(&self, path: &Path) -> io::Result<File> {
        use rustix::{
            fs::{Mode, OFlags, ResolveFlags, openat2},
            io::Errno,
        };
        let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match openat2(&self.folder, path, how, Mode::empty(), ResolveFlags::BENEATH) {
            Ok(opened) => Ok(File::from(opened)),
            // An old system, or a sandbox that does not let it be asked.
            Err(Errno::NOSYS | Errno::PERM) => self.open_slowly(path),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open(&self, path: &Path) -> io::Result<File> {
        self.open_slowly(path)
    }

    fn open_slowly(&self, path: &Path) -> io::Result<File> {
        let found = fs::canonicalize(self.path.join(path))?;
        File::open(contained(&self.path, found)?)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Opened, names};

    #[test]
    fn no_link_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b.md"), "text").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).unwrap();
        let opened = Opened::new(&folder.path().canonicalize().unwrap()).unwrap();
        let read = |path: &str, max| opened.read(Path::new(path), max);
        assert_eq!(read("a/b.md", 9).as_deref(), Some(&b"text"[..]));
        assert_eq!(read("a/b.md", 3), None);
        assert_eq!((read("a", 9), read("none", 9), read("out/secret", 9)), (None, None, None));
        assert!(opened.open_slowly(Path::new("a/b.md")).is_ok());
        assert!(opened.open_slowly(Path::new("out/secret")).is_err());
        assert_eq!(names(folder.path()).unwrap(), ["a/", "out"]);
    }
}
