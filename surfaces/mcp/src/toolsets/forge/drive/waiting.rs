//! Waits for a person to answer, wherever they do.

use std::time::Duration;

use super::super::{
    answer::Failure,
    workspace::{self, Pipeline},
};
use crate::tool::Call;

/// How often the state file is looked at while nothing else happens.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Returns the pipeline once what is asked was answered, or as it is when the time is over, and
/// whether it is.
pub(super) async fn wait(
    call: &Call<'_>,
    pipeline: Pipeline,
    duration: Duration,
) -> Result<(Pipeline, bool), Failure> {
    let asked = digest(&pipeline);
    let end = call.runtime.steady().after(duration);
    let mut pipeline = pipeline;
    loop {
        let left = end.since(call.runtime.steady());
        if left.is_zero() {
            return Ok((pipeline, true));
        }
        let state = &pipeline.view.state;
        let (run, length) = (state.run, state.length);
        let waited = call.runtime.wait(run, length, left.min(LOOK_EVERY)).await;
        waited.map_err(|error| workspace::failure("wait", &error))?;
        let notices = pipeline.notices;
        pipeline = workspace::open(call, &pipeline.key).await?;
        pipeline.notices.splice(0..0, notices);
        if digest(&pipeline) != asked {
            return Ok((pipeline, false));
        }
    }
}

fn digest(pipeline: &Pipeline) -> Option<definition::Digest> {
    pipeline.view.state.standing.open_gate().map(|it| it.digest.clone())
}
