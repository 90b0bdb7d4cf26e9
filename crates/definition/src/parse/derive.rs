//! What a definition need not say, because it follows from other steps.

use super::{Document, Problems};
use crate::{
    Check, Deed, Diagnostic, Effect, PartSource, Review, Rules, Spent, Step, StepName, Template,
    Workflow,
};

/// Completes the steps of a workflow.
pub(super) fn complete(steps: &mut [Step], documents: &[Document], problems: &mut Problems) {
    check_plans(steps);
    let products: Vec<(StepName, Option<Template>)> = steps.iter().map(first_product).collect();
    let product = |name: &StepName| {
        let found = products.iter().find(|(it, _)| it == name);
        found.and_then(|(_, path)| path.clone())
    };
    let mut reviews = Vec::new();
    for (at, step) in steps.iter_mut().enumerate() {
        let is_whole = step.each.is_none();
        let Some(review) = &mut step.review else { continue };
        review.read = product(&step.name);
        review.judges = product(&review.of).filter(|_| is_whole && review.read.is_some());
        reviews.push((at, step.name.clone(), review.clone()));
    }
    for step in steps.iter_mut() {
        let Some(gate) = step.gate.as_mut().filter(|it| it.unless.is_some()) else { continue };
        let back = |it: &StepName| {
            gate.options.iter().any(|option| option.effect == Effect::Back(it.clone()))
        };
        let found = reviews.iter().find(|(_, _, review)| back(&review.of));
        gate.reviewed = found.map(|(_, name, _)| name.clone());
    }
    for (at, _, review) in &reviews {
        let Some(beside) = &review.rules else { continue };
        let rules = rules(beside, review, product(&review.of));
        match (rules, steps.iter_mut().find(|it| it.name == review.of)) {
            (Some(rules), Some(judged)) => judged.rules = Some(rules),
            _ => documents.get(*at).into_iter().for_each(|it| problems.push(refuse_rules(it))),
        }
    }
}

/// Whether anything that happens in a run archives its journal: then it has one.
pub(super) fn rotates(workflow: &Workflow) -> bool {
    let index = workflow.moves.iter().map(|it| &it.actions);
    let index = index.chain(workflow.rules.iter().map(|it| &it.actions));
    let index = index.chain(workflow.chores.iter().map(|it| &it.actions)).chain([&workflow.adopt]);
    let steps = workflow.steps.iter().flat_map(|it| {
        let limits = it.review.iter().flat_map(|it| &it.limits).map(|it| &it.actions);
        let next = it.next.iter().map(|it| &it.actions);
        [&it.on.enter, &it.on.done, &it.on.back].into_iter().chain(limits).chain(next)
    });
    index.chain(steps).flatten().any(|it| matches!(it.deed, Deed::Rotate(..)))
}

/// The first file that a step leaves behind.
fn first_product(step: &Step) -> (StepName, Option<Template>) {
    (step.name.clone(), step.produces.first().map(|it| it.path.clone()))
}

/// A file that parts are planned from must be a plan.
fn check_plans(steps: &mut [Step]) {
    let plans: Vec<String> = steps
        .iter()
        .filter_map(|it| match &it.each.as_ref()?.from {
            PartSource::File { path, .. } => Some(path.source().to_owned()),
            PartSource::Shared | PartSource::Listed(_) | PartSource::Context(_) => None,
        })
        .collect();
    for product in steps.iter_mut().flat_map(|it| &mut it.produces) {
        if plans.iter().any(|it| it == product.path.source()) {
            product.checks.push(Check::Parts);
        }
    }
}

/// The rules on the parts that a review judges: its own file tells of what is wrong, and its own
/// limit counts.
fn rules(beside: &str, review: &Review, parts: Option<Template>) -> Option<Rules> {
    let limit = review.limits.iter().find(|it| it.then == Spent::Ask)?;
    Some(Rules {
        beside: beside.to_owned(),
        parts: parts?,
        note: review.read.clone()?,
        count: review.count.clone(),
        after: limit.after,
    })
}

fn refuse_rules(document: &Document) -> Diagnostic {
    let label = document.front_label(&["review", "rules"]);
    let message = "`review.rules` needs a file on both sides, and a limit";
    let help = "both steps have `produces`, and the review `limits: {4: ask}`".to_owned();
    Diagnostic::error("value_invalid", label, message).with_help(help)
}
