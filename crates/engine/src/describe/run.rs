//! How a run began, what it knows, and what a model advised.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, Value};

use super::{listed, quoted};
use crate::{ModelAsked, RunStarted};

pub(super) fn started(it: &RunStarted) -> String {
    let key = it.key.as_ref().map(|key| format!(" `{key}`")).unwrap_or_default();
    let flow = it.flow.as_ref().map(|it| format!(", flow `{it}`")).unwrap_or_default();
    format!("run of `{}`{key} began{flow}", it.workflow)
}

pub(super) fn context(set: &Map<String, Value>, removed: &[String]) -> String {
    let mut keys: Vec<String> = set.keys().map(|key| format!("`{key}`")).collect();
    keys.extend(removed.iter().map(|key| format!("`{key}` (removed)")));
    format!("context: {}", keys.join(", "))
}

pub(super) fn vars(set: &Map<String, Value>) -> String {
    let vars: Vec<String> = set.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
    format!("variables: {}", vars.join(", "))
}

pub(super) fn asked(asked: &ModelAsked) -> String {
    let ModelAsked { step, next, reasoning, failure, usage, warnings } = asked;
    let led = match (next, failure) {
        (_, Some(failure)) => {
            let why = quoted(&failure.message);
            format!("did not choose ({}){why}", failure.kind.as_str())
        }
        (next, None) => {
            let next = next.as_deref().unwrap_or_default();
            let why = reasoning.as_deref().map(quoted).unwrap_or_default();
            format!("chose `{next}`{why}")
        }
    };
    let spent = format!("{} + {} tokens", usage.tokens_in, usage.tokens_out);
    let (model, ms) = (&usage.model, usage.latency_ms);
    format!("after `{step}` the model {led} [{model}, {spent}, {ms} ms]{}", listed(warnings))
}
