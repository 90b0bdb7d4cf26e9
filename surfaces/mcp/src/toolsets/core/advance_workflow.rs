//! `advance_workflow`: how a step went, and what comes next.

use definition::PartId;
use engine::{Command, ContextChange, Holder, Refusal, ReportOptions, ReportStep, Status};
use runtime::{ExecuteError, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer,
    report::Report,
    run,
    words::{Failure, invalid},
};
use crate::tool::{Call, Done, Hints, Tool};

pub(super) struct AdvanceWorkflow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// How the step went
    report: Report,
    /// Top-level keys to set
    #[serde(default)]
    context_updates: Map<String, Value>,
    /// Keys to remove
    context_deletes: Option<Vec<String>>,
    /// One of the offered choices
    next_step_name: Option<String>,
    /// Part reported on
    part: Option<String>,
    /// Your name, if you claimed it
    holder: Option<String>,
    /// Number of your lease
    lease: Option<u64>,
    /// Makes a retry safe
    request_id: Option<String>,
}

impl Tool for AdvanceWorkflow {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "advance_workflow";
    const TITLE: &'static str = "Report and advance";
    const DESCRIPTION: &'static str = "Report the current step and get the next. Follow the \
        returned instructions exactly; report honestly, since reports steer the run: a failure \
        told is handled, a success invented is refused or breaks later steps.";
    const HINTS: Hints = Hints::DECIDES;

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        let tried = format!("Failed to advance workflow instance '{}'", parameters.instance_id);
        let advanced = advance(call, parameters, &tried).await;
        advanced.map_err(|error| Failure::new(&tried, &error))?
    }
}

async fn advance(
    call: &Call<'_>,
    parameters: Parameters,
    tried: &str,
) -> Result<Result<Done<answer::Answer>, Failure>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let Parameters { report, context_updates, context_deletes, next_step_name, .. } = parameters;
    let call = &run::named(call, parameters.holder.as_deref());
    let command = Command::ReportStep(Box::new(ReportStep {
        part: parameters.part.as_deref().map(parse_part).transpose()?,
        report: report.into(),
        context: ContextChange {
            set: context_updates,
            remove: context_deletes.unwrap_or_default(),
        },
        next: next_step_name,
        holder: holder(parameters.holder, parameters.lease),
        terms: ReportOptions::default(),
    }));
    let request_id = parameters.request_id;
    match run::execute(call, run, command, request_id).await {
        Ok(outcome) => Ok(match Failure::of_model(tried, &outcome) {
            Some(failure) => Err(failure),
            None => Ok(answer::of_outcome(call.runtime, &outcome)),
        }),
        Err(ExecuteError::Refused(Refusal::RunEnded { status })) => {
            Ok(Ok(ended(call, run, status).await?.1))
        }
        Err(error) => Err(error),
    }
}

/// Answers a report on a run that is over: with its last words, and not as an error.
pub(super) async fn ended(
    call: &Call<'_>,
    run: engine::RunId,
    status: Status,
) -> Result<(View, Done<answer::Answer>), ExecuteError> {
    let view = call.runtime.view(run, None).await?;
    let mut done = answer::of_view(call.runtime, &view, &[]);
    let (state, way_out) = match status {
        Status::Failed => ("has failed", "; `resume_workflow` with `reopen` goes on with it"),
        Status::Cancelled => ("was cancelled", "; `resume_workflow` with `reopen` goes on with it"),
        Status::Completed | Status::New | Status::Running | Status::Waiting => ("is completed", ""),
    };
    done.warnings.push(format!("the run {state}; nothing of this call was kept{way_out}"));
    Ok((view, done))
}

pub(super) fn parse_part(text: &str) -> Result<PartId, ExecuteError> {
    PartId::parse(text).map_err(|error| invalid("part", error.to_string()))
}

pub(super) fn holder(name: Option<String>, lease: Option<u64>) -> Option<Holder> {
    let is_given = name.is_some() || lease.is_some();
    is_given.then(|| Holder { name: name.unwrap_or_default(), generation: lease })
}
