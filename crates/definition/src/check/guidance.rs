//! Names of steps in guidance. Anyone who decides reads them there, in double quotes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::LazyLock,
};

use regex::Regex;

use super::Places;
use crate::{
    Diagnostic, FAILED, FINISH, Label, Step, StepName, Workflow,
    parse::{Document, markdown::find_sections},
    suggest,
    text::outside_fences,
};

/// How many letters a word must have to be taken for a mistyped name.
const LETTERS_MIN: usize = 5;

/// How many different quoted texts are looked at.
const QUOTES_MAX: usize = 1_000;

/// Returns the steps that a step's guidance names in quotes, exactly.
pub(crate) fn mentioned_steps(workflow: &Workflow, step: &Step) -> BTreeSet<usize> {
    let quotes = find_quotes(&step.guidance);
    let find = |text: &str| workflow.steps.iter().position(|it| it.name.as_str() == text);
    quotes.into_iter().filter_map(|(_, text)| find(text)).collect()
}

/// Whether a step's guidance says in quotes that the run may end there.
pub(crate) fn mentions_end(step: &Step) -> bool {
    find_quotes(&step.guidance).into_iter().any(|(_, text)| text == FINISH)
}

/// Finds quoted words that are nearly, but not exactly, the name of a step.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let mut found = Vec::new();
    // The same words are quoted again and again.
    let mut seen: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (at, step) in workflow.steps.iter().enumerate() {
        let targets = find_targets(&step.guidance);
        for (start, text) in find_quotes(&step.guidance) {
            if targets.contains(&start) && is_unknown(workflow, text) {
                let label = label(places, at, start, text);
                let names = workflow.work_steps().map(|it| it.name.as_str());
                let help = suggest::help(text, names.collect::<Vec<_>>());
                let message = format!("there is no step `{text}`");
                found.push(Diagnostic::warning("step_unknown", label, message).with_help(help));
                continue;
            }
            if !seen.contains_key(text) && seen.len() < QUOTES_MAX {
                seen.insert(text, nearly(workflow, text));
            }
            let Some(meant) = seen.get(text).copied().flatten() else { continue };
            let is_same = suggest::fold(text) == suggest::fold(meant);
            let message = if is_same {
                format!("step `{meant}` is written `{text}` here")
            } else {
                format!("there is no step `{text}`")
            };
            let help = if is_same {
                "case, spaces, `_` and `-` matter in names".to_owned()
            } else {
                format!("did you mean `{meant}`?")
            };
            let label = label(places, at, start, text);
            found.push(Diagnostic::warning("step_misspelt", label, message).with_help(help));
        }
    }
    found
}

/// Whether a quoted text, which guidance sends the run to, is like no step.
fn is_unknown(workflow: &Workflow, text: &str) -> bool {
    let mut names = workflow.steps.iter().map(|it| it.name.as_str()).chain([FINISH, FAILED]);
    let is_known = names.any(|it| suggest::fold(it) == suggest::fold(text));
    !is_known && nearly(workflow, text).is_none()
}

/// Finds the quoted texts that guidance sends the run to: `go to "A" or "B"`.
fn find_targets(guidance: &str) -> BTreeSet<usize> {
    let mut targets = BTreeSet::new();
    let mut previous: Option<(usize, usize)> = None;
    for (start, text) in find_quotes(guidance) {
        let before = guidance.get(..start).unwrap_or_default().trim_end_matches(['"', '“', '”']);
        let is_led = TARGET.is_match(before.lines().next_back().unwrap_or_default());
        let is_next = previous.is_some_and(|(first, end)| {
            let between = guidance.get(end..start).unwrap_or_default();
            targets.contains(&first) && BETWEEN.is_match(between)
        });
        if is_led || is_next {
            targets.insert(start);
        }
        previous = Some((start, start + text.len()));
    }
    targets
}

/// What stands before the name of a step that a run is sent to.
static TARGET: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)\b(?:go(?:es)?(?: back| on)? to|(?:back|return|move|proceed|jump) to|stay (?:on|at)|(?:continue|go on) (?:with|at)) (?:step )?$";
    Regex::new(pattern).expect("the pattern is fixed, and a test compiles it")
});
/// What stands between two of them.
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^["”](?:,| or|, or) ["“]$"#)
        .expect("the pattern is fixed, and a test compiles it")
});

/// Returns the name that a quoted text was most likely meant to be, if it is not one.
fn nearly<'a>(workflow: &'a Workflow, text: &str) -> Option<&'a str> {
    let folded = suggest::fold(text);
    let names = || workflow.steps.iter().map(|it| it.name.as_str());
    let is_word = [FINISH, FAILED].iter().any(|it| suggest::fold(it) == folded);
    if is_word || names().any(|it| it == text) || StepName::parse(text).is_err() {
        return None;
    }
    let meant = suggest::nearest(text, names())?;
    let is_long = LETTERS_MIN <= folded.chars().count();
    (is_long || suggest::fold(meant) == folded).then_some(meant)
}

/// Finds placeholders in instructions. The server sends these to the agent as they are.
pub(super) fn check_placeholders(places: &Places<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, step) in places.workflow.steps.iter().enumerate() {
        let Some(document) = places.document(at) else { continue };
        let section = find_sections(&document.body.text).instructions;
        for (line_start, line) in outside_fences(&step.instructions) {
            for placeholder in PLACEHOLDER.find_iter(line) {
                let (start, text) = (line_start + placeholder.start(), placeholder.as_str());
                let label = label_in(document, section.clone(), start, text);
                let message = format!("nothing fills in `{text}`: the agent reads it as it is");
                let help = "say where the agent finds the value, such as `theme` in `context`";
                let told = Diagnostic::warning("placeholder_unfilled", label, message);
                found.push(told.with_help(help.to_owned()));
            }
        }
    }
    found
}

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$?\{\{[^{}]*\}\}").expect("the pattern is fixed, and a test compiles it")
});

/// Finds where in its file a piece of a step's guidance is written.
fn label(places: &Places<'_>, step: usize, start: usize, text: &str) -> Label {
    let Some(document) = places.document(step) else { return places.whole(step) };
    let section = find_sections(&document.body.text).guidance;
    label_in(document, section, start, text)
}

/// Finds where in its file a piece of a trimmed section is written.
fn label_in(document: &Document, section: Option<Range<usize>>, start: usize, text: &str) -> Label {
    let section = section.unwrap_or_default();
    let inside = document.body.text.get(section.clone()).unwrap_or_default();
    let indent = inside.len() - inside.trim_start().len();
    let width = u32::try_from(text.chars().count()).unwrap_or(1);
    document.body_label(section.start + indent + start, width)
}

/// Finds what stands between double quotes, straight or curly, on one line; with its first byte.
fn find_quotes(text: &str) -> Vec<(usize, &str)> {
    let mut quotes = Vec::new();
    for (line_start, line) in outside_fences(text) {
        let mut open: Option<usize> = None;
        for (at, letter) in line.char_indices() {
            let is_quote = matches!(letter, '"' | '“' | '”');
            match open {
                Some(start) if is_quote => {
                    let inner = line.get(start..at).unwrap_or_default();
                    quotes.push((line_start + start, inner));
                    open = None;
                }
                None if is_quote => open = Some(at + letter.len_utf8()),
                Some(_) | None => {}
            }
        }
    }
    quotes
}
