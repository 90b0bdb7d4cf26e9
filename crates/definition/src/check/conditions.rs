//! Conditions, expressions and templates against what is declared: variables, settings, flows and
//! steps have names, and variables and settings have types.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use super::Places;
use crate::{
    Condition, Diagnostic, Expression, PartSource, Severity, Step, Template, VarKind, Workflow,
    expression::{
        NameUse, NamedTypes, ValueType, find_mismatches, find_text_comparisons, literal_type,
    },
    suggest,
};

/// Checks every expression of every step.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let types = types(places.workflow);
    let mut found = Vec::new();
    for (at, step) in places.workflow.steps.iter().enumerate() {
        for used in uses(step) {
            check_types(places, at, &used, &types, &mut found);
            check_names(places, at, &used, &mut found);
            check_words(places, at, &used, &mut found);
        }
    }
    found
}

/// What an expression is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose<'a> {
    Condition,
    /// The new value of a variable.
    Set(&'a str),
    Value,
}

/// An expression of a step, and where its front matter says it.
struct Used<'a> {
    path: Vec<String>,
    purpose: Purpose<'a>,
    /// Where in the text at `path` it begins, in bytes.
    start: usize,
    source: &'a str,
    names: &'a [NameUse],
}

impl Used<'_> {
    fn diagnose(
        &self,
        places: &Places<'_>,
        (step, start, width): (usize, usize, usize),
        (severity, code): (Severity, &'static str),
        message: String,
    ) -> Diagnostic {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let label = places.front_within(step, &path, (self.start + start, width));
        Diagnostic { severity, ..Diagnostic::error(code, label, message) }
    }
}

/// Gathers the expressions of a step.
fn uses(step: &Step) -> Vec<Used<'_>> {
    let mut uses = Uses(Vec::new());
    for (at, need) in step.needs.iter().enumerate() {
        let at = at.to_string();
        uses.template(&["needs", &at, "path"], &need.path);
        uses.condition(&["needs", &at, "when"], need.when.as_ref());
    }
    for (at, product) in step.produces.iter().enumerate() {
        let at = at.to_string();
        uses.template(&["produces", &at, "path"], &product.path);
        uses.condition(&["produces", &at, "when"], product.when.as_ref());
    }
    if let Some(gate) = &step.gate {
        uses.template(&["gate", "ask"], &gate.ask);
        for (at, path) in gate.show.iter().enumerate() {
            uses.template(&["gate", "show", &at.to_string()], path);
        }
        uses.condition(&["gate", "unless"], gate.unless.as_ref());
    }
    if let Some(review) = &step.review {
        review.read.iter().for_each(|it| uses.template(&["review", "read"], it));
        for (at, limit) in review.limits.iter().enumerate() {
            uses.set(&["review", "limits", &at.to_string(), "set"], &limit.set);
        }
    }
    for (at, next) in step.next.iter().enumerate() {
        let at = at.to_string();
        uses.condition(&["next", &at, "when"], next.when.as_ref());
        uses.set(&["next", &at, "set"], &next.set);
        next.merge.iter().for_each(|it| uses.expression(&["next", &at, "merge"], it));
    }
    match step.each.as_ref().map(|it| &it.from) {
        Some(PartSource::File { path, .. }) => uses.template(&["each", "from"], path),
        Some(PartSource::Context(it)) => uses.expression(&["each", "context"], it),
        Some(PartSource::Shared | PartSource::Listed(_)) | None => {}
    }
    uses.condition(&["skip_when"], step.skip_when.as_ref());
    uses.0
}

struct Uses<'a>(Vec<Used<'a>>);

impl<'a> Uses<'a> {
    fn push(
        &mut self,
        path: &[&str],
        purpose: Purpose<'a>,
        (start, source, names): (usize, &'a str, &'a [NameUse]),
    ) {
        let path = path.iter().map(|it| (*it).to_owned()).collect();
        self.0.push(Used { path, purpose, start, source, names });
    }

    fn condition(&mut self, path: &[&str], condition: Option<&'a Condition>) {
        if let Some(it) = condition {
            self.push(path, Purpose::Condition, (0, it.source(), it.names()));
        }
    }

    fn expression(&mut self, path: &[&str], expression: &'a Expression) {
        self.push(path, Purpose::Value, (0, expression.source(), expression.names()));
    }

    fn template(&mut self, path: &[&str], template: &'a Template) {
        for expression in template.expressions() {
            self.push(path, Purpose::Value, expression);
        }
    }

    fn set(&mut self, path: &[&str], set: &'a BTreeMap<String, Expression>) {
        for (name, it) in set {
            let path = [path, &[name]].concat();
            self.push(&path, Purpose::Set(name), (0, it.source(), it.names()));
        }
    }
}

/// What is known of names before a run.
fn types(workflow: &Workflow) -> NamedTypes {
    let texts = ["flow", "key", "verdict", "report.status", "part.id", "part.title", "part.mode"];
    let mut types: NamedTypes =
        texts.into_iter().map(|it| (it.to_owned(), ValueType::Text)).collect();
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
    step: usize,
    used: &Used<'_>,
    types: &NamedTypes,
    found: &mut Vec<Diagnostic>,
) {
    let kind = (Severity::Error, "types_unlike");
    for it in find_mismatches(used.source, types) {
        found.push(used.diagnose(places, (step, it.start, it.width), kind, it.message));
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
    found.push(used.diagnose(places, (step, 0, used.source.len()), kind, message));
}

/// Checks that variables, settings and steps which are named exist.
fn check_names(places: &Places<'_>, step: usize, used: &Used<'_>, found: &mut Vec<Diagnostic>) {
    let workflow = places.workflow;
    for name in used.names.iter().filter(|it| !it.is_optional) {
        let Some(parts) = MEMBER.captures(&name.text) else { continue };
        let root = parts.get(1).map_or("", |it| it.as_str());
        let Some(member) = parts.get(2).or(parts.get(3)).or(parts.get(4)) else { continue };
        let member = member.as_str();
        let known: Vec<&str> = match root {
            "vars" => workflow.vars.keys().map(String::as_str).collect(),
            "settings" => workflow.settings.keys().map(String::as_str).collect(),
            _ => workflow.steps.iter().map(|it| it.name.as_str()).collect(),
        };
        if known.contains(&member) {
            continue;
        }
        let (code, what) = match root {
            "vars" => ("var_unknown", "variable"),
            "settings" => ("setting_unknown", "setting"),
            _ => ("step_unknown", "step"),
        };
        let place = (step, name.start, name.text.len());
        let message = format!("there is no {what} `{member}`");
        let help = suggest::help(member, known.iter().copied());
        let told = used.diagnose(places, place, (Severity::Error, code), message);
        found.push(told.with_help(help));
    }
}

/// Checks that a text that is asked for can be there at all.
fn check_words(places: &Places<'_>, step: usize, used: &Used<'_>, found: &mut Vec<Diagnostic>) {
    let workflow = places.workflow;
    for asked in find_text_comparisons(used.source) {
        let known: Vec<&str> = match asked.name.strip_prefix("vars.") {
            Some(name) => {
                let choices = workflow.vars.get(name).map(|it| it.one_of.as_slice());
                choices.unwrap_or_default().iter().filter_map(Value::as_str).collect()
            }
            None if asked.name == "flow" => workflow.flows.keys().map(String::as_str).collect(),
            None => continue,
        };
        let is_open = known.is_empty() && asked.name != "flow";
        if is_open || known.contains(&asked.text) {
            continue;
        }
        let place = (step, asked.start, asked.text.len() + 2);
        let message = format!("`{}` is never `{}`", asked.name, asked.text);
        let help = suggest::help(asked.text, known.iter().copied());
        let told = used.diagnose(places, place, (Severity::Warning, "value_unknown"), message);
        found.push(told.with_help(help));
    }
}

static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(vars|settings|steps)(?:\.(\w+)|\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\])"#)
        .expect("the pattern is fixed, and a test compiles it")
});
