//! `create_workflow_state_file_guidance`: makes `workflow_state.md` from the template.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool, failed, make, place, told};
use crate::{
    tool::{Call, Done},
    toolsets::devworkflow::{
        answer::{Answer, Failure},
        options::{Mode, Settings as Options},
        text::Guidance,
    },
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::CreateState;
    const TITLE: &'static str = "Create the state file";
    const DESCRIPTION: &'static str =
        "Makes `workflow_state.md` from the template with the first task. Refused if it is there.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        Ok(Ask::new(parameters.task_description))
    }

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let ask = Ask::new(parameters.task_description);
        if call.options.devworkflow.mode == Mode::Advisory {
            return Ok(told::advise(Self::TOOL, &ask, Vec::new()));
        }
        let found = place::find(call).await.map_err(|it| failed(call, Self::TOOL, &it, None))?;
        if let Some(found) = found {
            let message = format!("`{}` is there already", found.file.path);
            let hint = "go on with it: `init_workflow_guidance` adds a task";
            let failure = Failure::new(Self::TOOL.name(), "FILE_EXISTS", &message, hint);
            return Err(failure.noticing(found.file.notices));
        }
        make(call, Self::TOOL, ask).await
    }
}
