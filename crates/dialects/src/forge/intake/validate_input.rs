//! `validate_input`: whether a string can begin a pipeline. It is never an error.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::answer::{Answer, Failure},
    arguments::Arguments,
};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ValidateInput {
    /// What the user typed
    #[serde(default)]
    arguments: String,
}

#[derive(Serialize)]
struct Validated {
    valid: bool,
    errors: Vec<String>,
    parsed: Parsed,
}

#[derive(Default, Serialize)]
struct Parsed {
    flags: BTreeMap<&'static str, String>,
    bare_flags: Vec<&'static str>,
    core_text: String,
    source_type: &'static str,
}

impl Tool for ValidateInput {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "validate_input";
    const TITLE: &'static str = "Validate input";
    const DESCRIPTION: &'static str =
        "Check whether a task description, issue URL or spec folder can begin a pipeline.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let validated = match Arguments::parse(&self.arguments) {
            Ok(read) => Validated {
                valid: true,
                errors: Vec::new(),
                parsed: Parsed {
                    source_type: read.subject.as_str(),
                    flags: read.flags,
                    bare_flags: read.bare_flags,
                    core_text: read.core_text,
                },
            },
            Err(error) => {
                Validated { valid: false, errors: vec![error], parsed: Parsed::default() }
            }
        };
        Ok(Self::say(Answer::json(&validated)).into())
    }
}
