//! `log_question_answer`: what the user was asked, and said.

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    text::question as text,
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool, moment};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct LogQuestionAnswer {
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

impl Tool for LogQuestionAnswer {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "log_question_answer";
    const TITLE: &'static str = "Log QuestionTool Interaction (BONUS)";
    const DESCRIPTION: &'static str = "Log a question to the user and the answer.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        self.check()?;
        let Self { scene_id, question, answer, timestamp } = self;
        let missing = super::text::missing(scene_id.as_str());
        let entry = Entry::Question {
            question: question.clone(),
            answer: answer.clone(),
            answered_at: timestamp.clone(),
        };
        Ok(scene::open::<Self>(&scene_id, missing, move |found| {
            found.change::<Self>(
                Command::RecordEntry { step: None, entry },
                move |_, after| {
                    let at = timestamp.as_deref().unwrap_or(after.document.shown("updated_at"));
                    after.say(text::logged(&after.scene(), &question, &answer, at))
                },
                |_, refusal| Err(Some(scene::refused(refusal))),
            )
        }))
    }
}

impl LogQuestionAnswer {
    /// Checks what no schema says.
    pub(super) fn check(&self) -> Result<(), InvalidArguments> {
        match self.timestamp.as_deref() {
            Some(text) if moment(text).is_none() => {
                let why = "must be ISO 8601, as in 2025-11-03T14:32:15Z";
                Err(InvalidArguments::wrong(Self::NAME, "timestamp", why))
            }
            Some(_) | None => Ok(()),
        }
    }
}
