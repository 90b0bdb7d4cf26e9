//! `complete_step`: a step is done.

use std::collections::BTreeMap;

use engine::{AtEnd, Command, Consent, ContextChange, Refusal, Report, ReportOptions, ReportStep};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    path,
    scene::{self, Found},
    scene_id::SceneId,
    step_choice::StepChoice,
    text::step as text,
    words::{DRAFT, Dialect, NamedStep, Step},
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool};

/// What tells the definition that the draft was checked when it was written.
const FOLDED: &str = "check_is_folded";

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CompleteStep {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// How long it took
    #[schemars(range(min = 0))]
    pub(super) duration_seconds: f64,
    /// Paths by name
    #[serde(default)]
    pub(super) artifacts: BTreeMap<String, String>,
    /// Kept with the step. `workflow_complete`: true ends the workflow
    pub(super) metadata: Option<Map<String, Value>>,
}

impl Tool for CompleteStep {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "complete_step";
    const TITLE: &'static str = "Complete Workflow Step";
    const DESCRIPTION: &'static str =
        "Say that a step that was started is done, and what it produced.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        for (name, path) in &self.artifacts {
            path::check(Self::NAME, &format!("artifacts.{name}"), path)?;
        }
        let missing = super::text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id.clone(), missing, move |found| {
            found.change::<Self>(
                self.command(spoken),
                move |_, after| after.say(text::completed(&after.scene(), spoken, &self.artifacts)),
                move |found, refusal| match is_known(found, spoken, refusal) {
                    true => Ok(found.say(text::completed_again(&found.scene(), spoken))),
                    false => Err(words(found, spoken, refusal)),
                },
            )
        }))
    }
}

impl CompleteStep {
    /// Returns the step that is done.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }

    /// Returns what is asked of the run: the step is done, and with the last one the whole.
    fn command(&self, spoken: NamedStep) -> Command {
        let report = Command::ReportStep(Box::new(self.report(spoken)));
        if !self.is_last() {
            return report;
        }
        let (details, context) = (self.figures(), ContextChange::default());
        Command::All(vec![report, Command::CompleteRun { details, context, early: false }])
    }

    fn report(&self, spoken: NamedStep) -> ReportStep {
        let artifacts: Map<String, Value> =
            self.artifacts.iter().map(|(key, path)| (key.clone(), path.as_str().into())).collect();
        let paths = artifacts.iter().filter(|(key, _)| key.ends_with("_path"));
        let mut context = ContextChange {
            set: paths.map(|(key, path)| (key.clone(), path.clone())).collect(),
            remove: Vec::new(),
        };
        if spoken.step.number == DRAFT {
            // Who names the steps has the fast check done with the draft. The definition says what
            // follows from that (`skip_when` of step 5).
            match spoken.dialect {
                Dialect::Named => drop(context.set.insert(FOLDED.to_owned(), true.into())),
                Dialect::Numbered => context.remove.push(FOLDED.to_owned()),
            }
        }
        let mut details = Map::new();
        details.insert("duration_seconds".to_owned(), self.duration_seconds.into());
        if !artifacts.is_empty() {
            details.insert("artifacts".to_owned(), Value::Object(artifacts));
        }
        let metadata = self.metadata.clone().map(Value::Object);
        details.extend(metadata.map(|it| ("metadata".to_owned(), it)));
        ReportStep {
            part: None,
            report: Report {
                step_id: spoken.step.key.to_owned(),
                status: "success".to_owned(),
                details: Value::Object(details),
                ..Report::default()
            },
            context,
            next: None,
            holder: None,
            terms: terms(),
        }
    }

    /// Returns what is known of a scene that is done.
    fn figures(&self) -> Map<String, Value> {
        let noted = |key: &str| self.metadata.as_ref()?.get(key).cloned();
        let left = |key: &str| self.artifacts.get(key).map(|it| Value::from(it.as_str()));
        let noted = ["word_count", "total_duration_seconds", "retry_count"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), noted(key)?)));
        let left = ["final_scene_path", "validation_report_path"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), left(key)?)));
        noted.chain(left).collect()
    }

    /// Whether the whole workflow is done with it. Only `true` says so, not a text.
    pub(super) fn is_last(&self) -> bool {
        super::is_true(self.metadata.as_ref(), "workflow_complete")
    }
}

/// Returns the command that completes a step, with nothing else said of it.
pub(super) fn plain(step: &'static Step) -> Command {
    let report =
        Report { step_id: step.key.to_owned(), status: "success".to_owned(), ..Report::default() };
    let (context, terms) = (ContextChange::default(), terms());
    let report = ReportStep { part: None, report, context, next: None, holder: None, terms };
    Command::ReportStep(Box::new(report))
}

fn terms() -> ReportOptions {
    ReportOptions {
        is_begun: true,
        consent: Consent::Implied,
        end: AtEnd::StaysOpen,
        ..ReportOptions::default()
    }
}

/// Whether the step is done already, and the run has nothing else against it: it went on since, or
/// is completed.
fn is_known(found: &Found, spoken: NamedStep, refusal: &Refusal) -> bool {
    let is_over = scene::is_ended(refusal) && found.is_completed();
    found.has_done(spoken.step) && (is_over || scene::is_elsewhere(refusal))
}

/// Why a step may not be completed.
fn words(found: &Found, spoken: NamedStep, refusal: &Refusal) -> Option<String> {
    let scene = found.scene();
    if scene::is_ended(refusal) {
        return Some(text::ended_to_complete(&scene));
    }
    if scene::is_elsewhere(refusal) || matches!(refusal, Refusal::StepNotBegun { .. }) {
        return Some(text::not_running(&scene, spoken));
    }
    if matches!(refusal, Refusal::GateNeedsPerson { .. }) {
        return Some(text::unapproved(&scene, spoken));
    }
    matches!(refusal, Refusal::StepsOpen { .. }).then(|| text::incomplete(&scene, spoken))
}
