//! Conditions, expressions and templates against what is declared: variables, settings, flows and
//! steps have names, and variables and settings have types.

pub(super) mod uses;

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::Places;
use crate::{
    Diagnostic, Severity, VarKind, Workflow,
    expression::{NamedTypes, ValueType, find_mismatches, find_text_comparisons, literal_type},
    suggest,
};
use uses::{Purpose, Used};

/// Checks every expression of the index and of every step.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let types = types(places.workflow);
    let mut found = Vec::new();
    for used in uses::of(places.workflow) {
        check_types(places, &used, &types, &mut found);
        check_names(places, &used, &mut found);
        check_words(places, &used, &mut found);
    }
    found
}

/// The names that are always texts, …
const TEXTS: [&str; 11] = [
    "flow",
    "key",
    "verdict",
    "report.status",
    "part.id",
    "part.title",
    "part.mode",
    "step",
    "gate",
    "run.id",
    "items.next",
];
/// … and those that are always numbers.
const NUMBERS: [&str; 6] = [
    "items.total",
    "items.done",
    "items.open",
    "journal.chars",
    "usage.tokens",
    "usage.duration_ms",
];

/// What is known of names before a run.
fn types(workflow: &Workflow) -> NamedTypes {
    let texts = TEXTS.into_iter().map(|it| (it.to_owned(), ValueType::Text));
    let numbers = NUMBERS.into_iter().map(|it| (it.to_owned(), ValueType::Number));
    let mut types: NamedTypes = texts.chain(numbers).collect();
    types
        .extend(workflow.vars.iter().map(|(name, var)| (format!("vars.{name}"), of_var(var.kind))));
    let settings = workflow.settings.iter();
    types
        .extend(settings.filter_map(|(name, it)| Some((format!("settings.{name}"), of_json(it)?))));
    types
}

fn of_var(kind: VarKind) -> ValueType {
    match kind {
        VarKind::Boolean => ValueType::Boolean,
        VarKind::Integer | VarKind::Number => ValueType::Number,
        VarKind::String => ValueType::Text,
        VarKind::List => ValueType::List,
        VarKind::Object => ValueType::Object,
    }
}

fn of_json(value: &Value) -> Option<ValueType> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(ValueType::Boolean),
        Value::Number(_) => Some(ValueType::Number),
        Value::String(_) => Some(ValueType::Text),
        Value::Array(_) => Some(ValueType::List),
        Value::Object(_) => Some(ValueType::Object),
    }
}

fn check_types(
    places: &Places<'_>,
    used: &Used<'_>,
    types: &NamedTypes,
    found: &mut Vec<Diagnostic>,
) {
    let kind = (Severity::Error, "types_unlike");
    for it in find_mismatches(used.source, types) {
        found.push(used.diagnose(places, (it.start, it.width), kind, it.message));
    }
    let Some(value_type) = literal_type(used.source, types) else { return };
    let source = used.source.trim();
    let message = match used.purpose {
        Purpose::Condition if value_type != ValueType::Boolean => {
            format!("`{source}` is {}, not true or false", value_type.describe())
        }
        Purpose::Set(name) => match types.get(&format!("vars.{name}")) {
            Some(wanted) if *wanted != value_type => format!(
                "`vars.{name}` is {}, and `{source}` is {}",
                wanted.describe(),
                value_type.describe()
            ),
            Some(_) | None => return,
        },
        Purpose::Condition | Purpose::Value => return,
    };
    found.push(used.diagnose(places, (0, used.source.len()), kind, message));
}

/// Checks that variables, settings and steps which are named exist.
fn check_names(places: &Places<'_>, used: &Used<'_>, found: &mut Vec<Diagnostic>) {
    let workflow = places.workflow;
    for name in used.names.iter().filter(|it| !it.is_optional) {
        let Some(parts) = MEMBER.captures(&name.text) else { continue };
        let root = parts.get(1).map_or("", |it| it.as_str());
        let Some(member) = parts.get(2).or(parts.get(3)).or(parts.get(4)) else { continue };
        let member = member.as_str();
        let known: Vec<&str> = match root {
            "vars" => workflow.vars.keys().map(String::as_str).collect(),
            "settings" => workflow.settings.keys().map(String::as_str).collect(),
            "items" => vec!["total", "done", "open", "next", "texts"],
            "journal" => vec!["chars"],
            "run" => vec!["id"],
            "usage" => vec!["tokens", "duration_ms"],
            "parts" => sets(workflow),
            _ => workflow.steps.iter().map(|it| it.name.as_str()).collect(),
        };
        if known.contains(&member) {
            continue;
        }
        let (code, what) = match root {
            "vars" => ("var_unknown", "variable"),
            "settings" => ("setting_unknown", "setting"),
            "parts" => ("parts_unknown", "set of parts"),
            "items" | "journal" | "run" | "usage" => ("name_unknown", "name"),
            _ => ("step_unknown", "step"),
        };
        let place = (name.start, name.text.len());
        let message = match what {
            "name" => format!("`{root}` has no `{member}`"),
            what => format!("there is no {what} `{member}`"),
        };
        let help = suggest::help(member, known.iter().copied());
        let told = used.diagnose(places, place, (Severity::Error, code), message);
        found.push(told.with_help(help));
    }
}

/// The sets of parts that steps are fanned out over.
fn sets(workflow: &Workflow) -> Vec<&str> {
    workflow.steps.iter().filter_map(|it| Some(it.each.as_ref()?.parts.as_str())).collect()
}

/// Checks that a text that is asked for can be there at all.
fn check_words(places: &Places<'_>, used: &Used<'_>, found: &mut Vec<Diagnostic>) {
    let workflow = places.workflow;
    for asked in find_text_comparisons(used.source) {
        let known: Vec<&str> = match asked.name.strip_prefix("vars.") {
            Some(name) => {
                let choices = workflow.vars.get(name).map(|it| it.one_of.as_slice());
                choices.unwrap_or_default().iter().filter_map(Value::as_str).collect()
            }
            None if asked.name == "flow" => workflow.flows.keys().map(String::as_str).collect(),
            // Without a gate that is open, `gate` is empty.
            None if asked.name == "gate" && asked.text.is_empty() => continue,
            None if ["step", "gate"].contains(&asked.name) => {
                workflow.steps.iter().map(|it| it.name.as_str()).collect()
            }
            None => continue,
        };
        let is_open = known.is_empty() && asked.name != "flow";
        if is_open || known.contains(&asked.text) {
            continue;
        }
        let place = (asked.start, asked.text.len() + 2);
        let message = format!("`{}` is never `{}`", asked.name, asked.text);
        let help = suggest::help(asked.text, known.iter().copied());
        let told = used.diagnose(places, place, (Severity::Warning, "value_unknown"), message);
        found.push(told.with_help(help));
    }
}

static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(vars|settings|steps|items|journal|run|usage|parts)(?:\.(\w+)|\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\])"#)
        .expect("the pattern is fixed, and a test compiles it")
});
