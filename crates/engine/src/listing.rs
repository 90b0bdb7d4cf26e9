//! Lists of runs, of files and of workflows, and what is looked for in them.

use alloc::{
    borrow::ToOwned as _,
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Diagnostic, StepName, Workflow, WorkflowName, describe_context};
use serde_json::Value;

use crate::{ClaimedStatus, Refusal, RunId, Summary, Timestamp};

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    pub workflow: Option<String>,
    /// Any of `running`, `waiting`, `completed`, `failed`, `cancelled`. Empty: all.
    pub statuses: Vec<String>,
    pub key: Option<String>,
    /// Where the page before ended.
    pub after: Option<Cursor>,
    pub limit: u32,
}

/// Which of the runs with a key to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyFilter {
    pub workflow: String,
    pub statuses: Vec<String>,
    /// What follows the `@` of their keys; empty: they have none.
    pub scope: String,
    pub order: Order,
    pub offset: u32,
    pub limit: u32,
}

/// A place in a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub at: Timestamp,
    pub run: RunId,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    pub rows: Vec<Row>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

impl Cursor {
    /// Returns the cursor as text that means nothing to others.
    pub fn encode(self) -> String {
        format!("{:x}.{}", self.at.0, self.run.short())
    }

    /// Reads a cursor.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let invalid = || Refusal::ParameterInvalid {
            field: "cursor".to_owned(),
            problem: "it is not one that this server gave out".to_owned(),
        };
        let (at, run) = text.split_once('.').ok_or_else(invalid)?;
        let at = i64::from_str_radix(at, 16).map_err(|_| invalid())?;
        let run = RunId::parse(run).ok_or_else(invalid)?;
        Ok(Self { at: Timestamp(at), run })
    }
}

/// What a list is sorted by. Where two are equal, by key and then by run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The most recently changed first, and of those that changed at once, the newer run.
    #[default]
    Changed,
    /// The most recently started first.
    Started,
    Key,
    /// By the word for it.
    Status,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    pub rows: Vec<Row>,
    /// How many runs fit the filter on all pages; 0 if that was not asked.
    pub total: u64,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub project: String,
    pub run: RunId,
    pub length: u64,
    pub summary: Summary,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// How many of the newest events were not looked at, because they are not indexed yet.
    pub pending: u64,
}

impl Hits {
    /// Returns what a caller must know of a search that did not see everything.
    pub fn warning(&self) -> Option<String> {
        (0 < self.pending).then(|| {
            format!(
                "the newest {} events are not indexed yet and were not searched; search again later \
                 to have them looked at too",
                self.pending
            )
        })
    }
}

/// An event that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub run: RunId,
    pub seq: u64,
    pub kind: String,
    pub at: Timestamp,
    /// Some words around what was found, with `[` and `]` about it.
    pub snippet: String,
    /// Larger is better.
    pub score: f64,
}

/// A file that no run could be begun from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// As people name it.
    pub path: String,
    pub problem: String,
}

/// What a scan led to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// The files that runs were begun from, by their paths in the folder of all of them.
    pub begun: Vec<String>,
    /// Those of runs that were there already.
    pub known: Vec<String>,
    pub unreadable: Vec<Unreadable>,
    /// What those say that were only looked at.
    pub unseen: Vec<Unseen>,
    /// What was found and done on the way.
    pub notices: Vec<String>,
    /// Whether any run was begun or brought into step.
    pub has_changed: bool,
}

/// What a list says of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub name: WorkflowName,
    pub form: definition::Form,
    pub title: String,
    pub goal: String,
    /// The pattern of the key that a run must be given.
    pub key: Option<String>,
    /// The JSON Schema of the start context.
    pub params: Option<Value>,
    pub flows: Vec<String>,
    /// The variables that a run may be given, with their defaults.
    pub vars: BTreeMap<String, Value>,
    /// The names of the steps that are worked on, in their order, with their goals.
    pub steps: Vec<(String, String)>,
    /// The steps after which a person is asked.
    pub gates: Vec<String>,
    /// How long the instructions of all steps are together.
    pub instruction_bytes: usize,
}

impl Card {
    /// Returns the card of a workflow.
    pub fn of(workflow: &Workflow) -> Self {
        let step = |it: &definition::Step| (it.name.to_string(), it.goal.clone());
        let var = |(name, var): (&String, &definition::Var)| (name.clone(), var.default.clone());
        let asking = workflow.steps.iter().filter(|it| it.gate.is_some());
        Self {
            name: workflow.name.clone(),
            form: workflow.form,
            title: workflow.title.clone(),
            goal: workflow.goal.clone(),
            key: workflow.key.as_ref().map(|it| it.source().to_owned()),
            params: describe_context(workflow),
            flows: workflow.flows.keys().cloned().collect(),
            vars: workflow.vars.iter().map(var).collect(),
            steps: workflow.work_steps().map(step).collect(),
            gates: asking.map(|it| it.name.to_string()).collect(),
            instruction_bytes: workflow.steps.iter().map(|it| it.instructions.len()).sum(),
        }
    }

    /// Returns what people call it.
    pub fn title(&self) -> &str {
        if self.title.is_empty() { self.name.as_str() } else { &self.title }
    }

    /// Returns the first line of its goal.
    pub fn headline(&self) -> &str {
        self.goal.lines().next().unwrap_or_default()
    }
}

/// A workflow that can be started.
#[derive(Debug, Clone)]
pub struct Listed {
    pub workflow: Workflow,
    /// Where it is, in words for people.
    pub origin: String,
}

/// The largest text of a graph that is taken, in bytes.
pub const GRAPH_BYTES_MAX: usize = 256 * 1024;

/// The graphs in a folder of the project.
#[derive(Debug, Clone, Default)]
pub struct Graphs {
    /// With their files, by name.
    pub graphs: Vec<(String, Workflow)>,
    /// Files that cannot be used, and why.
    pub invalid: Vec<(String, String)>,
}

/// What a file says that no run was begun from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    pub key: String,
    pub status: ClaimedStatus,
    /// The step that it says to be at.
    pub step: Option<StepName>,
    /// Whether any step was begun.
    pub has_begun: bool,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// A workflow that cannot be started as it is.
pub struct Invalid {
    pub name: String,
    /// Its file or folder, within `origin`.
    pub file: String,
    pub origin: String,
    pub diagnostics: Vec<Diagnostic>,
}
