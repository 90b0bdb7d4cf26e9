//! The checksums of a log. Each covers one event and the checksum before it, so that one changed,
//! missing or moved byte of a run's history makes all that follow wrong.
//!
//! A checksum is the first half of a SHA-256. It finds damage, not forgery: who can write to the
//! database can also compute new checksums. Against chance 128 bits are as good as 256, and every
//! event is stored with one.

use std::fmt;

use engine::{EVENT_VERSION, Recorded, RunId};
use sha2::{Digest as _, Sha256};

use crate::StoreError;

/// How many bytes of a SHA-256 are kept.
const BYTES: usize = 16;
/// What is hashed before a run's name, and before an event. Stored, so they can never change.
const RUN: &[u8] = b"milepost run 1\0";
const EVENT: &[u8] = b"milepost event 1\0";

/// What can be wrong with an event.
pub(crate) const CHANGED: &str = "it is not as it was written";
pub(crate) const MISSING: &str = "it is missing";
pub(crate) const TAIL: &str = "the run was written with another last event";

/// The checksum of a log up to one of its events.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sum([u8; BYTES]);

impl Sum {
    /// Returns the checksum of a run before its first event.
    pub(crate) fn origin(run: RunId, project: &str) -> Self {
        let hash = Sha256::new().chain_update(RUN).chain_update(run.as_bytes());
        Self::cut(&hash.chain_update(project).finalize().into())
    }

    /// Returns the checksum after one more event.
    #[must_use]
    pub(crate) fn after(self, content: &Content) -> Self {
        let hash = Sha256::new().chain_update(self.0).chain_update(content.0);
        Self::cut(&hash.finalize().into())
    }

    /// Reads a checksum as it is stored. `None` if it is not one.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn cut(hash: &[u8; 32]) -> Self {
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(hash.split_at(BYTES).0);
        Self(bytes)
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The hash of everything that is stored of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content([u8; 32]);

/// An event as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) seq: i64,
    pub(crate) version: i64,
    pub(crate) kind: &'a [u8],
    pub(crate) at: i64,
    pub(crate) actor: &'a [u8],
    pub(crate) body: &'a [u8],
    /// `None` in events of earlier releases.
    pub(crate) steady: Option<i64>,
}

impl Stored<'_> {
    pub(crate) fn content(&self) -> Content {
        let mut hash = Sha256::new_with_prefix(EVENT);
        for number in [self.seq, self.version, self.at] {
            hash.update(number.to_be_bytes());
        }
        for text in [self.kind, self.actor, self.body] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        if let Some(steady) = self.steady {
            hash.update(steady.to_be_bytes());
        }
        Content(hash.finalize().into())
    }
}

/// An event in the texts that are stored of it, and their hash.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) actor: String,
    pub(crate) body: String,
    pub(crate) content: Content,
}

/// Encodes an event.
pub(crate) fn encode(recorded: &Recorded) -> Result<Encoded, StoreError> {
    let actor = serde_json::to_string(&recorded.by)
        .map_err(|error| StoreError::Database(format!("an event's actor: {error}")))?;
    let body = recorded.event.encode();
    let stored = Stored {
        seq: i64::try_from(recorded.seq).unwrap_or(i64::MAX),
        version: i64::from(EVENT_VERSION),
        kind: recorded.event.kind().as_bytes(),
        at: recorded.at.0,
        actor: actor.as_bytes(),
        body: body.as_bytes(),
        steady: Some(recorded.steady.0),
    };
    let content = stored.content();
    Ok(Encoded { actor, body, content })
}

/// Returns the checksum of the log of a run of `project` that has these events. What a store says
/// of a log can be compared with it.
pub fn checksum_of(run: RunId, project: &str, events: &[Recorded]) -> Result<Sum, StoreError> {
    let origin = Sum::origin(run, project);
    events.iter().try_fold(origin, |head, it| Ok(head.after(&encode(it)?.content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT_ONE: Stored<'_> = Stored {
        seq: 1,
        version: 1,
        kind: b"EntryRecorded",
        at: 7,
        actor: b"{}",
        body: b"{\"text\":\"hello\"}",
        steady: None,
    };

    fn shown(stored: Stored<'_>) -> String {
        Sum::origin(RunId::from_bytes([1; 16]), "project").after(&stored.content()).to_string()
    }

    #[test]
    fn a_checksum_stays_what_it_is() {
        assert_eq!(shown(EVENT_ONE), "cb2faf294a24371ec44d6649a143483b");
    }

    #[test]
    fn whatever_changes_changes_the_checksum() {
        let changed = [
            Stored { seq: 2, ..EVENT_ONE },
            Stored { version: 2, ..EVENT_ONE },
            Stored { kind: b"EntryRecordec", ..EVENT_ONE },
            Stored { at: 8, ..EVENT_ONE },
            Stored { steady: Some(0), ..EVENT_ONE },
            Stored { actor: b"[]", ..EVENT_ONE },
            Stored { body: b"{\"text\":\"hellp\"}", ..EVENT_ONE },
            // The border between two texts moves.
            Stored { actor: b"{}{", body: b"\"text\":\"hello\"}", ..EVENT_ONE },
        ];
        for stored in changed {
            assert_ne!(shown(stored), shown(EVENT_ONE), "{stored:?}");
        }
        let other = Sum::origin(RunId::from_bytes([1; 16]), "projecu");
        assert_ne!(other.after(&EVENT_ONE.content()).to_string(), shown(EVENT_ONE));
    }
}
