//! `ast_summary`: what a source file offers, without its bodies.

use insight::code::summary;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ANSWER_BYTES_MAX, looking::look_at_one, place};
use crate::{
    tool::{Call, Done, Hints},
    toolsets::forge::{
        answer::{Answer, Failure},
        dialect::DialectTool,
    },
};

pub(super) struct AstSummary;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Source file: absolute, or from the project's root.
    file_path: String,
    /// If the ending does not tell it: go, typescript, python, bash, rust.
    language: Option<String>,
}

impl DialectTool for AstSummary {
    type Parameters = Parameters;
    const NAME: &'static str = "ast_summary";
    const TITLE: &'static str = "Summarise a source file";
    const DESCRIPTION: &'static str =
        "Lists the functions, types and constants that a source file offers, without bodies.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let path = place::filled("file_path", &parameters.file_path)?;
        let language = place::language_of(path, parameters.language.as_deref())?;
        let text = look_at_one(call, (path, language), |it| summary(it, ANSWER_BYTES_MAX)).await?;
        Ok(Answer::text(text).into())
    }
}
