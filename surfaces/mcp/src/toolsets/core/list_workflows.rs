//! `list_workflows`: what can be started. Looked up again at each call.

use std::collections::BTreeMap;

use definition::Severity;
use runtime::Card;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::Failure;
use crate::tool::{Call, Done, Hints, Tool};

pub(super) struct ListWorkflows;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Also list broken ones
    #[serde(default)]
    include_invalid: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    workflows: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid: Option<Vec<Broken>>,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    id: String,
    name: String,
    description: String,
    steps: BTreeMap<String, StepItem>,
    /// The pattern of the `key` that a run must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The flows to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<String>,
    /// The variables that a run may be given, with their defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    vars: BTreeMap<String, serde_json::Value>,
}

#[derive(Serialize, JsonSchema)]
struct StepItem {
    order: usize,
    goal: String,
}

#[derive(Serialize, JsonSchema)]
struct Broken {
    id: String,
    error: String,
}

impl Tool for ListWorkflows {
    type Parameters = Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "list_workflows";
    const TITLE: &'static str = "List workflows";
    const DESCRIPTION: &'static str = "List the workflows that can be started, with their steps.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let (listed, invalid) = call.runtime.list_cards();
        let broken = |it: &runtime::Invalid| {
            let errors = it.diagnostics.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<String> = errors.map(ToString::to_string).collect();
            Broken { id: it.name.clone(), error: errors.join("\n") }
        };
        let answer = Answer {
            workflows: listed.iter().map(|it| item(it)).collect(),
            invalid: parameters.include_invalid.then(|| invalid.iter().map(broken).collect()),
        };
        Ok(answer.into())
    }
}

fn item(card: &Card) -> Item {
    let step = |(index, (name, goal)): (usize, &(String, String))| {
        (name.clone(), StepItem { order: index + 1, goal: goal.clone() })
    };
    Item {
        id: card.name.to_string(),
        name: card.name.to_string(),
        description: card.goal.clone(),
        steps: card.steps.iter().enumerate().map(step).collect(),
        key: card.key.clone(),
        flows: card.flows.clone(),
        vars: card.vars.clone(),
    }
}
