//! Append-only files of lines, shared by processes and rotated when they are large.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::beneath::{Root, absent};

/// Adds a line to a file in one piece. Where it would have more than `bytes_max` by that, it is put
/// aside first.
pub(crate) fn append(folder: &Root, path: &Path, (line, bytes_max): (&str, u64)) -> io::Result<()> {
    let text = format!("{line}\n");
    let (mut file, stat) = folder.open_append(path)?;
    let added = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let is_full = |size: u64| 0 < size && bytes_max < size.saturating_add(added);
    if is_full(stat.size) {
        // Of all that find it full, the first puts it aside; the others then find another file.
        file.lock()?;
        if is_full(absent(folder.stat(path))?.map_or(0, |it| it.size)) {
            folder.rename(path, &aside(path))?;
        }
        file = folder.open_append(path)?.0;
    }
    file.write_all(text.as_bytes())
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".1");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    fn add(path: &Path, line: &str, bytes_max: u64) -> io::Result<()> {
        let folder = Root::open(path.parent().unwrap())?;
        append(&folder, Path::new(path.file_name().unwrap()), (line, bytes_max))
    }

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
        let write = || (0..50).try_for_each(|_| add(&path, "0123456789", 1_000_000));
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
            add(&path, "0123456789", 33).unwrap();
        }
        assert_eq!((lines(&aside(&path)), lines(&path)), (3, 2));
        // A line that is larger than all that is allowed is kept all the same.
        add(&path, &"x".repeat(100), 33).unwrap();
        assert_eq!((lines(&aside(&path)), lines(&path)), (2, 0));
    }
}
