//! The form that a reply must have, as JSON Schema.

use serde_json::{Value, json};

/// What the form is called where it needs a name.
pub(super) const NAME: &str = "choose_step";

/// Returns the form. Every field is required, as some endpoints want; `null` means nothing.
pub(super) fn reply(names: &[String]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["next_step_name", "updated_context", "status_suggestion", "reasoning"],
        "properties": {
            "next_step_name": {"type": "string", "enum": names},
            "updated_context": {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": false,
                            "required": ["key", "value"],
                            "properties": {
                                "key": {"type": "string"},
                                "value": {"type": "string"},
                            },
                        },
                    },
                    {"type": "null"},
                ],
            },
            "status_suggestion": {
                "anyOf": [
                    {"type": "string", "enum": ["RUNNING", "SUSPENDED", "COMPLETED", "FAILED"]},
                    {"type": "null"},
                ],
            },
            "reasoning": {"type": "string"},
        },
    })
}
