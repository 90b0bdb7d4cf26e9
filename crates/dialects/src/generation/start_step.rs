//! `start_step`: a step begins.

use engine::{Command, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    scene::{self, Found},
    scene_id::SceneId,
    step_choice::StepChoice,
    text::step as text,
    words::NamedStep,
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StartStep {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// Default: the step's title
    #[schemars(length(max = 200))]
    pub(super) phase_name: Option<String>,
    /// Who works on it
    #[schemars(length(max = 100))]
    pub(super) agent_name: Option<String>,
    /// Kept with the step
    pub(super) metadata: Option<Map<String, Value>>,
    /// Step 3: wait until the user approves
    #[serde(default)]
    pub(super) awaiting_approval: bool,
}

impl Tool for StartStep {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "start_step";
    const TITLE: &'static str = "Start Workflow Step";
    const DESCRIPTION: &'static str =
        "Say that a step begins. Refused while a step before it is not done.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        let missing = text::missing_to_start(self.scene_id.as_str());
        let command = Command::StartStep(engine::StartStep {
            step: spoken.step.key.to_owned(),
            part: None,
            details: self.details(),
            again: true,
            asks: self.awaiting_approval,
        });
        Ok(scene::open::<Self>(&self.scene_id, missing, move |found| {
            found.change::<Self>(
                command,
                move |_, after| after.say(text::started(&after.scene(), spoken)),
                move |found, refusal| Err(words(found, spoken, refusal)),
            )
        }))
    }
}

impl StartStep {
    /// Returns the step that begins.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }

    /// Returns what is said of the attempt.
    fn details(&self) -> Map<String, Value> {
        let word = |key: &str| Some((key.to_owned(), self.find_word(key)?.into()));
        let mut details: Map<_, _> =
            ["phase_name", "agent_name"].into_iter().filter_map(word).collect();
        let metadata = self.metadata.clone().map(Value::Object);
        details.extend(metadata.map(|it| ("metadata".to_owned(), it)));
        details
    }

    /// Returns a text from the call, or from its metadata, where the six-step dialect has it.
    pub(super) fn find_word(&self, key: &str) -> Option<&str> {
        let said = match key {
            "phase_name" => self.phase_name.as_deref(),
            "agent_name" => self.agent_name.as_deref(),
            _ => None,
        };
        let noted = || self.metadata.as_ref()?.get(key)?.as_str().map(str::trim);
        said.or_else(noted).filter(|it| !it.is_empty())
    }
}

/// Why a step may not begin.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have words of their own")]
fn words(found: &Found, spoken: NamedStep, refusal: &Refusal) -> Option<String> {
    let scene = found.scene();
    match refusal {
        Refusal::RunEnded { .. } => Some(text::ended_to_start(&scene)),
        Refusal::GateOpen { .. } => Some(text::unapproved(&scene, spoken)),
        Refusal::GateMissing { .. } => Some(text::unasked(spoken)),
        Refusal::StepNotCurrent { .. } | Refusal::ChoiceOpen { .. } => {
            let is_first = found.document.current_step() == 0;
            let words = match refusal {
                _ if found.has_done(spoken.step) => text::completed_before,
                Refusal::StepNotCurrent { .. } if is_first => text::not_first,
                _ => text::out_of_order,
            };
            Some(words(&scene, spoken))
        }
        _ => None,
    }
}
