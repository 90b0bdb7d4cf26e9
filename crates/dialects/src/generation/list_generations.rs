//! `list_generations`: all scenes and how they stand.

use std::collections::BTreeSet;

use engine::{ClaimedStatus, KeyFilter, Order, Taken, Timestamp, Unreadable, Unseen};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    WORKFLOW,
    answer::{Facts, Failure},
    document::UNKNOWN,
    files::{folder, split},
    scene::Place,
    text::list::{self as text, Filter, Listing, Row, SortBy},
    words::{STEPS_TOTAL, Status, Step},
};
use crate::kit::{Ask, Caller, Done, Hints, Look, Stopped, Tell, Tool};

/// How many rows are fetched at most. More do not fit into one answer.
const ROWS_MAX: u32 = 400;
/// How many states are looked through where a session is active.
const SESSION_ROWS_MAX: u32 = 20_000;

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListGenerations {
    /// `active`: running, waiting or failed. Default `all`
    #[serde(default)]
    pub(super) filter: Filter,
    /// Default `started_at`, newest first
    #[serde(default)]
    #[schemars(extend("x-rule" = "must be one of: scene_id, started_at, status"))]
    pub(super) sort_by: SortBy,
    /// At most
    #[schemars(range(min = 1))]
    pub(super) limit: Option<u32>,
    /// Left out before
    #[serde(default)]
    pub(super) offset: u32,
}

/// What is listed from.
struct Sources {
    tool: ListGenerations,
    session: Option<String>,
    taken: Taken,
    at: Timestamp,
}

impl Tool for ListGenerations {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "list_generations";
    const TITLE: &'static str = "List All Generations";
    const DESCRIPTION: &'static str =
        "List the generations of all scenes with status, step and what can be done.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let at = caller.at;
        let looking = move |Place { session, .. }: Place| {
            let folders = session.as_deref().map(folder).into_iter().chain([String::new()]);
            let first = match &session {
                Some(session) => self.all(session),
                None => self.page(),
            };
            // A page is read beside the files, and once more if these had any news.
            let read = move |read: Result<(Taken, engine::Listing), Stopped>| match read {
                Ok((taken, first)) => {
                    let first = Some(first).filter(|_| !taken.has_changed);
                    Sources { tool: self, session, taken, at }.read(first)
                }
                Err(stopped) => Self::fail(Failure::unexpected(&stopped)),
            };
            Tell::Look(Look::Survey(WORKFLOW, folders.collect(), first, Box::new(read)))
        };
        Ok(Tell::Look(Place::find(looking)).into())
    }
}

impl Sources {
    /// Reads the rows that are still missing. `first` is what was read beside the files.
    fn read(self, first: Option<engine::Listing>) -> Tell {
        let is_plain = self.session.is_none() && self.taken.unseen.is_empty();
        if is_plain {
            let page = self.tool.page();
            return keyed(first, page, |page| self.count(&page));
        }
        let Some(session) = self.session.clone() else {
            return keyed(None, self.tool.all(""), |common| self.merge(&[], &common.rows));
        };
        let common = self.tool.all("");
        keyed(first, self.tool.all(&session), |own| {
            keyed(None, common, move |common| self.merge(&own.rows, &common.rows))
        })
    }

    /// Says whether there is any state, where the page has none.
    fn count(self, page: &engine::Listing) -> Tell {
        let rows: Vec<Row> = page.rows.iter().map(row).collect();
        let wanted = self.tool.page();
        if 0 < page.total || wanted.statuses.is_empty() {
            let has_states = 0 < page.total;
            return self.list(&rows, page.total, has_states);
        }
        let any = KeyFilter { statuses: Vec::new(), offset: 0, limit: 1, ..wanted };
        keyed(None, any, move |any| self.list(&rows, 0, 0 < any.total))
    }

    /// The states of a session, and the common ones that it has none of its own for; of runs, and
    /// of files without one.
    fn merge(self, own: &[engine::Row], common: &[engine::Row]) -> Tell {
        let unseen = |session: Option<&str>| -> Vec<Row> {
            let is_of = |it: &&Unseen| split(&it.key).1 == session;
            self.taken.unseen.iter().filter(is_of).map(unseen_row).collect()
        };
        let mut rows: Vec<Row> = Vec::new();
        if let Some(session) = self.session.as_deref() {
            rows.extend(own.iter().map(row).chain(unseen(Some(session))));
        }
        let shadowed: BTreeSet<String> = rows.iter().map(|it| it.scene_id.clone()).collect();
        let common = common.iter().map(row).chain(unseen(None));
        rows.extend(common.filter(|it| !shadowed.contains(&it.scene_id)));
        let has_states = !rows.is_empty();
        rows.retain(|it| self.tool.filter.takes(it));
        self.tool.sort_by.sort(&mut rows);
        let total = rows.len() as u64;
        let (offset, limit) = (self.tool.offset as usize, self.tool.rows_max() as usize);
        let rows: Vec<Row> = rows.into_iter().skip(offset).take(limit).collect();
        self.list(&rows, total, has_states)
    }

    fn list(self, rows: &[Row], total: u64, has_states: bool) -> Tell {
        let name = |it: &Unreadable| it.path.rsplit('/').next().unwrap_or_default().to_owned();
        let corrupted: Vec<String> = self.taken.unreadable.iter().map(name).collect();
        let listing = Listing {
            filter: self.tool.filter,
            rows,
            offset: u64::from(self.tool.offset),
            total,
            has_states,
            corrupted: &corrupted,
        };
        let mut facts = text::list(&listing, self.at);
        facts.result.push_str(&super::text::warnings(&self.taken.notices));
        let done = Done { warnings: self.taken.notices, ..facts.into() };
        ListGenerations::say(done)
    }
}

/// Goes on with rows: those that are there, or else those that fit a filter.
fn keyed(
    rows: Option<engine::Listing>,
    filter: KeyFilter,
    then: impl FnOnce(engine::Listing) -> Tell + Send + 'static,
) -> Tell {
    match rows {
        Some(rows) => then(rows),
        None => Tell::Look(Look::Keyed(
            filter,
            Box::new(|rows| match rows {
                Ok(rows) => then(rows),
                Err(stopped) => ListGenerations::fail(Failure::unexpected(&stopped)),
            }),
        )),
    }
}

impl ListGenerations {
    /// Returns how many rows are fetched at most.
    fn rows_max(&self) -> u32 {
        self.limit.unwrap_or(ROWS_MAX).min(ROWS_MAX)
    }

    /// Returns which rows the page has, where no session is active.
    fn page(&self) -> KeyFilter {
        let statuses = self.filter.statuses().unwrap_or_default();
        let statuses = statuses.iter().map(|it| it.standing().to_owned()).collect();
        let (offset, limit) = (self.offset, self.rows_max());
        KeyFilter { statuses, offset, limit, ..self.all("") }
    }

    /// Returns which rows there are in a session, or outside of any.
    fn all(&self, session: &str) -> KeyFilter {
        KeyFilter {
            workflow: WORKFLOW.to_owned(),
            statuses: Vec::new(),
            scope: session.to_owned(),
            order: match self.sort_by {
                SortBy::SceneId => Order::Key,
                SortBy::StartedAt => Order::Started,
                SortBy::Status => Order::Status,
            },
            offset: 0,
            limit: SESSION_ROWS_MAX,
        }
    }
}

fn row(row: &engine::Row) -> Row {
    let it = &row.summary;
    let step = Step::find_key(&it.step).map_or(STEPS_TOTAL, |it| it.number);
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
    let step = unseen.step.as_ref().and_then(|it| Step::find_key(it.as_str()));
    let step = step.map_or(STEPS_TOTAL, |it| it.number);
    Row {
        scene_id: split(&unseen.key).0.to_owned(),
        status: status.word().to_owned(),
        step: if unseen.has_begun { step } else { 0 },
        started_at: unseen.started_at,
        updated_at: unseen.updated_at,
    }
}
