//! Files of other programs: read whole, written whole or not at all, with a copy of what was there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use world::beneath::{Care, Root, read_named};

use crate::failure::Failure;

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

/// Copies a file beside itself under the next free name, and returns that.
pub(super) fn back_up(path: &Path) -> Result<PathBuf, Failure> {
    let number = backups(path)?.last().map_or(0, |it| it.0 + 1);
    let copy = backup_name(path, number);
    fs::copy(path, &copy).map_err(|error| not_written(&copy, &error))?;
    Ok(copy)
}

/// Returns the newest copy of a file.
pub(super) fn newest_backup(path: &Path) -> Result<Option<PathBuf>, Failure> {
    Ok(backups(path)?.pop().map(|it| it.1))
}

/// Returns the copies of a file with their numbers, the newest last.
fn backups(path: &Path) -> Result<Vec<(u32, PathBuf)>, Failure> {
    let first = backup_name(path, 0);
    let first = first.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(&first) else { continue };
        let number = if rest.is_empty() { Some("0") } else { rest.strip_prefix('.') };
        if let Some(number) = number.and_then(|it| it.parse().ok()) {
            found.push((number, backup_name(path, number)));
        }
    }
    found.sort();
    Ok(found)
}

fn backup_name(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".backup");
    if 0 < number {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
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
        assert_eq!(newest_backup(&path).unwrap(), None);
        fs::write(&path, "1").unwrap();
        let names = [".backup", ".backup.1", ".backup.2"];
        for name in names {
            let copy = back_up(&path).unwrap();
            assert_eq!(copy.display().to_string(), format!("{}{name}", path.display()));
        }
        for number in 3..12 {
            back_up(&path).unwrap();
            assert!(folder.path().join(format!("mcp.json.backup.{number}")).exists());
        }
        fs::write(folder.path().join("mcp.json.backup.mine"), "").unwrap();
        fs::write(folder.path().join("mcp.json.backups"), "").unwrap();
        let newest = newest_backup(&path).unwrap().unwrap();
        assert!(newest.ends_with("mcp.json.backup.11"), "{newest:?}");
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
