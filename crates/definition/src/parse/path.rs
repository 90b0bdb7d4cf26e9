//! Paths within the definitions folder, resolved by their letters alone.

use std::fmt;

/// Why a path is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathError {
    Absolute,
    Outside,
    /// A character that means different things on different systems.
    Unsafe,
}

impl PathError {
    /// What is wrong with a path that is relative to a run's root.
    pub(super) fn of_artifact(self) -> &'static str {
        match self {
            Self::Absolute => "is an absolute path; artifacts are relative to the run's root",
            Self::Outside => "leads out of the run's root",
            Self::Unsafe => "has a `\\`, a drive or a control character in it",
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Absolute => "is an absolute path; paths are relative",
            Self::Outside => "leads out of the definitions folder",
            Self::Unsafe => "has a `\\`, a drive or a control character in it",
        })
    }
}

/// Resolves `path` against `folder`, both relative to the definitions folder. Anyone who reads the
/// file must still not follow symbolic links out of it.
pub(super) fn resolve(folder: &str, path: &str) -> Result<String, PathError> {
    check(path)?;
    let mut names: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(PathError::Outside)?;
            }
            name => names.push(name),
        }
    }
    if names.is_empty() { Err(PathError::Outside) } else { Ok(names.join("/")) }
}

/// Checks the path of an artifact, which is relative to a run's root. What its expressions give
/// is checked when it is rendered.
pub(super) fn check_artifact(template: &str) -> Result<(), PathError> {
    // `..` between braces is not a step up, and `{{ a / b }}` no folder.
    let mut depth = 0_usize;
    let plain: String = template
        .chars()
        .map(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ if depth == 0 => return letter,
                _ => {}
            }
            'x'
        })
        .collect();
    check(&plain)?;
    if plain.split('/').any(|it| it == "..") { Err(PathError::Outside) } else { Ok(()) }
}

fn check(path: &str) -> Result<(), PathError> {
    let mut letters = path.chars();
    let has_drive =
        letters.next().is_some_and(|it| it.is_ascii_alphabetic()) && letters.next() == Some(':');
    if path.starts_with('/') {
        return Err(PathError::Absolute);
    }
    let is_unsafe = has_drive || path.contains('\\') || path.chars().any(char::is_control);
    if is_unsafe { Err(PathError::Unsafe) } else { Ok(()) }
}

/// Returns the folder that a file is in.
pub(super) fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        assert_eq!(resolve("A", "steps/a.md").as_deref(), Ok("A/steps/a.md"));
        assert_eq!(resolve("A/steps", "./../b.md").as_deref(), Ok("A/b.md"));
        assert_eq!(resolve("A", "../B/x.md").as_deref(), Ok("B/x.md"));
        assert_eq!(resolve("A", "../../x.md"), Err(PathError::Outside));
        assert_eq!(resolve("A", "../.."), Err(PathError::Outside));
        assert_eq!(resolve("A", ".."), Err(PathError::Outside));
        assert_eq!(resolve("A", "/etc/passwd"), Err(PathError::Absolute));
        assert_eq!(resolve("A", "C:/x"), Err(PathError::Unsafe));
        assert_eq!(resolve("A", "a\\..\\x"), Err(PathError::Unsafe));
        assert_eq!(resolve("A", "a\0b"), Err(PathError::Unsafe));
    }

    #[test]
    fn artifacts_stay_inside() {
        assert_eq!(check_artifact("a/{{ part.id }}.md"), Ok(()));
        assert_eq!(check_artifact("{{ context.a ~ '/../' }}x.md"), Ok(()));
        assert_eq!(check_artifact("a..b/c...md"), Ok(()));
        assert_eq!(check_artifact("a/../b"), Err(PathError::Outside));
        assert_eq!(check_artifact("/a"), Err(PathError::Absolute));
    }
}
