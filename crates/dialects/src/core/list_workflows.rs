//! `list_workflows`: what can be started. Looked up again at each call.

use std::{collections::BTreeMap, sync::Arc};

use definition::Severity;
use engine::Card;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Failure, Tried};
use crate::kit::{self, Ask, Caller, Hints, Look, Stopped, Tell, Tool};

/// How many bytes of English a token has on average.
const BYTES_PER_TOKEN: usize = 4;
/// The most of a workflow's goal that the list shows, in characters.
const LINE_CHARS_MAX: usize = 120;

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListWorkflows {
    /// Show all of one
    workflow_name: Option<String>,
    /// Also list broken ones
    #[serde(default)]
    include_invalid: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    workflows: Vec<Item>,
    /// How to see more of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid: Option<Vec<Broken>>,
}

impl kit::Answer for Answer {}

/// A workflow in one line, or all of it.
#[derive(Serialize, JsonSchema)]
struct Item {
    id: String,
    name: String,
    description: String,
    #[serde(flatten)]
    details: Option<Details>,
}

/// What there is to know before a run is started.
#[derive(Serialize, JsonSchema)]
struct Details {
    /// In their order.
    steps: Vec<StepItem>,
    /// The pattern of the `key` that a run must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The JSON Schema of the start `context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    params: Option<serde_json::Value>,
    /// The flows to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<String>,
    /// The variables that a run may be given, with their defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    vars: BTreeMap<String, serde_json::Value>,
    /// The steps after which a person is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<String>,
    /// How large the instructions of all steps are together.
    instruction_tokens: usize,
}

#[derive(Serialize, JsonSchema)]
struct StepItem {
    step_name: String,
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
    const DESCRIPTION: &'static str = "List the workflows that can be started.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        if let Some(name) = self.workflow_name {
            let tried = Tried::new(person, format!("Failed to list workflow '{name}'"));
            let say = tried.or_fail::<Self, _, _>(|listed: engine::Listed| {
                let all = vec![whole(&Card::of(&listed.workflow))];
                Self::say(Answer { workflows: all, more: None, invalid: None })
            });
            let came = |found: Result<_, engine::Refusal>| say(found.map_err(Stopped::Refused));
            return Ok(Tell::Look(Look::Listed(name, Box::new(came))).into());
        }
        let broken = |it: &engine::Invalid| {
            let errors = it.diagnostics.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<String> = errors.map(ToString::to_string).collect();
            Broken { id: it.name.clone(), error: errors.join("\n") }
        };
        let say = move |(listed, invalid): (Vec<Arc<Card>>, Vec<engine::Invalid>)| {
            Self::say(Answer {
                workflows: listed.iter().map(|it| line(it)).collect(),
                more: (!listed.is_empty()).then_some("`workflow_name` shows the steps of one"),
                invalid: self.include_invalid.then(|| invalid.iter().map(broken).collect()),
            })
        };
        Ok(Tell::Look(Look::Workflows(Box::new(say))).into())
    }
}

fn line(card: &Card) -> Item {
    let name = card.name.to_string();
    let goal = card.headline();
    let description = match goal.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", goal.get(..end).unwrap_or_default()),
        None => goal.to_owned(),
    };
    Item { id: name.clone(), name, description, details: None }
}

fn whole(card: &Card) -> Item {
    let step =
        |(name, goal): &(String, String)| StepItem { step_name: name.clone(), goal: goal.clone() };
    let details = Details {
        steps: card.steps.iter().map(step).collect(),
        key: card.key.clone(),
        params: card.params.clone(),
        flows: card.flows.clone(),
        vars: card.vars.clone(),
        gates: card.gates.clone(),
        instruction_tokens: card.instruction_bytes / BYTES_PER_TOKEN,
    };
    Item { description: card.goal.clone(), details: Some(details), ..line(card) }
}
