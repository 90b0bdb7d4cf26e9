//! The file of a session as release 0.1 wrote it: event by event.

use std::sync::Arc;

use definition::{Digest, Workflow};
use engine::{Entry, Event, Recorded, RunStarted, StepCompleted, Timestamp};
use serde_json::{Map, Value};

use super::super::{
    super::words::{self, Status},
    Item, Outputs, Record, VERSION,
    project::output,
};

/// The words for how far an item is.
const PENDING: &str = "pending";
const COMPLETED: &str = "completed";

/// The file of one session.
#[derive(Clone)]
pub(super) struct Page {
    workflow: Arc<Workflow>,
    record: Record,
    /// What someone wrote, until the next event.
    written: Option<String>,
}

impl Page {
    pub(super) fn blank(workflow: &Arc<Workflow>) -> Self {
        let definition = words::definition_of(workflow);
        let digest = |it: &String| Digest::of(it.as_bytes()).as_str().to_owned();
        let record = Record {
            version: VERSION,
            workflow_name: workflow.name.to_string(),
            definition_sha256: definition.as_ref().map(digest),
            definition,
            definition_files: words::parts_of(workflow),
            ..Record::default()
        };
        Self { workflow: Arc::clone(workflow), record, written: None }
    }

    pub(super) fn apply(&mut self, recorded: &Recorded) {
        if !self.record.apply(&self.workflow, recorded) {
            return;
        }
        self.written = None;
        if let Event::RunPlaced(placement) = &recorded.event {
            self.written = Some(placement.text.clone());
        }
    }

    pub(super) fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.record.text())
    }
}

impl Record {
    /// Takes the next event in. Returns whether that changed anything.
    fn apply(&mut self, workflow: &Workflow, recorded: &Recorded) -> bool {
        if !self.write(workflow, recorded) {
            return false;
        }
        if matches!(recorded.event, Event::RunPlaced(_)) {
            // It says itself how often it was written, and when.
            return true;
        }
        self.revision += 1;
        self.last_updated = words::moment(recorded.at);
        true
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the file has a place for these only")]
    fn write(&mut self, workflow: &Workflow, recorded: &Recorded) -> bool {
        match &recorded.event {
            Event::RunStarted(started) => self.begin(started, recorded.at),
            Event::RunPlaced(placement) => return self.take(&placement.text),
            Event::StepEntered { step, .. } => self.enter(step.as_str()),
            Event::StepCompleted(completed) => self.complete(workflow, completed, recorded.at),
            Event::VarsChanged { set } => self.set_vars(set),
            Event::ContextChanged { set, removed } => self.fold_context(set, removed),
            Event::EntryRecorded { entry: Entry::Note { text, .. }, .. } => {
                self.log.push(format!("[{}] {text}", words::moment(recorded.at)));
            }
            Event::JournalRotated(rotated) => {
                self.log.clear();
                self.archive_log.push(rotated.archived.clone());
            }
            Event::ItemAdded { item } => self.items.push(Item {
                id: item.id,
                description: item.text.clone(),
                status: if item.is_done { COMPLETED } else { PENDING }.to_owned(),
            }),
            Event::ItemClosed { id } => {
                let closed = self.items.iter_mut().filter(|it| it.id == *id);
                closed.for_each(|it| COMPLETED.clone_into(&mut it.status));
            }
            Event::RunCompleted { .. } => self.end(Status::Completed),
            Event::RunFailed { .. } => self.end(Status::Failed),
            Event::RunCancelled { .. } => self.end(Status::Cancelled),
            Event::RunReopened { .. } => self.end(Status::Running),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, started: &RunStarted, at: Timestamp) {
        let text = |key: &str| started.context.get(key).and_then(Value::as_str);
        let key = started.key.as_deref().unwrap_or_default();
        self.session_id = words::session_of(key).to_owned();
        self.session_filename = (!key.is_empty()).then(|| format!("{key}.json"));
        self.client_id = text(words::CLIENT).unwrap_or(words::DEFAULT_CLIENT).to_owned();
        self.created_at = words::moment(at);
        self.workflow_file = text(words::WORKFLOW_FILE).map(ToOwned::to_owned);
        self.current_item = text(words::TASK).map(ToOwned::to_owned);
        self.end(Status::Ready);
        self.set_vars(&started.vars);
        self.fold_context(&started.context, &[]);
    }

    /// A file said where the session is, and what it says counts; but not what it leaves out of
    /// what the log knows better.
    fn take(&mut self, text: &str) -> bool {
        let Ok(read) = Self::parse(text) else { return false };
        let mut own = std::mem::take(self);
        *self = read;
        self.version = VERSION;
        self.session_id = own.session_id;
        self.session_filename = own.session_filename;
        self.workflow_name = own.workflow_name;
        self.definition = own.definition.take();
        self.definition_sha256 = own.definition_sha256.take();
        self.definition_files = std::mem::take(&mut own.definition_files);
        self.revision = self.revision.max(own.revision);
        true
    }

    fn enter(&mut self, node: &str) {
        if !self.current_node.is_empty() {
            self.node_history.push(std::mem::take(&mut self.current_node));
        }
        node.clone_into(&mut self.current_node);
    }

    fn complete(&mut self, workflow: &Workflow, completed: &StepCompleted, at: Timestamp) {
        let given = completed.report.details.get("evidence").and_then(Value::as_object);
        let step = workflow.find_step(&completed.step);
        let node = completed.step.to_string();
        let output = output(step, &node, given, at);
        let outputs = match self.node_outputs.remove(&node) {
            Some(before) => before.add(output),
            None => Outputs::Once(output),
        };
        self.node_outputs.insert(node, outputs);
    }

    fn set_vars(&mut self, set: &Map<String, Value>) {
        if let Some(status) = set.get(words::STATUS).and_then(Value::as_str) {
            status.clone_into(&mut self.status);
        }
    }

    fn fold_context(&mut self, set: &Map<String, Value>, removed: &[String]) {
        for (key, value) in set {
            match (key.as_str(), value) {
                (words::INPUTS, Value::Object(inputs)) => self.inputs.clone_from(inputs),
                (words::TASK | words::CLIENT | words::WORKFLOW_FILE | words::INPUTS, _) => {}
                _ => {
                    self.execution_context.insert(key.clone(), value.clone());
                }
            }
        }
        for key in removed {
            self.execution_context.remove(key);
        }
    }

    fn end(&mut self, status: Status) {
        status.word().clone_into(&mut self.status);
    }
}
