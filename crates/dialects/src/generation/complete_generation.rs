//! `complete_generation`: the scene is written.

use engine::{Command, ContextChange};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    path, scene,
    scene_id::SceneId,
    text::{complete as text, failure},
};
use crate::kit::{Ask, Caller, Hints, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CompleteGeneration {
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
    pub(super) retry_count: u8,
}

impl Tool for CompleteGeneration {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "complete_generation";
    const TITLE: &'static str = "Complete Generation Workflow (Terminal)";
    const DESCRIPTION: &'static str = "End a generation that is done, with its figures.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        path::check(Self::NAME, "final_scene_path", &self.final_scene_path)?;
        path::check(Self::NAME, "validation_report_path", &self.validation_report_path)?;
        let missing = super::text::missing(self.scene_id.as_str());
        let details = self.figures();
        let paths =
            details.iter().filter(|(key, _)| key.ends_with("_path") || *key == "word_count");
        let context = ContextChange {
            set: paths.map(|(key, value)| (key.clone(), value.clone())).collect(),
            remove: Vec::new(),
        };
        let command = Command::CompleteRun { details, context, early: true };
        Ok(scene::open::<Self>(&self.scene_id, missing, move |found| {
            found.change::<Self>(
                command,
                |_, after| after.say(text::report(&after.scene())),
                |found, refusal| match found.is_completed() {
                    true => Ok(found.say(text::again(&found.scene()))),
                    false => Err(scene::is_ended(refusal)
                        .then(|| failure::ended(&found.scene(), "complete generation"))),
                },
            )
        }))
    }
}

impl CompleteGeneration {
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
