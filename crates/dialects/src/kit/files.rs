//! What a dialect sees of files, and what it writes. It names folders; the caller opens them, beneath
//! the project's root or a folder that the settings name.

use std::sync::{Arc, atomic::AtomicBool};

use engine::{Kept, Stat, Subfolder, Walked, Wanted};
use parking_lot::Mutex;

use super::ask::Next;

/// How many files are visited side by side.
const EYES: usize = 4;

/// An absolute folder. A path is resolved once, by its words alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Folder(String);

/// What is looked at, and what goes on with it.
pub enum Files<N> {
    /// The text of a file; `None` where there is none.
    Text(Folder, String, Next<Result<Option<String>, String>, N>),
    /// The texts of many files; `None` for each that cannot be read.
    Texts(Folder, Vec<String>, Next<Result<Vec<Option<String>>, String>, N>),
    /// How files look from outside; `None` for each that is not there.
    Stats(Folder, Vec<String>, Next<Vec<Option<Stat>>, N>),
    /// Whether the folder is there.
    IsThere(Folder, Next<bool, N>),
    /// The names of the wanted files in each of these folders of it, in order.
    Names(Folder, Vec<String>, Wanted, Next<Result<Vec<Vec<String>>, String>, N>),
    /// All names in each of these folders of it, in order, those of folders with `/` at the end.
    Everything(Folder, Vec<String>, Next<Vec<Vec<String>>, N>),
    /// The folders in it in order, each with how this file of it looks from outside.
    Folders(Folder, &'static str, Next<Result<Arc<[Subfolder]>, String>, N>),
    /// What the repository keeps that the folder is in.
    Repository(Folder, Next<Kept, N>),
    /// The files below it that are wanted, in the folders that are wanted, and at most so many.
    Walk(Folder, Wanted, Wanted, usize, Next<Result<Walked, String>, N>),
    /// Each of these is shown the files that stand beside it, as long as there is time. Returns
    /// whether there was not enough for all.
    Visit(Folder, Vec<(Vec<String>, Eye)>, Next<Result<bool, String>, N>),
    /// A text that was made of other files is kept, so that it need not be made again. Nobody is
    /// told where that fails.
    Keep(Folder, &'static str, String, Next<(), N>),
}

/// Looks at a file, where it keeps nobody waiting.
pub type Eye = Box<dyn Fn(Sight<'_>) + Send>;

/// A file that is being looked at.
pub struct Sight<'a> {
    /// As it was asked for.
    pub path: &'a str,
    /// Or why there is none.
    pub text: Result<&'a str, &'a str>,
    /// Is set when it has taken long enough.
    pub stop: &'a AtomicBool,
}

/// Something that is known once some files have been seen.
pub enum Seeing<T> {
    Look(Files<Self>),
    Seen(T),
}

/// A file that is to be written.
pub struct Write {
    pub folder: Folder,
    pub path: String,
    pub text: Text,
    /// Whether only its owner may read it.
    pub is_private: bool,
}

/// Returns what a file is to say, given what it says now.
pub type Amend = Box<dyn FnOnce(Option<&str>) -> Option<String> + Send>;

/// What a file is to say.
pub enum Text {
    Whole(String),
    /// It stays as it is where there is nothing to say.
    Amended(Amend),
}

impl<M: 'static> Files<M> {
    /// Has something else go on with what is seen.
    pub fn map<N>(self, next: impl FnOnce(M) -> N + Send + 'static) -> Files<N> {
        match self {
            Self::Text(folder, path, then) => {
                Files::Text(folder, path, Box::new(move |it| next(then(it))))
            }
            Self::Texts(folder, paths, then) => {
                Files::Texts(folder, paths, Box::new(move |it| next(then(it))))
            }
            Self::Stats(folder, paths, then) => {
                Files::Stats(folder, paths, Box::new(move |it| next(then(it))))
            }
            Self::IsThere(folder, then) => {
                Files::IsThere(folder, Box::new(move |it| next(then(it))))
            }
            Self::Names(folder, folders, wanted, then) => {
                Files::Names(folder, folders, wanted, Box::new(move |it| next(then(it))))
            }
            Self::Everything(folder, folders, then) => {
                Files::Everything(folder, folders, Box::new(move |it| next(then(it))))
            }
            Self::Folders(folder, file, then) => {
                Files::Folders(folder, file, Box::new(move |it| next(then(it))))
            }
            Self::Repository(folder, then) => {
                Files::Repository(folder, Box::new(move |it| next(then(it))))
            }
            Self::Walk(folder, files, folders, max, then) => {
                Files::Walk(folder, files, folders, max, Box::new(move |it| next(then(it))))
            }
            Self::Visit(folder, eyes, then) => {
                Files::Visit(folder, eyes, Box::new(move |it| next(then(it))))
            }
            Self::Keep(folder, path, text, then) => {
                Files::Keep(folder, path, text, Box::new(move |it| next(then(it))))
            }
        }
    }
}

impl<T> From<Files<Self>> for Seeing<T> {
    fn from(files: Files<Self>) -> Self {
        Self::Look(files)
    }
}

impl<T: 'static> Seeing<T> {
    /// Goes on once it is known.
    pub fn then<N: From<Files<N>> + 'static>(
        self,
        next: impl FnOnce(T) -> N + Send + 'static,
    ) -> N {
        match self {
            Self::Look(files) => files.map(move |it| it.then(next)).into(),
            Self::Seen(seen) => next(seen),
        }
    }

    /// Makes something of it.
    pub fn map<U: 'static>(self, next: impl FnOnce(T) -> U + Send + 'static) -> Seeing<U> {
        self.then(move |it| Seeing::Seen(next(it)))
    }
}

impl<T: 'static, E: 'static> Seeing<Result<T, E>> {
    /// Goes on unless something went wrong.
    pub fn and_then<U: 'static>(
        self,
        next: impl FnOnce(T) -> Seeing<Result<U, E>> + Send + 'static,
    ) -> Seeing<Result<U, E>> {
        self.then(move |it| match it {
            Ok(it) => next(it),
            Err(error) => Seeing::Seen(Err(error)),
        })
    }
}

impl Folder {
    /// Returns the folder that `path` means, seen from `root`.
    pub fn resolve(root: &str, path: &str) -> Self {
        let joined = if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") };
        let mut parts: Vec<&str> = Vec::new();
        for part in joined.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Self(format!("/{}", parts.join("/")))
    }

    /// Returns the absolute path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the folder that this one is in.
    pub fn parent(&self) -> Self {
        Self::resolve(&self.0, "..")
    }

    /// Returns the path as it is seen from `root`, if that holds it.
    pub fn seen_from(&self, root: &Self) -> String {
        let inside = self.0.strip_prefix(root.as_str()).and_then(|it| it.strip_prefix('/'));
        inside.unwrap_or(&self.0).to_owned()
    }

    /// Whether a folder is this one or lies in it.
    pub fn holds(&self, other: &Self) -> bool {
        let rest = other.0.strip_prefix(self.0.trim_end_matches('/'));
        rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
    }

    /// Reads a file; `None` where there is none.
    pub fn text(&self, path: &str) -> Seeing<Result<Option<String>, String>> {
        Seeing::Look(Files::Text(self.clone(), path.to_owned(), Box::new(Seeing::Seen)))
    }

    /// Reads many files at once; what is not there, too large or not text is `None`.
    pub fn texts(&self, paths: Vec<String>) -> Seeing<Result<Vec<Option<String>>, String>> {
        if paths.is_empty() {
            return Seeing::Seen(Ok(Vec::new()));
        }
        Seeing::Look(Files::Texts(self.clone(), paths, Box::new(Seeing::Seen)))
    }

    /// Reads a file of any size that is taken at all; `None` where that cannot be.
    pub fn large(&self, path: &str) -> Seeing<Option<String>> {
        self.texts(vec![path.to_owned()]).map(|it| it.ok()?.into_iter().next().flatten())
    }

    /// Looks at files from outside; `None` for each that is not there.
    pub fn stats(&self, paths: Vec<String>) -> Seeing<Vec<Option<Stat>>> {
        Seeing::Look(Files::Stats(self.clone(), paths, Box::new(Seeing::Seen)))
    }

    /// Looks at a file from outside; `None` where there is none.
    pub fn stat(&self, path: &str) -> Seeing<Option<Stat>> {
        self.stats(vec![path.to_owned()]).map(|it| it.into_iter().next().flatten())
    }

    /// Looks whether the folder is there.
    pub fn is_there(&self) -> Seeing<bool> {
        Seeing::Look(Files::IsThere(self.clone(), Box::new(Seeing::Seen)))
    }

    /// Lists the wanted files in each of these folders of it.
    pub fn names(
        &self,
        folders: Vec<String>,
        wanted: Wanted,
    ) -> Seeing<Result<Vec<Vec<String>>, String>> {
        Seeing::Look(Files::Names(self.clone(), folders, wanted, Box::new(Seeing::Seen)))
    }

    /// Lists everything in each of these folders of it; nothing of one that cannot be read.
    pub fn everything(&self, folders: Vec<String>) -> Seeing<Vec<Vec<String>>> {
        Seeing::Look(Files::Everything(self.clone(), folders, Box::new(Seeing::Seen)))
    }

    /// Lists the folders in it, each with how its file `file` looks from outside.
    pub fn folders(&self, file: &'static str) -> Seeing<Result<Arc<[Subfolder]>, String>> {
        Seeing::Look(Files::Folders(self.clone(), file, Box::new(Seeing::Seen)))
    }

    /// Looks what the repository keeps that the folder is in.
    pub fn repository(&self) -> Seeing<Kept> {
        Seeing::Look(Files::Repository(self.clone(), Box::new(Seeing::Seen)))
    }

    /// Finds the files below it that are wanted, in the folders that are wanted.
    pub fn walk(
        &self,
        files: Wanted,
        folders: Wanted,
        files_max: usize,
    ) -> Seeing<Result<Walked, String>> {
        let then = Box::new(Seeing::Seen);
        Seeing::Look(Files::Walk(self.clone(), files, folders, files_max, then))
    }

    /// Visits files with several pairs of eyes, each of which makes a `T` of what it sees. Returns
    /// all of them, and whether there was no time for every file.
    pub fn visit<T: Default + Send + 'static>(
        &self,
        paths: Vec<String>,
        see: impl Fn(&mut T, Sight<'_>) + Clone + Send + 'static,
    ) -> Seeing<Result<(Vec<T>, bool), String>> {
        let mut all = Vec::new();
        let mut eyes: Vec<(Vec<String>, Eye)> = Vec::new();
        for paths in dealt(paths) {
            let (see, seen) = (see.clone(), Arc::new(Mutex::new(T::default())));
            all.push(Arc::clone(&seen));
            eyes.push((paths, Box::new(move |it| see(&mut seen.lock(), it))));
        }
        let visit = Seeing::Look(Files::Visit(self.clone(), eyes, Box::new(Seeing::Seen)));
        visit.map(move |is_cut| {
            let seen = all.into_iter().map(|it| std::mem::take(&mut *it.lock()));
            Ok((seen.collect(), is_cut?))
        })
    }

    /// Has a text kept that was made of other files.
    pub fn keep(&self, file: &'static str, text: String) -> Seeing<()> {
        Seeing::Look(Files::Keep(self.clone(), file, text, Box::new(Seeing::Seen)))
    }
}

/// Deals paths out like cards, so that large files come to all.
fn dealt(paths: Vec<String>) -> Vec<Vec<String>> {
    let mut hands: Vec<Vec<String>> = vec![Vec::new(); EYES.min(paths.len())];
    let count = hands.len().max(1);
    for (number, path) in paths.into_iter().enumerate() {
        if let Some(hand) = hands.get_mut(number % count) {
            hand.push(path);
        }
    }
    hands
}

#[cfg(test)]
mod tests {
    use super::Folder;

    #[test]
    fn a_path_is_resolved_by_its_words() {
        let resolve = |path: &str| Folder::resolve("/p", path).0;
        assert_eq!(resolve(".specs/x"), "/p/.specs/x");
        assert_eq!(resolve(".specs/x/"), "/p/.specs/x");
        assert_eq!(resolve("./a/../b"), "/p/b");
        assert_eq!(resolve("/q/.specs/x//"), "/q/.specs/x");
        assert_eq!(resolve("../../.."), "/");
        assert_eq!(resolve(""), "/p");
    }

    #[test]
    fn what_is_in_the_project_is_seen_from_its_root() {
        let root = Folder::resolve("/p", "");
        assert_eq!(Folder::resolve("/p", ".specs/x").seen_from(&root), ".specs/x");
        assert_eq!(Folder::resolve("/p", "/pq/.specs/x").seen_from(&root), "/pq/.specs/x");
        let folder = Folder::resolve("/p", ".specs/x");
        assert_eq!((folder.name(), folder.parent().name()), ("x", ".specs"));
    }
}
