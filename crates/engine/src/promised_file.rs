//! A promised file: how a dialect renders it from a run, and what it reads in it.
//!
//! All of it is about texts. Where the files lie, and who opens them, the runtime knows.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use definition::{Digest, Form, PartSpec, StepName, Workflow};
use serde_json::{Map, Value};

use crate::{ClaimedProgress, ClaimedStatus, FileClaim, Item, Recorded, RunState, Timestamp};

/// Writes a file from the log of each run of a workflow, and reads what others wrote into it.
///
/// It belongs to a dialect, and every process has it whatever that process serves: an answer from a
/// browser changes the file too.
pub trait Projection: Send + Sync {
    /// Returns where the files are, and how they are kept.
    fn layout(&self) -> &Layout;

    /// Returns where in the folder the file of the run with this key is.
    fn path(&self, key: &str) -> Option<String>;

    /// Returns the key of the run whose file this is; `None` where it is not such a file.
    fn key(&self, path: &str) -> Option<String>;

    /// Returns the variables that a copy of a run has to itself, with this key in this folder.
    fn vars_of_copy(&self, _key: &str, _home: &str, _of: &RunState) -> Map<String, Value> {
        Map::new()
    }

    /// Returns what the file of a run says: a pure function of its state.
    fn render(&self, workflow: &Workflow, state: &RunState) -> String;

    /// Returns other texts that are written with the file and never read: paths in the folder, and
    /// what to write there.
    fn beside(&self, _workflow: &Workflow, _state: &RunState) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Reads a file that others wrote.
    fn read(&self, text: &str) -> Result<Reading, String>;

    /// Returns what a text was made from. `own` is what the file says now.
    fn basis(&self, _workflow: &Workflow, _own: &str, _text: &str) -> Basis {
        Basis::Current
    }

    /// Joins an edit with what happened since the text that it was made from, which is one of
    /// `before`, the texts that the file said before, newest last. `own` is what it says now.
    fn rebase(&self, _own: &str, _before: &[String], _text: &str) -> Rebased {
        Rebased::Current
    }

    /// Returns where in the folder a text is kept that has to make room.
    fn aside(&self, key: &str, text: &str) -> String;

    /// Returns which other file an event has written or changed, if any.
    fn side_file<'a>(&'a self, _recorded: &'a Recorded) -> Option<SideFile<'a>> {
        None
    }

    /// Returns the lines that [`Layout::event_log`] gets about a change.
    fn tell(&self, _workflow: &Workflow, _appended: &Appended<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl dyn Projection + '_ {
    /// Returns the workflow that a run is begun of where there is only the file.
    pub fn workflow(&self) -> &'static str {
        self.layout().workflow.unwrap_or_default()
    }

    /// Returns whether the runs of a workflow have such a file.
    pub fn covers(&self, workflow: &Workflow) -> bool {
        match self.layout().workflow {
            Some(name) => workflow.name.as_str() == name,
            None => workflow.form == Form::Graph,
        }
    }

    /// Returns the folder that the artifacts of the run with this key are in, seen from its root.
    /// `None`: the root itself.
    pub fn home(&self, key: &str) -> Option<String> {
        let path = self.path(key).filter(|_| self.layout().has_home)?;
        path.rsplit_once('/').map(|(folder, _)| String::from(folder))
    }

    /// Returns whether the run with this key goes on when its file was deleted.
    pub fn outlives_file(&self, key: &str) -> bool {
        let ends = self.layout().ends_in.zip(self.path(key));
        !ends.is_some_and(|(folder, path)| path.starts_with(folder))
    }
}

/// Where the files of a dialect are, and how they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The workflow whose runs have such files. `None`: every graph, and each file names its own.
    pub workflow: Option<&'static str>,
    /// The root of the runs that have such files here. `None`: the project's.
    pub root: Option<String>,
    /// The folder that the files are in, seen from the root of a run.
    pub folder: String,
    /// The folder in it whose runs end when their file is deleted. The file of any other run is
    /// written again.
    pub ends_in: Option<&'static str>,
    /// Whether the artifacts of a run are in the folder of its file, not in its root.
    pub has_home: bool,
    /// Whether only the owner of the files may read them.
    pub is_private: bool,
    pub edits: Edits,
    /// The file that gets a line about everything that happens to the runs.
    pub event_log: Option<EventLog>,
}

/// How the runtime treats an edit that was made from an earlier text of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edits {
    /// The text carries a mark that tells, and the edit is refused.
    #[default]
    Stamped,
    /// The edit is joined with what happened since. Callers read the file as people write it, and
    /// are told of edits.
    Joined,
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
pub struct SideFile<'a> {
    /// What is done there, by a name that never changes: how far it was done is kept by it.
    pub name: &'static str,
    /// Where in the folder it may be. The first that is there is meant; where none is, it is made
    /// at the first of them whose folder is there.
    pub paths: Vec<String>,
    /// Returns what the file is to say, given what it says now. It may be asked again after a
    /// crash, and must then find that all is done.
    pub change: SideFileChange<'a>,
}

/// Changes the text of a side file.
pub type SideFileChange<'a> = Box<dyn Fn(Option<&str>) -> SideFileWrite + Send + Sync + 'a>;

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
    /// From what it said before: [`Projection::rebase`] finds from what.
    Earlier,
    /// From what it said before. Says what tells.
    Older(String),
    /// From what it said at this time, if anything happened to the run then. Says what tells.
    At(Timestamp, String),
    /// From what it has not said yet: a copy of the run went on elsewhere.
    Newer,
    /// From the file of another run. Says what tells.
    Other(String),
}

/// What came of joining an edit with what happened since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    /// The edit was made from none of the earlier texts.
    Current,
    /// It is an earlier text, put back.
    Back,
    /// What the file is to say.
    Text(String),
    /// The edit and what happened since changed the same part.
    Conflict,
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
    /// What another text must say to count as made from this one, in words for the person who
    /// writes it.
    pub stamp: Option<String>,
    /// Whether it lacks what every such file has. It may then be what a crash left of one.
    pub is_cut: bool,
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
