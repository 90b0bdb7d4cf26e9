//! `ast_find_definition`: the source text of what has a certain name.

use insight::code::{Source, definitions};
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
pub(super) struct AstFindDefinition {
    /// Source file: absolute, or from the project's root.
    file_path: String,
    /// Exact name of a function, method or type.
    symbol: String,
    /// If the ending does not tell it: go, typescript, python, bash, rust.
    language: Option<String>,
}

impl Tool for AstFindDefinition {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "ast_find_definition";
    const TITLE: &'static str = "Find a definition";
    const DESCRIPTION: &'static str =
        "Returns the source of each declaration in a file that has this name; empty if none has.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let path = language::filled("file_path", &self.file_path)?.to_owned();
        let symbol = language::filled("symbol", &self.symbol)?.to_owned();
        let language = language::language_of(&path, self.language.as_deref())?;
        let find = move |it: Source<'_>| definitions(it, &symbol, ANSWER_BYTES_MAX);
        let text = look_at_one(&place::project(caller), (path, language), find);
        Ok(text.then(|it| Self::tell(it.map(Answer::text)).into()))
    }
}
