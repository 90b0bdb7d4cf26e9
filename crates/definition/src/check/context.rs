//! What conditions and lists say of the context: is it set, and is anyone told to set it?

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{
    Places,
    conditions::uses::{self, Purpose, Used},
};
use crate::{Deed, Diagnostic, Schema, Severity, Workflow, expression::NameUse, suggest};

/// Checks every expression that names the context.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let told = told_names(workflow);
    let mut found = Vec::new();
    for used in uses::of(workflow) {
        let mut seen = BTreeSet::new();
        for name in used.names {
            let Some(member) = member(name).filter(|it| seen.insert(*it)) else { continue };
            let place = (name.start, name.text.len());
            let kind = |code| (Severity::Warning, code);
            if !told.contains(member) {
                let message = format!("no step and no parameter says what `context.{member}` is");
                let near = suggest::nearest(member, told.iter().copied());
                let help = near.map_or_else(
                    || format!("name `{member}` in the step that sets it, under `context_updates`"),
                    |it| format!("did you mean `{it}`?"),
                );
                let told = used.diagnose(places, place, kind("context_unknown"), message);
                found.push(told.with_help(help));
            } else if used.purpose == Purpose::Condition && !is_guarded(workflow, &used, member) {
                let message =
                    format!("without `{member}` in the context, this condition stops the run");
                let help = format!(
                    "write `context.{member} is defined and …`, or `context.{member} | default(…)`"
                );
                let told = used.diagnose(places, place, kind("context_unguarded"), message);
                found.push(told.with_help(help));
            }
        }
    }
    found
}

/// Returns which key of the context a name begins with.
fn member(name: &NameUse) -> Option<&str> {
    MEMBER.captures(&name.text)?.get(1).map(|it| it.as_str())
}

/// Whether an expression says what to do without a key, or a run cannot start without it.
fn is_guarded(workflow: &Workflow, used: &Used<'_>, wanted: &str) -> bool {
    let params = workflow.params.as_ref().map(Schema::source);
    let required = params.and_then(|it| it.get("required")?.as_array()).into_iter().flatten();
    let mut required = required.filter_map(|it| it.as_str());
    let mut optional = used.names.iter().filter(|it| it.is_optional).filter_map(member);
    optional.any(|it| it == wanted) || required.any(|it| it == wanted)
}

/// The words that a definition uses in its texts, its parameters and in what it merges. A key that is
/// among none of them is set by nobody who follows the definition.
fn told_names(workflow: &Workflow) -> BTreeSet<&str> {
    let params = workflow.params.as_ref().map(Schema::source);
    let params = params.and_then(|it| it.get("properties")?.as_object());
    let params = params.into_iter().flat_map(|it| it.keys()).map(String::as_str);
    let texts = workflow.steps.iter().flat_map(|it| [it.text.as_str(), it.instructions.as_str()]);
    let merged = workflow.actions().filter_map(|it| {
        if let Deed::Merge(merged) = &it.deed { Some(merged.source()) } else { None }
    });
    let texts = texts.chain([workflow.index.as_str()]).chain(merged);
    let words = texts.flat_map(|it| WORD.find_iter(it)).map(|it| it.as_str());
    words.chain(params).collect()
}

static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^context\.(\w+)").expect("the pattern is fixed, and a test compiles it")
});
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{L}_]\w*").expect("the pattern is fixed, and a test compiles it")
});
