//! `validate_input`: whether a string can begin a pipeline. It is never an error.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
    },
    arguments::Arguments,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct ValidateInput;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for ValidateInput {
    type Parameters = Parameters;
    const NAME: &'static str = "validate_input";
    const TITLE: &'static str = "Validate input";
    const DESCRIPTION: &'static str =
        "Check whether a task description, issue URL or spec folder can begin a pipeline.";
    const HINTS: Hints = Hints::READS;

    async fn call(_: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let validated = match Arguments::parse(&parameters.arguments) {
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
        Ok(Answer::json(&validated).into())
    }
}
