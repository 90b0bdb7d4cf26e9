//! `create_project_config_guidance`: makes `project_config.md` from the template.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ask, DialectTool,
    place::{self, Config, Found},
    told::{self, Said},
};
use crate::{
    tool::{Call, Done},
    toolsets::devworkflow::{
        WORKFLOW,
        answer::{Answer, Failure},
        config_file,
        options::{Mode, Settings as Options},
        text::Guidance,
    },
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::CreateConfig;
    const TITLE: &'static str = "Create the project configuration";
    const DESCRIPTION: &'static str =
        "Makes `project_config.md` from the template, unless it is there.";

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
        let text = config_file::new(&call.runtime.now().to_date());
        let made = call.runtime.make_beside(WORKFLOW, &config.path, text.clone()).await;
        let made = made.map_err(|problem| {
            let message = format!("`{}` could not be made: {problem}", config.path);
            Failure::new(Self::TOOL.name(), "STORAGE", &message, "fix that, then retry")
        })?;
        let warnings = place::notices(found.as_ref());
        let mut said = Said { warnings, config_path: config.path.clone(), ..Said::default() };
        if made {
            said.template = Some(text);
        } else {
            said.warnings.push(format!("`{}` is there already and was left as it is", config.path));
            said.issues = config.issues();
        }
        let file = found.as_ref().map(Found::shows);
        Ok(told::say(call, Self::TOOL, &Ask::default(), file, said).await)
    }
}
