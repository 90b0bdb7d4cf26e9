//! The lists that parts come from: a file, the context, the definition or a caller.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use definition::{Each, Otherwise, PartId, PartSource, PartSpec, Step, parse_parts};
use serde_json::Value;

use super::{Draft, EvalContext, condition_failed, part_rules, scope};
use crate::{FileFact, Refusal, Stop};

/// Returns the file that the parts of a step come from.
pub(super) fn source(draft: &Draft<'_>, step: &Step) -> Result<Option<String>, Refusal> {
    let Some(PartSource::File { path, .. }) = step.each.as_ref().map(|it| &it.from) else {
        return Ok(None);
    };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let path = path.render(&scope).map_err(|error| condition_failed(step, &error))?;
    Ok(Some(path))
}

/// Returns what the definition has the agent write where there is no file with the parts.
pub(super) fn own_text(each: &Each) -> Option<&str> {
    match &each.from {
        PartSource::File { otherwise: Otherwise::Text(text), .. } => Some(text),
        PartSource::File { .. }
        | PartSource::Shared
        | PartSource::Listed(_)
        | PartSource::Context(_) => None,
    }
}

/// Returns the parts that a step has by the list that it takes them from, as far as that is there.
/// One that cannot be read is refused: it may have a part for a person.
pub(super) fn written(draft: &Draft<'_>, step: &Step) -> Result<Vec<PartSpec>, Stop> {
    let invalid = |problem| invalid(step, problem);
    match step.each.as_ref().map(|it| &it.from) {
        None | Some(PartSource::Shared) => Ok(Vec::new()),
        Some(PartSource::Listed(parts)) => Ok(parts.clone()),
        Some(PartSource::Context(expression)) => {
            let scope = scope(draft.workflow, &draft.state, EvalContext::default());
            let Ok(Value::Array(items)) = expression.evaluate(&scope) else {
                return Ok(Vec::new());
            };
            Ok(items.iter().map(parse_part).collect::<Result<_, _>>().map_err(invalid)?)
        }
        Some(PartSource::File { path, otherwise }) => {
            let scope = scope(draft.workflow, &draft.state, EvalContext::default());
            let path = path.render(&scope).map_err(|error| condition_failed(step, &error))?;
            match (draft.known.file(&path)?, otherwise) {
                (FileFact::Missing, Otherwise::Parts(parts)) => Ok(parts.clone()),
                (FileFact::Missing, Otherwise::Text(_) | Otherwise::Refused) => Ok(Vec::new()),
                (file @ (FileFact::Present { .. } | FileFact::Unreadable(_)), _) => {
                    read(draft, step, &path, file)
                }
            }
        }
    }
}

/// Reads a list of parts, as the project's rules have them.
fn read(
    draft: &Draft<'_>,
    step: &Step,
    path: &str,
    file: &FileFact,
) -> Result<Vec<PartSpec>, Stop> {
    let invalid = |problem| invalid(step, problem);
    match file {
        FileFact::Present { text: Some(text), .. } => {
            let parts = parse_parts(text).map_err(invalid)?;
            check_parts(draft, step, &parts)?;
            part_rules::enforce(draft, path, parts)
        }
        FileFact::Present { text: None, .. } | FileFact::Missing | FileFact::Unreadable(_) => {
            Err(invalid(format!("`{path}` is not text")).into())
        }
    }
}

/// Returns parts that a caller names, as the project's rules have them.
pub(super) fn as_ruled(
    draft: &Draft<'_>,
    step: &Step,
    given: &[PartSpec],
) -> Result<Vec<PartSpec>, Stop> {
    match source(draft, step)? {
        Some(path) => part_rules::enforce(draft, &path, given.to_vec()),
        None => Ok(given.to_vec()),
    }
}

/// Returns the parts; `None` while the agent is to write the file first that they come from.
pub(super) fn find_parts(
    draft: &Draft<'_>,
    step: &Step,
    each: &Each,
) -> Result<Option<Vec<PartSpec>>, Stop> {
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let invalid = |problem| invalid(step, problem);
    match &each.from {
        PartSource::Shared => Ok(Some(Vec::new())),
        PartSource::Listed(parts) => Ok(Some(parts.clone())),
        PartSource::Context(expression) => {
            let value =
                expression.evaluate(&scope).map_err(|error| condition_failed(step, &error))?;
            let Value::Array(items) = value else {
                let source = expression.source();
                return Err(invalid(format!("`{source}` is not a list")).into());
            };
            let parts = items.iter().map(parse_part).collect::<Result<_, _>>().map_err(invalid)?;
            Ok(Some(parts))
        }
        PartSource::File { path, otherwise } => {
            let path = path.render(&scope).map_err(|error| condition_failed(step, &error))?;
            match draft.file(&path)? {
                FileFact::Missing => {
                    let when = each.otherwise_when.as_ref();
                    let is_meant = draft.holds(when, step, EvalContext::default())?;
                    match otherwise {
                        Otherwise::Parts(parts) if is_meant => Ok(Some(parts.clone())),
                        Otherwise::Text(_) if is_meant => Ok(None),
                        Otherwise::Parts(_) | Otherwise::Text(_) | Otherwise::Refused => {
                            Err(Refusal::NeedMissing { step: step.name.clone(), path }.into())
                        }
                    }
                }
                file @ (FileFact::Present { .. } | FileFact::Unreadable(_)) => {
                    Ok(Some(read(draft, step, &path, file)?))
                }
            }
        }
    }
}

/// Reads a part from a list in the context: a name, or an object.
fn parse_part(value: &Value) -> Result<PartSpec, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let id = |value: &Value| {
        let id = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
        PartId::parse(&id).map_err(|error| format!("`{id}`: {error}"))
    };
    if let Some(path) = value.as_str().filter(|it| it.contains('/')) {
        return parse_path(path);
    }
    if !value.is_object() {
        let id = id(value)?;
        let title = id.to_string();
        return Ok(PartSpec { id, title, mode: String::new(), files: vec![], after: vec![] });
    }
    let list = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
    let after = list("after");
    let files = list("files").filter_map(Value::as_str);
    Ok(PartSpec {
        id: id(value.get("id").ok_or_else(|| "a part has no `id`".to_string())?)?,
        title: text("title"),
        mode: text("mode"),
        files: files.map(ToString::to_string).collect(),
        after: after.map(id).collect::<Result<_, _>>()?,
    })
}

/// Makes a part of a path. Its id may become a part of a path itself, so it has no separators: `src/a.rs`
/// is the part `src-a.rs`.
fn parse_path(path: &str) -> Result<PartSpec, String> {
    let names = path.split('/').filter(|it| !matches!(*it, "" | "."));
    let id = names.collect::<Vec<_>>().join("-");
    let id = PartId::parse(&id).map_err(|error| format!("`{path}`: {error}"))?;
    let (title, files) = (path.to_string(), vec![path.to_string()]);
    Ok(PartSpec { id, title, mode: String::new(), files, after: vec![] })
}

/// Refuses too many parts, the same part twice, and parts that wait for each other.
pub(super) fn check_parts(
    draft: &Draft<'_>,
    step: &Step,
    parts: &[PartSpec],
) -> Result<(), Refusal> {
    let checked = definition::check_parts(parts, draft.known.bounds.parts_max);
    checked.map_err(|problem| invalid(step, problem))
}

/// Refuses a list of parts.
fn invalid(step: &Step, problem: String) -> Refusal {
    Refusal::PartsInvalid { step: step.name.clone(), problem, back: None }
}
