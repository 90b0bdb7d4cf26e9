//! `log_question_answer`: what the user was asked, and said.

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    text::question as text,
};
use crate::{
    tool::{Call, Done, Hints, InvalidArguments},
    toolsets::moment::moment,
};

pub(super) struct LogQuestionAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    /// As asked
    #[schemars(length(min = 1, max = 2000))]
    pub(super) question: String,
    /// As answered
    #[schemars(length(min = 1, max = 5000))]
    pub(super) answer: String,
    /// ISO 8601. Default now
    pub(super) timestamp: Option<String>,
}

impl DialectTool for LogQuestionAnswer {
    type Parameters = Parameters;
    const NAME: &'static str = "log_question_answer";
    const TITLE: &'static str = "Log QuestionTool Interaction (BONUS)";
    const DESCRIPTION: &'static str = "Log a question to the user and the answer.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        parameters.check()?;
        let Parameters { scene_id: id, question, answer, timestamp } = parameters;
        let found = scene::expect(call, &id, super::text::missing(id.as_str())).await?;
        let entry = Entry::Question {
            question: question.clone(),
            answer: answer.clone(),
            answered_at: timestamp.clone(),
        };
        match scene::change(call, &id, &found, Command::RecordEntry { step: None, entry }).await {
            Ok(after) => {
                let timestamp = timestamp.as_deref().unwrap_or(after.document.shown("updated_at"));
                let text = text::logged(&after.scene(), &question, &answer, timestamp);
                Ok(after.say(text))
            }
            Err(stopped) => Err(found.fail(stopped.or_else(None, |_| None))),
        }
    }
}

impl Parameters {
    /// Checks what no schema says.
    pub(super) fn check(&self) -> Result<(), InvalidArguments> {
        match self.timestamp.as_deref() {
            Some(text) if moment(text).is_none() => {
                let why = "must be ISO 8601, as in 2025-11-03T14:32:15Z";
                Err(InvalidArguments::wrong(LogQuestionAnswer::NAME, "timestamp", why))
            }
            Some(_) | None => Ok(()),
        }
    }
}
