//! Links beneath a root. The system itself sees to it that none leads out; here a refusal is put
//! into words, and a link with an absolute target that lies in the root is followed.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{Root, blocked};

/// How many links may lead to a file.
const LINKS_MAX: usize = 40;

/// The first link of a path.
struct Link {
    path: PathBuf,
    target: PathBuf,
    /// What follows it.
    rest: PathBuf,
}

impl Root {
    /// Does something to a path of the folder, which may be absolute. What is done is done beneath
    /// the folder's handle, also the second time: a path that was swapped meanwhile is refused.
    pub(super) fn within<T>(
        &self,
        path: &Path,
        doing: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let path = self.relative(path)?;
        let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
        let is_folder = |it: &Path| Some(self.dir.metadata(it).ok()?.is_dir());
        match doing(&path) {
            Err(error) if is_escape(&error) => {}
            done => return done.map_err(|error| blocked(&path, error, is_folder)),
        }
        let path = self.resolve(&path)?;
        doing(&path).map_err(|error| match is_escape(&error) {
            true => self.outside(&path, None),
            false => blocked(&path, error, is_folder),
        })
    }

    /// Returns a path as it is seen from the folder.
    pub(super) fn relative(&self, path: &Path) -> io::Result<PathBuf> {
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the path has a NUL byte in it"));
        }
        if path.is_relative() {
            return Ok(path.to_owned());
        }
        self.find_inside(path).ok_or_else(|| self.outside(path, None))
    }

    /// Returns a path as it is seen from the folder, if it lies in it by its words, going by either
    /// name of the folder.
    pub(super) fn find_inside(&self, path: &Path) -> Option<PathBuf> {
        let inside = |folder: &Path| path.strip_prefix(folder).ok().map(Path::to_owned);
        inside(&self.path).or_else(|| inside(&self.path.canonicalize().ok()?))
    }

    /// Returns where a path leads by links that stay in the folder. What is not there ends it.
    pub(super) fn resolve(&self, asked: &Path) -> io::Result<PathBuf> {
        let mut path = asked.to_owned();
        let mut first = None;
        for _ in 0..LINKS_MAX {
            let found = self.find_link(&path);
            let found = found.map_err(|error| match is_escape(&error) {
                true => self.outside(asked, first.as_deref()),
                false => error,
            })?;
            let Some(Link { path: link, target, rest }) = found else { return Ok(path) };
            let first = &*first.get_or_insert_with(|| link.clone());
            let base = match target.is_absolute() {
                true => self.find_inside(&target),
                false => Some(link.parent().unwrap_or(Path::new("")).join(&target)),
            };
            let base = base.ok_or_else(|| self.outside(asked, Some(first)))?;
            // Joined with nothing, a path would ask for a folder.
            path = if rest.as_os_str().is_empty() { base } else { base.join(rest) };
        }
        Err(io::Error::other(format!("too many links lead to `{}`", asked.display())))
    }

    fn find_link(&self, path: &Path) -> io::Result<Option<Link>> {
        let mut here = PathBuf::new();
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            here.push(part);
            match self.dir.read_link_contents(&here) {
                Ok(target) => {
                    let rest = parts.as_path().to_owned();
                    return Ok(Some(Link { path: here, target, rest }));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) if is_escape(&error) => return Err(error),
                // It is not a link.
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Says that a path leads out, and what leads it there.
    pub(super) fn outside(&self, path: &Path, link: Option<&Path>) -> io::Error {
        let (path, called) = (path.display(), self.called);
        let problem = match link {
            Some(link) => format!(
                "`{path}` leads outside of {called} through the link `{}`; put the file itself in \
                 its place",
                link.display()
            ),
            None => format!("`{path}` is outside of {called}; name a path in it"),
        };
        io::Error::new(ErrorKind::PermissionDenied, problem)
    }
}

/// Whether a path was refused because it leads out. The system's own errors have numbers.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}
