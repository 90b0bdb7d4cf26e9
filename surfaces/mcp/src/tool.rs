//! What a tool is, and how a call to one is read and answered.
//!
//! A toolset brings the words: what its tools take, what they answer, how they say no. Here is
//! what all of them share. The published schema, the check of the arguments and the schema of the
//! answer all come from the tool's own types.

mod input;
mod repeat;
mod schema;

use std::{fmt, pin::Pin};

use definition::Digest;
use engine::{Actor, RunId, Timestamp};
use runtime::{Identity, Runtime};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{server::PersonsDoor, toolsets::Dialects};

pub(crate) use input::{InvalidArguments, Leniency, ProblemKind};
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

/// How far the caller's program reaches the person before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Person {
    /// It cannot ask.
    #[default]
    OutOfReach,
    /// It can ask, but nothing shows that the answer is the person's own: it counts as passed on.
    Unproven,
    /// It can ask.
    Reachable,
    /// It asked, and this was answered.
    Answered(GateReply),
    /// It asked, and was not answered: why.
    Silent(&'static str),
}

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

/// What the caller's program is to do before the call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Put the open gate of this run to the person.
    Ask(RunId),
    /// Look after this run until it has more than so many events, or this time has come.
    Wait(RunId, u64, Timestamp),
}

/// What a tool did, and what its caller should know besides.
pub(crate) struct Done<T> {
    pub(crate) answer: T,
    pub(crate) warnings: Vec<String>,
    pub(crate) then: Option<Then>,
}

impl<T> From<T> for Done<T> {
    fn from(answer: T) -> Self {
        Self { answer, warnings: Vec::new(), then: None }
    }
}

/// What a client may be told of a tool before it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub effect: Effect,
    /// Whether the same call again changes nothing more.
    pub is_idempotent: bool,
    /// Whether it may reach beyond the project: a language model that decides, a command that
    /// checks.
    pub reaches_out: bool,
}

/// What a tool does to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds to what is there.
    Adds,
    /// It ends something, or decides in a person's name.
    Ends,
}

impl Hints {
    /// A tool that only looks.
    pub const READS: Self = Self { effect: Effect::Reads, is_idempotent: true, reaches_out: false };
    /// A tool that adds something each time.
    pub const ADDS: Self = Self { effect: Effect::Adds, is_idempotent: false, reaches_out: false };
    /// A tool that has the next step decided.
    pub const DECIDES: Self = Self { reaches_out: true, ..Self::ADDS };
}

/// A call that is being answered.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// A tool as a list shows it, with the way to call it.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub hints: Hints,
    shape: fn() -> Value,
    output: Option<fn() -> Value>,
    run: for<'a> fn(&'a Call<'a>, Map<String, Value>, &'a Value) -> Calling<'a>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Entry {
    /// Returns the entry of `T`.
    pub(crate) const fn of<T: Tool>() -> Self {
        Self {
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
            run: run::<T>,
        }
    }

    /// Returns the JSON Schema of the parameters as it is published: closed, and without nulls.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema::published((self.shape)())
    }

    /// Returns the JSON Schema that every answer fits, also one that says no, where it is published.
    pub fn output_schema(&self) -> Option<Map<String, Value>> {
        self.output.map(|output| schema::object(output()))
    }

    /// Returns what arguments are checked against. Computed once by anyone who serves the tool.
    pub(crate) fn shape(&self) -> Value {
        (self.shape)()
    }

    /// Calls the tool with arguments of any shape.
    pub(crate) fn run<'a>(
        &self,
        call: &'a Call<'a>,
        arguments: Map<String, Value>,
        shape: &'a Value,
    ) -> Calling<'a> {
        (self.run)(call, arguments, shape)
    }
}

/// What a tool answers: the same facts as text and as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer's own text; else JSON with two spaces of indentation, in the order that reads
    /// best.
    pub text: String,
    pub body: Value,
    pub is_error: bool,
    pub then: Option<Then>,
}

/// An answer with what its caller should know besides.
#[derive(Serialize, JsonSchema)]
struct Whole<T> {
    #[serde(flatten)]
    answer: T,
    /// What was ignored, and what to mind.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

impl Reply {
    pub(crate) fn new<T: Serialize>(answer: T, warnings: Vec<String>, is_error: bool) -> Self {
        Self::worded(None, answer, some(warnings), is_error)
    }

    /// Answers with a text of its own, if there is one.
    fn worded<T: Serialize>(
        text: Option<String>,
        answer: T,
        warnings: Option<Vec<String>>,
        is_error: bool,
    ) -> Self {
        let whole = Whole { answer, warnings };
        let why = "an answer has only text keys and numbers that JSON has";
        let json = || serde_json::to_string_pretty(&whole).expect(why);
        let text = text.unwrap_or_else(json);
        let body = serde_json::to_value(&whole).expect(why);
        Self { text, body, is_error, then: None }
    }
}

fn run<'a, T: Tool>(
    call: &'a Call<'a>,
    arguments: Map<String, Value>,
    shape: &'a Value,
) -> Calling<'a> {
    Box::pin(async move {
        let input = input::read(T::NAME, T::MANNER, shape, arguments);
        let id = repeat::find_id(call, shape, &input.taken);
        let content = repeat::content(T::NAME, &input.taken);
        let warnings = input.warnings;
        let parameters = match input.parameters {
            Ok(parameters) => parameters,
            Err(invalid_arguments) => return fail::<T>(invalid_arguments.into(), warnings),
        };
        match repeat::identify::<T>(call, id, &content, &parameters).await {
            Ok(Identity::Known(asking)) => {
                repeat::once::<T>(call, asking, parameters, warnings).await
            }
            Ok(Identity::Stale) => {
                let call = Call { is_stale: true, ..call.clone() };
                make::<T>(&call, parameters, warnings).await
            }
            Ok(Identity::None) => make::<T>(call, parameters, warnings).await,
            Err(error) => repeat::refuse::<T>(error, warnings),
        }
    })
}

/// Calls a tool, and words its answer.
async fn make<T: Tool>(
    call: &Call<'_>,
    parameters: T::Parameters,
    mut warnings: Vec<String>,
) -> Reply {
    match T::call(call, parameters).await {
        Ok(done) => {
            warnings.extend(done.warnings);
            let text = T::text(&done.answer).map(ToOwned::to_owned);
            let warnings = Some(warnings).filter(|it| T::LISTS_WARNINGS || !it.is_empty());
            let reply = Reply::worded(text, done.answer, warnings, false);
            Reply { then: done.then, ..reply }
        }
        Err(failure) => fail::<T>(failure, warnings),
    }
}

fn fail<T: Tool>(failure: T::Failure, warnings: Vec<String>) -> Reply {
    let text = T::failure_text(&failure).map(ToOwned::to_owned);
    Reply::worded(text, failure, some(warnings), true)
}

/// Returns the warnings, if there are any.
fn some(warnings: Vec<String>) -> Option<Vec<String>> {
    Some(warnings).filter(|it| !it.is_empty())
}

/// What tests of a toolset's parameters look at.
#[cfg(test)]
pub(crate) mod probe {
    use super::{
        DeserializeOwned, InvalidArguments, JsonSchema, Leniency, Map, Value, input, schema,
    };

    /// Reads arguments as a call would.
    pub(crate) fn read<P: DeserializeOwned + JsonSchema>(
        manner: Leniency,
        arguments: Value,
    ) -> Result<P, InvalidArguments> {
        let arguments = schema::object(arguments);
        input::read("probe", manner, &schema::shape::<P>(), arguments).parameters
    }

    /// Returns the schema of parameters as it is published.
    pub(crate) fn published<P: JsonSchema>() -> Map<String, Value> {
        schema::published(schema::shape::<P>())
    }

    /// Returns the schema of answers.
    pub(crate) fn output<A: JsonSchema, F: JsonSchema>() -> Value {
        schema::output::<A, F>()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Reply;

    #[test]
    fn an_answer_without_a_text_of_its_own_is_its_json() {
        let answer = || json!({ "ok": true });
        let worded = Reply::worded(Some("# Done".to_owned()), answer(), None, false);
        assert_eq!((worded.text.as_str(), worded.body), ("# Done", answer()));
        assert_eq!(Reply::new(answer(), Vec::new(), false).text, "{\n  \"ok\": true\n}");
    }
}
