//! `state.json` of a workspace: the document that people, agents and the tools of the dialect read.
//!
//! This is its only reader and its only writer: no clock, no file and no runtime. It is written by
//! hand too. A field that is missing or null is read as empty, one of another type makes the document
//! unreadable, and what nobody here knows is kept behind the fields. What follows from other fields
//! (`status`, `phases`) is worked out again whenever a document is read.

mod claim;
mod fields;
mod get;
mod glance;
mod of;
mod phases;
mod resume;
mod tasks;
mod vars;

use engine::Timestamp;

pub use of::SET;
pub use tasks::{REVIEWS, Task, WORK};

use crate::kit::{
    json::{Json, Object},
    moment,
};

/// The version of the document that is written.
const VERSION: u64 = 2;
/// The phase of a pipeline that is not begun.
pub const SETUP: &str = "setup";
/// The phase of a pipeline that is over.
pub const COMPLETED: &str = "completed";
/// The phase in which the client opens a pull request.
pub const PR_CREATION: &str = "pr-creation";

/// The phases that are steps of the workflow, in their order.
pub const PHASES: [&str; 16] = [
    "phase-1",
    "phase-2",
    "phase-3",
    "phase-3b",
    "checkpoint-a",
    "phase-4",
    "phase-4b",
    "checkpoint-b",
    "phase-5",
    "phase-6",
    "phase-7",
    "final-verification",
    "pr-creation",
    "final-summary",
    "post-to-source",
    "final-commit",
];

/// How the current phase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
    AwaitingHuman,
    Abandoned,
}

/// The state of one pipeline, whole and in its order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateFile {
    pub object: Object,
}

impl Status {
    const ALL: [Self; 6] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::AwaitingHuman,
        Self::Abandoned,
    ];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::AwaitingHuman => "awaiting_human",
            Self::Abandoned => "abandoned",
        }
    }

    /// Returns all words, for people.
    pub fn listed() -> String {
        Self::ALL.map(Self::word).join(", ")
    }

    /// Returns what a word means.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

impl StateFile {
    /// Reads a document; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let Self { object } = Self::parse(text)?;
        let mut document = Self { object: fields::complete(object)? };
        document.derive();
        Ok(document)
    }

    /// Writes it with two spaces of indentation, and no line break at the end.
    pub fn write(&self) -> String {
        Json::Object(self.object.clone()).render()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        let Json::Object(object) = json else { return Err("it is not an object".to_owned()) };
        Ok(Self { object })
    }

    /// Returns the phase that the pipeline is at.
    pub fn phase(&self) -> &str {
        self.text("currentPhase")
    }

    /// Returns how that phase stands. A word that nobody knows is as good as none.
    pub fn status(&self) -> Status {
        Status::find(self.text("currentPhaseStatus")).unwrap_or(Status::Pending)
    }

    /// Returns the word for it.
    pub fn status_word(&self) -> &'static str {
        self.status().word()
    }

    /// Returns a field that is a text; an empty one where it is not there.
    pub fn text(&self, key: &str) -> &str {
        self.object.get(key).and_then(Json::as_text).unwrap_or_default()
    }

    /// Returns whether a field is true.
    pub fn is(&self, key: &str) -> bool {
        self.object.get(key) == Some(&Json::Bool(true))
    }

    /// Returns the texts of a list.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        self.list(key).iter().filter_map(Json::as_text)
    }

    /// Returns the entries of a list.
    pub fn list(&self, key: &str) -> &[Json] {
        self.object.get(key).and_then(Json::as_list).unwrap_or_default()
    }

    /// Returns a field inside another.
    pub fn inside(&self, outer: &str, key: &str) -> Option<&Json> {
        self.object.get(outer)?.as_object()?.get(key)
    }

    /// Returns when it was last changed, if that can be read.
    pub fn updated_at(&self) -> Option<Timestamp> {
        self.moment("timestamps", "lastUpdated")
    }

    /// Returns it as it is to be in another workspace; the error says what makes no sense in it.
    pub fn moved_to(mut self, workspace: &str) -> Result<Self, String> {
        self.claim()?;
        self.set("workspace", workspace);
        Ok(self)
    }

    /// Returns a moment, if it can be read.
    pub fn moment(&self, outer: &str, key: &str) -> Option<Timestamp> {
        moment(self.inside(outer, key)?.as_text()?)
    }

    /// Returns whether a phase is done.
    pub fn is_completed(&self, phase: &str) -> bool {
        self.texts("completedPhases").any(|it| it == phase)
    }

    /// Sets a field. Its place among the others is its own.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.object.set(key, value);
    }

    /// Sets a field inside another.
    pub fn set_inside(&mut self, outer: &str, key: &str, value: impl Into<Json>) {
        self.object.entry(outer).make_object().set(key, value);
    }

    /// Takes a field out.
    pub fn remove(&mut self, key: &str) {
        self.object.remove(key);
    }

    /// Brings the document into its form after it was changed.
    pub fn settle(&mut self) {
        let object = std::mem::take(&mut self.object);
        // What is set here has the type that it is to have.
        self.object = fields::complete(object).unwrap_or_default();
        self.derive();
    }
}

#[cfg(test)]
mod tests;
