//! What all tools of this toolset have in common: how they take arguments and how they answer.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::answer::{Facts, Failure};
use crate::tool::{Call, Done, Hints, Manner, Tool};

/// One tool of this toolset.
pub(crate) trait Verb {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    /// Whether an answer has its list of warnings even where that is empty.
    const LISTS_WARNINGS: bool = false;

    /// Calls the tool.
    fn call(
        call: &Call<'_>,
        parameters: Self::Parameters,
    ) -> impl Future<Output = Result<Done<Facts>, Failure>> + Send;
}

impl<T: Verb> Tool for T {
    type Parameters = T::Parameters;
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = <T as Verb>::NAME;
    const TITLE: &'static str = <T as Verb>::TITLE;
    const DESCRIPTION: &'static str = <T as Verb>::DESCRIPTION;
    const HINTS: Hints = <T as Verb>::HINTS;
    const MANNER: Manner = Manner::Closed;
    const LISTS_WARNINGS: bool = <T as Verb>::LISTS_WARNINGS;

    fn text(answer: &Facts) -> Option<&str> {
        Some(&answer.result)
    }

    fn failure_text(failure: &Failure) -> Option<&str> {
        Some(failure.text())
    }

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Facts>, Failure> {
        <T as Verb>::call(call, parameters).await
    }
}
