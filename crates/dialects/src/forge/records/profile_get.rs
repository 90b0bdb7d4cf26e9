//! `profile_get`: what kind of repository this is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::answer::{Answer, Failure},
    profile,
};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ProfileGet {
    /// Ignored
    #[serde(rename = "workspace")]
    _workspace: Option<String>,
}

impl Tool for ProfileGet {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "profile_get";
    const TITLE: &'static str = "Repository profile";
    const DESCRIPTION: &'static str =
        "Languages, tests, build, CI, linters and branch names of this repository.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        Ok(profile::profile(caller).then(|it| Self::say(Answer::json(&it)).into()))
    }
}
