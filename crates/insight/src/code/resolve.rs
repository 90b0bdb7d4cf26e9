//! Which file an import means, among those that are there.

use std::collections::{BTreeMap, HashMap};

use super::go::is_test;

/// A package by the file that names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    /// Its folder, seen from the root.
    pub(super) folder: String,
    pub(super) name: String,
}

/// The files that are there, by their paths from the root.
pub(super) struct Files<'a> {
    numbers: HashMap<&'a str, u32>,
    /// The file that stands for each folder, for languages that import folders.
    firsts: BTreeMap<&'a str, u32>,
    /// The folder of each package, by its name. The first one of a name counts.
    packages: HashMap<&'a str, &'a str>,
    /// What the root itself is called.
    pub(super) root_name: &'a str,
}

impl<'a> Files<'a> {
    /// Knows these files by their place in the list.
    pub(super) fn new(paths: &'a [String], packages: &'a [Package], root_name: &'a str) -> Self {
        let mut numbers = HashMap::with_capacity(paths.len());
        let mut firsts = BTreeMap::new();
        for (number, path) in (0..).zip(paths) {
            numbers.insert(path.as_str(), number);
            // A test cannot be imported, so it stands for its folder only if it is alone there.
            if !is_test(path) {
                firsts.entry(folder_of(path)).or_insert(number);
            }
        }
        for (number, path) in (0..).zip(paths) {
            firsts.entry(folder_of(path)).or_insert(number);
        }
        let mut named = HashMap::with_capacity(packages.len());
        for Package { folder, name } in packages {
            named.entry(name.as_str()).or_insert(folder.as_str());
        }
        Self { numbers, firsts, packages: named, root_name }
    }

    /// Finds a file.
    pub(super) fn find(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    /// Finds the folder of a package.
    pub(super) fn package(&self, name: &str) -> Option<&'a str> {
        self.packages.get(name).copied()
    }

    /// Finds the file that stands for a folder.
    pub(super) fn first_in(&self, folder: &str) -> Option<u32> {
        self.firsts.get(folder).copied()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.numbers.contains_key(path)
    }

    /// Finds the first file that is there.
    pub(super) fn any(&self, paths: impl IntoIterator<Item = String>) -> Option<u32> {
        paths.into_iter().find_map(|it| self.find(&it))
    }
}

/// Returns the folder that a file is in; nothing for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns a folder and all that it is in, the root last.
pub(super) fn folders_above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |it| (!it.is_empty()).then(|| folder_of(it)))
}

/// Returns a path inside a folder.
pub(super) fn inside(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

/// Follows a relative path from a folder. `None` where it leads out of the root.
pub(super) fn follow(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
