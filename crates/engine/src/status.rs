//! How a run stands, in a word: [`Standing`] without what belongs to it.

use core::fmt;

use crate::Standing;

/// How a run stands, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    New,
    Running,
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Standing {
    /// Returns how the run stands, in a word.
    pub fn status(&self) -> Status {
        match self {
            Self::New => Status::New,
            Self::Running => Status::Running,
            Self::Waiting(_) => Status::Waiting,
            Self::Completed => Status::Completed,
            Self::Failed { .. } => Status::Failed,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// Returns the stable name.
    pub fn as_str(&self) -> &'static str {
        self.status().as_str()
    }
}
