//! `abandon`: the pipeline is given up.

use engine::{Command, Standing};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        workspace,
    },
    change::{self, ENDS, InWorkspace as _, OnWorkspace},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct Abandon;

impl DialectTool for Abandon {
    type Parameters = OnWorkspace;
    const NAME: &'static str = "abandon";
    const TITLE: &'static str = "Abandon a pipeline";
    const DESCRIPTION: &'static str = "Give the pipeline up for good.";
    const HINTS: Hints = Hints { is_idempotent: true, ..ENDS };

    async fn call(call: &Call<'_>, parameters: OnWorkspace) -> Result<Done<Answer>, Failure> {
        let pipeline = workspace::open(call, parameters.workspace()).await?;
        // It may have been abandoned at this very moment, which is as good.
        let is_over = |it: &Standing| matches!(it, Standing::Cancelled { .. });
        if is_over(&pipeline.view.state.standing) {
            return Ok(Answer::ok_with(&pipeline.notices).into());
        }
        let reason = "the pipeline was abandoned".to_owned();
        match pipeline.execute(call, Command::CancelRun { reason }).await {
            Ok(_) => Ok(Answer::ok_with(&pipeline.notices).into()),
            Err(error) => {
                let now = workspace::open(call, parameters.workspace()).await?;
                if is_over(&now.view.state.standing) {
                    return Ok(Answer::ok().into());
                }
                Err(change::refused(Self::NAME, &pipeline, &error, |_| None)
                    .noting(&pipeline.notices))
            }
        }
    }
}
