//! What all dialects share: what a tool is, how its arguments are read, what it can ask for, and
//! how an answer is written.

mod answer;
mod ask;
mod brief;
mod files;
mod input;
pub mod json;
mod moment;
mod prompt;
pub mod schema;
mod tool;
mod words;

pub use answer::{Answer, Done, Refused, Reply, Said, Then};
pub use ask::{
    Also, Ask, Await, Begin, Beside, Caller, Deed, Fault, Indexed, Indexing, Look, Next, NotBegun,
    Noticed, Outcome, Person, ReadGraph, Second, Sent, Snapshot, Stopped, Tell, Tended, Unadopted,
    Upkeep,
};
pub(crate) use brief::cut;
pub use brief::{Around, Brief, brief};
pub use files::{Amend, Eye, Files, Folder, Seeing, Sight, Text, Write};
pub use input::{Input, InvalidArguments, Leniency, Problem, ProblemKind, read};
pub use moment::moment;
pub use prompt::{Given, Prompt, PromptArgument, missing};
pub use tool::{
    Asking, Card, Effect, Entry, Failing, Hints, Read, Reports, Tool, Toolset, Unasked, joined,
};
pub use words::Words;

/// Reads arguments as a call would.
#[cfg(test)]
pub(crate) fn read_as<P: serde::de::DeserializeOwned + schemars::JsonSchema>(
    leniency: Leniency,
    arguments: serde_json::Value,
) -> Result<P, InvalidArguments> {
    read("probe", leniency, &schema::shape::<P>(), schema::object(arguments)).parameters
}
