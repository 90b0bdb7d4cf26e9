//! `resume_generation`: how a generation that was stopped goes on.

use engine::{Command, Probe, Refusal, Status, View, probe};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    scene::{self, Found},
    scene_id::SceneId,
    text::resume as text,
};
use crate::kit::{Ask, Caller, Hints, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ResumeGeneration {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// Resume despite warnings
    #[serde(default)]
    pub(super) force: bool,
    /// Carry the plan out, not only show it
    #[serde(default)]
    pub(super) confirm: bool,
}

impl Tool for ResumeGeneration {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "resume_generation";
    const TITLE: &'static str = "Resume Generation Workflow";
    const DESCRIPTION: &'static str = "Plan how a failed or cancelled generation goes \
         on: which steps are skipped, where it resumes. With confirm it is in progress again.";
    const HINTS: Hints = super::WRITES_ONCE;
    const LISTS_WARNINGS: bool = true;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let missing = text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id.clone(), missing, move |found| {
            let problems = found.document.problems(found.scene().id);
            let reason = found.document.reason().to_owned();
            let force = self.force || !problems.is_empty();
            let command = Command::ReopenRun { reason, force };
            // Nothing is looked at for the plan: files that changed are told by the resume itself.
            let View { workflow, state, .. } = &found.seen.view;
            let tried = probe(workflow, state, &found.seen.known, &command);
            if !self.force && !problems.is_empty() {
                let unsound = text::unsound(&found.scene(), problems, tried.is_open());
                return Self::say(found.done(unsound)).into();
            }
            if let Probe::Closed(refusal) = tried {
                let own = words(&found, &refusal);
                let (code, text) = own.unwrap_or_else(|| (refusal.code(), found.refused(&refusal)));
                return Self::fail(found.fail(Failure::new(code, text))).into();
            }
            if !self.confirm {
                return Self::say(found.done(text::plan(&found.scene(), None))).into();
            }
            found.change::<Self>(
                command,
                |found, after| {
                    let number = after.document.list("resume_history").len() as u64;
                    after.done(text::plan(&found.scene(), Some((number, &after.scene()))))
                },
                |found, refusal| Err(words(found, refusal).map(|it| it.1)),
            )
        }))
    }
}

/// Why a scene is not resumed: the code and the text, where this tool has words for it.
fn words(found: &Found, refusal: &Refusal) -> Option<(&'static str, String)> {
    let (scene, code) = (found.scene(), refusal.code());
    if let Refusal::RunNotEnded { status } = refusal {
        let code = if *status == Status::Waiting { "gate_open" } else { code };
        return Some((code, text::live(&scene)));
    }
    scene::is_ended(refusal).then(|| (code, text::completed(&scene)))
}
