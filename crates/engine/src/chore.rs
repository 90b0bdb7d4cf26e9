//! What the server itself is to do for a run: the first chore whose condition holds, with all of
//! its texts rendered, so that whoever does it decides nothing.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{ChoreDeed, EvaluationError, OnFailure, Publication, Scope, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    RunState,
    decide::{Sight, left_out, scope},
};

/// A chore that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chore {
    pub name: String,
    pub deed: GitDeed,
    pub on_failure: OnFailure,
    /// Why it could not be done the last time, if it was tried.
    pub failure: Option<String>,
}

/// What is to be done in the repository that the run's root lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum GitDeed {
    RenameBranch {
        from: String,
        to: String,
    },
    Commit {
        /// Seen from the top of the repository, or absolute.
        paths: Vec<String>,
        message: String,
        /// Whether everything that changed is committed where none of the paths is there.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        or_changed: bool,
    },
    Push {
        remote: String,
    },
    /// Paths are seen from the run's root.
    Publish {
        files: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closes: Option<String>,
    },
    Checkout {
        branch: String,
        /// The branch that it is made of where it is not there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
}

/// How doing a chore went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoreOutcome {
    Done {
        /// What was done, in a line.
        detail: String,
        warnings: Vec<String>,
    },
    Failed {
        reason: String,
    },
}

impl GitDeed {
    /// Returns the word that definitions have for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::RenameBranch { .. } => "rename_branch",
            Self::Commit { .. } => "commit",
            Self::Push { .. } => "push",
            Self::Publish { .. } => "publish",
            Self::Checkout { .. } => "checkout",
        }
    }

    /// Returns what is to be done, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::RenameBranch { from, to } => format!("rename branch `{from}` to `{to}`"),
            Self::Commit { paths, .. } if paths.is_empty() => "commit what changed".into(),
            Self::Commit { paths, .. } => {
                let shown: Vec<String> =
                    paths.iter().take(SHOWN_MAX).map(|it| format!("`{it}`")).collect();
                let more = paths.len().saturating_sub(SHOWN_MAX);
                let more = if 0 < more { format!(" and {more} more") } else { String::new() };
                format!("commit {}{more}", shown.join(", "))
            }
            Self::Push { remote } => format!("push the branch to `{remote}`"),
            Self::Publish { .. } => "publish the last commit".into(),
            Self::Checkout { branch, .. } => format!("check `{branch}` out"),
        }
    }
}

/// How many paths a line names.
const SHOWN_MAX: usize = 5;

/// Returns the first chore that is due. A person may be asked at that time: what is asked is
/// shown when it is done.
pub fn find_chore(workflow: &Workflow, state: &RunState) -> Result<Option<Chore>, EvaluationError> {
    if workflow.chores.is_empty() || !state.standing.is_live() || state.current.is_none() {
        return Ok(None);
    }
    let current = state.current.as_ref().and_then(|it| workflow.find_step(it));
    // Nothing is done for a step that the run only has to pass.
    if let Some(step) = current
        && left_out(workflow, state, step)?.is_some()
    {
        return Ok(None);
    }
    let scope = scope(workflow, state, Sight::default());
    for chore in &workflow.chores {
        if chore.when.evaluate(&scope)? {
            return Ok(Some(Chore {
                name: chore.name.clone(),
                deed: render(&chore.deed, &scope)?,
                on_failure: chore.on_failure,
                failure: state.chores.get(&chore.name).cloned(),
            }));
        }
    }
    Ok(None)
}

fn render(deed: &ChoreDeed, scope: &Scope) -> Result<GitDeed, EvaluationError> {
    Ok(match deed {
        ChoreDeed::RenameBranch { from, to } => {
            GitDeed::RenameBranch { from: from.render(scope)?, to: to.render(scope)? }
        }
        ChoreDeed::Commit { paths, message, or_changed } => GitDeed::Commit {
            paths: texts(paths.evaluate(scope)?),
            message: message.render(scope)?,
            or_changed: *or_changed,
        },
        ChoreDeed::Push { remote } => GitDeed::Push { remote: remote.render(scope)? },
        ChoreDeed::Publish(Publication { files, body, closes }) => {
            let files: Result<Vec<String>, _> = files.iter().map(|it| it.render(scope)).collect();
            let body = body.as_ref().map(|it| it.render(scope)).transpose()?;
            let closes = closes.as_ref().map(|it| it.render(scope)).transpose()?;
            let said = |it: &String| !it.trim().is_empty();
            GitDeed::Publish { files: files?, body: body.filter(said), closes: closes.filter(said) }
        }
        ChoreDeed::Checkout { branch, from } => {
            let from = from.as_ref().map(|it| it.render(scope)).transpose()?;
            let from = from.filter(|it| !it.trim().is_empty());
            GitDeed::Checkout { branch: branch.render(scope)?, from }
        }
    })
}

/// A list as its texts; one text is a list of one.
fn texts(value: Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.into_iter().filter_map(text).collect(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => text(other).into_iter().collect(),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it).filter(|it| !it.trim().is_empty()),
        Value::Null => None,
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string())
        }
    }
}
