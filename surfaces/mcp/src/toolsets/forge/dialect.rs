//! What every tool of the dialect has in common: it takes arguments leniently, and answers with one
//! text.

use dialects::kit;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::answer::{Answer, Failure};
use crate::tool::{Answering, Call, Done, Hints, Leniency, Tool};

/// One tool of the dialect.
pub(crate) trait DialectTool {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;

    /// Returns what a call is about that reports an action, or answers for a person.
    fn answers(
        _call: &Call<'_>,
        _parameters: &Self::Parameters,
    ) -> impl Future<Output = Option<Answering>> + Send {
        async { None }
    }

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
    const MANNER: Leniency = Leniency::Coercing;
    // The contract answers with one text, and has more tools than any other.
    const DESCRIBES_ANSWER: bool = false;

    fn text(answer: &Answer) -> Option<&str> {
        kit::Answer::text(answer)
    }

    fn failure_text(failure: &Failure) -> Option<&str> {
        kit::Answer::text(failure)
    }

    async fn answers(call: &Call<'_>, parameters: &T::Parameters) -> Option<Answering> {
        <T as DialectTool>::answers(call, parameters).await
    }

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        <T as DialectTool>::call(call, parameters).await
    }
}
