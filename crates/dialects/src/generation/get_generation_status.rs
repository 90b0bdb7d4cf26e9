//! `get_generation_status`, also called `get_status`: where a generation is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    text::status as text,
};
use crate::kit::{Ask, Caller, Hints, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetGenerationStatus {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// With every step
    #[serde(default)]
    pub(super) detailed: bool,
}

/// The same under the name that other answers of the original use.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetStatus(GetGenerationStatus);

impl Tool for GetGenerationStatus {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "get_generation_status";
    const TITLE: &'static str = "Get Generation Status";
    const DESCRIPTION: &'static str =
        "Show where a scene's generation is: step, elapsed time, artifacts, errors.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let missing = text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id, missing, move |found| {
            let report = text::report(&found.scene(), self.detailed);
            Self::say(found.done(report)).into()
        }))
    }
}

impl Tool for GetStatus {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "get_status";
    const TITLE: &'static str = GetGenerationStatus::TITLE;
    const DESCRIPTION: &'static str = "The same as get_generation_status.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        self.0.ask(caller)
    }
}
