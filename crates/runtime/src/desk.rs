//! Promised files as the runtime sees them: who writes them from a log, and where they lie.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use definition::StepName;
use engine::{Recorded, Stage, Stood, Timestamp};
use serde_json::{Map, Value};

use crate::Looking;

/// Writes a file from the log of each run of a workflow, and reads what others wrote into it.
///
/// It belongs to a dialect, and is there in every process whatever that process serves: an answer
/// from a browser changes the file too.
pub trait Projection: Send + Sync {
    /// Returns the workflow whose runs have such a file.
    fn workflow(&self) -> &str;

    /// Returns the folder that the files are in, seen from the root of a run.
    fn folder(&self) -> &str;

    /// Returns where in the folder the file of the run with this key is.
    fn path(&self, key: &str) -> Option<String>;

    /// Returns the key of the run whose file this is; `None` where it is none.
    fn key(&self, path: &str) -> Option<String>;

    /// Returns whether the run with this key goes on when its file was taken away, which is then
    /// written again. Else the run is over with it.
    fn outlives_file(&self, key: &str) -> bool;

    /// Returns the file of a run of which nothing is known yet.
    fn blank(&self) -> Box<dyn Sheet>;

    /// Reads a file that others wrote.
    fn read(&self, text: &str) -> Result<Reading, String>;

    /// Returns where in the folder a text is kept that has to make room.
    fn aside(&self, key: &str, text: &str) -> String;
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

    /// Waits until nobody else, in this process or another, holds the file.
    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held>;

    /// Returns the files right in `place` (a folder) whose names are wanted.
    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>>;
}
