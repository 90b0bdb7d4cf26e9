//! `profile_get`: what kind of repository this is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
    },
    profile,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct ProfileGet;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Ignored
    #[serde(rename = "workspace")]
    _workspace: Option<String>,
}

impl DialectTool for ProfileGet {
    type Parameters = Parameters;
    const NAME: &'static str = "profile_get";
    const TITLE: &'static str = "Repository profile";
    const DESCRIPTION: &'static str =
        "Languages, tests, build, CI, linters and branch names of this repository.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _parameters: Parameters) -> Result<Done<Answer>, Failure> {
        Ok(Answer::json(&profile::profile(call).await).into())
    }
}
