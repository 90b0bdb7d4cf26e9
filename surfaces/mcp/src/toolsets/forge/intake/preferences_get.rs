//! `preferences_get`: what a person wants of every new pipeline.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    preferences::{PREFERENCES, Preferences},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct PreferencesGet;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for PreferencesGet {
    type Parameters = Parameters;
    const NAME: &'static str = "preferences_get";
    const TITLE: &'static str = "Get preferences";
    const DESCRIPTION: &'static str = "The flags that new pipelines begin with.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        let preferences = load(call).await.map_err(|problem| {
            let message = format!("`{PREFERENCES}` cannot be read: {problem}");
            Failure::new("file_unreadable", message, "rewrite it with `preferences_set`")
        })?;
        Ok(Answer::json(&preferences).into())
    }
}

/// Reads the file; nothing is preferred where there is none.
pub(super) async fn load(call: &Call<'_>) -> Result<Preferences, String> {
    let text = Folder::specs(call).read(call, PREFERENCES).await?;
    text.map_or(Ok(Preferences::default()), |it| Preferences::parse(&it))
}
