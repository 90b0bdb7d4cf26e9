//! The files of sessions: where they are, what they say of a run, and how they are read.

mod reading;

use std::cmp::Ordering;

use definition::Workflow;
use engine::{Basis, Layout, Projection, Reading, RunId, RunState, Timestamp};

use super::{
    record::{self, Record},
    view::{self, Extent, Session, Stage},
    words::{self, Status},
};
use crate::devworkflow::options::{Options, SessionFormat, Sessions};

pub use reading::{SessionFile, read_session};

/// The folder of the sessions in the toolset's own.
const SESSIONS: &str = "sessions";
const ENDING: &str = ".json";

/// The session files of a project.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    layout: Layout,
    format: SessionFormat,
    is_archived: bool,
}

impl SessionFiles {
    /// Returns the session files as the options have them.
    pub fn new(options: &Options) -> Self {
        let folder = options.directory.trim_end_matches('/').to_owned();
        let layout = Layout { folder, ..Layout::default() };
        let Sessions { format, archiving: is_archived, .. } = options.sessions;
        Self { layout, format, is_archived }
    }

    /// Returns the folder of the sessions, seen from the project's root.
    pub fn sessions(&self) -> String {
        format!("{}/{SESSIONS}", self.layout.folder)
    }

    /// Returns the key of the run whose file has this name. A file that was put away has none.
    pub fn key_of(name: &str) -> Option<String> {
        let stem = name.strip_suffix(ENDING)?;
        (is_stem(stem) && !words::is_archived(stem)).then(|| stem.to_owned())
    }

    /// Returns the session whose file has this name, or had it before it was put away.
    pub fn run_of(name: &str) -> Option<RunId> {
        RunId::parse(words::session_of(name))
    }

    /// Returns where the file of a session that is put away belongs in the toolset's own folder,
    /// without its ending. `None`: it is removed.
    pub fn archived(&self, state: &RunState) -> Option<String> {
        let status = words::ended(&state.standing).unwrap_or(Status::Cancelled);
        // It is the time at which the key was given up, whenever the file gets its name.
        let name =
            words::archived(state.key().unwrap_or_default(), status.word(), state.updated_at);
        self.is_archived.then(|| placed(&name))
    }

    /// Returns how people name a file in the toolset's own folder.
    pub fn shown(&self, archived: &str) -> String {
        format!("{}/{archived}{ENDING}", self.layout.folder)
    }

    /// Returns when a session was last changed, as its file says.
    pub fn changed_at(workflow: &Workflow, state: &RunState) -> Timestamp {
        let said = crate::kit::moment(&Record::of(workflow, state).last_updated);
        said.unwrap_or(state.updated_at)
    }
}

/// Returns where a name is in the toolset's own folder.
fn placed(name: &str) -> String {
    format!("{SESSIONS}/{name}")
}

impl Projection for SessionFiles {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn path(&self, key: &str) -> Option<String> {
        is_stem(key).then(|| placed(&format!("{key}{ENDING}")))
    }

    fn key(&self, path: &str) -> Option<String> {
        Self::key_of(path.strip_prefix(SESSIONS)?.strip_prefix('/')?)
    }

    fn render(&self, workflow: &Workflow, state: &RunState) -> String {
        record::render(workflow, state)
    }

    fn basis(&self, workflow: &Workflow, own: &str, text: &str) -> Basis {
        let (Ok(record), Ok(own)) = (Record::parse(text), Record::parse(own)) else {
            return Basis::Other("it is not a session's file".to_owned());
        };
        if record.session_id != own.session_id {
            let said = words::cut(&record.session_id, 60);
            return Basis::Other(format!("it is of another session: its `session_id` is {said}"));
        }
        // Nobody can be at a node that there is not.
        if view::find_node(workflow, &record.current_node).is_none() {
            let said = words::cut(&record.current_node, 60);
            return Basis::Other(format!("its `current_node` is {said}, which the workflow lacks"));
        }
        let (said, own) = (record.revision, own.revision);
        match said.cmp(&own) {
            Ordering::Equal => Basis::Current,
            Ordering::Greater => Basis::Newer,
            Ordering::Less => {
                Basis::Older(format!("its `revision` is {said}, and the session's is {own}"))
            }
        }
    }

    fn beside(&self, workflow: &Workflow, state: &RunState) -> Vec<(String, String)> {
        let Some(key) = state.key().filter(|_| self.format == SessionFormat::Markdown) else {
            return Vec::new();
        };
        let text = markdown(workflow, &Record::of(workflow, state));
        vec![(placed(&format!("{key}.md")), text)]
    }

    fn read(&self, text: &str) -> Result<Reading, String> {
        Record::parse(text).map(|record| reading::of(&record))
    }

    fn aside(&self, key: &str, _text: &str) -> String {
        format!("backups/{key}{ENDING}")
    }
}

/// Whether a name is that of a session's file, without its ending: it becomes a part of a path.
fn is_stem(stem: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    words::session_of(stem) != stem && stem.bytes().all(is_plain)
}

/// Returns what is written for people of a session.
fn markdown(workflow: &Workflow, record: &Record) -> String {
    let is_over = Status::parse(&record.status).is_some_and(Status::is_final);
    let session = Session {
        workflow,
        record,
        stage: if is_over { Stage::Over } else { Stage::Open },
        needs_approval: false,
        personal: None,
        sent_back: None,
    };
    view::state(session, Extent::Whole) + "\n"
}
