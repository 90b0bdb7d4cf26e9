//! `list_generations`: all scenes and how they stand.

use std::collections::BTreeSet;

use engine::{ClaimedStatus, Timestamp};
use runtime::{ExecuteError, KeyFilter, Order, Unreadable, Unseen};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    WORKFLOW,
    answer::{Facts, Failure},
    dialect::DialectTool,
    document::UNKNOWN,
    files::{folder, split},
    scene,
    text::list::{self as text, Filter, Listing, Row, SortBy},
    words::{STEPS, STEPS_TOTAL, Status, Step},
};
use crate::tool::{Call, Done, Hints};

/// How many rows are fetched at most. More do not fit into one answer.
const ROWS_MAX: u32 = 400;
/// How many states are looked through where a session is active.
const SESSION_ROWS_MAX: u32 = 20_000;

pub(super) struct ListGenerations;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// `active`: running, waiting or failed. Default `all`
    #[serde(default)]
    pub(super) filter: Filter,
    /// Default `started_at`, newest first
    #[serde(default)]
    #[schemars(extend("x-rule" = "sort_by must be one of: scene_id, started_at, status"))]
    pub(super) sort_by: SortBy,
    /// At most
    #[schemars(range(min = 1))]
    pub(super) limit: Option<u32>,
    /// Left out before
    #[serde(default)]
    pub(super) offset: u32,
}

impl DialectTool for ListGenerations {
    type Parameters = Parameters;
    const NAME: &'static str = "list_generations";
    const TITLE: &'static str = "List All Generations";
    const DESCRIPTION: &'static str =
        "List the generations of all scenes with status, step and what can be done.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let folders = scene::find_session(call).await;
        let places = folders_of(folders.as_deref());
        // The page is read beside the files, and once more if these had any news.
        let (taken, read) = tokio::join!(
            call.runtime.survey(WORKFLOW, &places),
            page(call, &parameters, folders.as_deref(), &[]),
        );
        let taken = taken.map_err(|error| failure(&error))?;
        let name = |it: &Unreadable| it.path.rsplit('/').next().unwrap_or_default().to_owned();
        let corrupted: Vec<String> = taken.unreadable.iter().map(name).collect();
        let read = match taken.has_changed || !taken.unseen.is_empty() {
            true => page(call, &parameters, folders.as_deref(), &taken.unseen).await,
            false => read,
        };
        let (rows, total, has_states) = read.map_err(|error| failure(&error))?;
        let listing = Listing {
            filter: parameters.filter,
            rows: &rows,
            offset: u64::from(parameters.offset),
            total,
            has_states,
            corrupted: &corrupted,
        };
        let mut facts = text::list(&listing, call.runtime.now());
        let lines: Vec<String> = taken.notices.iter().map(|it| format!("\n  - {it}")).collect();
        if !lines.is_empty() {
            facts.result.push_str(&format!("\n\n⚠️ Warnings:{}", lines.concat()));
        }
        Ok(Done { warnings: taken.notices, ..facts.into() })
    }
}

/// Returns the rows of the page that is asked for, how many there are in all, and whether there are
/// any at all. `unseen` are files without a run.
async fn page(
    call: &Call<'_>,
    parameters: &Parameters,
    session: Option<&str>,
    unseen: &[Unseen],
) -> Result<(Vec<Row>, u64, bool), ExecuteError> {
    let limit = parameters.limit.unwrap_or(ROWS_MAX).min(ROWS_MAX);
    if session.is_some() || !unseen.is_empty() {
        return merged(call, parameters, (session, unseen), limit).await;
    }
    let wanted = filter(parameters, "", limit);
    let listing = call.runtime.list_keyed(wanted.clone()).await?;
    let mut has_states = 0 < listing.total;
    if !has_states && !wanted.statuses.is_empty() {
        let any = KeyFilter { statuses: Vec::new(), offset: 0, limit: 1, ..wanted };
        has_states = 0 < call.runtime.list_keyed(any).await?.total;
    }
    Ok((listing.rows.iter().map(row).collect(), listing.total, has_states))
}

/// The states of a session, and the common ones that it has none of its own for; of runs, and of
/// files without one.
async fn merged(
    call: &Call<'_>,
    parameters: &Parameters,
    (session, unseen): (Option<&str>, &[Unseen]),
    limit: u32,
) -> Result<(Vec<Row>, u64, bool), ExecuteError> {
    let all = |scope: &str| {
        let offset = 0;
        let statuses = Vec::new();
        KeyFilter { statuses, offset, ..filter(parameters, scope, SESSION_ROWS_MAX) }
    };
    let of = |session: Option<&str>| -> Vec<Row> {
        let is_of = |it: &&Unseen| split(&it.key).1 == session;
        unseen.iter().filter(is_of).map(unseen_row).collect()
    };
    let mut rows: Vec<Row> = Vec::new();
    if let Some(session) = session {
        let own = call.runtime.list_keyed(all(session)).await?;
        rows.extend(own.rows.iter().map(row).chain(of(Some(session))));
    }
    let shadowed: BTreeSet<String> = rows.iter().map(|it| it.scene_id.clone()).collect();
    let common = call.runtime.list_keyed(all("")).await?;
    let common = common.rows.iter().map(row).chain(of(None));
    rows.extend(common.filter(|it| !shadowed.contains(&it.scene_id)));
    let has_states = !rows.is_empty();
    rows.retain(|it| parameters.filter.takes(it));
    parameters.sort_by.sort(&mut rows);
    let total = rows.len() as u64;
    let (offset, limit) = (parameters.offset as usize, limit as usize);
    let rows = rows.into_iter().skip(offset).take(limit).collect();
    Ok((rows, total, has_states))
}

fn filter(parameters: &Parameters, scope: &str, limit: u32) -> KeyFilter {
    let statuses = parameters.filter.statuses().unwrap_or_default();
    KeyFilter {
        workflow: WORKFLOW.to_owned(),
        statuses: statuses.iter().map(|it| it.standing().to_owned()).collect(),
        scope: scope.to_owned(),
        order: match parameters.sort_by {
            SortBy::SceneId => Order::Key,
            SortBy::StartedAt => Order::Started,
            SortBy::Status => Order::Status,
        },
        offset: parameters.offset,
        limit,
    }
}

fn row(row: &runtime::Row) -> Row {
    let it = &row.summary;
    let step = STEPS.iter().find(|step| step.key == it.step).map_or(STEPS_TOTAL, |it| it.number);
    let status = Status::of_standing(&it.status).map_or(UNKNOWN, Status::word);
    Row {
        scene_id: split(it.key.as_deref().unwrap_or_default()).0.to_owned(),
        status: status.to_owned(),
        step: if it.steps_begun == 0 { 0 } else { step },
        // The file did not say, or not so that it could be understood.
        started_at: Some(it.started_at).filter(|it| *it != Timestamp::default()),
        updated_at: Some(it.updated_at),
    }
}

fn unseen_row(unseen: &Unseen) -> Row {
    let status = match unseen.status {
        ClaimedStatus::Running => Status::InProgress,
        ClaimedStatus::Waiting => Status::WaitingUserApproval,
        ClaimedStatus::Completed => Status::Completed,
        ClaimedStatus::Failed => Status::Failed,
        ClaimedStatus::Cancelled => Status::Cancelled,
    };
    let is_at = |it: &&Step| unseen.step.as_ref().is_some_and(|step| step.as_str() == it.key);
    let step = STEPS.iter().find(is_at).map_or(STEPS_TOTAL, |it| it.number);
    Row {
        scene_id: split(&unseen.key).0.to_owned(),
        status: status.word().to_owned(),
        step: if unseen.has_begun { step } else { 0 },
        started_at: unseen.started_at,
        updated_at: unseen.updated_at,
    }
}

/// The folders that states are looked for in.
fn folders_of(session: Option<&str>) -> Vec<String> {
    session.map(folder).into_iter().chain([String::new()]).collect()
}

fn failure(error: &ExecuteError) -> Failure {
    scene::unexpected(error)
}
