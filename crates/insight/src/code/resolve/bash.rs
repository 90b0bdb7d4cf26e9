//! What a script of Bash sources is a file beside it, also where the folder is in a variable.

use super::{Files, folder_of, folders_above, follow};

/// Finds the file that is meant.
pub(crate) fn resolve(from: &str, target: &str, files: &Files<'_>) -> Option<u32> {
    let target = target.replace(['"', '\''], "");
    let here = folder_of(from);
    if !target.starts_with('$') {
        if target.starts_with('/') {
            return None;
        }
        let beside = follow(here, &target).and_then(|it| files.find(&it));
        return beside.or_else(|| files.find(&follow("", &target)?));
    }
    // A variable usually holds the folder of the script, or one above it.
    let path = after_expansion(&target)?;
    folders_above(here).find_map(|it| files.find(&follow(it, path)?))
}

/// Returns the path behind `$folder/`, `${folder}/` or `$(command)/`.
fn after_expansion(target: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in target.char_indices() {
        match character {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => return target.get(at + 1..).filter(|it| !it.contains('$')),
            _ => {}
        }
    }
    None
}
