//! The context and the variables of a run change. Both are bounded; variables are typed.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use definition::{Expression, Step, Var, VarKind};
use serde_json::{Map, Value};

use super::{Draft, EvalContext, check_depth, check_size, condition_failed, scope};
use crate::{ContextChange, Event, Refusal, Stop};

/// Changes the context, if there is anything to change.
pub(super) fn apply(draft: &mut Draft<'_>, change: &ContextChange) -> Result<(), Refusal> {
    add(draft, change);
    check_context(draft, &draft.state.context)
}

/// Changes the context, which was checked.
pub(super) fn add(draft: &mut Draft<'_>, change: &ContextChange) {
    let context = &draft.state.context;
    let is_news = |(key, value): &(&String, &Value)| context.get(*key) != Some(*value);
    let set: Map<String, Value> = change
        .set
        .iter()
        .filter(is_news)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let removed: Vec<String> =
        change.remove.iter().filter(|key| context.contains_key(*key)).cloned().collect();
    if set.is_empty() && removed.is_empty() {
        return;
    }
    draft.push(Event::ContextChanged { set, removed });
}

/// Refuses a context that is too large to be kept.
pub(super) fn check_context(
    draft: &Draft<'_>,
    context: &Map<String, Value>,
) -> Result<(), Refusal> {
    check_depth("the context", context.values())?;
    let bytes = serde_json::to_string(context).map_or(0, |it| it.len());
    check_size("the context", bytes, draft.known.bounds.context_bytes_max)
}

/// Takes over what settings say of variables, where it is news. What is over stays as it was.
pub(super) fn follow_settings(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if !draft.state.standing.is_live() {
        return Ok(());
    }
    let settled = draft.known.settled_vars(draft.workflow).into_iter();
    let news = settled.filter(|(name, value)| draft.state.vars.get(*name) != Some(value));
    let set: Map<String, Value> = news.map(|(name, value)| (name.to_string(), value)).collect();
    if set.is_empty() {
        return Ok(());
    }
    check_vars(draft, &set)?;
    draft.push(Event::VarsChanged { set });
    Ok(())
}

pub(super) fn set_vars(draft: &mut Draft<'_>, set: &Map<String, Value>) -> Result<(), Stop> {
    draft.check_live()?;
    check_vars(draft, set)?;
    draft.push(Event::VarsChanged { set: set.clone() });
    Ok(())
}

/// Sets variables to what expressions of the definition give.
pub(super) fn assign(
    draft: &mut Draft<'_>,
    step: &Step,
    set: &BTreeMap<String, Expression>,
    sight: EvalContext<'_>,
) -> Result<(), Refusal> {
    if set.is_empty() {
        return Ok(());
    }
    let scope = scope(draft.workflow, &draft.state, sight);
    let mut values = Map::new();
    for (name, expression) in set {
        let value = expression.evaluate(&scope).map_err(|error| condition_failed(step, &error))?;
        if draft.state.vars.get(name) != Some(&value) {
            values.insert(name.clone(), value);
        }
    }
    if values.is_empty() {
        return Ok(());
    }
    check_vars(draft, &values)?;
    draft.push(Event::VarsChanged { set: values });
    Ok(())
}

/// Refuses variables that the workflow does not have, and values that they cannot have.
pub(super) fn check_vars(draft: &Draft<'_>, set: &Map<String, Value>) -> Result<(), Refusal> {
    check_depth("a variable", set.values())?;
    let max = draft.known.bounds.context_bytes_max;
    let settled = draft.known.settled_vars(draft.workflow);
    for (name, value) in set {
        let bytes = serde_json::to_string(value).map_or(0, |it| it.len());
        check_size(&format!("variable `{name}`"), bytes, max)?;
        let Some(var) = draft.workflow.vars.get(name) else {
            let known = draft.workflow.vars.keys().cloned().collect();
            return Err(Refusal::VarUnknown { name: name.clone(), known });
        };
        let is_settled = settled.get(name.as_str()).is_some_and(|it| it != value);
        let taken = is_settled.then(|| String::from("a setting decides it"));
        if let Some(problem) = taken.or_else(|| find_problem(var, value)) {
            let (name, value) = (name.clone(), value.to_string());
            return Err(Refusal::VarInvalid { name, value, problem });
        }
    }
    let bytes = serde_json::to_string(set).map_or(0, |it| it.len());
    check_size("the set of variables", bytes, max)
}

fn find_problem(var: &Var, value: &Value) -> Option<String> {
    let (fits, wanted) = match var.kind {
        VarKind::Boolean => (value.is_boolean(), "true or false"),
        VarKind::Integer => (value.is_i64() || value.is_u64(), "a whole number"),
        VarKind::Number => (value.is_number(), "a number"),
        VarKind::String => (value.is_string(), "a text"),
        VarKind::List => (value.is_array(), "a list"),
        VarKind::Object => (value.is_object(), "an object"),
    };
    if !fits {
        return Some(format!("it must be {wanted}"));
    }
    if !var.one_of.is_empty() && !var.one_of.contains(value) {
        let words: Vec<String> = var.one_of.iter().map(ToString::to_string).collect();
        return Some(format!("it must be one of {}", words.join(", ")));
    }
    None
}
