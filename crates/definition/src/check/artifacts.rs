//! Artifacts that are needed, and that no step produces.

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

/// The letters of a path, with `None` for each expression.
fn pieces(template: &Template) -> Vec<Option<char>> {
    let source = template.source();
    let mut pieces = Vec::new();
    let mut done = 0;
    for (start, inner, _) in template.expressions() {
        let before = source.get(done..start.saturating_sub(2)).unwrap_or_default();
        pieces.extend(before.chars().map(Some));
        pieces.push(None);
        done = start + inner.len() + 2;
    }
    pieces.extend(source.get(done..).unwrap_or_default().chars().map(Some));
    pieces
}

/// Whether a pattern with wildcards fits a path, whose own wildcards are letters like others.
fn fits(pattern: &[Option<char>], path: &[Option<char>]) -> bool {
    // How far each prefix of the pattern can reach; both are short.
    let mut reach = vec![false; path.len() + 1];
    reach.first_mut().into_iter().for_each(|it| *it = true);
    for piece in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut is_open = false;
        for (at, is_reached) in reach.iter().enumerate() {
            if piece.is_none() {
                is_open |= is_reached;
                next.get_mut(at).into_iter().for_each(|it| *it = is_open);
            } else if *is_reached && path.get(at) == Some(piece) {
                next.get_mut(at + 1).into_iter().for_each(|it| *it = true);
            }
        }
        reach = next;
    }
    reach.last().copied().unwrap_or_default()
}
