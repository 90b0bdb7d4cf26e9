//! `cancel_generation`: the end of a generation that is not wanted now.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    text::cancel as text,
};
use crate::tool::{Call, Done, Hints};

/// The reason that is kept where none was given.
const UNGIVEN: &str = "User requested cancellation";

pub(super) struct CancelGeneration;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// Why
    #[schemars(length(max = 500))]
    pub(super) reason: Option<String>,
}

impl DialectTool for CancelGeneration {
    type Parameters = Parameters;
    const NAME: &'static str = "cancel_generation";
    const TITLE: &'static str = "Cancel Generation Workflow";
    const DESCRIPTION: &'static str =
        "Cancel a generation. Its state and artifacts stay, so that it can be resumed.";
    const HINTS: Hints = super::WRITES_ONCE;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let Parameters { scene_id, reason } = parameters;
        let found = scene::expect(call, &scene_id, text::missing(scene_id.as_str())).await?;
        let reason = reason.filter(|it| !it.is_empty());
        let command =
            Command::CancelRun { reason: reason.clone().unwrap_or_else(|| UNGIVEN.to_owned()) };
        match scene::change(call, &scene_id, &found, command).await {
            Ok(after) => Ok(after.say(text::report(&after.scene(), reason.as_deref()))),
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" if found.is_completed() => Some(text::completed(&found.scene())),
                    "run_ended" => Some(text::again(&found.scene())),
                    _ => None,
                })))
            }
        }
    }
}
