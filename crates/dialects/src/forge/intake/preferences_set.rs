//! `preferences_set`: replaces what a person wants of every new pipeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    preferences::{PREFERENCES, Preferences},
};
use crate::kit::{Ask, Caller, Effect, Hints, Text, Tool, Write};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PreferencesSet {
    /// `auto`, `debug`, `nopr`, `discuss` (booleans), `effort` (S, M, L)
    preferences: Map<String, Value>,
}

#[derive(Serialize)]
struct Set {
    ok: bool,
}

impl Tool for PreferencesSet {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "preferences_set";
    const TITLE: &'static str = "Set preferences";
    const DESCRIPTION: &'static str =
        "Replace all flags that new pipelines begin with; what is left out is unset.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: true, reaches_out: false };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let preferences = Preferences::read(&self.preferences)
            .map_err(|problem| Failure::new("preference_invalid", problem, ""))?;
        let (folder, path) = (place::specs(caller), PREFERENCES.to_owned());
        let write = Write { folder, path, text: Text::Whole(preferences.text()), is_private: true };
        let then = |written: Result<(), String>| {
            Self::tell(written.map(|()| Answer::json(&Set { ok: true })).map_err(|problem| {
                let message = format!("`{PREFERENCES}` could not be written: {problem}");
                Failure::new("storage", message, "fix that, then call again")
            }))
        };
        Ok(Ask::Write(write, Box::new(then)))
    }
}
