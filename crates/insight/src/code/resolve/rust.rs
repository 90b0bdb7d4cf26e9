//! A path of Rust is followed from the crate, from the module at hand or from another crate of the
//! project, as far as modules have files of their own.

use super::{Files, folder_of, follow, inside};

/// How many modules may be inside each other.
const DEPTH_MAX: usize = 64;

/// Finds the file that is meant.
pub(crate) fn resolve(from: &str, path: &str, files: &Files<'_>) -> Option<u32> {
    if path.contains('.') {
        return files.find(&follow(folder_of(from), path)?);
    }
    let mut names = path.split("::").filter(|it| !it.is_empty()).peekable();
    let mut file = match names.next()? {
        "crate" => crate_root(from, files),
        "self" => from.to_owned(),
        "super" => {
            let mut file = parent(from, files)?;
            while names.next_if_eq(&"super").is_some() {
                file = parent(&file, files)?;
            }
            file
        }
        name => child(from, name, files).or_else(|| other_crate(name, files))?,
    };
    for name in names.take(DEPTH_MAX) {
        match child(&file, name, files) {
            Some(inner) => file = inner,
            None => break,
        }
    }
    files.find(&file)
}

/// Finds the file of a module that is right in another.
fn child(file: &str, name: &str, files: &Files<'_>) -> Option<String> {
    let folder = inner_folder(file, files);
    let plain = inside(&folder, &format!("{name}.rs"));
    if files.has(&plain) && plain != file {
        return Some(plain);
    }
    Some(inside(&folder, &format!("{name}/mod.rs"))).filter(|it| files.has(it))
}

/// Returns the folder that the modules of a file are in.
fn inner_folder(file: &str, files: &Files<'_>) -> String {
    if matches!(stem(file), "mod" | "lib" | "main") || parent(file, files).is_none() {
        return folder_of(file).to_owned();
    }
    file.trim_end_matches(".rs").to_owned()
}

/// Finds the file of the module that a file's module is in; a crate's own file has none.
fn parent(file: &str, files: &Files<'_>) -> Option<String> {
    let folder = match stem(file) {
        "lib" | "main" => return None,
        "mod" => folder_of(folder_of(file)),
        _ => folder_of(file),
    };
    let owners = ["mod.rs", "lib.rs", "main.rs"].map(|it| inside(folder, it));
    owners.into_iter().chain([format!("{folder}.rs")]).find(|it| files.has(it) && it != file)
}

fn crate_root(file: &str, files: &Files<'_>) -> String {
    let mut root = file.to_owned();
    for _ in 0..DEPTH_MAX {
        match parent(&root, files) {
            Some(outer) => root = outer,
            None => break,
        }
    }
    root
}

/// Finds the file of a crate of the project.
fn other_crate(name: &str, files: &Files<'_>) -> Option<String> {
    let package = files.packages.iter().find(|it| it.name == name)?;
    let roots = ["src/lib.rs", "src/main.rs"].map(|it| inside(&package.folder, it));
    roots.into_iter().find(|it| files.has(it))
}

fn stem(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs")
}
