//! Names that a workflow gives to things. Parsed once, then trusted.

use serde::{Deserialize, Serialize};

use crate::suggest;

/// The longest name that is taken, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Why a text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a name must not be empty")]
    Empty,
    #[error("a name has at most {NAME_BYTES_MAX} bytes")]
    TooLong,
    #[error("a name must not contain a path separator, `..` or a control character")]
    Unsafe,
}

/// The name of a workflow: the name of its folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkflowName(String);

impl WorkflowName {
    /// Reads a name, refusing whatever could lead out of the definitions folder.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        check_length(text)?;
        let is_unsafe = text.contains(['/', '\\'])
            || text.contains("..")
            || text.starts_with('.')
            || text.chars().any(char::is_control);
        if is_unsafe { Err(NameError::Unsafe) } else { Ok(Self(text.to_owned())) }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a step: the text of its link in the index. Case and spaces matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepName(String);

impl StepName {
    /// Reads a name. Step names never become paths, so all but control characters is allowed.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        check_length(text)?;
        if text.chars().any(char::is_control) {
            return Err(NameError::Unsafe);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name as it is compared when a decider writes it loosely: case folded, and
    /// without spaces, `_` and `-`.
    pub fn folded(&self) -> String {
        suggest::fold(&self.0)
    }
}

/// The id of a part of a fanned-out step, such as `3` of `## Task 3: …`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartId(String);

impl PartId {
    /// Reads an id. It may become part of a path (`impl-3.md`), so it is as strict as a file name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        WorkflowName::parse(text).map(|name| Self(name.0))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

/// Numbers in numeric order, then everything else by its letters.
impl Ord for PartId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.number(), other.number()) {
            (Some(one), Some(two)) => one.cmp(&two).then_with(|| self.0.cmp(&other.0)),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for PartId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! display {
    ($($name:ident),*) => { $(
        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(&self.0)
            }
        }
    )* };
}
display!(WorkflowName, StepName, PartId);

fn check_length(text: &str) -> Result<(), NameError> {
    match text.len() {
        0 => Err(NameError::Empty),
        1..=NAME_BYTES_MAX => Ok(()),
        _ => Err(NameError::TooLong),
    }
}
