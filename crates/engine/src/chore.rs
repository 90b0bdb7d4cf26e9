//! What the server itself is to do for a run: the first chore whose condition holds, with all of
//! its texts rendered, so that anyone who does it decides nothing.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{ChoreDeed, EvaluationError, OnFailure, Publication, Scope, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    GateReason, Refusal, RunState,
    decide::{EvalContext, left_out, scope},
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

impl Chore {
    /// Returns why nothing goes on before it is done.
    pub fn why_due(&self) -> Refusal {
        let problem = self.failure.clone();
        self.refusal(problem.unwrap_or_else(|| String::from("it was not tried so far")))
    }

    /// Returns the refusal of everything that waits for it, with what stands in its way.
    pub fn refusal(&self, problem: String) -> Refusal {
        Refusal::ChoreDue { chore: self.name.clone(), what: self.deed.describe(), problem }
    }
}

/// What is to be done in the repository that the run's root lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum GitDeed {
    RenameBranch {
        from: String,
        to: String,
        /// Where the branch stood before the run, if the server saw it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    Commit {
        /// The run's branch, which is empty in logs of older releases.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        branch: String,
        /// Seen from the top of the repository, or absolute.
        paths: Vec<String>,
        message: String,
        /// Whether the files that changed are named where none of the paths can be committed.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        or_changed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_taken: bool,
    },
    Push {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        branch: String,
        remote: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_taken: bool,
    },
    /// Paths are seen from the run's root.
    Publish {
        #[serde(default, skip_serializing_if = "RunBranch::is_unknown")]
        branch: RunBranch,
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

/// The branch that a run works on, and what the server knows of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunBranch {
    /// Empty while nobody has named one and none was checked out.
    pub name: String,
    /// The commit that was there before the run. `None`: the server did not see one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether the run began without it: a caller or a file named it later.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_taken: bool,
    /// What the server pushed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed: Option<Pushed>,
}

/// A commit that the server pushed for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pushed {
    pub remote: String,
    pub commit: String,
}

impl RunBranch {
    /// Returns whether no branch is known.
    pub fn is_unknown(&self) -> bool {
        self.name.is_empty()
    }

    /// Takes over what a chore did to the branch.
    fn follow(&mut self, deed: &GitDeed, sent: Option<&Pushed>) {
        match deed {
            // The remote knows the branch by its old name, if at all.
            GitDeed::RenameBranch { from, to, .. } if self.name == *from => {
                self.name.clone_from(to);
                self.pushed = None;
            }
            GitDeed::Push { branch, .. }
            | GitDeed::Publish { branch: Self { name: branch, .. }, .. }
                if self.name == *branch =>
            {
                self.pushed = sent.cloned().or(self.pushed.take());
            }
            GitDeed::RenameBranch { .. }
            | GitDeed::Commit { .. }
            | GitDeed::Push { .. }
            | GitDeed::Publish { .. }
            | GitDeed::Checkout { .. } => {}
        }
    }
}

impl RunState {
    /// Works on a branch from now on: the first one is the run's own, any other is taken over.
    pub fn take_branch(&mut self, name: &str, base: Option<&str>, is_taken: bool) {
        let is_other = self.branch.is_some() || self.history.placed.is_some();
        let is_taken = is_taken || is_other || self.forked_from.is_some();
        if let Some(left) = self.branch.take().filter(|it| !it.is_taken) {
            self.first_branch = Some(left);
        }
        let first = self.first_branch.take_if(|it| it.name == name);
        self.branch = first.or_else(|| {
            let (name, base) = (String::from(name), base.map(String::from));
            Some(RunBranch { name, base, is_taken, pushed: None })
        });
    }

    /// Takes over what a chore did to the run's branch.
    pub fn follow_chore(&mut self, deed: &GitDeed, sent: Option<&Pushed>) {
        if let Some(branch) = &mut self.branch {
            branch.follow(deed, sent);
        }
    }
}

/// How doing a chore went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoreOutcome {
    Done {
        /// What was done, in a line.
        detail: String,
        warnings: Vec<String>,
        /// What was pushed, if anything was.
        pushed: Option<Pushed>,
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
            Self::RenameBranch { from, to, .. } => format!("rename branch `{from}` to `{to}`"),
            Self::Commit { paths, .. } if paths.is_empty() => "commit what changed".into(),
            Self::Commit { paths, .. } => {
                let shown: Vec<String> =
                    paths.iter().take(SHOWN_MAX).map(|it| format!("`{it}`")).collect();
                let more = paths.len().saturating_sub(SHOWN_MAX);
                let more = if 0 < more { format!(" and {more} more") } else { String::new() };
                format!("commit {}{more}", shown.join(", "))
            }
            Self::Push { branch, remote, .. } if branch.is_empty() => {
                format!("push the branch to `{remote}`")
            }
            Self::Push { branch, remote, .. } => format!("push `{branch}` to `{remote}`"),
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
    // Nothing is done for work behind a gate that nobody has answered at.
    if state.standing.open_gate().is_some_and(|it| it.why == GateReason::Owed) {
        return Ok(None);
    }
    let current = state.current.as_ref().and_then(|it| workflow.find_step(it));
    // Nothing is done for a step that the run only has to pass.
    if let Some(step) = current
        && left_out(workflow, state, step)?.is_some()
    {
        return Ok(None);
    }
    let scope = scope(workflow, state, EvalContext::default());
    for chore in &workflow.chores {
        if chore.when.evaluate(&scope)? {
            return Ok(Some(Chore {
                name: chore.name.clone(),
                deed: render(&chore.deed, &scope, || branch_of(workflow, state, &scope))?,
                on_failure: chore.on_failure,
                failure: state.chores.get(&chore.name).cloned(),
            }));
        }
    }
    Ok(None)
}

/// Returns the branch that the server has yet to look at: the one that it acts on for the run, if it
/// has not seen where that stands. `Some(None)`: the one that is checked out.
pub fn find_unseen_branch(
    workflow: &Workflow,
    state: &RunState,
) -> Result<Option<Option<String>>, EvaluationError> {
    let acts = |it: &definition::Chore| match it.deed {
        ChoreDeed::Commit { .. } | ChoreDeed::Push { .. } | ChoreDeed::Publish(_) => true,
        ChoreDeed::RenameBranch { .. } | ChoreDeed::Checkout { .. } => false,
    };
    if !state.standing.is_live() || !workflow.chores.iter().any(acts) {
        return Ok(None);
    }
    let named = named_branch(workflow, &scope(workflow, state, EvalContext::default()))?;
    Ok(match (&state.branch, named) {
        (Some(seen), Some(named)) if seen.name != named => Some(Some(named)),
        (Some(_), _) => None,
        (None, named) => Some(named),
    })
}

/// Returns the branch that a definition has the server check out: that is the run's.
fn named_branch(workflow: &Workflow, scope: &dyn Scope) -> Result<Option<String>, EvaluationError> {
    for chore in &workflow.chores {
        let ChoreDeed::Checkout { branch, .. } = &chore.deed else { continue };
        let name = branch.render(scope)?;
        if !name.trim().is_empty() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn branch_of(
    workflow: &Workflow,
    state: &RunState,
    scope: &dyn Scope,
) -> Result<RunBranch, EvaluationError> {
    let seen = state.branch.clone();
    Ok(match named_branch(workflow, scope)? {
        Some(name) => seen
            .filter(|it| it.name == name)
            .unwrap_or_else(|| RunBranch { name, ..RunBranch::default() }),
        None => seen.unwrap_or_default(),
    })
}

fn render(
    deed: &ChoreDeed,
    scope: &dyn Scope,
    branch: impl Fn() -> Result<RunBranch, EvaluationError>,
) -> Result<GitDeed, EvaluationError> {
    Ok(match deed {
        ChoreDeed::RenameBranch { from, to } => {
            let (from, to) = (from.render(scope)?, to.render(scope)?);
            let base = branch()?.base.filter(|_| branch().is_ok_and(|it| it.name == from));
            GitDeed::RenameBranch { from, to, base }
        }
        ChoreDeed::Commit { paths, message, or_changed } => {
            let RunBranch { name: branch, base, is_taken, .. } = branch()?;
            GitDeed::Commit {
                branch,
                base,
                is_taken,
                paths: texts(paths.evaluate(scope)?),
                message: message.render(scope)?,
                or_changed: *or_changed,
            }
        }
        ChoreDeed::Push { remote } => {
            let RunBranch { name: branch, base, is_taken, .. } = branch()?;
            GitDeed::Push { branch, remote: remote.render(scope)?, base, is_taken }
        }
        ChoreDeed::Publish(Publication { files, body, closes }) => {
            let files: Result<Vec<String>, _> = files.iter().map(|it| it.render(scope)).collect();
            let body = body.as_ref().map(|it| it.render(scope)).transpose()?;
            let closes = closes.as_ref().map(|it| it.render(scope)).transpose()?;
            let said = |it: &String| !it.trim().is_empty();
            let (body, closes) = (body.filter(said), closes.filter(said));
            GitDeed::Publish { branch: branch()?, files: files?, body, closes }
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
