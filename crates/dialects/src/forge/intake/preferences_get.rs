//! `preferences_get`: what a person wants of every new pipeline.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    preferences::{PREFERENCES, Preferences},
};
use crate::kit::{Ask, Caller, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PreferencesGet {}

impl Tool for PreferencesGet {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "preferences_get";
    const TITLE: &'static str = "Get preferences";
    const DESCRIPTION: &'static str = "The flags that new pipelines begin with.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        Ok(load(caller).then(|preferences| {
            let answer = preferences.map(|it| Answer::json(&it)).map_err(|problem| {
                let message = format!("`{PREFERENCES}` cannot be read: {problem}");
                Failure::new("file_unreadable", message, "rewrite it with `preferences_set`")
            });
            Self::tell(answer).into()
        }))
    }
}

/// Reads the file; nothing is preferred where there is none.
pub(super) fn load(caller: &Caller) -> Seeing<Result<Preferences, String>> {
    place::specs(caller)
        .text(PREFERENCES)
        .map(|text| text?.map_or(Ok(Preferences::default()), |it| Preferences::parse(&it)))
}
