//! Who calls a tool, and how the call is answered. What a tool is, `dialects` says.

mod dialect;
mod files;
mod repeat;

use std::{ops::Deref, pin::Pin};

use definition::Digest;
use dialects::kit::{self, Card};
use engine::Actor;
use runtime::Runtime;
use serde_json::{Map, Value};

use crate::{server::PersonsDoor, toolsets::Dialects};

pub(crate) use dialect::{snapshot, stopped, take_reply};
pub use dialects::kit::{Effect, Hints, Reply, Then};
pub use files::READERS_MAX;

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

/// A tool as a list shows it, with the way to call it.
#[derive(Debug, Clone, Copy)]
pub struct Entry(kit::Entry);

impl Deref for Entry {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.0
    }
}

impl From<&kit::Entry> for Entry {
    fn from(entry: &kit::Entry) -> Self {
        Self(*entry)
    }
}

impl Entry {
    /// Calls the tool with arguments of any shape.
    pub(crate) fn run<'a>(
        &self,
        call: &'a Call<'a>,
        arguments: Map<String, Value>,
        shape: &'a Value,
    ) -> Calling<'a> {
        Box::pin(dialect::run(call, self.0, arguments, shape))
    }
}
