//! The record of a session as the state of its run has it.
//!
//! What someone wrote into the file is where it starts from, so what nobody knows is kept.

use definition::{Digest, Step, Workflow};
use engine::{Ending, Entry, History, Kind, Mark, RunState, Timestamp, Visited};
use serde_json::{Map, Value};

use super::{
    super::words::{self, Status},
    Item, Output, Outputs, Record, VERSION,
};
use crate::devworkflow::words::{COMPLETED, PENDING, is_pending};

/// Returns what the file of a session says. What someone wrote stays as it was written until
/// something happens.
pub(in super::super) fn render(workflow: &Workflow, state: &RunState) -> String {
    match &state.history.placed {
        Some(placed) if count(&state.history) == 0 => placed.text.clone(),
        Some(_) | None => Record::of(workflow, state).text(),
    }
}

/// Whether an event makes another revision of the record.
fn counts(kind: Kind) -> bool {
    match kind.event {
        "RunStarted" | "RunCompleted" | "RunFailed" | "RunCancelled" | "RunReopened" => true,
        "StepEntered" | "StepCompleted" | "VarsChanged" | "ContextChanged" => true,
        "ItemAdded" | "ItemClosed" | "JournalRotated" => true,
        "EntryRecorded" => kind.of == "note",
        _ => false,
    }
}

/// Returns how many such events happened before the file was last taken in.
fn count_before(history: &History) -> u64 {
    history.placed.as_ref().map_or(0, |it| it.counts.sum(counts))
}

/// Returns how many happened since.
fn count(history: &History) -> u64 {
    history.counts.sum(counts).saturating_sub(count_before(history))
}

impl Record {
    /// Returns the record of a session.
    pub(in super::super) fn of(workflow: &Workflow, state: &RunState) -> Self {
        let history = &state.history;
        let placed = history.placed.as_ref().and_then(|it| Self::parse(&it.text).ok());
        let (seq, is_placed) = (history.placed_by(), placed.is_some());
        let mut record = placed.unwrap_or_else(|| Self::begun(state));
        record.set_own(workflow, state);
        record.revision = record.revision.max(count_before(history)) + count(history);
        if let Some(last) = history.counts.newest(counts).filter(|it| seq < it.seq) {
            record.last_updated = words::moment(last.at);
        }
        record.set_status(state, seq);
        record.add_visits(workflow, state, seq);
        if is_placed {
            record.change_context(state, seq);
        } else {
            record.set_context(state, state.context.keys());
        }
        record.set_items(state);
        record.add_log(state, seq);
        record
    }

    /// Returns the record of a session that no file was taken in of.
    fn begun(state: &RunState) -> Self {
        let Some(origin) = &state.origin else { return Self::default() };
        let text = |key: &str| origin.context.get(key).and_then(Value::as_str);
        let status = origin.vars.get(words::STATUS).and_then(Value::as_str);
        Self {
            client_id: text(words::CLIENT).unwrap_or(words::DEFAULT_CLIENT).to_owned(),
            created_at: words::moment(state.started_at),
            workflow_file: text(words::WORKFLOW_FILE).map(ToOwned::to_owned),
            current_item: text(words::TASK).map(ToOwned::to_owned),
            status: status.unwrap_or(Status::Ready.word()).to_owned(),
            ..Self::default()
        }
    }

    /// Sets what the log knows better than any file.
    fn set_own(&mut self, workflow: &Workflow, state: &RunState) {
        let key = state.key().unwrap_or_default();
        self.version = VERSION;
        self.session_id = words::session_of(key).to_owned();
        self.session_filename = (!key.is_empty()).then(|| format!("{key}.json"));
        self.workflow_name = workflow.name.to_string();
        self.definition = words::definition_of(workflow);
        let digest = |it: &String| Digest::of(it.as_bytes()).as_str().to_owned();
        self.definition_sha256 = self.definition.as_ref().map(digest);
        self.definition_files = words::parts_of(workflow);
    }

    /// Says how the session stands: what was said last, or how it ended or went on after that.
    fn set_status(&mut self, state: &RunState, seq: u64) {
        let history = &state.history;
        let said = history.vars.get(words::STATUS).copied();
        let ended = history.ends.last().map(|it| (it.mark, ending(&it.how)));
        let reopened = history.reopenings.last().map(|it| (it.mark, Status::Running));
        let word = |(mark, status): (Mark, Status)| (mark, status.word());
        let said = said.zip(state.vars.get(words::STATUS).and_then(Value::as_str));
        let all = [said, ended.map(word), reopened.map(word)].into_iter().flatten();
        if let Some((_, status)) = all.filter(|it| seq < it.0.seq).max() {
            status.clone_into(&mut self.status);
        }
    }

    /// Adds where the session went, and what was said of the work there.
    fn add_visits(&mut self, workflow: &Workflow, state: &RunState, seq: u64) {
        for visit in state.history.visits.iter().filter(|it| seq < it.mark.seq) {
            let node = visit.step.to_string();
            if visit.what == Visited::Entered {
                let left = std::mem::replace(&mut self.current_node, node);
                self.node_history.extend(Some(left).filter(|it| !it.is_empty()));
            } else if let Visited::Completed(details) = &visit.what {
                let given = details.get("evidence").and_then(Value::as_object);
                let step = workflow.find_step(&visit.step);
                let output = output(step, &node, given, visit.mark.at);
                let outputs = match self.node_outputs.remove(&node) {
                    Some(before) => before.add(output),
                    None => Outputs::Once(output),
                };
                self.node_outputs.insert(node, outputs);
            }
        }
    }

    /// Takes over what was changed of the context since the file was taken in.
    fn change_context(&mut self, state: &RunState, seq: u64) {
        for touched in state.history.context.iter().filter(|it| seq < it.mark.seq) {
            let set = touched.keys.iter().map(|(key, _)| key);
            self.set_context(state, set.chain(&touched.removed));
        }
    }

    /// Has these keys of the context be as they are in the state.
    fn set_context<'a>(&mut self, state: &RunState, keys: impl Iterator<Item = &'a String>) {
        for key in keys {
            match (key.as_str(), state.context.get(key)) {
                (words::INPUTS, Some(Value::Object(inputs))) => self.inputs.clone_from(inputs),
                (words::TASK | words::CLIENT | words::WORKFLOW_FILE | words::INPUTS, _) => {}
                (_, Some(value)) => {
                    self.execution_context.insert(key.clone(), value.clone());
                }
                (_, None) => {
                    self.execution_context.remove(key);
                }
            }
        }
    }

    /// A word that someone wrote stays while it says what is so.
    fn set_items(&mut self, state: &RunState) {
        let word = |is_done: bool| if is_done { COMPLETED } else { PENDING }.to_owned();
        for (own, item) in self.items.iter_mut().zip(state.items.iter()) {
            if item.is_done && is_pending(&own.status) {
                own.status = word(true);
            }
        }
        let added = state.items.iter().skip(self.items.len()).map(|it| Item {
            id: it.id,
            description: it.text.clone(),
            status: word(it.is_done),
        });
        self.items.extend(added.collect::<Vec<_>>());
    }

    /// Adds what was noted, and what the archive got.
    fn add_log(&mut self, state: &RunState, seq: u64) {
        let archived = state.history.archived.iter().filter(|it| seq < it.mark.seq);
        let mut from = seq;
        for archived in archived {
            self.log.clear();
            self.archive_log.push(archived.text.clone());
            from = archived.mark.seq;
        }
        for noted in state.entries.iter().filter(|it| from < it.seq) {
            if let Entry::Note { text, .. } = &noted.entry {
                self.log.push(format!("[{}] {text}", words::moment(noted.at)));
            }
        }
    }
}

fn ending(how: &Ending) -> Status {
    match how {
        Ending::Completed { .. } => Status::Completed,
        Ending::Failed { .. } => Status::Failed,
        Ending::Cancelled { .. } => Status::Cancelled,
    }
}

/// Returns what was said of the work on a node. Nothing is made up: what was not given is `null`.
pub(super) fn output(
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
