//! `ast_summary`: what a source file offers, without its bodies.

use insight::code::summary;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    ANSWER_BYTES_MAX, language,
    looking::look_at_one,
};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AstSummary {
    /// Source file: absolute, or from the project's root.
    file_path: String,
    /// If the ending does not tell it: go, typescript, python, bash, rust.
    language: Option<String>,
}

impl Tool for AstSummary {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "ast_summary";
    const TITLE: &'static str = "Summarise a source file";
    const DESCRIPTION: &'static str =
        "Lists the functions, types and constants that a source file offers, without bodies.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let path = language::filled("file_path", &self.file_path)?.to_owned();
        let language = language::language_of(&path, self.language.as_deref())?;
        let project = place::project(caller);
        let text = look_at_one(&project, (path, language), |it| summary(it, ANSWER_BYTES_MAX));
        Ok(text.then(|it| Self::tell(it.map(Answer::text)).into()))
    }
}
