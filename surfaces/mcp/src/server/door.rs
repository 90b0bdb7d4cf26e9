//! Whose answer a client brings: the person's own, or one that an agent passes on.
//!
//! Only this folder can make a [`PersonsDoor`], so no tool can claim that a person answered.

use axum::http::request::Parts;
use engine::How;

use super::Context;

/// What a credential lets its bearer do. Each one includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// To look.
    Read,
    /// To have work done.
    Write,
    /// To answer gates as a person.
    Approve,
}

/// The credential that an HTTP request carries. The code that lets a request in puts it into its
/// extensions; a request without one may write, and approves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// What its owner calls it.
    pub name: String,
    pub scope: Scope,
}

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// By the pipes of a process that the person's own client started.
    Pipes,
    Http,
}

/// The proof that an answer came by a way that is a person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonsDoor {
    /// What the history says of it.
    way: String,
}

impl PersonsDoor {
    /// Returns the door that a request comes through, if it is a person's.
    pub(super) fn find(line: Line, context: &Context) -> Option<Self> {
        match line {
            Line::Pipes => Some(Self { way: String::new() }),
            Line::Http => {
                let token = credential(context).filter(|it| it.scope == Scope::Approve)?;
                Some(Self { way: format!(", by the token `{}`", token.name) })
            }
        }
    }

    /// Returns how an answer came in, for the history: through a person's door, or without one.
    pub(crate) fn how(door: Option<&Self>) -> How {
        if door.is_some() { How::Verified } else { How::Relayed }
    }

    /// Returns who answered, for the history.
    pub(crate) fn who(door: Option<&Self>, client: &str) -> String {
        match door {
            Some(door) => format!("the person at {client}{}", door.way),
            None => format!("someone at {client}, over HTTP without a token that approves"),
        }
    }
}

/// Returns what a request may do.
pub(super) fn scope(line: Line, context: &Context) -> Scope {
    match line {
        Line::Pipes => Scope::Approve,
        Line::Http => credential(context).map_or(Scope::Write, |it| it.scope),
    }
}

fn credential(context: &Context) -> Option<&Credential> {
    context.extensions.get::<Parts>()?.extensions.get()
}
