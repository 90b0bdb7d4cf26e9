//! Which step a call is about: by its number, or by its name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::words::{Dialect, NamedStep, STEPS, Step};
use crate::kit::InvalidArguments;

/// Exactly one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct StepChoice {
    /// This or `step_name`
    #[schemars(range(min = 1, max = 7))]
    step_number: Option<u8>,
    /// This or `step_number`
    step_name: Option<StepName>,
}

/// A name of the six-step dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct StepName(&'static Step);

impl StepChoice {
    /// Returns the step that a call of `tool` is about.
    pub(crate) fn read(self, tool: &'static str) -> Result<NamedStep, InvalidArguments> {
        match (self.step_number.and_then(Step::find), self.step_name) {
            (Some(step), None) => Ok(NamedStep { step, dialect: Dialect::Numbered }),
            (None, Some(StepName(step))) => Ok(NamedStep { step, dialect: Dialect::Named }),
            (None, None) => {
                Err(InvalidArguments::missing(tool, "step_number", "say it, or step_name instead"))
            }
            (Some(_), Some(_)) => {
                let why = "must not be given beside step_number: exactly one of the two";
                Err(InvalidArguments::wrong(tool, "step_name", why))
            }
        }
    }
}

impl TryFrom<String> for StepName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Step::find_named(&text).map(Self).ok_or_else(|| rule().replace("{value}", &text))
    }
}

impl JsonSchema for StepName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StepName".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = names().collect();
        json_schema!({ "type": "string", "enum": names, "x-rule": rule() })
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().filter_map(|it| it.name)
}

fn rule() -> String {
    let names: Vec<String> = names().map(|it| format!("\n  - {it}")).collect();
    format!("Invalid step_name: '{{value}}'\nMust be one of:{}", names.concat())
}
