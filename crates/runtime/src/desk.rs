//! Promised files as the runtime sees them: who writes them from a log, and where they lie.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use definition::{StepName, Workflow};
use engine::{Item, Recorded, Stage, Stood, Timestamp};
use serde_json::{Map, Value};

use crate::Looking;

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

    /// Returns the folder that the files are in, seen from the root of a run.
    fn folder(&self) -> &str;

    /// Returns where in the folder the file of the run with this key is.
    fn path(&self, key: &str) -> Option<String>;

    /// Returns the key of the run whose file this is; `None` where it is none.
    fn key(&self, path: &str) -> Option<String>;

    /// Returns whether the run with this key goes on when its file was taken away, which is then
    /// written again. Else the run is over with it.
    fn outlives_file(&self, key: &str) -> bool;

    /// Returns the file of a run of this workflow of which nothing is known yet.
    fn blank(&self, workflow: &Arc<Workflow>) -> Box<dyn Sheet>;

    /// Reads a file that others wrote.
    fn read(&self, text: &str) -> Result<Reading, String>;

    /// Returns where in the folder a text is kept that has to make room.
    fn aside(&self, key: &str, text: &str) -> String;

    /// Returns which other file an event has written or changed, if any.
    fn errand(&self, _recorded: &Recorded) -> Option<Goal> {
        None
    }

    /// Returns what the other file is to say after an event, given what it says now. It may be
    /// asked again after a crash, and must then find that all is done.
    fn run_errand(&self, _recorded: &Recorded, _text: Option<&str>) -> Errand {
        Errand::default()
    }
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
pub struct Errand {
    /// What it is to say. `None`: it stays as it is.
    pub text: Option<String>,
    /// For the caller to know.
    pub notice: Option<String>,
}

/// One run's file in the making.
pub trait Sheet: Send + Sync {
    /// Takes the next event of the log in.
    fn apply(&mut self, recorded: &Recorded);

    /// Returns what the file is to say.
    fn text(&self) -> String;

    /// Returns whether a text is of the same run, however it was changed.
    fn is_own(&self, text: &str) -> bool;

    /// Returns whether a text was changed from what the file says, and not from what it said
    /// before.
    fn is_current(&self, text: &str) -> bool;

    /// Returns whether a beginning of what the file says is what a crash left of it, and not what
    /// someone who cut its end meant.
    fn is_torn(&self, _beginning: &[u8]) -> bool {
        true
    }

    /// Returns how far a text is from what the file says. `None`: only [`Self::is_current`] counts.
    fn distance(&self, _text: &str) -> Option<usize> {
        None
    }

    /// Returns whether a text was made from what the file says now, going by what is in it.
    fn is_seen(&self, _text: &str) -> bool {
        true
    }

    /// Returns whether a text may have been made from `base`, which the file said before, and not
    /// from what it says now.
    fn is_base(&self, _base: &str, _text: &str) -> bool {
        true
    }

    /// Returns what the file is to say once an edit is taken in that was made from `base`, which it
    /// said before. `None` where the edit and what happened since cannot be joined.
    fn rebase(&self, _base: &str, _text: &str) -> Option<String> {
        None
    }

    /// Returns other texts that are written with the file and never read: paths in the folder, and
    /// what to write there.
    fn beside(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Where the work is, as a file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub stood: Stood,
    /// Why the run failed or was cancelled.
    pub reason: String,
    /// The step that it says to be at.
    pub stated: Option<StepName>,
    pub steps: BTreeMap<StepName, Stage>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// What a run that is begun from it starts with.
    pub context: Map<String, Value>,
    /// Variables that it gives a value.
    pub vars: Map<String, Value>,
    /// `None` where it does not say.
    pub items: Option<Vec<Item>>,
    pub journal: Option<String>,
}

/// What a file is told by without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    pub size: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
}

/// A file: a folder that may not be left, and a path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The root of the run. It is never made.
    pub root: String,
    /// Made when a file is written.
    pub folder: String,
    pub path: String,
}

/// What keeps others from writing a file, until it is dropped.
pub type Held = Box<dyn Any + Send + Sync>;

/// Which names are meant.
pub type Wanted = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What was done to a file, or why it could not be.
pub type Handled<'a, T> = Looking<'a, Result<T, String>>;

/// The hands on promised files.
pub trait Desk: Send + Sync {
    /// Returns whether a folder is there.
    fn has_folder<'a>(&'a self, folder: &'a str) -> Looking<'a, bool>;

    /// Looks at a file from outside; `None` where there is none.
    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>>;

    /// Reads a file; `None` where there is none.
    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>>;

    /// Replaces a file as a whole. Whoever reads it meanwhile sees the old text or the new one.
    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// Gives a file another name in its folder. Nothing happens where there is none.
    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()>;

    /// Removes a file. Nothing happens where there is none.
    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()>;

    /// Replaces a file that cannot be written again from a log, and returns once it is on disk.
    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// Waits until nobody else, in this process or another, holds the file.
    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held>;

    /// Returns the files right in `place` (a folder) whose names are wanted.
    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>>;
}
