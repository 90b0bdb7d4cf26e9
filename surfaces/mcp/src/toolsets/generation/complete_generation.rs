//! `complete_generation`: the scene is written.

use engine::{Command, ContextChange};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    path,
    scene::{self, Stopped},
    scene_id::SceneId,
    text::complete as text,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct CompleteGeneration;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// The scene's file
    #[schemars(length(min = 1, max = 500))]
    pub(super) final_scene_path: String,
    /// The report's file
    #[schemars(length(min = 1, max = 500))]
    pub(super) validation_report_path: String,
    /// Of the scene
    pub(super) word_count: u64,
    /// Of all steps
    #[schemars(range(min = 0))]
    pub(super) total_duration_seconds: f64,
    /// How many retries it took
    #[serde(default)]
    #[schemars(range(max = 3))]
    pub(super) retry_count: u8,
}

impl DialectTool for CompleteGeneration {
    type Parameters = Parameters;
    const NAME: &'static str = "complete_generation";
    const TITLE: &'static str = "Complete Generation Workflow (Terminal)";
    const DESCRIPTION: &'static str = "End a generation that is done, with its figures.";
    const HINTS: Hints = super::WRITES_ONCE;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        path::check(Self::NAME, "final_scene_path", &parameters.final_scene_path)?;
        path::check(Self::NAME, "validation_report_path", &parameters.validation_report_path)?;
        let id = &parameters.scene_id;
        let found = scene::expect(call, id, super::text::missing(id.as_str())).await?;
        let details = parameters.figures();
        let paths =
            details.iter().filter(|(key, _)| key.ends_with("_path") || *key == "word_count");
        let context = ContextChange {
            set: paths.map(|(key, value)| (key.clone(), value.clone())).collect(),
            remove: Vec::new(),
        };
        let command = Command::CompleteRun { details, context, early: true };
        match scene::change(call, id, &found, command).await {
            Ok(after) => Ok(after.say(text::report(&after.scene()))),
            Err(Stopped::Refused(_)) if found.is_completed() => {
                Ok(found.say(text::again(&found.scene())))
            }
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" => Some(text::ended(&found.scene())),
                    _ => None,
                })))
            }
        }
    }
}

impl Parameters {
    fn figures(&self) -> Map<String, Value> {
        [
            ("final_scene_path", Value::from(self.final_scene_path.as_str())),
            ("validation_report_path", self.validation_report_path.as_str().into()),
            ("word_count", self.word_count.into()),
            ("total_duration_seconds", self.total_duration_seconds.into()),
            ("retry_count", self.retry_count.into()),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
    }
}
