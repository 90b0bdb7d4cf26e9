//! Questions about runs. They never write.

use engine::{
    Brief, Known, Recorded, Refusal, RunId, Shown, Stop, Timestamp, brief, find_drift, find_shown,
};
use store::{Filter, Heartbeat, Hit, Row, Search};

use crate::{ExecuteError, Runtime, View, fault};

/// The most rows of one page.
const PAGE_MAX: u32 = 100;

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

/// A place in a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    at: Timestamp,
    run: RunId,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    pub rows: Vec<Row>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// A part of a run's log.
#[derive(Debug, Clone)]
pub struct History {
    pub view: View,
    pub events: Vec<Recorded>,
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

impl Runtime {
    /// Returns a run as it is now, or as it was after event `at`.
    pub async fn view(&self, run: RunId, at: Option<u64>) -> Result<View, ExecuteError> {
        match at {
            None => self.load(run).await,
            Some(_) => Ok(self.load_at(run, at).await?.0),
        }
    }

    /// Returns the run that `text` means: an id in either form, the beginning of one, or the key
    /// of a run that is not over.
    pub async fn find_run(&self, text: &str) -> Result<RunId, ExecuteError> {
        let text = text.trim();
        if let Some(run) = RunId::parse(text) {
            return Ok(run);
        }
        let mut filter =
            Filter { project: Some(self.settings.project.clone()), limit: 5, ..Filter::default() };
        if let Some(ids) = RunId::parse_prefix(text).filter(|_| 4 <= text.len()) {
            filter.ids = Some(ids);
            let rows = self.store.list(filter.clone()).await.map_err(fault)?;
            match rows.as_slice() {
                [] => {}
                [only] => return Ok(only.run),
                several => {
                    let runs = several.iter().map(|it| it.run.short()).collect();
                    return Err(Refusal::RunAmbiguous { prefix: text.to_owned(), runs }.into());
                }
            }
            filter.ids = None;
        }
        filter.key = Some(text.to_owned());
        let rows = self.store.list(filter).await.map_err(fault)?;
        let live = rows.iter().find(|it| it.summary.is_live);
        match live.or(rows.first()).filter(|_| !text.is_empty()) {
            Some(row) => Ok(row.run),
            None => Err(Refusal::RunUnknown(text.to_owned()).into()),
        }
    }

    /// Returns a page of runs, the most recently changed first.
    pub async fn list_runs(&self, filter: RunFilter) -> Result<Page, ExecuteError> {
        let limit = filter.limit.clamp(1, PAGE_MAX);
        let wanted = Filter {
            project: Some(self.settings.project.clone()),
            workflow: filter.workflow,
            statuses: filter.statuses,
            key: filter.key,
            after: filter.after.map(|it| (it.at, it.run)),
            limit: limit + 1,
            ..Filter::default()
        };
        let mut rows = self.store.list(wanted).await.map_err(fault)?;
        let has_more = usize::try_from(limit).is_ok_and(|limit| limit < rows.len());
        if has_more {
            rows.pop();
        }
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|it| Cursor { at: it.summary.updated_at, run: it.run });
        Ok(Page { rows, next })
    }

    /// Returns events of a run: the `limit` newest before `before`, oldest of them first.
    pub async fn history(
        &self,
        run: RunId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<History, ExecuteError> {
        let (view, mut events) = self.load_at(run, None).await?;
        if let Some(before) = before {
            events.retain(|it| it.seq < before);
        }
        let surplus = events.len().saturating_sub(limit);
        events.drain(..surplus);
        Ok(History { view, events })
    }

    /// Returns the events that fit `text` best.
    pub async fn search(
        &self,
        text: &str,
        run: Option<RunId>,
        (offset, limit): (u32, u32),
    ) -> Result<Vec<Hit>, ExecuteError> {
        let project = Some(self.settings.project.clone());
        let limit = limit.clamp(1, PAGE_MAX);
        let search = Search { project, run, text: text.to_owned(), offset, limit };
        self.store.search(search).await.map_err(fault)
    }

    /// Returns what a newcomer needs to go on with a run.
    pub async fn brief(
        &self,
        run: RunId,
        tokens_max: Option<usize>,
    ) -> Result<(View, Brief, Vec<String>), ExecuteError> {
        let view = self.load(run).await?;
        let (known, drift) = self.find_drift(&view).await?;
        let tokens = tokens_max.unwrap_or(self.settings.brief_tokens);
        let text = brief(&view.workflow, &view.state, &known, &drift, tokens);
        Ok((view, text, drift))
    }

    /// Returns what the open gate of a run shows now, if one is open.
    pub async fn find_shown(&self, view: &View) -> Result<Option<Shown>, ExecuteError> {
        let mut known = self.known(view);
        loop {
            match find_shown(&view.workflow, &view.state, &known) {
                Ok(shown) => return Ok(shown),
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => {
                    self.look(view.state.root(), &mut known, questions).await?;
                }
            }
        }
    }

    /// Extends a lease, and returns until when; nothing is written to the log.
    pub async fn extend_lease(
        &self,
        run: RunId,
        generation: u64,
        duration: Option<std::time::Duration>,
    ) -> Result<engine::Lease, ExecuteError> {
        let view = self.load(run).await?;
        let held = view.state.leases.values().find(|it| it.generation == generation).cloned();
        let Some(mut lease) = held else { return Err(Refusal::LeaseUnknown(generation).into()) };
        let step = view.workflow.find_step(&lease.step);
        let longest = std::time::Duration::from_secs(self.settings.bounds.lease_s_max);
        let fallback = std::time::Duration::from_secs(15 * 60);
        let duration = duration.or_else(|| step?.lease).unwrap_or(fallback).min(longest);
        let now = self.world.now();
        let until = now.after(duration);
        let beat = Heartbeat { run, generation, now, until };
        if !self.store.extend_lease(beat).await.map_err(fault)? {
            return Err(Refusal::LeaseStale { step: lease.step, given: generation }.into());
        }
        lease.until = until;
        Ok(lease)
    }

    /// Compares files with what was seen. A folder that is not here is one warning, not a refusal:
    /// the rest of the brief is as good as ever.
    async fn find_drift(&self, view: &View) -> Result<(Known, Vec<String>), ExecuteError> {
        let mut known = self.known(view);
        loop {
            match find_drift(&view.state, &known) {
                Ok(drift) => return Ok((known, drift)),
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => {
                    if let Err(refusal) = self.look(view.state.root(), &mut known, questions).await
                    {
                        return Ok((known, vec![refusal.to_string()]));
                    }
                }
            }
        }
    }
}
