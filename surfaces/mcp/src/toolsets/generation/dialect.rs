//! What all tools of this toolset have in common: how they take arguments and how they answer.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::answer::{Facts, Failure};
use crate::tool::{Call, Done, Hints, Leniency, Tool};

/// One tool of this toolset.
pub(crate) trait DialectTool {
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

impl<T: DialectTool> Tool for T {
    type Parameters = T::Parameters;
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = <T as DialectTool>::NAME;
    const TITLE: &'static str = <T as DialectTool>::TITLE;
    const DESCRIPTION: &'static str = <T as DialectTool>::DESCRIPTION;
    const HINTS: Hints = <T as DialectTool>::HINTS;
    const MANNER: Leniency = Leniency::Closed;
    const LISTS_WARNINGS: bool = <T as DialectTool>::LISTS_WARNINGS;

    fn text(answer: &Facts) -> Option<&str> {
        Some(&answer.result)
    }

    fn failure_text(failure: &Failure) -> Option<&str> {
        Some(failure.text())
    }

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Facts>, Failure> {
        <T as DialectTool>::call(call, parameters).await
    }
}
