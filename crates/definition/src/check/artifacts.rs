//! Artifacts that are needed, and that no step produces.

use regex::Regex;

use super::Places;
use crate::{Diagnostic, Otherwise, PartSource, Step, Template, suggest};

/// Checks what each step but the first needs. What the first needs is given from outside, and so
/// may be needed by others too.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let first = workflow.first_step();
    let given = first.iter().flat_map(|it| &it.needs).map(|it| &it.path);
    let produced = workflow.steps.iter().flat_map(|it| &it.produces).map(|it| &it.path);
    let reviews = workflow.steps.iter().filter_map(|it| it.review.as_ref()?.read.as_ref());
    let known: Vec<&Template> = given.chain(produced).chain(reviews).collect();
    let mut found = Vec::new();
    for (at, step) in workflow.steps.iter().enumerate() {
        if first.is_some_and(|it| it.name == step.name) {
            continue;
        }
        for (path, wanted) in wanted(step) {
            if known.iter().any(|it| may_be(it, wanted)) {
                continue;
            }
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let message = format!("no step produces `{}`", wanted.source());
            let near = suggest::nearest(wanted.source(), known.iter().map(|it| it.source()));
            let help = near.map(|it| format!("did you mean `{it}`?"));
            let label = places.front(at, &path);
            found.push(Diagnostic::warning("artifact_unknown", label, message).with_help(help));
        }
    }
    found
}

/// The artifacts that a step wants to be there, and where its front matter says so.
fn wanted(step: &Step) -> Vec<(Vec<String>, &Template)> {
    let path = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let needs = step.needs.iter().enumerate();
    let mut wanted: Vec<_> =
        needs.map(|(at, it)| (path(&["needs", &at.to_string(), "path"]), &it.path)).collect();
    let show = step.gate.iter().flat_map(|it| &it.show).enumerate();
    wanted.extend(show.map(|(at, it)| (path(&["gate", "show", &at.to_string()]), it)));
    if let Some(PartSource::File { path: file, otherwise }) = step.each.as_ref().map(|it| &it.from)
        && *otherwise == Otherwise::Refused
    {
        wanted.push((path(&["each", "from"]), file));
    }
    wanted
}

/// Whether two path templates can give one path. Expressions may give anything.
fn may_be(one: &Template, two: &Template) -> bool {
    let (one, two) = (pieces(one), pieces(two));
    fits(&one, &two) || fits(&two, &one)
}

/// The texts of a path before, between and after its expressions.
fn pieces(template: &Template) -> Vec<&str> {
    let source = template.source();
    let mut pieces = Vec::new();
    let mut done = 0;
    for (start, inner, _) in template.expressions() {
        pieces.push(source.get(done..start.saturating_sub(2)).unwrap_or_default());
        done = start + inner.len() + 2;
    }
    pieces.push(source.get(done..).unwrap_or_default());
    pieces
}

/// Whether a pattern with expressions fits a path, whose own expressions are letters like others.
fn fits(pattern: &[&str], path: &[&str]) -> bool {
    if pattern.len() == 1 {
        return pattern == path;
    }
    let escaped: Vec<String> = pattern.iter().map(|it| regex::escape(it)).collect();
    let pattern = Regex::new(&format!("(?s)^{}$", escaped.join(".*")));
    pattern.is_ok_and(|it| it.is_match(&path.join("\0")))
}
