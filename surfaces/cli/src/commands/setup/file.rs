//! Files of other programs: read whole, written whole or not at all, with a copy of what was there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use definition::Digest;
use world::beneath::{Care, Root, read_named};

use crate::{failure::Failure, kept::make_folder};

/// The folder in the user's own that holds the copies.
const FOLDER: &str = "setup";
/// How much of the digest of a path tells files of the same name apart.
const ID_CHARS: usize = 12;

/// How many links are followed to a file.
const LINKS_MAX: usize = 32;
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns the text of a file, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match read_named(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("`{}` cannot be read: {error}", path.display());
            if error.kind() != io::ErrorKind::InvalidData {
                return Err(Failure::fault("io", message));
            }
            let hint = "nothing was written; it must be text in UTF-8";
            Err(Failure::refused("file_unreadable", message).with_hint(hint))
        }
    }
}

/// Writes a file whole, through links to it, with the rights that it has.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, text).map_err(|error| not_written(path, &error))
}

/// Removes a file.
pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| not_written(path, &error))
}

/// The copies of one file. They lie in the user's own folder, so that no repository gets them; where
/// there is none, beside the file.
#[derive(Debug, Clone)]
pub(super) struct Backups {
    path: PathBuf,
    folder: PathBuf,
    /// What the name of each begins with.
    stem: String,
}

impl Backups {
    /// Returns the copies of the file at `path`.
    pub(super) fn of(path: &Path, state: Option<&Path>) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (folder, stem) = match state {
            None => (path.parent().unwrap_or(Path::new("")).to_owned(), format!("{name}.backup")),
            Some(state) => {
                let digest = Digest::of(path.as_os_str().as_encoded_bytes());
                let id = digest.as_str().get(..ID_CHARS).unwrap_or_default();
                (state.join(FOLDER), format!("{name}.{id}.backup"))
            }
        };
        Self { path: path.to_owned(), folder, stem }
    }

    /// Copies the file under the next free name, and returns that.
    pub(super) fn make(&self) -> Result<PathBuf, Failure> {
        let copy = self.name(self.all()?.last().map_or(0, |it| it.0 + 1));
        make_folder(&self.folder).map_err(|error| not_written(&self.folder, &error))?;
        fs::copy(&self.path, &copy).map_err(|error| not_written(&copy, &error))?;
        Ok(copy)
    }

    /// Returns the newest copy.
    pub(super) fn newest(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(self.all()?.pop().map(|it| it.1))
    }

    /// Returns the copies with their numbers, the newest last.
    fn all(&self) -> Result<Vec<(u32, PathBuf)>, Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let Some(rest) = name.strip_prefix(&self.stem) else { continue };
            let number = if rest.is_empty() { Some("0") } else { rest.strip_prefix('.') };
            if let Some(number) = number.and_then(|it| it.parse().ok()) {
                found.push((number, self.name(number)));
            }
        }
        found.sort();
        Ok(found)
    }

    fn name(&self, number: u32) -> PathBuf {
        let ending = if number == 0 { String::new() } else { format!(".{number}") };
        self.folder.join(format!("{}{ending}", self.stem))
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = followed(path)?;
    let folder = target.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    let name = Path::new(target.file_name().unwrap_or_default());
    Root::open(folder)?.replace(name, text.as_bytes(), Care::Durable).map(drop)
}

/// Returns the file that a path leads to, which need not be there.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead to it"))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::fault("io", format!("`{}` cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_numbered_and_the_newest_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let beside = Backups::of(&path, None);
        assert_eq!(beside.newest().unwrap(), None);
        fs::write(&path, "1").unwrap();
        for name in [".backup", ".backup.1", ".backup.2"] {
            let copy = beside.make().unwrap();
            assert_eq!(copy.display().to_string(), format!("{}{name}", path.display()));
        }
        for number in 3..12 {
            beside.make().unwrap();
            assert!(folder.path().join(format!("mcp.json.backup.{number}")).exists());
        }
        fs::write(folder.path().join("mcp.json.backup.mine"), "").unwrap();
        fs::write(folder.path().join("mcp.json.backups"), "").unwrap();
        let newest = beside.newest().unwrap().unwrap();
        assert!(newest.ends_with("mcp.json.backup.11"), "{newest:?}");
    }

    #[test]
    fn copies_of_files_with_the_same_name_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let paths = ["a.json", "a.json.x"].map(|it| folder.path().join(it));
        let copies = paths.map(|path| {
            fs::write(&path, path.display().to_string()).unwrap();
            let backups = Backups::of(&path, Some(&state));
            assert_eq!(backups.newest().unwrap(), None);
            let copy = backups.make().unwrap();
            assert_eq!(backups.newest().unwrap().unwrap(), copy);
            assert!(copy.starts_with(state.join("setup")));
            copy
        });
        assert_ne!(copies[0], copies[1]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_rights_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("a/link"), folder.path().join("b/real"));
        for inner in ["a", "b"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        symlink("../b/real", &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        write(&link, "newer").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "newer");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path().join("b")).unwrap().count(), 1);
        symlink("round", folder.path().join("round")).unwrap();
        assert!(write(&folder.path().join("round"), "x").is_err());
    }
}
