//! `start_step`: a step begins.

use engine::{Command, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene::{self, Found},
    scene_id::SceneId,
    step_choice::StepChoice,
    text::step as text,
    words::{NamedStep, StepStatus},
};
use crate::tool::{Call, Done, Hints, InvalidArguments};

pub(super) struct StartStep;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for StartStep {
    type Parameters = Parameters;
    const NAME: &'static str = "start_step";
    const TITLE: &'static str = "Start Workflow Step";
    const DESCRIPTION: &'static str =
        "Say that a step begins. Refused while a step before it is not done.";
    const HINTS: Hints = super::WRITES_ONCE;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let spoken = parameters.step()?;
        let id = &parameters.scene_id;
        let found = scene::expect(call, id, text::missing_to_start(id.as_str())).await?;
        let command = Command::StartStep(engine::StartStep {
            step: spoken.step.key.to_owned(),
            part: None,
            details: parameters.details(),
            again: true,
            asks: parameters.awaiting_approval,
        });
        match scene::change(call, id, &found, command).await {
            Ok(after) => Ok(after.say(text::started(&after.scene(), spoken))),
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |it| words(&found, spoken, it))))
            }
        }
    }
}

impl Parameters {
    /// Returns the step that begins.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(StartStep::NAME)
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
fn words(found: &Found, spoken: NamedStep, refusal: &Refusal) -> Option<String> {
    let scene = found.scene();
    let is_completed = found.document.step(spoken.step).status() == StepStatus::Completed;
    match refusal.code() {
        "run_ended" => Some(text::ended_to_start(&scene)),
        "gate_open" => Some(text::unapproved(&scene, spoken)),
        "gate_missing" => Some(text::unasked(spoken)),
        "step_not_current" | "choice_open" if is_completed => {
            Some(text::completed_before(&scene, spoken))
        }
        "step_not_current" if found.document.current_step() == 0 => {
            Some(text::not_first(&scene, spoken))
        }
        "step_not_current" | "choice_open" => Some(text::out_of_order(&scene, spoken)),
        _ => None,
    }
}
