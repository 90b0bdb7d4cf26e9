//! Guard: the files that a step promises are there, and are as they must be.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Check, PartSpec, Product, Step, find_heading, mentions, word_count};

use crate::{
    Artifact, FileFact, Refusal, Rigor, Stop,
    decide::{Draft, Sight, condition_failed, scope},
};

/// Returns the files that must be there now, and whether they are.
pub(crate) fn find_files(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
) -> Result<Vec<(String, bool)>, Stop> {
    let promised = promised(draft, step, part)?;
    draft.known.need_files(promised.iter().map(|(_, path)| path.as_str()))?;
    let is_there = |path: String| {
        let is_there = matches!(draft.known.file(&path)?, FileFact::Present { .. });
        Ok((path, is_there))
    };
    promised.into_iter().map(|(_, path)| is_there(path)).collect()
}

pub(crate) fn check(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    rigor: Rigor,
) -> Result<Vec<Artifact>, Stop> {
    let promised = promised(draft, step, part)?;
    draft.known.need_files(promised.iter().map(|(_, path)| path.as_str()))?;
    let mut artifacts = Vec::new();
    for (product, path) in promised {
        match draft.known.file(&path)? {
            FileFact::Missing => {
                return Err(Refusal::ArtifactMissing { step: step.name.clone(), path }.into());
            }
            FileFact::Unreadable(problem) => {
                return Err(invalid(step, path, problem.clone()).into());
            }
            FileFact::Present { sha256, size, text, .. } => {
                let problem = match find_problem(product, text.as_deref()) {
                    None => find_uncovered(draft, step, product, text.as_deref())?,
                    found => found,
                };
                if let Some(problem) = problem.filter(|_| rigor == Rigor::Full) {
                    return Err(invalid(step, path, problem).into());
                }
                artifacts.push(Artifact { path, sha256: sha256.clone(), size: *size });
            }
        }
    }
    Ok(artifacts)
}

fn invalid(step: &Step, path: String, problem: String) -> Refusal {
    Refusal::ArtifactInvalid { step: step.name.clone(), path, problem }
}

/// Returns what must be there now, with its path. A product of each part is promised only by the
/// report on a part.
fn promised<'s>(
    draft: &Draft<'_>,
    step: &'s Step,
    part: Option<&PartSpec>,
) -> Result<Vec<(&'s Product, String)>, Refusal> {
    if step.produces.is_empty() {
        return Ok(Vec::new());
    }
    let scope = scope(draft.workflow, &draft.state, Sight::of_part(part));
    let mut promised = Vec::new();
    for product in &step.produces {
        let fails = |error| condition_failed(step, &error);
        let is_promised = match &product.when {
            Some(when) => when.evaluate(&scope).map_err(fails)?,
            None => true,
        };
        if is_promised {
            promised.push((product, product.path.render(&scope).map_err(fails)?));
        }
    }
    Ok(promised)
}

fn find_problem(product: &Product, text: Option<&str>) -> Option<String> {
    if product.checks.is_empty() {
        return None;
    }
    let Some(text) = text else {
        return Some("it is no text, or too large to be checked".to_string());
    };
    product.checks.iter().find_map(|check| problem_with(check, text))
}

/// Says which of the things that another file lists are not in the product. Where there is no such
/// file, nothing is listed.
fn find_uncovered(
    draft: &Draft<'_>,
    step: &Step,
    product: &Product,
    text: Option<&str>,
) -> Result<Option<String>, Stop> {
    let text = text.unwrap_or_default();
    for check in &product.checks {
        let Check::Covers { file, pattern } = check else { continue };
        let scope = scope(draft.workflow, &draft.state, Sight::default());
        let path = file.render(&scope).map_err(|error| condition_failed(step, &error))?;
        let FileFact::Present { text: Some(listed), .. } = draft.known.file(&path)? else {
            continue;
        };
        let all = pattern.find_all(listed).into_iter();
        let missing: Vec<&str> = all.filter(|it| !mentions(text, it)).collect();
        if !missing.is_empty() {
            let missing = missing.join("`, `");
            return Ok(Some(format!("it says nothing of `{missing}`, which `{path}` lists")));
        }
    }
    Ok(None)
}

fn problem_with(check: &Check, text: &str) -> Option<String> {
    match check {
        Check::NotEmpty => text.trim().is_empty().then(|| "it is empty".to_string()),
        Check::Heading(heading) => {
            (!find_heading(text, heading)).then(|| format!("it has no heading `{heading}`"))
        }
        Check::Matches(pattern) => {
            let is_fitting = pattern.is_match(text);
            (!is_fitting).then(|| format!("nothing in it fits `{}`", pattern.source()))
        }
        Check::Schema(schema) => match serde_json::from_str(text) {
            Ok(value) => schema.check(&value).err().map(|problems| problems.join("; ")),
            Err(error) => Some(format!("it is no JSON: {error}")),
        },
        Check::Words { min, max } => {
            let words = word_count(text);
            if min.is_some_and(|min| words < min) {
                return min.map(|min| format!("it has {words} words, and needs {min}"));
            }
            let max = (*max)?;
            (max < words).then(|| format!("it has {words} words, and may have {max}"))
        }
        // Needs another file beside it; see `find_uncovered`.
        Check::Covers { .. } => None,
    }
}
