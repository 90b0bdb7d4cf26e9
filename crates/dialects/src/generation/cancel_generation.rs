//! `cancel_generation`: the end of a generation that is not wanted now.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    text::cancel as text,
};
use crate::kit::{Ask, Caller, Hints, Tool};

/// The reason that is kept where none was given.
const UNGIVEN: &str = "User requested cancellation";

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CancelGeneration {
    /// 4 digits
    scene_id: SceneId,
    /// Why
    #[schemars(length(max = 500))]
    reason: Option<String>,
}

impl Tool for CancelGeneration {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "cancel_generation";
    const TITLE: &'static str = "Cancel Generation Workflow";
    const DESCRIPTION: &'static str =
        "Cancel a generation. Its state and artifacts stay, so that it can be resumed.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let missing = text::missing(self.scene_id.as_str());
        let reason = self.reason.filter(|it| !it.is_empty());
        Ok(scene::open::<Self>(&self.scene_id, missing, move |found| {
            let kept = reason.clone().unwrap_or_else(|| UNGIVEN.to_owned());
            found.change::<Self>(
                Command::CancelRun { reason: kept },
                move |_, after| after.say(text::report(&after.scene(), reason.as_deref())),
                |found, refusal| {
                    let words = if found.is_completed() { text::completed } else { text::again };
                    Err(scene::is_ended(refusal).then(|| words(&found.scene())))
                },
            )
        }))
    }
}
