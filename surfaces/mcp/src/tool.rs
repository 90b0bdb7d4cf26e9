//! What a tool is, and how a call to one is read and answered.
//!
//! A toolset brings the words: what its tools take, what they answer, how they say no. Here is
//! what all of them share. The published schema, the check of the arguments and the schema of the
//! answer all come from the tool's own types.

mod dialect;
mod files;
mod repeat;

use std::{ops::Deref, pin::Pin};

use definition::Digest;
use dialects::kit::{self, Card, schema};
use engine::Actor;
use runtime::{Hearing, Identity, Runtime};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{server::PersonsDoor, toolsets::Dialects};
use repeat::Opened;

pub(crate) use dialect::{caller, snapshot, stopped, take_reply};
pub(crate) use dialects::kit::{Done, InvalidArguments, Leniency};
pub use dialects::kit::{Effect, Hints, Reply, Then};
pub(crate) use files::Reach;
pub(crate) use repeat::{Answering, Unasked};

/// One tool that an agent can call.
pub(crate) trait Tool {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    /// What it is answered.
    type Answer: Serialize + JsonSchema;
    /// What it is answered when the call led to nothing.
    type Failure: Serialize + JsonSchema + From<InvalidArguments> + From<Unasked>;

    /// Verb and noun, unique over all toolsets.
    const NAME: &'static str;
    /// The name as people read it.
    const TITLE: &'static str;
    /// What the tool is for, as the agent reads it.
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    /// How it takes arguments that do not quite fit.
    const MANNER: Leniency = Leniency::Lenient;
    /// Whether what it answers is described in the list of tools, at the price of its length.
    const DESCRIBES_ANSWER: bool = true;
    /// Whether an answer has its list of warnings even where that is empty.
    const LISTS_WARNINGS: bool = false;

    /// Returns the text of an answer that has one of its own; without one the text is its JSON.
    fn text(_answer: &Self::Answer) -> Option<&str> {
        None
    }

    /// Returns the text of a failure that has one of its own.
    fn failure_text(_failure: &Self::Failure) -> Option<&str> {
        None
    }

    /// Returns what a call is about that reports an action, or answers for a person. Where it has
    /// no request id it is known by that.
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
    ) -> impl Future<Output = Result<Done<Self::Answer>, Self::Failure>> + Send;
}

/// Who calls, and what can be asked of.
#[derive(Clone)]
pub struct Call<'a> {
    pub runtime: &'a Runtime,
    pub actor: Actor,
    pub person: Person,
    /// Whether the caller can be given a task to look after, instead of being kept waiting.
    pub takes_tasks: bool,
    pub options: &'a Dialects,
    /// The id by which the call is known when it is sent again, where its parameters have no place
    /// for it. Tools need not look at it: everything that they do through `runtime` carries it.
    pub request_id: Option<String>,
    /// Whether it reports an action that was answered long before.
    pub is_stale: bool,
}

/// How far the caller's program reaches the person before it, and what they answered.
pub type Person = kit::Person<GateReply>;

/// What a person answered at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReply {
    pub answer: String,
    pub feedback: String,
    /// What the person was shown.
    pub digest: Digest,
    /// The same for the same answer, so that an answer that is sent again is taken once.
    pub request_id: Option<String>,
    /// The person's own door that it came through. Without one it counts as passed on by an agent.
    pub door: Option<PersonsDoor>,
}

/// A call that is being answered.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// How a tool of this crate is called.
type Here = for<'a> fn(&'a Call<'a>, Map<String, Value>, &'a Value) -> Calling<'a>;

/// A tool as a list shows it, with the way to call it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    card: Card,
    run: Run,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    /// By the loop that all dialects share.
    Dialect(kit::Entry),
    /// By itself, with a runtime in its hands.
    Here(Here),
}

impl Deref for Entry {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

impl Entry {
    /// Returns the entry of `T`.
    pub(crate) const fn of<T: Tool>() -> Self {
        let card = Card {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            hints: T::HINTS,
            shape: schema::shape::<T::Parameters>,
            output: if T::DESCRIBES_ANSWER {
                Some(schema::output::<T::Answer, T::Failure>)
            } else {
                None
            },
        };
        Self { card, run: Run::Here(run::<T>) }
    }

    /// Calls the tool with arguments of any shape.
    pub(crate) fn run<'a>(
        &self,
        call: &'a Call<'a>,
        arguments: Map<String, Value>,
        shape: &'a Value,
    ) -> Calling<'a> {
        match self.run {
            Run::Here(run) => run(call, arguments, shape),
            Run::Dialect(entry) => Box::pin(dialect::run(call, entry, arguments, shape)),
        }
    }
}

impl From<&kit::Entry> for Entry {
    fn from(entry: &kit::Entry) -> Self {
        Self { card: entry.card, run: Run::Dialect(*entry) }
    }
}

fn run<'a, T: Tool>(
    call: &'a Call<'a>,
    arguments: Map<String, Value>,
    shape: &'a Value,
) -> Calling<'a> {
    Box::pin(async move {
        // What is noticed by looking what the call is about is told as well.
        let (runtime, hearing) = call.runtime.hear();
        let call = &Call { runtime: &runtime, ..call.clone() };
        let input = kit::read(T::NAME, T::MANNER, shape, arguments);
        let id = repeat::find_id(call, shape, &input.taken);
        let content = repeat::content(T::NAME, &input.taken);
        let warnings = input.warnings;
        let parameters = match input.parameters {
            Ok(parameters) => parameters,
            Err(invalid_arguments) => return fail::<T>(invalid_arguments.into(), warnings),
        };
        let refuse = |error, warnings| {
            let reply = fail::<T>(Unasked { tool: T::NAME, error }.into(), warnings);
            repeat::tell(call, &hearing, reply)
        };
        let answering = async { T::answers(call, &parameters).await };
        let asking = match repeat::identify(call, T::HINTS, id, &content, answering).await {
            Ok(Identity::Known(asking)) => asking,
            Ok(Identity::Stale) => {
                let call = Call { is_stale: true, ..call.clone() };
                return make::<T>((&call, &hearing), parameters, warnings).await;
            }
            Ok(Identity::None) => {
                return make::<T>((call, &hearing), parameters, warnings).await;
            }
            Err(error) => return refuse(error, warnings),
        };
        match repeat::open(call, asking).await {
            Ok(Opened::Kept(reply)) => reply,
            Ok(Opened::New(runtime)) => {
                let call = Call { runtime: &runtime, ..call.clone() };
                let reply = make::<T>((&call, &hearing), parameters, warnings).await;
                repeat::keep(&call, reply).await
            }
            Err(error) => refuse(error, warnings),
        }
    })
}

/// Calls a tool, and words its answer.
async fn make<T: Tool>(
    (call, hearing): (&Call<'_>, &Hearing),
    parameters: T::Parameters,
    mut warnings: Vec<String>,
) -> Reply {
    let reply = match T::call(call, parameters).await {
        Ok(done) => {
            warnings.extend(done.warnings);
            let text = T::text(&done.answer).map(ToOwned::to_owned);
            let warnings = Some(warnings).filter(|it| T::LISTS_WARNINGS || !it.is_empty());
            let reply = Reply::worded(text, done.answer, warnings, false);
            Reply { then: done.then, ..reply }
        }
        Err(failure) => fail::<T>(failure, warnings),
    };
    repeat::tell(call, hearing, reply)
}

fn fail<T: Tool>(failure: T::Failure, warnings: Vec<String>) -> Reply {
    let text = T::failure_text(&failure).map(ToOwned::to_owned);
    Reply::worded(text, failure, Some(warnings).filter(|it| !it.is_empty()), true)
}
