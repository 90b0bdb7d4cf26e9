//! The id of a scene: four digits, of which two are the chapter's.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

const RULE: &str = "Scene ID must be exactly 4 digits (e.g., '0204')";

/// Four digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SceneId(String);

impl SceneId {
    /// Reads a scene id; `None` of what is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_scene = text.len() == 4 && text.bytes().all(|it| it.is_ascii_digit());
        is_scene.then(|| Self(text.to_owned()))
    }

    /// Returns the digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SceneId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl TryFrom<String> for SceneId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or(RULE)
    }
}

impl JsonSchema for SceneId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SceneId".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}$", "x-rule": RULE })
    }
}
