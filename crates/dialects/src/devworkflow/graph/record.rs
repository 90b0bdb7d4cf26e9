//! The record of a session, as its file says it: rendered from the state of its run.
//!
//! It is read from a file as well, also from one that another program wrote: what is missing is
//! empty, and what is unknown is kept.

mod project;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::devworkflow::words::is_pending;

pub(super) use project::render;

/// The version of the record that this release writes.
const VERSION: u64 = 1;

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
        !is_pending(&self.status)
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

    /// Returns the text of the record.
    fn text(&self) -> String {
        let why = "a record has only text keys and numbers that JSON has";
        let mut text = serde_json::to_string_pretty(self).expect(why);
        text.push('\n');
        text
    }
}
