//! `preferences_set`: replaces what a person wants of every new pipeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    preferences::{PREFERENCES, Preferences},
};
use crate::tool::{Call, Done, Effect, Hints};

pub(super) struct PreferencesSet;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// `auto`, `debug`, `nopr`, `discuss` (booleans), `effort` (S, M, L)
    preferences: Map<String, Value>,
}

#[derive(Serialize)]
struct Set {
    ok: bool,
}

impl DialectTool for PreferencesSet {
    type Parameters = Parameters;
    const NAME: &'static str = "preferences_set";
    const TITLE: &'static str = "Set preferences";
    const DESCRIPTION: &'static str =
        "Replace all flags that new pipelines begin with; what is left out is unset.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: true, reaches_out: false };

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let preferences = Preferences::read(&parameters.preferences)
            .map_err(|problem| Failure::new("preference_invalid", problem, ""))?;
        let specs = Folder::specs(call);
        let written = specs.write_privately(call, PREFERENCES, preferences.text()).await;
        written.map_err(|problem| {
            let message = format!("`{PREFERENCES}` could not be written: {problem}");
            Failure::new("storage", message, "fix that, then call again")
        })?;
        Ok(Answer::json(&Set { ok: true }).into())
    }
}
