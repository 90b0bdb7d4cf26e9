//! `resume_generation`: how a generation that was stopped goes on.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    text::resume::{self as text, Standing},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct ResumeGeneration;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// Resume despite warnings
    #[serde(default)]
    pub(super) force: bool,
    /// Carry the plan out, not only show it
    #[serde(default)]
    pub(super) confirm: bool,
}

impl DialectTool for ResumeGeneration {
    type Parameters = Parameters;
    const NAME: &'static str = "resume_generation";
    const TITLE: &'static str = "Resume Generation Workflow";
    const DESCRIPTION: &'static str = "Plan how a failed or cancelled generation goes \
         on: which steps are skipped, where it resumes. With confirm it is in progress again.";
    const HINTS: Hints = super::WRITES_ONCE;
    const LISTS_WARNINGS: bool = true;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let Parameters { scene_id: id, force, confirm } = parameters;
        let found = scene::expect(call, &id, text::missing(id.as_str())).await?;
        let scene = found.scene();
        let refuse = |code: &str, text: String| Err(found.fail(Failure::new(code, text)));
        match text::standing(&scene, force) {
            Standing::Unsound(problems) => return Ok(found.done(text::unsound(&scene, problems))),
            Standing::Completed => return refuse("run_ended", text::completed(&scene)),
            Standing::Running => return refuse("run_not_ended", text::running(&scene)),
            Standing::Waiting => return refuse("gate_open", text::waiting(&scene)),
            Standing::Resumable if !confirm => return Ok(found.done(text::plan(&scene, None))),
            Standing::Resumable => {}
        }
        let reason = found.document.reason().to_owned();
        let command = Command::ReopenRun { reason, force };
        match scene::change(call, &id, &found, command).await {
            Ok(after) => {
                let number = after.document.list("resume_history").len() as u64;
                Ok(after.done(text::plan(&scene, Some((number, &after.scene())))))
            }
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" => Some(text::completed(&scene)),
                    "run_not_ended" => Some(text::running(&scene)),
                    _ => None,
                })))
            }
        }
    }
}
