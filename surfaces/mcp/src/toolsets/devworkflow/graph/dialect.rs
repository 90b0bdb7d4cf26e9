//! What the tools of graph mode that answer with a text have in common.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::answer::{Answer, Failure};
use crate::tool::{Call, Done, Hints, Tool};

/// One tool that answers with a text.
pub(crate) trait Verb {
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

/// Makes a [`Tool`] of a [`Verb`].
pub(crate) struct Spoken<T>(std::marker::PhantomData<T>);

impl<T: Verb> Tool for Spoken<T> {
    type Parameters = T::Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = <T as Verb>::NAME;
    const TITLE: &'static str = <T as Verb>::TITLE;
    const DESCRIPTION: &'static str = <T as Verb>::DESCRIPTION;
    const HINTS: Hints = <T as Verb>::HINTS;

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        <T as Verb>::call(call, parameters).await
    }
}
