//! `hello_workflow`: a greeting, and where the work is.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ask, DialectTool, failed,
    place::{self, Found},
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
    const TOOL: Guidance = Guidance::Hello;
    const TITLE: &'static str = "Hello";
    const DESCRIPTION: &'static str =
        "Greets, and says where the work is and which call comes next.";
    const HINTS: Hints = Hints::READS;

    fn ask(_: Parameters, _: &Options) -> Result<Ask, Failure> {
        Ok(Ask::default())
    }

    async fn call(call: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        if call.options.devworkflow.mode == Mode::Advisory {
            return Ok(told::advise(Self::TOOL, &Ask::default(), Vec::new()));
        }
        let found = place::find(call).await.map_err(|it| failed(call, Self::TOOL, &it, None))?;
        let file = found.as_ref().map(Found::shows);
        let said = Said { warnings: place::notices(found.as_ref()), ..Said::default() };
        Ok(told::say(call, Self::TOOL, &Ask::default(), file, said).await)
    }
}
