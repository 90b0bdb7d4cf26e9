//! Where the dialect's files are, and the way to them: the specs' folder, the workspaces in it.
//!
//! A path is resolved once, by its words alone, to an absolute one; what is shown of it is seen from
//! the project's root where that holds it.

use std::sync::Arc;

use runtime::{FileSystem, Kept, Place, Stat, Subfolder, Wanted};

use super::answer::Failure;
use crate::tool::Call;

/// An absolute folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::toolsets::forge) struct Folder(String);

impl Folder {
    /// Returns the folder that `path` means, seen from `root`.
    pub(in crate::toolsets::forge) fn resolve(root: &str, path: &str) -> Self {
        Self(dialects::forge::workspace::resolve(root, path))
    }

    /// Returns the project's root.
    pub(in crate::toolsets::forge) fn project(call: &Call<'_>) -> Self {
        Self::resolve(&call.runtime.settings().root, "")
    }

    /// Returns the folder that an agent names, seen from the project's root.
    pub(in crate::toolsets::forge) fn named(call: &Call<'_>, path: &str) -> Self {
        Self::resolve(&call.runtime.settings().root, path)
    }

    /// Returns the folder that an agent names, if it is one that is reached from here.
    pub(in crate::toolsets::forge) fn reach(call: &Call<'_>, path: &str) -> Result<Self, Failure> {
        let folder = Self::named(call, path);
        let hint = "name a folder in the project";
        let outside = |problem| Failure::new("path_outside", problem, hint);
        folder.place(call, "").map_err(outside).map(|_| folder)
    }

    /// Returns the folder of the specs.
    pub(in crate::toolsets::forge) fn specs(call: &Call<'_>) -> Self {
        Self::named(call, &call.options.forge.specs)
    }

    /// Returns the absolute path.
    pub(in crate::toolsets::forge) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part of the path.
    pub(in crate::toolsets::forge) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the folder that this one is in.
    pub(in crate::toolsets::forge) fn parent(&self) -> Self {
        Self::resolve(&self.0, "..")
    }

    /// Returns the path as it is seen from `root`, if that holds it.
    pub(in crate::toolsets::forge) fn seen_from(&self, root: &Self) -> String {
        let inside = self.0.strip_prefix(root.as_str()).and_then(|it| it.strip_prefix('/'));
        inside.unwrap_or(&self.0).to_owned()
    }

    /// Reads a file in the folder; `None` where there is none.
    pub(in crate::toolsets::forge) async fn read(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Result<Option<String>, String> {
        let place = self.place(call, path)?;
        let Some((bytes, _)) = file_system(call)?.read(&place).await? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| "it is not text".to_owned())
    }

    /// Returns whether the folder is there.
    pub(in crate::toolsets::forge) async fn is_there(&self, call: &Call<'_>) -> bool {
        let (Ok(file_system), Ok(place)) = (file_system(call), self.place(call, "")) else {
            return false;
        };
        file_system.has_folder(&place.folder).await
    }

    /// Returns whether a file is in the folder.
    pub(in crate::toolsets::forge) async fn has(&self, call: &Call<'_>, path: &str) -> bool {
        self.stat(call, path).await.is_ok_and(|it| it.is_some())
    }

    /// Returns the names of the files right in the folder that are wanted, in order.
    pub(in crate::toolsets::forge) async fn names(
        &self,
        call: &Call<'_>,
        wanted: Wanted,
    ) -> Result<Vec<String>, String> {
        let found = file_system(call)?.scan(&self.place(call, "")?, wanted).await?;
        let mut names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        names.sort();
        Ok(names)
    }

    /// Replaces a file that only its owner may read. The folder is made if it is not there.
    pub(in crate::toolsets::forge) async fn write_privately(
        &self,
        call: &Call<'_>,
        path: &str,
        text: String,
    ) -> Result<(), String> {
        let file_system = file_system(call)?;
        let _held = file_system.lock(&lock_of(call, self, path)).await?;
        file_system.write_privately(&self.place(call, path)?, text).await.map(drop)
    }

    /// Reads a file in the folder, and removes it.
    pub(in crate::toolsets::forge) async fn take(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Result<Option<String>, String> {
        let text = self.read(call, path).await?;
        if text.is_some() {
            file_system(call)?.remove(&self.place(call, path)?).await?;
        }
        Ok(text)
    }

    /// Changes a file that anyone may read, given what it says now; it stays as it is where
    /// `change` has nothing to say.
    pub(in crate::toolsets::forge) async fn change(
        &self,
        call: &Call<'_>,
        path: &str,
        change: impl FnOnce(Option<&str>) -> Option<String> + Send,
    ) -> Result<(), String> {
        let file_system = file_system(call)?;
        let _held = file_system.lock(&lock_of(call, self, path)).await?;
        let text = self.read(call, path).await?;
        let Some(text) = change(text.as_deref()) else { return Ok(()) };
        file_system.write_durably(&self.place(call, path)?, text).await.map(drop)
    }

    /// Returns whether the folder is there.
    pub(in crate::toolsets::forge) async fn exists(&self, call: &Call<'_>) -> bool {
        let (Ok(file_system), Ok(place)) = (file_system(call), self.place(call, "")) else {
            return false;
        };
        file_system.has_folder(&place.folder).await
    }

    /// Looks at a file from outside; `None` where there is none.
    pub(in crate::toolsets::forge) async fn stat(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Result<Option<Stat>, String> {
        file_system(call)?.stat(&self.place(call, path)?).await
    }

    /// Returns the folders in this one in order, each with how its file `file` looks from outside;
    /// nothing where this one is not there.
    pub(in crate::toolsets::forge) async fn inner(
        &self,
        call: &Call<'_>,
        file: &str,
    ) -> Result<Arc<[Subfolder]>, String> {
        file_system(call)?.inner(&self.place(call, "")?, file).await
    }

    /// Returns all names in a folder of this one in order, those of folders with `/` at the end.
    pub(in crate::toolsets::forge) async fn all_names(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Result<Vec<String>, String> {
        file_system(call)?.names(&self.place(call, path)?).await
    }

    /// Returns the wanted files of each of these folders, by name and in order.
    pub(in crate::toolsets::forge) async fn list_all(
        &self,
        call: &Call<'_>,
        folders: Vec<String>,
        wanted: Wanted,
    ) -> Result<Vec<Vec<String>>, String> {
        file_system(call)?.list_all(&self.place(call, "")?, folders, wanted).await
    }

    /// Reads many files at once; what is not there, too large or no text is `None`.
    pub(in crate::toolsets::forge) async fn read_all(
        &self,
        call: &Call<'_>,
        paths: Vec<String>,
    ) -> Result<Vec<Option<String>>, String> {
        let found = file_system(call)?.read_all(&self.place(call, "")?, paths).await?;
        let text = |bytes: Option<Vec<u8>>| bytes.and_then(|it| String::from_utf8(it).ok());
        Ok(found.into_iter().map(text).collect())
    }

    /// Reads a file of any size that is taken at all; `None` where that cannot be.
    pub(in crate::toolsets::forge) async fn read_large(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Option<String> {
        let read = self.read_all(call, vec![path.to_owned()]).await;
        read.ok()?.into_iter().next().flatten()
    }

    /// Returns what the repository keeps that the folder is in; `None` where it is in none.
    pub(in crate::toolsets::forge) async fn kept(&self, call: &Call<'_>) -> Option<Kept> {
        file_system(call).ok()?.kept(&self.0).await
    }

    /// Returns where a path of the folder is. Only what is in the project, or in a folder that the
    /// settings name, is reached.
    fn place(&self, call: &Call<'_>, path: &str) -> Result<Place, String> {
        let options = &call.options.forge;
        let set = [Some(options.specs.as_str()), options.agents.as_deref()];
        let set = set.into_iter().flatten().map(|it| Self::named(call, it));
        let mut roots = std::iter::once(Self::project(call)).chain(set);
        let Some(root) = roots.find(|it| it.holds(self)) else {
            let project = Self::project(call);
            return Err(format!("`{}` is outside of the project `{}`", self.0, project.0));
        };
        let (folder, path) = (self.0.clone(), path.to_owned());
        // The root is never made, so it must be one that is there.
        let root = if root == Self::project(call) { root.0 } else { "/".to_owned() };
        Ok(Place { root, folder, path })
    }

    /// Whether a folder is this one or lies in it.
    pub(in crate::toolsets::forge) fn holds(&self, other: &Self) -> bool {
        let rest = other.0.strip_prefix(self.0.trim_end_matches('/'));
        rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
    }
}

/// Locks lie in the project, and not among the specs.
fn lock_of(call: &Call<'_>, folder: &Folder, path: &str) -> Place {
    let root = call.runtime.settings().root.clone();
    Place { folder: root.clone(), root, path: format!("{}/{path}", folder.as_str()) }
}

fn file_system<'a>(call: &Call<'a>) -> Result<&'a dyn FileSystem, String> {
    call.runtime.file_system().ok_or_else(|| "no files can be reached here".to_owned())
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
