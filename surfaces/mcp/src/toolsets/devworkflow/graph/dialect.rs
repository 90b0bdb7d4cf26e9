//! What the tools of graph mode that answer with a text have in common.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::answer::{Answer, Failure};
use crate::tool::{Call, Done, Hints, Tool};

/// One tool that answers with a text.
pub(crate) trait DialectTool {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;

    /// Calls the tool.
    fn call(
        call: &Call<'_>,
        parameters: Self::Parameters,
    ) -> impl Future<Output = Result<Done<Answer>, Failure>> + Send;
}

/// Makes a [`Tool`] of a [`DialectTool`].
pub(crate) struct ToolAdapter<T>(std::marker::PhantomData<T>);

impl<T: DialectTool> Tool for ToolAdapter<T> {
    type Parameters = T::Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = <T as DialectTool>::NAME;
    const TITLE: &'static str = <T as DialectTool>::TITLE;
    const DESCRIPTION: &'static str = <T as DialectTool>::DESCRIPTION;
    const HINTS: Hints = <T as DialectTool>::HINTS;

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        <T as DialectTool>::call(call, parameters).await
    }
}
