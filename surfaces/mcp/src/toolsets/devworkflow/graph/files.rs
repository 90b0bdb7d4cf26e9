//! The files of sessions: where they are, how the log is written into them, and how they are read.

mod reading;

use std::{cmp::Ordering, sync::Arc};

use definition::{Form, Workflow};
use engine::{Event, Recorded};
use runtime::{Basis, FileText, Projection, Reading};

use super::{
    record::Record,
    view::{self, Extent, Session},
    words::{self, Status},
};
use crate::toolsets::devworkflow::options::{Options, SessionFormat};

pub use reading::{SessionFile, read_session};

/// The folder of the sessions in the toolset's own.
const SESSIONS: &str = "sessions";
const ENDING: &str = ".json";

/// The session files of a project.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    directory: String,
    format: SessionFormat,
}

impl SessionFiles {
    /// Returns the session files as the options have them.
    pub fn new(options: &Options) -> Self {
        let directory = options.directory.trim_end_matches('/').to_owned();
        Self { directory, format: options.sessions.format }
    }

    /// Returns the folder of the sessions, seen from the project's root.
    pub(super) fn sessions(&self) -> String {
        format!("{}/{SESSIONS}", self.directory)
    }

    /// Returns the key of the run whose file has this name. A file that was put away has none.
    pub fn key_of(name: &str) -> Option<String> {
        let stem = name.strip_suffix(ENDING)?;
        (is_stem(stem) && !words::is_archived(stem)).then(|| stem.to_owned())
    }

    /// Returns where a name is in the toolset's own folder.
    pub(super) fn placed(name: &str) -> String {
        format!("{SESSIONS}/{name}")
    }
}

impl Projection for SessionFiles {
    /// Each file says itself which workflow it is of.
    fn workflow(&self) -> &str {
        ""
    }

    fn covers(&self, workflow: &Workflow) -> bool {
        workflow.form == Form::Graph
    }

    fn folder(&self) -> &str {
        &self.directory
    }

    fn path(&self, key: &str) -> Option<String> {
        is_stem(key).then(|| Self::placed(&format!("{key}{ENDING}")))
    }

    fn key(&self, path: &str) -> Option<String> {
        Self::key_of(path.strip_prefix(SESSIONS)?.strip_prefix('/')?)
    }

    /// The log is the truth: a file that was taken away is written again.
    fn outlives_file(&self, _key: &str) -> bool {
        true
    }

    fn blank(&self, workflow: &Arc<Workflow>) -> Option<Box<dyn FileText>> {
        let record = Record::new(workflow);
        let workflow = Arc::clone(workflow);
        Some(Box::new(Page { workflow, record, written: None, format: self.format }))
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

/// The file of one session in the making.
struct Page {
    workflow: Arc<Workflow>,
    record: Record,
    /// What someone wrote, until the next event: until then it stays as it was written.
    written: Option<String>,
    format: SessionFormat,
}

impl FileText for Page {
    fn apply(&mut self, recorded: &Recorded) {
        if !self.record.apply(&self.workflow, recorded) {
            return;
        }
        self.written = None;
        if let Event::RunPlaced(placement) = &recorded.event {
            self.written = Some(placement.text.clone());
        }
    }

    fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.record.render())
    }

    fn basis(&self, text: &str) -> Basis {
        let Ok(record) = Record::parse(text) else {
            return Basis::Other("it is not a session's file".to_owned());
        };
        if record.session_id != self.record.session_id {
            let said = words::cut(&record.session_id, 60);
            return Basis::Other(format!("it is of another session: its `session_id` is {said}"));
        }
        // Nobody can be at a node that there is not.
        if view::find_node(&self.workflow, &record.current_node).is_none() {
            let said = words::cut(&record.current_node, 60);
            return Basis::Other(format!("its `current_node` is {said}, which the workflow lacks"));
        }
        let (said, own) = (record.revision, self.record.revision);
        match said.cmp(&own) {
            Ordering::Equal => Basis::Current,
            Ordering::Greater => Basis::Newer,
            Ordering::Less => {
                Basis::Older(format!("its `revision` is {said}, and the session's is {own}"))
            }
        }
    }

    fn stamp(&self) -> Option<String> {
        Some(format!("`revision` to {}", self.record.revision))
    }

    fn beside(&self) -> Vec<(String, String)> {
        let Some(name) = self.record.session_filename.as_deref() else { return Vec::new() };
        match self.format {
            SessionFormat::Json => Vec::new(),
            SessionFormat::Markdown => {
                let stem = name.trim_end_matches(ENDING);
                vec![(SessionFiles::placed(&format!("{stem}.md")), self.markdown())]
            }
        }
    }
}

impl Page {
    fn markdown(&self) -> String {
        let is_over = Status::parse(&self.record.status).is_some_and(Status::is_final);
        let session = Session {
            workflow: &self.workflow,
            record: &self.record,
            is_done: false,
            is_live: !is_over,
            sent_back: None,
        };
        view::state(session, Extent::Whole) + "\n"
    }
}
