//! `resume_workflow`: back to a run, with the brief that a newcomer needs.

use engine::{Command, ContextChange, Refusal, ReportOptions, ReportStep, ResumeRun, RunId};
use runtime::{ExecuteError, Outcome, Runtime, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    advance_workflow::{ended, holder, parse_part},
    answer,
    report::Report,
    run,
    words::{Failure, invalid},
};
use crate::tool::{Call, Done, Hints, InvalidArguments, Tool};

pub(super) struct ResumeWorkflow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// Step you believe to be on
    assumed_current_step_name: Option<String>,
    /// As in advance
    #[schemars(extend("x-elsewhere" = true))]
    report: Option<Report>,
    /// As in advance
    #[serde(default)]
    context_updates: Map<String, Value>,
    /// As in advance
    next_step_name: Option<String>,
    /// As in advance
    part: Option<String>,
    /// As in advance
    holder: Option<String>,
    /// As in advance
    lease: Option<u64>,
    /// Go on with a failed or cancelled run
    #[serde(default)]
    reopen: bool,
    /// Go on although files changed
    #[serde(default)]
    force: bool,
    /// Size of the brief
    max_tokens: Option<u32>,
    /// Makes a retry safe
    request_id: Option<String>,
}

impl Tool for ResumeWorkflow {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "resume_workflow";
    const TITLE: &'static str = "Resume a run";
    const DESCRIPTION: &'static str = "Come back to a run after a break, a compaction or from \
        another client. Without report it changes nothing and returns a brief: what is done, what \
        to do now. With report it also reconciles what you did.";
    const HINTS: Hints = Hints::DECIDES;

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        if parameters.reopen && parameters.report.is_some() {
            let why = "cannot be given together with `report`: reopen first, then report";
            return Err(InvalidArguments::wrong(Self::NAME, "reopen", why).into());
        }
        let tried = format!("Failed to resume workflow instance '{}'", parameters.instance_id);
        let resumed = resume(call, parameters, &tried).await;
        resumed.map_err(|error| Failure::new(&tried, &error))?
    }
}

async fn resume(
    call: &Call<'_>,
    parameters: Parameters,
    tried: &str,
) -> Result<Result<Done<answer::Answer>, Failure>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    match parameters.report {
        None if parameters.reopen => reopen(call, run, parameters).await.map(Ok),
        None => look(call, run, &parameters).await.map(Ok),
        Some(_) => reconcile(call, run, parameters, tried).await,
    }
}

async fn reopen(
    call: &Call<'_>,
    run: RunId,
    parameters: Parameters,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let unused = unused(&parameters);
    let reason = "reopened by an agent".to_owned();
    let command = Command::ReopenRun { reason, force: parameters.force };
    let call = &run::named(call, parameters.holder.as_deref());
    let outcome = run::execute(call, run, command, parameters.request_id).await?;
    let mut done = committed(call.runtime, &outcome, parameters.max_tokens).await;
    done.warnings.extend(unused);
    Ok(done)
}

async fn reconcile(
    call: &Call<'_>,
    run: RunId,
    parameters: Parameters,
    tried: &str,
) -> Result<Result<Done<answer::Answer>, Failure>, ExecuteError> {
    let Parameters { report, context_updates, next_step_name, max_tokens, .. } = parameters;
    let Some(report) = report else { return Err(invalid("report", "is missing")) };
    let call = &run::named(call, parameters.holder.as_deref());
    let assumed = parameters.assumed_current_step_name;
    let resume = ResumeRun {
        assumed: assumed.unwrap_or_else(|| report.step_id.clone()),
        report: ReportStep {
            part: parameters.part.as_deref().map(parse_part).transpose()?,
            report: report.into(),
            context: ContextChange { set: context_updates, remove: Vec::new() },
            next: next_step_name,
            holder: holder(parameters.holder, parameters.lease),
            terms: ReportOptions::default(),
        },
        force: parameters.force,
    };
    let command = Command::ResumeRun(Box::new(resume));
    match run::execute(call, run, command, parameters.request_id).await {
        Ok(outcome) => Ok(match Failure::of_model(tried, &outcome) {
            Some(failure) => Err(failure),
            None => Ok(committed(call.runtime, &outcome, max_tokens).await),
        }),
        Err(ExecuteError::Refused(Refusal::RunEnded { status })) => {
            let (view, mut done) = ended(call, run, status).await?;
            done.answer.brief = Some(brief(call.runtime, &view, max_tokens).await?);
            Ok(Ok(done))
        }
        Err(error) => Err(error),
    }
}

/// Words what was written. It stays written where the brief cannot be had.
async fn committed(
    runtime: &Runtime,
    outcome: &Outcome,
    max_tokens: Option<u32>,
) -> Done<answer::Answer> {
    let mut done = answer::of_outcome(runtime, outcome);
    match brief(runtime, &outcome.view, max_tokens).await {
        Ok(brief) => done.answer.brief = Some(brief),
        Err(error) => done.warnings.push(format!("it is done, but there is no brief: {error}")),
    }
    done
}

/// Looks, and changes nothing.
async fn look(
    call: &Call<'_>,
    run: RunId,
    parameters: &Parameters,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let view = call.runtime.view(run, None).await?;
    let mut done = answer::of_view(call.runtime, &view, &[]);
    done.warnings.extend(unused(parameters));
    let current = view.state.current.as_ref();
    let assumed = parameters.assumed_current_step_name.as_deref();
    if let (Some(assumed), Some(current)) = (assumed, current) {
        let believed = view.workflow.find_step_loosely(assumed).map(|it| &it.name);
        if believed != Some(current) {
            let reasoning = format!("the run is at `{current}`, not at `{assumed}`");
            done.answer.reasoning = Some(reasoning);
        }
    }
    done.answer.brief = Some(brief(call.runtime, &view, parameters.max_tokens).await?);
    Ok(done)
}

fn unused(parameters: &Parameters) -> Option<String> {
    let is_given = !parameters.context_updates.is_empty() || parameters.next_step_name.is_some();
    is_given
        .then(|| "`context_updates` and `next_step_name` are kept only with a `report`".to_owned())
}

async fn brief(
    runtime: &Runtime,
    view: &View,
    max_tokens: Option<u32>,
) -> Result<String, ExecuteError> {
    let tokens = max_tokens.and_then(|it| usize::try_from(it).ok());
    let (brief, _) = runtime.brief_of(view, tokens).await?;
    Ok(brief.text)
}
