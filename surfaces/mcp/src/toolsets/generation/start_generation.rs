//! `start_generation`: the beginning of a generation.

use engine::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    path,
    scene::{self, Found, Stopped},
    scene_id::SceneId,
    text::start as text,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct StartGeneration;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// The blueprint file
    #[schemars(length(min = 1, max = 500))]
    pub(super) blueprint_path: String,
    /// Who starts it
    #[serde(default = "coordinator")]
    #[schemars(length(max = 100))]
    pub(super) initiated_by: String,
    /// Kept with it
    pub(super) metadata: Option<Map<String, Value>>,
}

impl DialectTool for StartGeneration {
    type Parameters = Parameters;
    const NAME: &'static str = "start_generation";
    const TITLE: &'static str = "Start Generation Workflow";
    const DESCRIPTION: &'static str =
        "Begin to track the generation of a scene. One that runs already is kept.";
    const HINTS: Hints = super::WRITES_ONCE;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let Parameters { scene_id, blueprint_path, initiated_by, metadata } = parameters;
        path::check(Self::NAME, "blueprint_path", &blueprint_path)?;
        let mut context = Map::new();
        context.insert("blueprint_path".to_owned(), blueprint_path.into());
        context.insert("initiated_by".to_owned(), initiated_by.into());
        context.extend(metadata.map(|it| ("metadata".to_owned(), Value::Object(it))));
        // In a session a state of its own would begin beside the common one.
        if scene::find_session(call).await.is_some()
            && let Some(found) = scene::find(call, &scene_id).await?.filter(Found::holds_key)
        {
            return exists(&found);
        }
        match scene::start(call, &scene_id, context).await {
            Ok(after) => Ok(after.say(text::started(&after.scene()))),
            Err(Stopped::Refused(Refusal::KeyTaken { .. })) => {
                match scene::find(call, &scene_id).await? {
                    Some(found) => exists(&found),
                    None => Err(scene::missing(&scene_id, super::text::missing(scene_id.as_str()))),
                }
            }
            Err(stopped) => Err(stopped.or_else(None, |_| None)),
        }
    }
}

fn coordinator() -> String {
    "generation-coordinator".to_owned()
}

/// What is there already stays as it is.
fn exists(found: &Found) -> Result<Done<Facts>, Failure> {
    if found.is_live() {
        return Ok(found.say(text::exists(&found.scene())));
    }
    Err(found.fail(Failure::new("key_taken", text::ended(&found.scene()))))
}
