//! An import of Go is the path of a module and a folder in it. The first file of the folder stands
//! for the package.

use super::{Files, inside};

/// Finds the file that stands for the package.
pub(crate) fn resolve(path: &str, files: &Files<'_>) -> Option<u32> {
    let mut best: Option<(&str, &str)> = None;
    for module in files.packages {
        let Some(rest) = path.strip_prefix(module.name.as_str()) else { continue };
        let is_longer = best.is_none_or(|(_, known)| rest.len() < known.len());
        if is_longer && (rest.is_empty() || rest.starts_with('/')) {
            best = Some((&module.folder, rest));
        }
    }
    let (folder, rest) = best?;
    files.first_in(&inside(folder, rest.trim_start_matches('/')))
}

pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}
