//! Files that only grow, a line at a time, whoever adds to them; and make room when they are large.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Adds a line to a file in one piece. Where it would have more than `bytes_max` by that, it is put
/// aside first.
pub(crate) fn append(path: &Path, line: &str, bytes_max: u64) -> io::Result<()> {
    let text = format!("{line}\n");
    let mut file = open(path)?;
    let added = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let is_full = |size: u64| 0 < size && bytes_max < size.saturating_add(added);
    if is_full(file.metadata()?.len()) {
        // Of all that find it full, the first puts it aside; the others then find another file.
        file.lock()?;
        if is_full(fs::metadata(path).map_or(0, |it| it.len())) {
            fs::rename(path, aside(path))?;
        }
        file = open(path)?;
    }
    file.write_all(text.as_bytes())
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".1");
    path.with_file_name(name)
}

/// What people work on is their own business.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn lines(path: &Path) -> usize {
        fs::read_to_string(path)
            .unwrap_or_default()
            .lines()
            .filter(|it| *it == "0123456789")
            .count()
    }

    #[test]
    fn lines_of_many_writers_stay_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let write = || (0..50).try_for_each(|_| append(&path, "0123456789", 1_000_000));
        thread::scope(|scope| {
            let writing: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
            assert!(writing.into_iter().all(|it| it.join().unwrap().is_ok()));
        });
        assert_eq!(lines(&path), 200);
        assert!(!aside(&path).exists());
    }

    #[test]
    fn a_large_file_is_put_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for _ in 0..5 {
            append(&path, "0123456789", 33).unwrap();
        }
        assert_eq!((lines(&aside(&path)), lines(&path)), (3, 2));
        // A line that is larger than all that is allowed is kept all the same.
        append(&path, &"x".repeat(100), 33).unwrap();
        assert_eq!((lines(&aside(&path)), lines(&path)), (2, 0));
    }
}
