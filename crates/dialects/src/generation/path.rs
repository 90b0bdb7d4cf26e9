//! A path that a caller names: never one that climbs.

use crate::kit::InvalidArguments;

/// Refuses a path that leads out of the folder it is seen from by `..`.
pub(super) fn check(tool: &'static str, field: &str, path: &str) -> Result<(), InvalidArguments> {
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err(InvalidArguments::wrong(
            tool,
            field,
            "must not lead out of the project: no `..` in a path",
        ));
    }
    Ok(())
}
