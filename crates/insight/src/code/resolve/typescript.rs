//! An import of TypeScript that begins with a dot is a file, named without its ending or with that
//! of the JavaScript made from it, or a folder with an index. Others are packages from elsewhere.

use super::{Files, folder_of, follow};

const ENDINGS: [&str; 5] = ["ts", "tsx", "d.ts", "mts", "cts"];

/// Finds the file that is meant.
pub(crate) fn resolve(from: &str, specifier: &str, files: &Files<'_>) -> Option<u32> {
    if !specifier.starts_with('.') {
        return None;
    }
    let named = follow(folder_of(from), specifier)?;
    if let Some(found) = files.find(&named) {
        return Some(found);
    }
    let made = ["js", "jsx", "mjs", "cjs"];
    let made = made.iter().find_map(|it| named.strip_suffix(it)?.strip_suffix('.'));
    let stems = made.into_iter().chain([named.as_str()]);
    let files_named = stems.flat_map(|stem| ENDINGS.map(|it| format!("{stem}.{it}")));
    let folder = if named.is_empty() { String::new() } else { format!("{named}/") };
    files.any(files_named.chain(ENDINGS.map(|it| format!("{folder}index.{it}"))))
}
