//! What the server itself does for a run in the repository that the run's root lies in: `chores`.
//!
//! A chore is due while its condition holds. What it does is one of a closed list of deeds, each
//! with texts that are rendered before anything is done, so that no text is ever a command.

use std::collections::BTreeMap;

use crate::{Condition, Expression, Template};

/// `chores`: something that the server does as soon as a condition holds.
#[derive(Debug, Clone)]
pub struct Chore {
    pub name: String,
    pub when: Condition,
    pub deed: ChoreDeed,
    /// Variables that get new values once it is done.
    pub set: BTreeMap<String, Expression>,
    /// Whether the current step is done with it.
    pub completes: bool,
    pub on_failure: OnFailure,
}

/// What a chore can do. There is nothing else.
#[derive(Debug, Clone)]
pub enum ChoreDeed {
    RenameBranch {
        from: Template,
        to: Template,
    },
    Commit {
        /// A list of paths, seen from the top of the repository.
        paths: Expression,
        message: Template,
        /// Whether the files that changed are named where none of the paths can be committed.
        or_changed: bool,
    },
    /// The current branch is sent to a remote, which it follows from then on.
    Push {
        remote: Template,
    },
    /// Files are added to the last commit, which is sent again.
    Publish(Publication),
    Checkout {
        branch: Template,
        /// The branch that it is made of where it is not there. Nothing where it renders to nothing.
        from: Option<Template>,
    },
}

/// What goes out with a last commit. Its paths are seen from the run's root.
#[derive(Debug, Clone)]
pub struct Publication {
    pub files: Vec<Template>,
    /// The file whose text becomes the description of the pull request.
    pub body: Option<Template>,
    /// The issue that the pull request closes. Nothing where it renders to nothing.
    pub closes: Option<Template>,
}

/// What a chore that cannot be done leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// It stays due, and work on the step is not taken until it is done.
    #[default]
    Refuse,
    /// The run goes on as if it were done, and tells of it.
    Warn,
}
