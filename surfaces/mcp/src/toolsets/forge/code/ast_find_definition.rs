//! `ast_find_definition`: the source text of what has a certain name.

use insight::code::{Source, definitions};
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

pub(super) struct AstFindDefinition;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Source file: absolute, or from the project's root.
    file_path: String,
    /// Exact name of a function, method or type.
    symbol: String,
    /// If the ending does not tell it: go, typescript, python, bash, rust.
    language: Option<String>,
}

impl DialectTool for AstFindDefinition {
    type Parameters = Parameters;
    const NAME: &'static str = "ast_find_definition";
    const TITLE: &'static str = "Find a definition";
    const DESCRIPTION: &'static str =
        "Returns the source of each declaration in a file that has this name; empty if none has.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let path = place::filled("file_path", &parameters.file_path)?;
        let symbol = place::filled("symbol", &parameters.symbol)?.to_owned();
        let language = place::language_of(path, parameters.language.as_deref())?;
        let find = move |it: Source<'_>| definitions(it, &symbol, ANSWER_BYTES_MAX);
        Ok(Answer::text(look_at_one(call, (path, language), find).await?).into())
    }
}
