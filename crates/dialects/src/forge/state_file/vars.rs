//! Which fields of a document are variables of the run.

use serde_json::{Map, Value};

use super::StateFile;
use crate::kit::json::Json;

/// Where in a document a variable is.
#[derive(Debug, Clone, Copy)]
enum Member {
    Text(&'static str),
    /// Null where it is empty.
    Maybe(&'static str),
    Flag(&'static str),
    Texts(&'static str),
    /// A flag or count inside another field.
    Inside(&'static str, &'static str),
}

/// The parts that are done and not committed.
const BATCH: &str = "batch";
/// Whether there are any.
const NEEDS_COMMIT: &str = "needsBatchCommit";
/// Is in the place of a part that nobody knows: such a one has no files, so that whatever was
/// changed is committed.
const UNKNOWN: &str = "*";
const EFFORTS: [&str; 3] = ["S", "M", "L"];

const MEMBERS: [(&str, Member); 19] = [
    ("spec_name", Member::Text("specName")),
    ("workspace", Member::Text("workspace")),
    ("branch", Member::Maybe("branch")),
    ("effort", Member::Maybe("effort")),
    ("flow_template", Member::Maybe("flowTemplate")),
    ("auto_approve", Member::Flag("autoApprove")),
    ("skip_pr", Member::Flag("skipPr")),
    ("use_current_branch", Member::Flag("useCurrentBranch")),
    ("branch_classified", Member::Flag("branchClassified")),
    ("branch_pushed", Member::Flag("branchPushed")),
    ("debug", Member::Flag("debug")),
    ("skipped_phases", Member::Texts("skippedPhases")),
    ("design_revise_cap_reached", Member::Flag("designReviseCapReached")),
    ("design_revisions", Member::Inside("revisions", "designRevisions")),
    ("task_revisions", Member::Inside("revisions", "taskRevisions")),
    ("design_inline_revisions", Member::Inside("revisions", "designInlineRevisions")),
    ("task_inline_revisions", Member::Inside("revisions", "taskInlineRevisions")),
    ("revision_pending_a", Member::Inside("checkpointRevisionPending", "checkpoint-a")),
    ("revision_pending_b", Member::Inside("checkpointRevisionPending", "checkpoint-b")),
];

/// Writes the variables that `is_meant` says into a document.
pub(super) fn write(
    document: &mut StateFile,
    vars: &Map<String, Value>,
    is_meant: impl Fn(&str) -> bool,
) {
    for (name, member) in MEMBERS {
        let Some(value) = vars.get(name).filter(|_| is_meant(name)) else { continue };
        match member {
            Member::Text(key) | Member::Flag(key) | Member::Texts(key) => document.set(key, value),
            Member::Maybe(key) => {
                document.set(key, value.as_str().filter(|it| !it.is_empty()));
            }
            Member::Inside(outer, key) => document.set_inside(outer, key, value),
        }
    }
    if let Some(batch) = vars.get(BATCH).and_then(Value::as_array).filter(|_| is_meant(BATCH)) {
        document.set(NEEDS_COMMIT, !batch.is_empty());
    }
}

/// Whether a document says what a variable is.
pub(super) fn is_shown(name: &str) -> bool {
    name == BATCH || MEMBERS.iter().any(|it| it.0 == name)
}

/// Returns the variables that a document says.
pub(super) fn read(document: &StateFile) -> Map<String, Value> {
    let mut vars = Map::new();
    for (name, member) in MEMBERS {
        let value = match member {
            Member::Text(key) | Member::Maybe(key) => document.text(key).into(),
            Member::Flag(key) => document.is(key).into(),
            Member::Texts(key) => document.texts(key).collect(),
            Member::Inside(outer, key) => match document.inside(outer, key) {
                Some(Json::Bool(flag)) => Value::Bool(*flag),
                value => value.and_then(Json::as_count).unwrap_or_default().into(),
            },
        };
        vars.insert(name.to_owned(), value);
    }
    // An effort that there was once, or never, is as good as none.
    if !EFFORTS.contains(&document.text("effort")) {
        vars.insert("effort".to_owned(), "".into());
    }
    vars.insert(BATCH.to_owned(), batch(document));
    vars
}

/// Which of them were not committed nobody wrote down; to commit one again changes nothing.
fn batch(document: &StateFile) -> Value {
    if !document.is(NEEDS_COMMIT) {
        return Value::Array(Vec::new());
    }
    let tasks = document.tasks();
    let of_batch =
        tasks.iter().filter(|it| it.is_implemented() && it.text("executionMode") == "parallel");
    let keys: Vec<&str> = of_batch.map(|it| it.key).collect();
    if keys.is_empty() { vec![UNKNOWN].into() } else { keys.into() }
}
