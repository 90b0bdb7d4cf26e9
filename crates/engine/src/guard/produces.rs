//! Guard: the files that a step promises are there, and are as they must be.

use alloc::{string::String, vec::Vec};

use definition::{Beside, Check, PartSpec, Product, Step, check_product};

use crate::{
    Artifact, FileFact, Refusal, Rigor, Stop,
    decide::{Draft, EvalContext, condition_failed, scope},
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
        let is_there = matches!(draft.file(&path)?, FileFact::Present { .. });
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
        match draft.file(&path)? {
            FileFact::Missing => {
                return Err(Refusal::ArtifactMissing { step: step.name.clone(), path }.into());
            }
            FileFact::Unreadable(problem) => {
                return Err(invalid(step, path, problem.clone()).into());
            }
            FileFact::Present { sha256, size, text, .. } => {
                let problem = find_problem(draft, step, product, text.as_deref())?;
                if let Some(problem) = problem.filter(|_| rigor == Rigor::Full) {
                    return Err(invalid(step, path, problem).into());
                }
                // A file that is promised twice, each time with other checks, is one file.
                if !artifacts.iter().any(|it: &Artifact| it.path == path) {
                    artifacts.push(Artifact { path, sha256: sha256.clone(), size: *size });
                }
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
    let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(part));
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

/// Returns what is wrong with a product, if anything.
fn find_problem(
    draft: &Draft<'_>,
    step: &Step,
    product: &Product,
    text: Option<&str>,
) -> Result<Option<String>, Stop> {
    let mut listed = Vec::new();
    for check in &product.checks {
        let Check::Covers { file, .. } = check else { continue };
        let scope = scope(draft.workflow, &draft.state, EvalContext::default());
        let path = file.render(&scope).map_err(|error| condition_failed(step, &error))?;
        let other = match draft.file(&path)? {
            FileFact::Present { text, .. } => text.clone(),
            FileFact::Missing | FileFact::Unreadable(_) => None,
        };
        listed.push(other.map(|text| (path, text)));
    }
    let beside = Beside { listed: &listed, parts_max: draft.known.bounds.parts_max };
    Ok(check_product(&product.checks, text, beside))
}
