//! Small files outside of every project that say what the user has allowed. Each is written
//! atomically, and ignored if other users can write it.

use std::{
    fs::{self, DirBuilder},
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;
use world::beneath::{Care, Root};

/// The ending of every such file.
const ENDING: &str = "json";

/// A folder of such files.
#[derive(Debug, Clone)]
pub(crate) struct Kept(PathBuf);

impl Kept {
    /// Returns the folder at `path`, which need not be there.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns what the file called `name` says, if it is there and counts.
    pub(crate) fn find(&self, name: &str) -> Option<Value> {
        let path = self.path(name);
        if let Err(problem) = check_own(&self.0).and_then(|()| check_own(&path)) {
            if problem.kind() != io::ErrorKind::NotFound {
                tracing::warn!("`{}` is not used: {problem}", path.display());
            }
            return None;
        }
        serde_json::from_str(&fs::read_to_string(&path).ok()?).ok()
    }

    /// Returns what is there and counts, by name.
    pub(crate) fn list(&self) -> Vec<(String, Value)> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let paths = entries.flatten().map(|it| it.path());
        let names = paths.filter(|it| it.extension().is_some_and(|it| it == ENDING));
        let mut names: Vec<String> =
            names.filter_map(|it| Some(it.file_stem()?.to_str()?.to_owned())).collect();
        names.sort();
        names.into_iter().filter_map(|it| Some((it.clone(), self.find(&it)?))).collect()
    }

    /// Writes the file called `name`, in the place of what is there.
    pub(crate) fn write(&self, name: &str, value: &Value) -> io::Result<()> {
        make_folder(&self.0)?;
        let (name, text) = (format!("{name}.{ENDING}"), format!("{value:#}\n"));
        let folder = Root::open(&self.0)?;
        folder.replace(Path::new(&name), text.as_bytes(), Care::Private).map(drop)
    }

    /// Deletes the file called `name`, and returns whether it was there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        match fs::remove_file(self.path(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.{ENDING}"))
    }
}

/// Makes a folder that only its owner can look into, unless it is there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Refuses a file or folder that is somebody else's, or that others can write.
#[cfg(unix)]
fn check_own(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let about = fs::metadata(path)?;
    let denied = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if about.uid() != rustix::process::geteuid().as_raw() {
        return denied("it is somebody else's");
    }
    if about.mode() & 0o022 != 0 {
        return denied("others can write it");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_own(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

/// Returns whether a folder is the user's own, and not open to everyone as `/tmp` is.
#[cfg(unix)]
pub(crate) fn is_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|it| it.uid() == own && it.mode() & 0o002 == 0)
}

#[cfg(not(unix))]
pub(crate) fn is_own(_folder: &Path) -> bool {
    true
}

/// Returns what others than its owner may do with a file, in words; `None` where that is nothing.
#[cfg(unix)]
pub(crate) fn open_to_others(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = fs::metadata(path).ok()?.mode();
    match (mode & 0o022 != 0, mode & 0o044 != 0) {
        (true, _) => Some("write"),
        (false, true) => Some("read"),
        (false, false) => None,
    }
}

#[cfg(not(unix))]
pub(crate) fn open_to_others(_path: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_found_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path().join("a/b"));
        assert_eq!((kept.find("x"), kept.list()), (None, Vec::new()));
        kept.write("x", &json!({"n": 1})).unwrap();
        kept.write("x", &json!({"n": 2})).unwrap();
        assert_eq!(kept.find("x"), Some(json!({"n": 2})));
        assert_eq!(kept.list(), [("x".to_owned(), json!({"n": 2}))]);
        assert_eq!(open_to_others(&kept.path("x")), None);
        assert!(kept.remove("x").unwrap());
        assert!(!kept.remove("x").unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_does_not_count() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path().join("a"));
        kept.write("x", &json!({})).unwrap();
        let allow = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (mode, counts, others) in
            [(0o600, true, None), (0o644, true, Some("read")), (0o666, false, Some("write"))]
        {
            allow(&kept.path("x"), mode);
            assert_eq!(kept.find("x").is_some(), counts, "{mode:o}");
            assert_eq!(open_to_others(&kept.path("x")), others, "{mode:o}");
        }
        allow(&kept.path("x"), 0o600);
        allow(&kept.0, 0o777);
        assert_eq!(kept.find("x"), None);
    }
}
