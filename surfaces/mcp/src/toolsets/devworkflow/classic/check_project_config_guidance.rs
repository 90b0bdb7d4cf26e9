//! `check_project_config_guidance`: what is wrong with `project_config.md`.

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
    },
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::CheckConfig;
    const TITLE: &'static str = "Check the project configuration";
    const DESCRIPTION: &'static str =
        "Checks that `project_config.md` is there and has its sections.";
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
        let config = Config::find(call, "").await;
        let warnings = place::notices(found.as_ref());
        let said =
            Said { issues: config.issues(), warnings, config_path: config.path, ..Said::default() };
        let file = found.as_ref().map(Found::shows);
        Ok(told::say(call, Self::TOOL, &Ask::default(), file, said).await)
    }
}
