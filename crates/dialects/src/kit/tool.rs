//! What a tool is, and how a table lists it. The published schema, the check of the arguments and
//! the schema of the answer all come from the tool's own types.

use std::{fmt, ops::Deref};

use definition::Form;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    answer::{Answer, Done, Said},
    ask::{Ask, Caller, Stopped, Tell},
    input::{self, InvalidArguments, Leniency},
    prompt::Prompt,
    schema,
    words::Words,
};

/// One tool that an agent can call: the parameters of a call.
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// What the agent is answered.
    type Answer: Answer + Send + 'static;
    /// What it is answered when the call led to nothing.
    type Failure: Failing;

    /// Verb and noun, unique over all toolsets.
    const NAME: &'static str;
    /// The name as people read it.
    const TITLE: &'static str;
    /// What the tool is for, as the agent reads it.
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    /// Whether what it answers is described in the list of tools, at the price of its length.
    const DESCRIBES_ANSWER: bool = <Self::Answer as Answer>::IS_DESCRIBED;
    /// Whether an answer has its list of warnings even where that is empty.
    const LISTS_WARNINGS: bool = false;

    /// Returns the action that the call reports, or answers for a person. Where the call has no
    /// request id it is known by that.
    fn reports(&self) -> Option<Reports> {
        None
    }

    /// Returns what the call asks for.
    fn ask(self, caller: &Caller) -> Result<Ask, Self::Failure>;

    /// Answers.
    fn tell(done: Result<impl Into<Done<Self::Answer>>, impl Into<Self::Failure>>) -> Tell {
        match done {
            Ok(done) => Self::say(done),
            Err(failure) => Self::fail(failure),
        }
    }

    /// Says what was done.
    fn say(done: impl Into<Done<Self::Answer>>) -> Tell {
        Tell::Say(Said::done(done.into(), Self::LISTS_WARNINGS))
    }

    /// Says no.
    fn fail(failure: impl Into<Self::Failure>) -> Tell {
        Tell::Say(Said::failed(failure.into()))
    }
}

/// What a dialect answers when a call led to nothing.
pub trait Failing: Answer + From<InvalidArguments> + From<Unasked> + Send + 'static {
    /// How the dialect takes arguments that do not quite fit.
    const LENIENCY: Leniency = Leniency::Lenient;
}

/// Why a call was not made.
#[derive(Debug)]
pub struct Unasked {
    pub tool: &'static str,
    pub stopped: Stopped,
}

/// Tools that are served together.
#[derive(Debug, Clone, Copy)]
pub struct Toolset {
    pub name: &'static str,
    /// What it is for, in one line for people.
    pub summary: &'static str,
    /// What an agent is told before anything else.
    pub instructions: &'static str,
    /// In the order they are listed.
    pub tools: &'static [Entry],
    /// What people can have done with these tools.
    pub prompts: &'static [Prompt],
    /// Returns the words for the runs of a workflow, where it is the toolset's own.
    pub words: fn(&str, Form) -> Option<&'static Words>,
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

/// A tool as a list shows it.
#[derive(Clone, Copy)]
pub struct Card {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub hints: Hints,
    /// Returns what arguments are checked against.
    pub shape: fn() -> Value,
    /// Returns the schema of what it answers, where that is published.
    pub output: Option<fn() -> Value>,
}

impl fmt::Debug for Card {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Card {
    /// Returns the JSON Schema of the parameters as it is published: closed, and without nulls.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema::published((self.shape)())
    }

    /// Returns the JSON Schema that every answer fits, also one that says no, where the tool has one.
    pub fn answer_schema(&self) -> Option<Map<String, Value>> {
        self.output.map(|output| schema::object(output()))
    }

    /// Returns what of it is published.
    pub fn output_schema(&self) -> Option<Map<String, Value>> {
        self.answer_schema().map(schema::outline)
    }
}

/// What a call asks for, once it is known who calls.
pub type Asking = Box<dyn FnOnce(&Caller) -> Ask + Send>;

/// Finds the key of a run, once it is known who calls.
pub(super) type FindKey = Box<dyn FnOnce(&Caller) -> Option<String> + Send>;

/// An action that a call reports.
pub struct Reports {
    /// Whose file its run has.
    pub workflow: &'static str,
    /// Finds the key of the run.
    pub key: FindKey,
    /// `None` where the call does not name the action.
    pub action: Option<u64>,
}

/// A call that was read.
pub struct Read {
    /// The arguments as they were understood: the same for every way to write them.
    pub taken: Map<String, Value>,
    /// What was ignored or guessed.
    pub warnings: Vec<String>,
    pub reports: Option<Reports>,
    /// What it asks for, or what there is to say of arguments that do not fit.
    pub asking: Result<Asking, Said>,
}

/// A tool in a table, with the way to call it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub card: Card,
    read: fn(&Value, Map<String, Value>) -> Read,
    unasked: fn(Stopped) -> Said,
}

impl Deref for Entry {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

impl Entry {
    /// Returns the entry of `T`.
    pub const fn of<T: Tool>() -> Self {
        let card = Card {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            hints: T::HINTS,
            shape: schema::shape::<T>,
            output: if T::DESCRIBES_ANSWER {
                Some(schema::output::<T::Answer, T::Failure>)
            } else {
                None
            },
        };
        Self { card, read: read::<T>, unasked: unasked::<T> }
    }

    /// Reads arguments of any shape.
    pub fn read(&self, shape: &Value, arguments: Map<String, Value>) -> Read {
        (self.read)(shape, arguments)
    }

    /// Words that a call was not made.
    pub fn unasked(&self, stopped: Stopped) -> Said {
        (self.unasked)(stopped)
    }
}

/// Returns the tools of several tables as one.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over lengths it knows")]
pub const fn joined<const N: usize>(tables: &[&[Entry]]) -> [Entry; N] {
    let mut all = [tables[0][0]; N];
    let (mut at, mut table) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            all[at] = tables[table][row];
            (at, row) = (at + 1, row + 1);
        }
        table += 1;
    }
    assert!(at == N, "a table is as long as those that it is made of");
    all
}

fn read<T: Tool>(shape: &Value, arguments: Map<String, Value>) -> Read {
    let input = input::read::<T>(T::NAME, T::Failure::LENIENCY, shape, arguments);
    let asking = |tool: T| -> Asking {
        Box::new(move |caller| tool.ask(caller).unwrap_or_else(|it| T::fail(it).into()))
    };
    let invalid = |it: InvalidArguments| Said::failed(T::Failure::from(it));
    let reports = input.parameters.as_ref().ok().and_then(T::reports);
    let asking = input.parameters.map(asking).map_err(invalid);
    Read { taken: input.taken, warnings: input.warnings, reports, asking }
}

fn unasked<T: Tool>(stopped: Stopped) -> Said {
    Said::failed(T::Failure::from(Unasked { tool: T::NAME, stopped }))
}
