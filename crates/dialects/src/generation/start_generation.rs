//! `start_generation`: the beginning of a generation.

use engine::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    path,
    scene::{self, Found, Place},
    scene_id::SceneId,
    text::start as text,
};
use crate::kit::{Ask, Caller, Done, Hints, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StartGeneration {
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

impl Tool for StartGeneration {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "start_generation";
    const TITLE: &'static str = "Start Generation Workflow";
    const DESCRIPTION: &'static str =
        "Begin to track the generation of a scene. One that runs already is kept.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let Self { scene_id: id, blueprint_path, initiated_by, metadata } = self;
        path::check(Self::NAME, "blueprint_path", &blueprint_path)?;
        let mut context = Map::new();
        context.insert("blueprint_path".to_owned(), blueprint_path.into());
        context.insert("initiated_by".to_owned(), initiated_by.into());
        context.extend(metadata.map(|it| ("metadata".to_owned(), Value::Object(it))));
        Ok(Place::find(move |place| {
            if place.session.is_none() {
                return start(place, id, context);
            }
            // In a session a state of its own would begin beside the common one.
            let look = place.clone().find_scene(&id.clone(), move |found| match found {
                Ok(Some(found)) if found.holds_key() => Self::tell(exists(&found)).into(),
                Ok(_) => start(place, id, context),
                Err(failure) => Self::fail(failure).into(),
            });
            Ask::Look(look)
        })
        .into())
    }
}

fn coordinator() -> String {
    "generation-coordinator".to_owned()
}

fn start(place: Place, id: SceneId, context: Map<String, Value>) -> Ask {
    place.clone().start(&id.clone(), context, move |after| match after {
        Ok(Ok(after)) => {
            let started = after.say(text::started(&after.scene()));
            StartGeneration::say(started)
        }
        Ok(Err(Refusal::KeyTaken { .. })) => place
            .find_scene(&id.clone(), move |found| match found {
                Ok(Some(found)) => StartGeneration::tell(exists(&found)),
                Ok(None) => {
                    let missing = super::text::missing(id.as_str());
                    let missing = Failure::new("state_not_found", missing);
                    StartGeneration::fail(missing.about(id.as_str(), None))
                }
                Err(failure) => StartGeneration::fail(failure),
            })
            .into(),
        Ok(Err(refusal)) => {
            StartGeneration::fail(Failure::new(refusal.code(), scene::refused(&refusal)))
        }
        Err(failure) => StartGeneration::fail(failure),
    })
}

/// What is there already stays as it is.
fn exists(found: &Found) -> Result<Done<Facts>, Failure> {
    if found.is_live() {
        return Ok(found.say(text::exists(&found.scene())));
    }
    Err(found.fail(Failure::new("key_taken", text::ended(&found.scene()))))
}
