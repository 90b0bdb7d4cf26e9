//! `list_workflows`: what can be started. Looked up again at each call.

use std::{collections::BTreeMap, sync::Arc};

use definition::Severity;
use engine::Card;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::Failure;
use crate::kit::{self, Ask, Caller, Hints, Look, Tell, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListWorkflows {
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

impl kit::Answer for Answer {}

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
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "list_workflows";
    const TITLE: &'static str = "List workflows";
    const DESCRIPTION: &'static str = "List the workflows that can be started, with their steps.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let broken = |it: &engine::Invalid| {
            let errors = it.diagnostics.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<String> = errors.map(ToString::to_string).collect();
            Broken { id: it.name.clone(), error: errors.join("\n") }
        };
        let say = move |(listed, invalid): (Vec<Arc<Card>>, Vec<engine::Invalid>)| {
            Self::say(Answer {
                workflows: listed.iter().map(|it| item(it)).collect(),
                invalid: self.include_invalid.then(|| invalid.iter().map(broken).collect()),
            })
        };
        Ok(Tell::Look(Look::Workflows(Box::new(say))).into())
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
