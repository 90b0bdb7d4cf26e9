//! Trees of files: found below a folder without following links, and read one by one.

use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    path::Path,
    rc::Rc,
    sync::atomic::Ordering,
};

use runtime::{Handled, Tree, Visit, Walk, Walked};

use crate::{
    RealWorld,
    beneath::{Kind, Root},
};

/// How many names are looked at below one folder.
const NAMES_MAX: usize = 1_000_000;
/// How much of a `.gitignore` is read.
const IGNORED_BYTES_MAX: u64 = 64 * 1024;

impl Tree for RealWorld {
    fn walk(&self, asked: Walk) -> Handled<'_, Walked> {
        elsewhere(move || walk(&asked).map_err(|error| worded(&error)))
    }

    fn visit(
        &self,
        (root, folder): (&str, &str),
        paths: Vec<String>,
        bytes_max: u64,
        mut visit: Visit,
    ) -> Handled<'_, ()> {
        let (root, folder) = (root.to_owned(), folder.to_owned());
        elsewhere(move || {
            let folder = enter(&root, &folder).map_err(|error| worded(&error))?;
            for path in paths {
                let read = read(&folder, Path::new(&path), bytes_max);
                let seen = match &read {
                    Ok(text) => visit(&path, Ok(text)),
                    Err(error) => visit(&path, Err(&worded(error))),
                };
                if seen.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Does something that may take its time elsewhere.
fn elsewhere<T: Send + 'static>(
    doing: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Handled<'static, T> {
    // It begins at once, so that anyone who asks for several things has them done side by side.
    let doing = tokio::task::spawn_blocking(doing);
    Box::pin(async move { doing.await.unwrap_or_else(|error| Err(error.to_string())) })
}

/// Says what is wrong without the number that systems have for it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the system has kinds that no release lists")]
fn worded(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => return "it is not there".to_owned(),
        ErrorKind::NotADirectory => return "it is not a folder".to_owned(),
        _ => {}
    }
    match error.raw_os_error() {
        Some(_) => error.kind().to_string(),
        None => error.to_string(),
    }
}

/// Opens the folder that is looked through.
fn enter(root: &str, folder: &str) -> io::Result<Root> {
    Root::project(Path::new(root))?.enter(Path::new(folder))
}

fn read(folder: &Root, path: &Path, bytes_max: u64) -> io::Result<String> {
    let (bytes, _) = folder.read(path, bytes_max)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn walk(asked: &Walk) -> io::Result<Walked> {
    let root = enter(&asked.root, &asked.folder)?;
    drop(root.list()?);
    let mut walking = Walking { asked, walked: Walked::default(), names: 0, open: Vec::new() };
    walking.open.push(Open { path: String::new(), ignored: Rc::default() });
    while let Some(folder) = walking.open.pop() {
        walking.walked.is_cut |= asked.stop.load(Ordering::Relaxed);
        if walking.walked.is_cut {
            break;
        }
        walking.enter(&root, folder);
    }
    walking.walked.files.sort_unstable();
    Ok(walking.walked)
}

struct Walking<'a> {
    asked: &'a Walk,
    walked: Walked,
    names: usize,
    open: Vec<Open>,
}

/// A folder that is still to be entered.
struct Open {
    /// Seen from the root, with a slash at its end unless it is the root.
    path: String,
    /// What is left out below it: names, and paths from the root that begin with a slash.
    ignored: Rc<BTreeSet<String>>,
}

impl Walking<'_> {
    fn enter(&mut self, root: &Root, mut folder: Open) {
        let here = root.enter(Path::new(&folder.path));
        let Ok((here, entries)) = here.and_then(|it| it.list().map(|entries| (it, entries))) else {
            self.walked.unreadable += 1;
            return;
        };
        let ignored = ignored_in(&here, &folder.path);
        if !ignored.is_empty() {
            Rc::make_mut(&mut folder.ignored).extend(ignored);
        }
        let mut folders = Vec::new();
        let mut files = Vec::new();
        for entry in entries {
            self.names += 1;
            if NAMES_MAX < self.names || self.asked.stop.load(Ordering::Relaxed) {
                self.walked.is_cut = true;
                break;
            }
            let Ok((kind, Some(name))) = entry.and_then(|it| Ok((it.kind()?, it.name()))) else {
                self.walked.unreadable += 1;
                continue;
            };
            if kind == Kind::File && (self.asked.files)(&name) {
                files.push(format!("{}{name}", folder.path));
            } else if kind == Kind::Folder && (self.asked.folders)(&name) {
                let path = format!("/{}{name}", folder.path);
                if !folder.ignored.contains(&name) && !folder.ignored.contains(&path) {
                    folders.push(format!("{}{name}/", folder.path));
                }
            }
        }
        files.sort_unstable();
        self.take(files);
        // The last one is entered next, so that the first files are the same on every machine.
        folders.sort_unstable_by(|a, b| b.cmp(a));
        let inner =
            folders.into_iter().map(|path| Open { path, ignored: Rc::clone(&folder.ignored) });
        self.open.extend(inner);
    }

    fn take(&mut self, mut files: Vec<String>) {
        let room = self.asked.files_max - self.walked.files.len();
        if room < files.len() {
            files.truncate(room);
            self.walked.is_cut = true;
        }
        self.walked.files.append(&mut files);
    }
}

/// Returns which folders a `.gitignore` leaves out, as far as it says so without patterns.
fn ignored_in(folder: &Root, path: &str) -> Vec<String> {
    let Ok(text) = read(folder, Path::new(".gitignore"), IGNORED_BYTES_MAX) else {
        return Vec::new();
    };
    let plain = |line: &&str| !line.is_empty() && !line.contains(['#', '!', '*', '?', '[', '\\']);
    let lines = text.lines().map(str::trim).filter(plain);
    lines
        .map(|line| {
            let name = line.trim_end_matches('/');
            if !name.contains('/') {
                return name.to_owned();
            }
            format!("/{path}{}", name.trim_start_matches('/'))
        })
        .collect()
}
