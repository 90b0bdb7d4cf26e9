//! `pipeline_init_with_context`: asks what is still open about a request, and begins its pipeline
//! once a person has confirmed it.

use definition::Workflow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    super::{
        WORKFLOW,
        answer::{Answer, Failure},
        dialect::DialectTool,
        display,
        place::Folder,
        records, way_out,
    },
    ask,
    begin::begin,
    confirm::{Choice, Confirmed, confirm},
    context::{Context, Told},
    effort::Effort,
    flags::Flags,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct PipelineInitWithContext;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// As `pipeline_init` answered
    workspace: String,
    /// The id
    #[serde(default)]
    source_id: String,
    /// The URL
    #[serde(default)]
    source_url: String,
    /// What is to be done
    #[serde(default)]
    task_text: String,
    /// The user's answers
    #[serde(default)]
    discussion_answers: String,
    /// What was fetched, by `response_mapping`
    external_context: Option<Map<String, Value>>,
    /// As `pipeline_init` answered
    flags: Option<Map<String, Value>>,
    /// `effort` (S, M, L), `workspace_slug`, `use_current_branch`, `enriched_request_body`
    user_confirmation: Option<Map<String, Value>>,
}

#[derive(Serialize)]
struct Ready<'a> {
    ready: bool,
    workspace: &'a str,
    effort: Effort,
    flow_template: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    skipped_phases: &'a [String],
    request_md_content: String,
    branch: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    create_branch: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    warning: String,
}

impl DialectTool for PipelineInitWithContext {
    type Parameters = Parameters;
    const NAME: &'static str = "pipeline_init_with_context";
    const TITLE: &'static str = "Begin a pipeline";
    const DESCRIPTION: &'static str = "Without `user_confirmation`: what to ask the user, and the effort that is recommended. With \
         it: begin the pipeline. Make the branch yourself when told `create_branch`.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { workspace, discussion_answers: answers, user_confirmation, .. } =
            &parameters;
        let (workspace, answers) = (workspace.clone(), answers.trim().to_owned());
        let choice = user_confirmation.clone();
        if choice.is_some() && !answers.is_empty() {
            let message = "`discussion_answers` and `user_confirmation` must not both be present";
            let hint = "send the answers first, and confirm in a call of its own";
            return Err(Failure::new("argument_invalid", message, hint));
        }
        let context = context(parameters)?;
        let workflow = find_workflow(call)?;
        let Some(choice) = choice else {
            return Ok(open(call, &context, &answers, &workflow).await.into());
        };
        let (root, choice) = (Folder::project(call), Choice::read(choice)?);
        let confirmed = confirm(&root, &workspace, &context, &choice, &workflow)?;
        let warnings = begin(call, &confirmed).await?;
        Ok(ready(&confirmed, &warnings).into())
    }
}

fn context(parameters: Parameters) -> Result<Context, Failure> {
    let told = Told {
        source_id: parameters.source_id,
        source_url: parameters.source_url,
        task_text: parameters.task_text,
        external_context: parameters.external_context.unwrap_or_default(),
    };
    let context = Flags::read(parameters.flags).and_then(|flags| Context::new(told, flags));
    context.map_err(|problem| Failure::new("argument_invalid", problem, ""))
}

pub(super) fn find_workflow(call: &Call<'_>) -> Result<Workflow, Failure> {
    call.runtime.find_workflow(WORKFLOW).map_err(|refusal| {
        Failure::new(refusal.code(), refusal.to_string(), way_out::hint(&refusal))
    })
}

/// Asks what is still open.
async fn open(call: &Call<'_>, context: &Context, answers: &str, workflow: &Workflow) -> Answer {
    if answers.is_empty() && ask::is_unclear(context) {
        return ask::discussion();
    }
    let enriched = if answers.is_empty() { String::new() } else { context.discussed(answers) };
    let effort = context.effort(&enriched);
    // A guess is good to have, and nothing waits for it.
    let estimate = records::estimate(call, effort.as_str()).await.ok();
    let estimate = estimate.filter(|it| 0 < it.sample_size);
    let estimate = estimate.map(|it| (json!(it), display::estimate(effort.as_str(), &it)));
    ask::confirmation(context, &enriched, workflow, estimate)
}

fn ready(confirmed: &Confirmed, warnings: &[String]) -> Answer {
    Answer::json(&Ready {
        ready: true,
        workspace: &confirmed.shown,
        effort: confirmed.effort,
        flow_template: confirmed.effort.flow(),
        skipped_phases: &confirmed.skipped,
        request_md_content: confirmed.request.text(),
        branch: &confirmed.branch,
        create_branch: confirmed.creates_branch,
        warning: warnings.join("; "),
    })
}
