//! `get_generation_status`, also called `get_status`: where a generation is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    text::status as text,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct GetGenerationStatus;

/// The same under the name that other answers of the original use.
pub(super) struct GetStatus;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// With every step
    #[serde(default)]
    pub(super) detailed: bool,
}

impl DialectTool for GetGenerationStatus {
    type Parameters = Parameters;
    const NAME: &'static str = "get_generation_status";
    const TITLE: &'static str = "Get Generation Status";
    const DESCRIPTION: &'static str =
        "Show where a scene's generation is: step, elapsed time, artifacts, errors.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        status(call, parameters).await
    }
}

impl DialectTool for GetStatus {
    type Parameters = Parameters;
    const NAME: &'static str = "get_status";
    const TITLE: &'static str = GetGenerationStatus::TITLE;
    const DESCRIPTION: &'static str = "The same as get_generation_status.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        status(call, parameters).await
    }
}

async fn status(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
    let Parameters { scene_id, detailed } = parameters;
    let found = scene::expect(call, &scene_id, text::missing(scene_id.as_str())).await?;
    Ok(found.done(text::report(&found.scene(), detailed)))
}
