//! The record of a session, as its file says it: a fold of the run's events.
//!
//! It is read from a file as well, also from one that another program wrote: what is missing is
//! empty, and what is unknown is kept.

use std::collections::BTreeMap;

use definition::{Digest, Step, Workflow};
use engine::{Entry, Event, Recorded, RunStarted, StepCompleted, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::{self, Status};

/// The version of the record that this release writes.
const VERSION: u64 = 1;

/// The words for how far an item is.
const PENDING: &str = "pending";
const COMPLETED: &str = "completed";

/// A session as its file says it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) version: u64,
    /// Grows with everything that happens.
    pub(super) revision: u64,
    pub(super) session_id: String,
    pub(super) client_id: String,
    pub(super) created_at: String,
    pub(super) workflow_name: String,
    pub(super) workflow_file: Option<String>,
    pub(super) session_filename: Option<String>,
    pub(super) last_updated: String,
    pub(super) current_node: String,
    pub(super) status: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) execution_context: Map<String, Value>,
    #[serde(deserialize_with = "lenient")]
    pub(super) inputs: Map<String, Value>,
    #[serde(deserialize_with = "lenient")]
    pub(super) node_outputs: BTreeMap<String, Outputs>,
    pub(super) current_item: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) items: Vec<Item>,
    #[serde(deserialize_with = "lenient")]
    pub(super) log: Vec<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) archive_log: Vec<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) node_history: Vec<String>,
    /// The YAML that the session goes by, whatever the file of its workflow says by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) definition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) definition_sha256: Option<String>,
    /// The other files that it is made of, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "lenient")]
    pub(super) definition_files: BTreeMap<String, String>,
    /// What other programs wrote besides.
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

/// Something to be done beside the nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub(super) id: u64,
    pub(super) description: String,
    /// `pending` or `completed`.
    pub(super) status: String,
}

/// What was said of the work on a node: once, or on each visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Outputs {
    Visits(Vec<Output>),
    Once(Output),
}

/// What was said of the work on a node when it was left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Output {
    pub(super) goal_achieved: bool,
    pub(super) completion_timestamp: String,
    pub(super) node_name: String,
    /// The evidence for each criterion; `null` where none was given.
    #[serde(deserialize_with = "lenient")]
    pub(super) completed_criteria: Map<String, Value>,
    /// Evidence for what is not a criterion of the node.
    #[serde(skip_serializing_if = "Map::is_empty", deserialize_with = "lenient")]
    pub(super) extra_evidence: Map<String, Value>,
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

/// Reads what has the wrong type as nothing: a file is never lost for one odd field.
fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Item {
    /// Whether it was done.
    pub(super) fn is_done(&self) -> bool {
        self.status == COMPLETED
    }
}

impl Outputs {
    /// Returns what was said on each visit, oldest first.
    pub(super) fn visits(&self) -> &[Output] {
        match self {
            Self::Visits(all) => all,
            Self::Once(only) => std::slice::from_ref(only),
        }
    }

    fn add(self, output: Output) -> Self {
        match self {
            Self::Visits(mut all) => {
                all.push(output);
                Self::Visits(all)
            }
            Self::Once(first) => Self::Visits(vec![first, output]),
        }
    }
}

impl Record {
    /// Returns the record of a session of which nothing has happened yet.
    pub(super) fn new(workflow: &Workflow) -> Self {
        let definition = words::definition_of(workflow);
        Self {
            version: VERSION,
            workflow_name: workflow.name.to_string(),
            definition_sha256: definition.as_deref().map(digest),
            definition,
            definition_files: words::parts_of(workflow),
            ..Self::default()
        }
    }

    /// Reads a record.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let record: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if VERSION < record.version {
            let given = record.version;
            return Err(format!("it is of version {given}, and this release reads {VERSION}"));
        }
        if record.session_id.is_empty() || record.current_node.is_empty() {
            return Err("it has no `session_id` or no `current_node`".to_owned());
        }
        Ok(record)
    }

    /// Returns the record as its file says it.
    pub(super) fn render(&self) -> String {
        let why = "a record has only text keys and numbers that JSON has";
        let mut text = serde_json::to_string_pretty(self).expect(why);
        text.push('\n');
        text
    }

    /// Takes the next event in. Returns whether that changed anything.
    pub(super) fn apply(&mut self, workflow: &Workflow, recorded: &Recorded) -> bool {
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
            Event::ContextChanged { set, removed } => self.change_context(set, removed),
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
        self.change_context(&started.context, &[]);
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

    fn change_context(&mut self, set: &Map<String, Value>, removed: &[String]) {
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

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().to_owned()
}

/// Returns what was said of the work on a node. Nothing is made up: what was not given is `null`.
fn output(
    step: Option<&Step>,
    node: &str,
    given: Option<&Map<String, Value>>,
    at: Timestamp,
) -> Output {
    let criteria = || step.into_iter().flat_map(|it| &it.criteria);
    let find = |key: &str| given.and_then(|it| it.get(key)).cloned().unwrap_or_default();
    let completed: Map<String, Value> =
        criteria().map(|it| (it.key.clone(), find(&it.key))).collect();
    let is_extra = |key: &String| !completed.contains_key(key);
    let extra = given.into_iter().flatten().filter(|(key, _)| is_extra(key));
    let extra_evidence = extra.map(|(key, value)| (key.clone(), value.clone())).collect();
    Output {
        goal_achieved: completed.values().all(|it| !it.is_null()),
        completion_timestamp: words::moment(at),
        node_name: node.to_owned(),
        completed_criteria: completed,
        extra_evidence,
        more: Map::new(),
    }
}
