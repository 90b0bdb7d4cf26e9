//! Promised files as the runtime sees them: who writes them from a log, and where they lie.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use definition::{PartSpec, StepName, Workflow};
use engine::{ClaimedProgress, ClaimedStatus, Item, Recorded, RunId, RunState, Timestamp};
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
    fn render(&self, _workflow: &Workflow, _state: &RunState) -> String {
        String::new()
    }

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

    /// Returns the file of a run of this workflow, to be written event by event. `None`: it is
    /// rendered from the state.
    fn blank(&self, _workflow: &Arc<Workflow>) -> Option<Box<dyn FileText>> {
        None
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

    /// Returns who words what others are told of a run of this workflow.
    fn formatter(&self, _workflow: &Arc<Workflow>, _run: RunId) -> Option<Box<dyn LineFormatter>> {
        None
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

/// Words what others are told of one run.
pub trait LineFormatter: Send + Sync {
    /// Takes the events of the next change in, and returns the lines about them.
    fn tell(&mut self, events: &[Recorded]) -> Vec<String>;
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

/// One run's file that is written event by event, for dialects that do not render it from the state.
pub trait FileText: Send + Sync {
    /// Takes the next event of the log in.
    fn apply(&mut self, recorded: &Recorded);

    /// Returns what the file is to say.
    fn text(&self) -> String;

    /// Returns what a text was made from, going by the marks that the file itself carries.
    fn basis(&self, text: &str) -> Basis;

    /// Returns what a text must say to count as made from what the file says now, in words for the
    /// person who writes it. `None`: there is no such mark.
    fn stamp(&self) -> Option<String> {
        None
    }
}

/// What a text of a file was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// From what the file says now.
    Current,
    /// From what it said before. Says what tells.
    Older(String),
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

/// What a file is told by without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    pub size: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
}

/// A folder in a folder, and what tells whether anything in it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subfolder {
    pub name: String,
    /// The file that was asked for; `None` where there is none.
    pub stat: Option<Stat>,
    /// Another number after anything in the folder changed. 0: that is not known.
    pub touched: u64,
}

/// The list of what linters pass over, in the folder that the folder of the specs is in.
pub const LINT_IGNORE: &str = ".markdownlintignore";
/// What the server writes to that file where there is none.
pub const LINT_IGNORE_TEXT: &str =
    "# What a pipeline writes is not the project's own Markdown.\n.specs/\n";

/// What a repository keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// The paths of the files, seen from the folder that was asked about.
    pub files: Vec<String>,
    /// The branches of remote repositories, without the name of the remote.
    pub branches: Vec<String>,
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
pub trait FileSystem: Send + Sync {
    /// Returns whether a folder is there.
    fn has_folder<'a>(&'a self, folder: &'a str) -> Looking<'a, bool>;

    /// Looks at a file from outside; `None` where there is none.
    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>>;

    /// Reads a file; `None` where there is none.
    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>>;

    /// Replaces a file as a whole. Anyone who reads it meanwhile sees the old text or the new one.
    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// The same for a file that only its owner may read and write, where that can be said.
    fn write_for_owner<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write(place, text)
    }

    /// Gives a file another name in its folder. Nothing happens where there is none.
    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()>;

    /// Removes a file. Nothing happens where there is none.
    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()>;

    /// Replaces a file that cannot be written again from a log, and returns once it is on disk.
    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// The same for a file that only its owner may read and write, where that can be said.
    fn write_privately<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write_durably(place, text)
    }

    /// Adds a line to the end of a file in one piece, no matter who else does so. Before the file becomes
    /// larger than `bytes_max` it is put aside, with `.1` after its name, for an empty one.
    fn append<'a>(&'a self, _place: &'a Place, _line: String, _bytes_max: u64) -> Handled<'a, ()> {
        Box::pin(std::future::ready(Err("nothing can be added to files here".to_owned())))
    }

    /// Waits until nobody else, in this process or another, holds the file.
    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held>;

    /// Returns the files right in `place` (a folder) whose names are wanted.
    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>>;

    /// Returns the folders right in `place` (a folder) in order, without hidden ones and links,
    /// each with how its file `file` looks from outside. Where it is known that nothing changed the
    /// very same list is returned again.
    fn inner<'a>(&'a self, _place: &'a Place, _file: &'a str) -> Handled<'a, Arc<[Subfolder]>> {
        Box::pin(std::future::ready(Ok(Arc::default())))
    }

    /// Returns the names right in `place` (a folder) in order, those of folders with `/` at the
    /// end; nothing where there is no such folder.
    fn names<'a>(&'a self, _place: &'a Place) -> Handled<'a, Vec<String>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Returns the wanted files of each of these folders of `place`, by name and in order.
    fn list_all<'a>(
        &'a self,
        _place: &'a Place,
        folders: Vec<String>,
        _wanted: Wanted,
    ) -> Handled<'a, Vec<Vec<String>>> {
        Box::pin(std::future::ready(Ok(vec![Vec::new(); folders.len()])))
    }

    /// Reads files of `place` (a folder); what cannot be read is `None`.
    fn read_all<'a>(
        &'a self,
        _place: &'a Place,
        paths: Vec<String>,
    ) -> Handled<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(std::future::ready(Ok(vec![None; paths.len()])))
    }

    /// Returns what the repository keeps that a folder is in; `None` where it is in none.
    fn kept<'a>(&'a self, _folder: &'a str) -> Looking<'a, Option<Kept>> {
        Box::pin(std::future::ready(None))
    }
}
