//! A promised file: how a dialect renders it from a run, and what it reads in it.
//!
//! All of it is about texts. Where the files lie, and who opens them, the runtime knows.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{Digest, PartSpec, StepName, Workflow};
use serde_json::{Map, Value};

use crate::{ClaimedProgress, ClaimedStatus, FileClaim, Item, Recorded, RunState, Timestamp};

/// Writes a file from the log of each run of a workflow, and reads what others wrote into it.
///
/// It belongs to a dialect, and is there in every process whatever that process serves: an answer
/// from a browser changes the file too.
pub trait Projection: Send + Sync {
    /// Returns the workflow that a run is begun of where there is only the file.
    fn workflow(&self) -> &str;

    /// Returns whether the runs of a workflow have such a file.
    fn covers(&self, workflow: &Workflow) -> bool {
        workflow.name.as_str() == self.workflow()
    }

    /// Returns the root of the runs that have such files here. `None`: the project's.
    fn root(&self) -> Option<&str> {
        None
    }

    /// Returns the folder that the files are in, seen from the root of a run.
    fn folder(&self) -> &str;

    /// Returns where in the folder the file of the run with this key is.
    fn path(&self, key: &str) -> Option<String>;

    /// Returns the key of the run whose file this is; `None` where it is none.
    fn key(&self, path: &str) -> Option<String>;

    /// Returns the folder that the artifacts of the run with this key are in, seen from its root.
    /// `None`: the root itself.
    fn home(&self, _key: &str) -> Option<String> {
        None
    }

    /// Returns the variables that a copy of a run has to itself, with this key in this folder.
    fn vars_of_copy(&self, _key: &str, _home: &str, _of: &RunState) -> Map<String, Value> {
        Map::new()
    }

    /// Returns whether only the owner of the files may read them.
    fn is_private(&self) -> bool {
        false
    }

    /// Returns whether the run with this key goes on when its file was taken away, which is then
    /// written again. Else the run is over with it.
    fn outlives_file(&self, key: &str) -> bool;

    /// Returns what the file of a run says: a pure function of its state.
    fn render(&self, workflow: &Workflow, state: &RunState) -> String;

    /// Returns what a text was made from, going by the marks that `own`, which the file says now,
    /// and the text carry.
    fn basis(&self, _workflow: &Workflow, _own: &str, _text: &str) -> Basis {
        Basis::Current
    }

    /// Returns what a text must say to count as made from `own`, which the file says now, in words
    /// for the person who writes it. `None`: there is no such mark.
    fn stamp(&self, _own: &str) -> Option<String> {
        None
    }

    /// Returns whether a beginning of what the file says is what a crash left of it, and not what
    /// someone who cut its end meant.
    fn is_torn(&self, _beginning: &[u8]) -> bool {
        true
    }

    /// Returns how far a text is from `own`, which the file says now or said before. `None`: only
    /// [`Self::basis`] counts.
    fn distance(&self, _own: &str, _text: &str) -> Option<usize> {
        None
    }

    /// Returns whether a text was made from `own`, which the file says now, going by what is in it.
    fn is_seen(&self, _own: &str, _text: &str) -> bool {
        true
    }

    /// Returns whether a text may have been made from `base`, which the file said before, and not
    /// from `own`, which it says now.
    fn is_base(&self, _own: &str, _base: &str, _text: &str) -> bool {
        true
    }

    /// Returns what the file, which says `own` now, is to say once an edit is taken in that was made
    /// from `base`, which it said before. `None` where the edit and what happened since cannot be
    /// joined.
    fn rebase(&self, _own: &str, _base: &str, _text: &str) -> Option<String> {
        None
    }

    /// Returns other texts that are written with the file and never read: paths in the folder, and
    /// what to write there.
    fn beside(&self, _workflow: &Workflow, _state: &RunState) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Reads a file that others wrote.
    fn read(&self, text: &str) -> Result<Reading, String>;

    /// Returns where in the folder a text is kept that has to make room.
    fn aside(&self, key: &str, text: &str) -> String;

    /// Returns which other file an event has written or changed, if any.
    fn side_file(&self, _recorded: &Recorded) -> Option<Goal> {
        None
    }

    /// Returns what the other file is to say after an event, given what it says now. It may be
    /// asked again after a crash, and must then find that all is done.
    fn write_side_file(&self, _recorded: &Recorded, _text: Option<&str>) -> SideFileWrite {
        SideFileWrite::default()
    }

    /// Returns the file that others are told in what happens to the runs, if they are.
    fn event_log(&self) -> Option<&EventLog> {
        None
    }

    /// Returns whether others may have to be told of these events of one change.
    fn is_told(&self, _events: &[Recorded]) -> bool {
        false
    }

    /// Returns what others are told of these events of one change: a line each.
    fn tell(&self, _workflow: &Workflow, _appended: &Appended<'_>) -> Vec<String> {
        Vec::new()
    }
}

/// A file that only grows, and that many share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    /// Absolute.
    pub path: String,
    /// How large it becomes before it is put aside.
    pub bytes_max: u64,
}

/// What happened to a run in one append.
#[derive(Debug, Clone, Copy)]
pub struct Appended<'a> {
    pub before: &'a RunState,
    pub after: &'a RunState,
    pub events: &'a [Recorded],
}

/// Another file that an event has written or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// What is done there, by a name that never changes: how far it was done is kept by it.
    pub name: &'static str,
    /// Where in the folder it may be. The first that is there is meant; where none is, it is made
    /// at the first of them whose folder is there.
    pub paths: Vec<String>,
}

/// What an event does to another file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SideFileWrite {
    /// What it is to say. `None`: it stays as it is.
    pub text: Option<String>,
    /// For the caller to know.
    pub notice: Option<String>,
}

/// What a text of a file was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// From what the file says now.
    Current,
    /// From what it said before. Says what tells.
    Older(String),
    /// From what it said at this time, if anything happened to the run then. Says what tells.
    At(Timestamp, String),
    /// From what it has not said yet: a copy of the run went on elsewhere.
    Newer,
    /// From the file of another run. Says what tells.
    Other(String),
}

/// Where the work is, as a file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub stood: ClaimedStatus,
    /// Why the run failed or was cancelled.
    pub reason: String,
    /// The step that it says to be at.
    pub stated: Option<StepName>,
    /// The step that the run is at, where the file is to be believed.
    pub at: Option<StepName>,
    pub steps: BTreeMap<StepName, ClaimedProgress>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// What a run that is begun from it starts with.
    pub context: Map<String, Value>,
    /// Variables that it gives a value.
    pub vars: Map<String, Value>,
    /// `None` where it does not say.
    pub items: Option<Vec<Item>>,
    pub journal: Option<String>,
    /// The sets of parts that it says to be planned.
    pub parts: BTreeMap<String, Vec<PartSpec>>,
    /// What in it nobody can follow. A run may begin with it; no run that there is takes it in.
    pub doubt: Option<String>,
}

impl Reading {
    /// Returns what the file at `path` says as the engine takes it, and the context of a run that
    /// begins with it.
    pub fn claim(self, path: &str, text: &str) -> (FileClaim, Map<String, Value>) {
        let claim = FileClaim {
            path: path.into(),
            sha256: Digest::of(text.as_bytes()),
            text: text.into(),
            stood: self.stood,
            reason: self.reason,
            steps: self.steps,
            stated: self.stated,
            at: self.at,
            current: None,
            is_work_done: false,
            vars: self.vars,
            parts: self.parts,
            items: self.items,
            journal: self.journal,
            started_at: self.started_at,
            updated_at: self.updated_at,
        };
        (claim, self.context)
    }
}
