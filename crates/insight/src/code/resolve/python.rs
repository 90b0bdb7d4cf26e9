//! An import of Python is a module or a package, and what is taken from a package may be a module
//! too.

use super::{Files, folder_of, folders_above, inside};
use crate::code::Import;

/// What makes a folder a package.
const PACKAGE: &str = "__init__.py";

/// Finds the file that is meant.
pub(crate) fn resolve(from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
    let module = import.path.trim_start_matches('.');
    let dots = import.path.len() - module.len();
    let path = module.replace('.', "/");
    let item = import.item.as_deref();
    let here = folder_of(from);
    if 0 < dots {
        let folder = folders_above(here).nth(dots - 1)?;
        return find(&inside(folder, &path), item, files);
    }
    // Python looks where it was started and where it is told to, and neither is inside a package.
    let starts = folders_above(here).filter(|it| !files.has(&inside(it, PACKAGE)));
    let places = starts.flat_map(|it| [inside(it, &path), inside(&inside(it, "src"), &path)]);
    let found = places.into_iter().find_map(|it| find(&it, item, files));
    found.or_else(|| {
        let inner = path.strip_prefix(files.root_name).filter(|_| files.has(PACKAGE))?;
        let inner = if inner.is_empty() { inner } else { inner.strip_prefix('/')? };
        find(inner, item, files)
    })
}

/// Finds a module, or the one in it that has the name that is taken from it.
fn find(module: &str, item: Option<&str>, files: &Files<'_>) -> Option<u32> {
    let of = |path: String| {
        let package = inside(&path, PACKAGE);
        files.any([format!("{path}.py"), package])
    };
    let item = item.filter(|it| *it != "*");
    item.and_then(|it| of(inside(module, it))).or_else(|| of(module.to_owned()))
}
