//! Reads the built-in workflows from their folders.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use definition::MemoryFiles;

/// The folder of the built-in workflows.
pub(crate) fn built_in() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows")
}

pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

pub(crate) fn collect(root: &Path, folder: &Path, files: &mut MemoryFiles) {
    for path in files_in(folder) {
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|it| it == "md" || it == "yaml") {
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.0.insert(relative, fs::read_to_string(&path).unwrap());
        }
    }
}
