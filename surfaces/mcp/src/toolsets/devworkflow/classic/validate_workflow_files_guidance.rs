//! `validate_workflow_files_guidance`: what is wrong with both files.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ask, DialectTool,
    place::{self, Config, Found},
    told::{self, Said},
};
use crate::{
    tool::{Call, Done, Hints},
    toolsets::devworkflow::{
        answer::{Answer, Failure},
        options::{Mode, Settings as Options},
        text::Guidance,
        words::{CONFIG_FILE, STATE_FILE},
    },
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::ValidateFiles;
    const TITLE: &'static str = "Validate the files";
    const DESCRIPTION: &'static str =
        "Checks `workflow_state.md` and `project_config.md`; changes nothing.";
    const HINTS: Hints = Hints::READS;

    fn ask(_: Parameters, _: &Options) -> Result<Ask, Failure> {
        Ok(Ask::default())
    }

    async fn call(call: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        if call.options.devworkflow.mode == Mode::Advisory {
            return Ok(told::advise(Self::TOOL, &Ask::default(), Vec::new()));
        }
        // What cannot be read is among the issues.
        let found = place::find(call).await.ok().flatten();
        let state = place::state_issues(call).await.into_iter();
        let mut issues: Vec<String> = state.map(|it| format!("{STATE_FILE}: {it}")).collect();
        let config = Config::find(call, "").await;
        issues.extend(config.issues().into_iter().map(|it| format!("{CONFIG_FILE}: {it}")));
        let warnings = place::notices(found.as_ref());
        let said = Said { issues, warnings, config_path: config.path, ..Said::default() };
        let file = found.as_ref().map(Found::shows);
        Ok(told::say(call, Self::TOOL, &Ask::default(), file, said).await)
    }
}
