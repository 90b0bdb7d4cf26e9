//! Files that the server itself takes away, because what they say is over.

use alloc::{string::String, vec::Vec};

use definition::{Step, Template};

use super::{Draft, EvalContext, condition_failed, scope};
use crate::{Event, FileFact, Stop};

/// Removes those of the files that are there.
pub(super) fn drop(
    draft: &mut Draft<'_>,
    step: &Step,
    sight: EvalContext<'_>,
    paths: &[Template],
) -> Result<(), Stop> {
    if paths.is_empty() {
        return Ok(());
    }
    let scope = scope(draft.workflow, &draft.state, sight);
    let rendered = paths.iter().map(|it| it.render(&scope));
    let paths: Vec<String> =
        rendered.collect::<Result<_, _>>().map_err(|error| condition_failed(step, &error))?;
    draft.known.need_files(paths.iter().map(String::as_str))?;
    for path in paths {
        remove(draft, path)?;
    }
    Ok(())
}

/// Removes a file, if it is there.
pub(super) fn remove(draft: &mut Draft<'_>, path: String) -> Result<(), Stop> {
    if let FileFact::Present { sha256, .. } = draft.file(&path)? {
        let was = Some(sha256.clone());
        draft.push(Event::FileLeft { path, was, text: None });
    }
    Ok(())
}
