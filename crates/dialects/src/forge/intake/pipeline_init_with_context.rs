//! `pipeline_init_with_context`: asks what is still open about a request, and begins its pipeline
//! once a person has confirmed it.

use definition::Workflow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Answer, Failure},
        display, place, records,
    },
    ask,
    begin::begin,
    confirm::{Choice, Confirmed, confirm},
    context::{Context, Told},
    effort::Effort,
    flags::Flags,
    flow::with_workflow,
};
use crate::kit::{Ask, Caller, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PipelineInitWithContext {
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

impl Tool for PipelineInitWithContext {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "pipeline_init_with_context";
    const TITLE: &'static str = "Begin a pipeline";
    const DESCRIPTION: &'static str = "Without `user_confirmation`: what to ask the user, and the effort that is recommended. With \
         it: begin the pipeline. Make the branch yourself when told `create_branch`.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(mut self, caller: &Caller) -> Result<Ask, Failure> {
        let answers = self.discussion_answers.trim().to_owned();
        let choice = self.user_confirmation.take();
        if choice.is_some() && !answers.is_empty() {
            let message = "`discussion_answers` and `user_confirmation` must not both be present";
            let hint = "send the answers first, and confirm in a call of its own";
            return Err(Failure::new("argument_invalid", message, hint));
        }
        let (workspace, caller) = (self.workspace.clone(), caller.clone());
        let context = self.context()?;
        Ok(with_workflow::<Self>(move |workflow| {
            let Some(choice) = choice else {
                let answer = open(&caller, context, &answers, workflow);
                return answer.then(|it| Self::say(it).into());
            };
            let root = place::project(&caller);
            let confirmed = Choice::read(choice)
                .and_then(|it| confirm(&root, &workspace, &context, &it, &workflow));
            match confirmed.and_then(|it| begin::<Self>(&caller, it, ready)) {
                Ok(ask) => ask,
                Err(failure) => Self::fail(failure).into(),
            }
        }))
    }
}

impl PipelineInitWithContext {
    fn context(self) -> Result<Context, Failure> {
        let told = Told {
            source_id: self.source_id,
            source_url: self.source_url,
            task_text: self.task_text,
            external_context: self.external_context.unwrap_or_default(),
        };
        let context = Flags::read(self.flags).and_then(|flags| Context::new(told, flags));
        context.map_err(|problem| Failure::new("argument_invalid", problem, ""))
    }
}

/// Asks what is still open.
fn open(caller: &Caller, context: Context, answers: &str, workflow: Workflow) -> Seeing<Answer> {
    if answers.is_empty() && ask::is_unclear(&context) {
        return Seeing::Seen(ask::discussion());
    }
    let enriched = if answers.is_empty() { String::new() } else { context.discussed(answers) };
    let effort = context.effort(&enriched);
    // A guess is good to have, and nothing waits for it.
    records::estimate(caller, effort.as_str().to_owned()).map(move |estimate| {
        let estimate = estimate.ok().filter(|it| 0 < it.sample_size);
        let estimate = estimate.map(|it| (json!(it), display::estimate(effort.as_str(), &it)));
        ask::confirmation(&context, &enriched, &workflow, estimate)
    })
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
