//! What must be known of the world before a command can be decided, and what was found out.
//!
//! The engine cannot look. Where it needs to know something it stops with the question; anyone who
//! can look does so and asks again with the answer. What mattered goes into the events, so a
//! replay never looks again.

use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};

use definition::{Answers, CommandCheck, Digest, Evidence, Workflow};
use serde_json::Value;

use crate::{Artifact, Git, Lease, ModelFailure, Refusal, Timestamp, Usage, invariant};

/// A thing that must be known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// What is at this path of the run's root?
    File(String),
    /// What is in this file right beside the run's root?
    Beside(String),
    /// What is the state of version control at the run's root?
    Git,
    /// Where does this branch stand in the repository that the run's root lies in? `None`: the one
    /// that is checked out.
    Branch(Option<String>),
    /// What does this command end with?
    Check { run: Vec<String>, timeout_s: u64 },
    /// What does a language model say to this?
    Model {
        /// What it is, and what it may believe.
        system: String,
        user: String,
        /// The names that it may answer with as `next_step_name`.
        names: Vec<String>,
    },
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    File(FileFact),
    /// `None` where the root is not under version control.
    Git(Option<Git>),
    /// `None` where there is no such repository or branch.
    Branch(Option<Standpoint>),
    Check(CheckFact),
    Model(ModelFact),
}

/// Where a branch stands before a run has done anything to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standpoint {
    pub name: String,
    /// Its last commit, or that of what is checked out where the branch is not there yet.
    pub commit: Option<String>,
    /// Whether the branch is there, and another one is checked out.
    pub is_elsewhere: bool,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFact {
    Missing,
    /// Something that is not to be read: a folder, a link that leads out of the root.
    Unreadable(String),
    Present {
        sha256: Digest,
        size: u64,
        /// `None` where it is not UTF-8, or too large to be looked into.
        text: Option<String>,
        /// When it was last written, where that is known.
        modified: Option<Timestamp>,
    },
}

/// What a command ended with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckFact {
    /// The user has not allowed this command in this project.
    NotAllowed,
    TimedOut,
    Ended {
        exit: i32,
        /// The last of what it printed.
        output: String,
    },
}

/// What a language model said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFact {
    /// Its words as they came. They are read and checked like any caller's.
    Replied {
        text: String,
        usage: Usage,
    },
    Failed {
        failure: ModelFailure,
        usage: Usage,
    },
}

/// What is known of the world at the moment of deciding.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The wall clock, which may jump. For history.
    pub now: Timestamp,
    /// The steady clock, which does not. For leases and time limits.
    pub steady: Timestamp,
    pub facts: BTreeMap<Question, Fact>,
    /// The ends of leases that heartbeats have moved, by generation. Steady.
    pub lease_ends: BTreeMap<u64, Timestamp>,
    pub bounds: Bounds,
    /// Which answers count at every gate, whatever the definitions say. A setting.
    pub gates: Option<Answers>,
    /// Whether a language model is there to decide.
    pub has_model: bool,
    /// Whether a model that cannot be had fails the run, rather than leaving the choice to the
    /// agent. A setting.
    pub fail_on_model_error: bool,
    /// What settings say about the runs of this workflow.
    pub policy: Policy,
}

/// What settings say about the runs of a workflow. No command carries any of it, so that every tool,
/// file and terminal meets the same rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    /// What missing evidence leads to. `None`: what the step says.
    pub evidence: Option<Evidence>,
    /// Whether a step or a move that is out of order follows all the same, with a warning.
    pub is_lax: bool,
    /// Variables whose values settings decide. No caller can set them.
    pub vars: BTreeMap<String, Value>,
    /// Variables by which gates open without a person. They are false where only a person's own
    /// answer counts.
    pub approving: BTreeMap<String, bool>,
}

impl Known {
    /// Returns when a lease ends by the steady clock, heartbeats counted.
    pub fn find_lease_end(&self, lease: &Lease) -> Timestamp {
        self.lease_ends.get(&lease.generation).copied().unwrap_or(lease.until)
    }

    /// Returns the variables of `workflow` whose values settings decide.
    pub(crate) fn settled_vars(&self, workflow: &Workflow) -> BTreeMap<&str, Value> {
        let Policy { vars, approving, .. } = &self.policy;
        let is_personal = invariant::asks_person(workflow, self.gates);
        let plain = vars.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let approving = approving
            .iter()
            .map(|(name, is_on)| (name.as_str(), Value::from(*is_on && !is_personal)));
        plain.chain(approving).filter(|(name, _)| workflow.vars.contains_key(*name)).collect()
    }
}

/// How large anything may be that a caller hands in. Settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub report_bytes_max: usize,
    pub context_bytes_max: usize,
    /// Of one note, error, answer or reason.
    pub text_bytes_max: usize,
    /// The longest lease that may be asked for, in seconds.
    pub lease_s_max: u64,
    pub parts_max: usize,
    pub items_max: usize,
    /// Of each part of what a language model is sent.
    pub prompt_bytes_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            report_bytes_max: 256 * 1024,
            context_bytes_max: 1024 * 1024,
            text_bytes_max: 64 * 1024,
            lease_s_max: 24 * 60 * 60,
            parts_max: 500,
            items_max: 1000,
            prompt_bytes_max: 64 * 1024,
        }
    }
}

/// Why a decision stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// Something must be known first.
    Ask(Vec<Question>),
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Known {
    /// Returns what is at `path`, or stops to ask.
    pub(crate) fn file(&self, path: &str) -> Result<&FileFact, Stop> {
        self.look(Question::File(String::from(path)))
    }

    /// Returns what is in the file of this name beside the run's root, or stops to ask.
    pub(crate) fn beside(&self, name: &str) -> Result<&FileFact, Stop> {
        self.look(Question::Beside(String::from(name)))
    }

    fn look(&self, question: Question) -> Result<&FileFact, Stop> {
        let Some(Fact::File(fact)) = self.facts.get(&question) else { return ask(question) };
        Ok(fact)
    }

    /// Stops to ask for all of `paths` that are not known yet, at once.
    pub(crate) fn need_files<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<(), Stop> {
        let wanted = paths.map(|path| Question::File(String::from(path)));
        let asked: Vec<_> = wanted.filter(|it| !self.facts.contains_key(it)).collect();
        if asked.is_empty() { Ok(()) } else { Err(Stop::Ask(asked)) }
    }

    pub(crate) fn git(&self) -> Result<Option<&Git>, Stop> {
        let Some(Fact::Git(fact)) = self.facts.get(&Question::Git) else {
            return ask(Question::Git);
        };
        Ok(fact.as_ref())
    }

    /// Returns where a branch stands, or the one that is checked out; or stops to ask.
    pub(crate) fn branch(&self, name: Option<String>) -> Result<Option<&Standpoint>, Stop> {
        let question = Question::Branch(name);
        let Some(Fact::Branch(fact)) = self.facts.get(&question) else { return ask(question) };
        Ok(fact.as_ref())
    }

    pub(crate) fn check(&self, check: &CommandCheck) -> Result<&CheckFact, Stop> {
        let question =
            Question::Check { run: check.run.clone(), timeout_s: check.timeout.as_secs() };
        let Some(Fact::Check(fact)) = self.facts.get(&question) else { return ask(question) };
        Ok(fact)
    }

    /// Returns what the model said to `question`, or stops to ask.
    pub(crate) fn model(&self, question: Question) -> Result<&ModelFact, Stop> {
        let Some(Fact::Model(fact)) = self.facts.get(&question) else { return ask(question) };
        Ok(fact)
    }

    /// Returns what was seen of those of `paths` that are there. Every path must be known.
    pub(crate) fn artifacts<'a>(
        &self,
        paths: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<Artifact>, Stop> {
        artifacts(paths, |path| self.file(path))
    }
}

/// Returns what `look` shows of those of `paths` that are there.
pub(crate) fn artifacts<'a, 'f>(
    paths: impl Iterator<Item = &'a str>,
    look: impl Fn(&'a str) -> Result<&'f FileFact, Stop>,
) -> Result<Vec<Artifact>, Stop> {
    let mut artifacts = Vec::new();
    for path in paths {
        if let FileFact::Present { sha256, size, .. } = look(path)? {
            let (sha256, size) = (sha256.clone(), *size);
            artifacts.push(Artifact { path: String::from(path), sha256, size });
        }
    }
    Ok(artifacts)
}

fn ask<T>(question: Question) -> Result<T, Stop> {
    Err(Stop::Ask(vec![question]))
}
