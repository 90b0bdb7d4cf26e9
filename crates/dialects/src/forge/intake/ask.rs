//! What a person is asked before a pipeline begins: what is meant, how much work it is, and on which
//! branch it is done.

use definition::Workflow;
use serde::Serialize;
use serde_json::Value;

use super::{
    super::answer::Answer,
    context::Context,
    effort::Effort,
    flow::{self, Phase},
};

/// Branches that work is not done on.
const MAIN: [&str; 3] = ["", "main", "master"];

/// What is asked before anything is known of a request but its words.
const QUESTIONS: [&str; 3] = [
    "How will you tell that it is done? Name what must work, and how that is checked.",
    "What must not change, and what is not part of it?",
    "Are there ways of building it that you want, or do not want?",
];

/// What past runs of an effort cost: as data, and as a line to show.
pub type Estimate = (Value, String);

#[derive(Serialize)]
struct Discussion {
    needs_discussion: Questions,
}

#[derive(Serialize)]
struct Questions {
    questions: [&'static str; 3],
    message: &'static str,
}

#[derive(Serialize)]
struct Confirmation<'a> {
    needs_user_confirmation: Choices<'a>,
}

#[derive(Serialize)]
struct Choices<'a> {
    detected_effort: Effort,
    effort_options: EffortOptions,
    current_branch: &'a str,
    is_main_branch: bool,
    message: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    enriched_request_body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_display: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "UPPERCASE")]
struct EffortOptions {
    s: EffortOption,
    m: EffortOption,
    l: EffortOption,
}

#[derive(Serialize)]
struct EffortOption {
    skipped_phases: Vec<Phase>,
    recommended: bool,
}

/// Returns whether a person is to be asked what is meant.
pub fn is_unclear(context: &Context) -> bool {
    context.flags.discuss && !context.flags.auto && context.external.is_empty()
}

/// Asks what is meant.
pub fn discussion() -> Answer {
    Answer::json(&Discussion {
        needs_discussion: Questions {
            questions: QUESTIONS,
            message: "Put these questions to the user. Then call again with the same arguments, and \
                      the answers as `discussion_answers`.",
        },
    })
}

/// Asks for the effort and the branch. `enriched` is the request as it stands after a discussion.
pub fn confirmation(
    context: &Context,
    enriched: &str,
    workflow: &Workflow,
    estimate: Option<Estimate>,
) -> Answer {
    let detected = context.effort(enriched);
    let option = |effort: Effort| EffortOption {
        skipped_phases: flow::skipped(workflow, effort),
        recommended: effort == detected,
    };
    let (estimate, estimate_display) = estimate.unzip();
    let current_branch = context.flags.current_branch.as_str();
    Answer::json(&Confirmation {
        needs_user_confirmation: Choices {
            detected_effort: detected,
            effort_options: EffortOptions {
                s: option(Effort::S),
                m: option(Effort::M),
                l: option(Effort::L),
            },
            current_branch,
            is_main_branch: MAIN.contains(&current_branch),
            message: "Let the user choose the effort and the branch. Then call again with the same \
                      arguments, but without `discussion_answers`, and with `user_confirmation`: \
                      `effort`, `use_current_branch`, a short English `workspace_slug`, and \
                      `enriched_request_body` if there is one.",
            enriched_request_body: context.body(enriched),
            estimate,
            estimate_display,
        },
    })
}
