//! `list_runs`: the runs of the project, the most recently changed first.

use engine::{Cursor, Page, Row, RunFilter, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Failure, Status, Tried};
use crate::kit::{self, Ask, Caller, Hints, Look, Tell, Tool};

/// How many runs a page has unless its reader says so.
const LIMIT: u32 = 20;

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListRuns {
    /// Of this workflow
    workflow_name: Option<String>,
    /// In this state
    status: Option<Status>,
    /// With this key
    key: Option<String>,
    /// At most, up to 100
    limit: Option<u32>,
    /// `next_cursor` of the last page
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    runs: Vec<Item>,
    /// Where the next page begins; `null` after the last.
    next_cursor: Option<String>,
}

impl kit::Answer for Answer {}

#[derive(Serialize, JsonSchema)]
struct Item {
    instance_id: String,
    run: String,
    workflow_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    status: Status,
    current_step_name: String,
    progress: Progress,
    /// How many errors were recorded.
    #[serde(skip_serializing_if = "is_zero")]
    errors: u32,
    created_at: String,
    updated_at: String,
    completed_at: Option<String>,
}

/// How many of the steps are done.
#[derive(Serialize, JsonSchema)]
pub(super) struct Progress {
    done: u32,
    total: u32,
}

impl Progress {
    pub(super) fn of(summary: &Summary) -> Self {
        let (done, total) = summary.progress();
        Self { done, total }
    }
}

impl Tool for ListRuns {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "list_runs";
    const TITLE: &'static str = "List runs";
    const DESCRIPTION: &'static str =
        "List the runs of this project, newest change first: what to resume, what waits.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let tried = Tried::new(person, "Failed to list runs");
        let after = self.cursor.as_deref().map(Cursor::parse).transpose();
        let filter = RunFilter {
            workflow: self.workflow_name,
            statuses: self.status.map(|it| it.word().to_owned()).into_iter().collect(),
            key: self.key,
            after: after.map_err(|refusal| tried.failure(&refusal.into()))?,
            limit: self.limit.unwrap_or(LIMIT),
        };
        let say = |page: Page| {
            let runs = page.rows.into_iter().map(item).collect();
            Self::say(Answer { runs, next_cursor: page.next.map(Cursor::encode) })
        };
        Ok(Tell::Look(Look::Runs(filter, tried.or_fail::<Self, _, _>(say))).into())
    }
}

fn item(row: Row) -> Item {
    let summary = row.summary;
    let progress = Progress::of(&summary);
    Item {
        instance_id: row.run.to_string(),
        run: row.run.short(),
        workflow_name: summary.workflow,
        title: title_beside(summary.title, summary.key.as_deref()),
        key: summary.key,
        status: Status::of_word(&summary.status),
        current_step_name: summary.step,
        progress,
        errors: summary.errors,
        created_at: summary.started_at.to_string(),
        updated_at: summary.updated_at.to_string(),
        completed_at: summary.ended_at.map(|it| it.to_string()),
    }
}

/// Returns a title that says more than the key beside it, or nothing.
pub(super) fn title_beside(title: String, key: Option<&str>) -> String {
    if key == Some(title.as_str()) { String::new() } else { title }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
