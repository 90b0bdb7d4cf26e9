//! A plain model of a store, in memory and without a thread, so that simulations can be repeated.
//! `conformance/random.rs` holds the real store against it. It does not search.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use engine::{Lease, Recorded, RunId, Summary};
use store::{
    Answer, Answered, Append, Deletion, FileFilter, FileMark, Filter, Heartbeat, Hits, LeaseChange,
    Length, Listing, Log, Order, Pending, Request, Row, Search, Store, StoreError, Sum, Tailed,
    Touch, checksum_of,
};
use tokio::sync::watch;

/// Keeps logs in memory.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    kept: Mutex<Kept>,
    changed: watch::Sender<u64>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self { kept: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

#[derive(Debug, Default)]
struct Kept {
    runs: BTreeMap<RunId, Run>,
    /// Every event in the order of appends.
    order: Vec<Tailed>,
    /// How many there ever were.
    newest: u64,
    /// Ids of runs that were deleted.
    deleted: BTreeSet<RunId>,
    requests: BTreeMap<(String, String), Request>,
    answers: BTreeMap<(String, String), Answer>,
    definitions: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Run {
    project: String,
    summary: Summary,
    events: Vec<Recorded>,
    /// A checksum of the log, made of the one before. It is not the one that the store has.
    head: Sum,
    /// The position of its first event.
    begun: u64,
    leases: Vec<Lease>,
    /// By path.
    files: BTreeMap<String, FileMark>,
    /// Whether a run with the same key was begun later.
    is_shadowed: bool,
}

impl Run {
    fn length(&self) -> Length {
        self.events.len() as u64
    }

    fn has_key_of(&self, project: &str, summary: &Summary) -> bool {
        summary.key.is_some()
            && self.project == project
            && self.summary.workflow == summary.workflow
            && self.summary.root == summary.root
            && self.summary.key == summary.key
    }

    fn owe(&mut self, path: String, owed: Length) {
        let mark = FileMark { path: path.clone(), ..FileMark::default() };
        self.files.entry(path).or_insert(mark).owed = owed;
    }

    fn mark(&mut self, given: FileMark) {
        let before = self.files.get(&given.path);
        let owed = before.map_or(given.owed, |it| it.owed.max(given.owed));
        let newest = match before {
            Some(before) if given.written < before.written => before.clone(),
            Some(_) | None => given,
        };
        self.files.insert(newest.path.clone(), FileMark { owed, ..newest });
    }
}

impl Store for MemoryStore {
    fn append(&self, append: Append) -> Pending<'_, ()> {
        Box::pin(async {
            let newest = self.kept.lock().unwrap().append(append)?;
            self.changed.send_replace(newest);
            Ok(())
        })
    }

    fn load(&self, run: RunId, after: Length) -> Pending<'_, Option<Log>> {
        Box::pin(async move {
            let kept = self.kept.lock().unwrap();
            Ok(kept.runs.get(&run).map(|run| Log {
                project: run.project.clone(),
                length: run.length(),
                head: run.head,
                events: run.events.iter().filter(|it| after < it.seq).cloned().collect(),
                leases: run.leases.clone(),
            }))
        })
    }

    fn find_request<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Request>> {
        let key = (project.to_owned(), id.to_owned());
        Box::pin(async move { Ok(self.kept.lock().unwrap().requests.get(&key).cloned()) })
    }

    fn find_answer<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Answer>> {
        let key = (project.to_owned(), id.to_owned());
        Box::pin(async move { Ok(self.kept.lock().unwrap().answers.get(&key).cloned()) })
    }

    fn find_definition<'a>(&'a self, digest: &'a str) -> Pending<'a, Option<String>> {
        Box::pin(async { Ok(self.kept.lock().unwrap().definitions.get(digest).cloned()) })
    }

    fn list(&self, filter: Filter) -> Pending<'_, Listing> {
        Box::pin(async move { Ok(self.kept.lock().unwrap().list(&filter)) })
    }

    fn touch(&self, touch: Touch) -> Pending<'_, bool> {
        Box::pin(async move {
            let mut kept = self.kept.lock().unwrap();
            Ok(match touch {
                Touch::Lease(beat) => kept.extend(&beat),
                Touch::Files(run, marks) => kept.runs.get_mut(&run).is_some_and(|run| {
                    marks.into_iter().for_each(|mark| run.mark(mark));
                    true
                }),
                Touch::Answer(answered) => kept.answer(*answered),
            })
        })
    }

    fn delete(&self, deletion: Deletion) -> Pending<'_, ()> {
        Box::pin(async move {
            let newest = self.kept.lock().unwrap().delete(&deletion)?;
            self.changed.send_replace(newest);
            Ok(())
        })
    }

    fn files(&self, filter: FileFilter) -> Pending<'_, Vec<(RunId, FileMark)>> {
        Box::pin(async move { Ok(self.kept.lock().unwrap().files(&filter)) })
    }

    fn search(&self, _: Search) -> Pending<'_, Hits> {
        Box::pin(async { Ok(Hits { hits: Vec::new(), pending: 0 }) })
    }

    fn tail(&self, after: u64, count: u32) -> Pending<'_, Vec<Tailed>> {
        Box::pin(async move {
            let kept = self.kept.lock().unwrap();
            let events = kept.order.iter().filter(|it| after < it.position);
            Ok(events.take(usize::try_from(count).unwrap()).cloned().collect())
        })
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

impl Kept {
    /// Returns the position of the newest event.
    fn append(&mut self, append: Append) -> Result<u64, StoreError> {
        check_numbers(&append)?;
        self.check_request(&append)?;
        if self.deleted.contains(&append.run) {
            return Err(StoreError::Deleted { run: append.run });
        }
        let known = self.runs.get(&append.run);
        let actual = known.map_or(0, Run::length);
        if actual != append.expected {
            return Err(conflict(&append, actual));
        }
        let project = known.map_or(&append.project, |run| &run.project).clone();
        self.check_key(&project, &append)?;
        let held = known.map(|run| run.leases.as_slice()).unwrap_or_default();
        let Some(leases) = change_leases(held, &append.leases) else {
            return Err(conflict(&append, actual));
        };
        let first = append.expected + 1;
        let last = append.expected + append.events.len() as u64;
        if append.expected == 0 {
            let older =
                self.runs.values_mut().filter(|it| it.has_key_of(&project, &append.summary));
            older.for_each(|run| run.is_shadowed = true);
        }
        let begun = self.newest + 1;
        append.events.iter().for_each(|it| self.note(append.run, it.seq));
        let run = self.runs.entry(append.run).or_insert_with(|| Run {
            project,
            summary: append.summary.clone(),
            events: Vec::new(),
            head: checksum_of(append.run, &append.project, &[]).unwrap(),
            begun,
            leases: Vec::new(),
            files: BTreeMap::new(),
            is_shadowed: false,
        });
        run.head = checksum_of(append.run, &run.head.to_string(), &append.events).unwrap();
        run.events.extend(append.events);
        run.summary = append.summary;
        run.leases = leases;
        append.owes.into_iter().for_each(|path| run.owe(path, last));
        if let Some(definition) = append.definition {
            self.definitions.entry(definition.digest).or_insert(definition.source);
        }
        if let Some(key) = append.request {
            let request = Request { fingerprint: key.fingerprint, run: append.run, first, last };
            self.requests.insert((append.project, key.id), request);
        }
        Ok(self.newest)
    }

    fn note(&mut self, run: RunId, seq: Length) {
        self.newest += 1;
        self.order.push(Tailed { position: self.newest, run, seq });
    }

    /// Returns the position of what stays of it.
    fn delete(&mut self, deletion: &Deletion) -> Result<u64, StoreError> {
        let Deletion { run, expected, .. } = *deletion;
        if self.deleted.contains(&run) {
            return Err(StoreError::Deleted { run });
        }
        let actual = self.runs.get(&run).map_or(0, Run::length);
        if actual == 0 || actual != expected {
            return Err(StoreError::Conflict { run, expected, actual });
        }
        let gone = self.runs.remove(&run).unwrap();
        self.deleted.insert(run);
        self.order.retain(|it| it.run != run);
        self.note(run, 0);
        let (id, short) = (run.to_string(), run.short());
        let requests = self.requests.iter().filter(|(_, it)| it.run == run);
        let requests: BTreeSet<_> = requests.map(|(key, _)| key.clone()).collect();
        self.requests.retain(|key, _| !requests.contains(key));
        self.answers.retain(|key, it| {
            let names = key.1.contains(&id) || it.text.contains(&id) || it.text.contains(&short);
            !names && !requests.contains(key)
        });
        let left = self.runs.values_mut();
        let left = left.filter(|it| it.has_key_of(&gone.project, &gone.summary));
        if let Some(newest) = left.max_by_key(|it| it.begun) {
            newest.is_shadowed = false;
        }
        Ok(self.newest)
    }

    fn answer(&mut self, answered: Answered) -> bool {
        let Answered { project, key, text, .. } = answered;
        let id = (project, key.id);
        if self.answers.contains_key(&id) {
            return false;
        }
        self.answers.insert(id, Answer { fingerprint: key.fingerprint, text });
        true
    }

    fn check_request(&self, append: &Append) -> Result<(), StoreError> {
        let Some(key) = &append.request else {
            return Ok(());
        };
        match self.requests.get(&(append.project.clone(), key.id.clone())) {
            None => Ok(()),
            Some(request) => {
                Err(StoreError::RequestSeen { id: key.id.clone(), request: request.clone() })
            }
        }
    }

    fn check_key(&self, project: &str, append: &Append) -> Result<(), StoreError> {
        let summary = &append.summary;
        let Some(key) = summary.key.as_ref().filter(|_| summary.holds_key) else {
            return Ok(());
        };
        let taken = self.runs.iter().find(|(id, run)| {
            **id != append.run && run.summary.holds_key && run.has_key_of(project, summary)
        });
        match taken {
            None => Ok(()),
            Some((run, _)) => Err(StoreError::KeyTaken { key: key.clone(), run: *run }),
        }
    }

    fn extend(&mut self, beat: &Heartbeat) -> bool {
        let leases = self.runs.get_mut(&beat.run).map(|run| &mut run.leases);
        let lease = leases.into_iter().flatten().find(|it| it.generation == beat.generation);
        lease.filter(|it| beat.now < it.until).is_some_and(|lease| {
            lease.until = lease.until.max(beat.until);
            true
        })
    }

    fn files(&self, filter: &FileFilter) -> Vec<(RunId, FileMark)> {
        let is_wanted = |id: &RunId, run: &Run| {
            filter.run.is_none_or(|wanted| wanted == *id)
                && filter.project.as_ref().is_none_or(|it| *it == run.project)
                && filter.workflow.as_ref().is_none_or(|it| *it == run.summary.workflow)
        };
        let runs = self.runs.iter().filter(|(id, run)| is_wanted(id, run));
        let files = runs.flat_map(|(id, run)| run.files.values().map(|mark| (*id, mark.clone())));
        files.filter(|(_, mark)| !filter.is_owed || mark.written < mark.owed).collect()
    }

    fn list(&self, filter: &Filter) -> Listing {
        let mut rows: Vec<Row> = self
            .runs
            .iter()
            .filter(|(_, run)| !filter.is_newest_of_key || !run.is_shadowed)
            .map(|(id, run)| Row {
                project: run.project.clone(),
                run: *id,
                length: run.length(),
                summary: run.summary.clone(),
            })
            .filter(|row| is_listed(row, filter))
            .collect();
        let total = if filter.counts { rows.len() as u64 } else { 0 };
        rows.sort_by(|one, two| compare(one, two, filter.order));
        if filter.order == Order::Changed {
            let is_before = |row: &Row, after| (row.summary.updated_at, row.run) < after;
            rows.retain(|row| filter.after.is_none_or(|after| is_before(row, after)));
        }
        let offset = usize::try_from(filter.offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        Listing { rows: rows.into_iter().skip(offset).take(limit).collect(), total }
    }
}

fn is_listed(row: &Row, filter: &Filter) -> bool {
    let summary = &row.summary;
    let is = |wanted: &Option<String>, it: &str| wanted.as_ref().is_none_or(|wanted| wanted == it);
    is(&filter.project, &row.project)
        && is(&filter.workflow, &summary.workflow)
        && is(&filter.root, &summary.root)
        && (filter.key.is_none() || filter.key == summary.key)
        && (filter.statuses.is_empty() || filter.statuses.contains(&summary.status))
        && filter.ids.is_none_or(|(first, last)| first <= row.run && row.run <= last)
        && filter.due_by.is_none_or(|by| summary.due_at.is_some_and(|due| due <= by))
        && (!filter.is_newest_of_key || summary.key.is_some())
        && filter.scope.as_ref().is_none_or(|it| is_in_scope(summary.key.as_deref(), it))
}

fn is_in_scope(key: Option<&str>, scope: &str) -> bool {
    key.is_some_and(|key| {
        if scope.is_empty() { !key.contains('@') } else { key.ends_with(&format!("@{scope}")) }
    })
}

fn compare(one: &Row, two: &Row, order: Order) -> Ordering {
    let (first, second) = (&one.summary, &two.summary);
    let by_key = || first.key.cmp(&second.key).then(one.run.cmp(&two.run));
    match order {
        Order::Changed => (second.updated_at, two.run).cmp(&(first.updated_at, one.run)),
        Order::Started => second.started_at.cmp(&first.started_at).then_with(by_key),
        Order::Key => by_key(),
        Order::Status => first.status.cmp(&second.status).then_with(by_key),
    }
}

fn check_numbers(append: &Append) -> Result<(), StoreError> {
    let Append { run, expected, events, .. } = append;
    let is_numbered = (expected + 1..).zip(events).all(|(seq, it)| it.seq == seq);
    if is_numbered && !events.is_empty() {
        return Ok(());
    }
    let first = expected + 1;
    let message = format!("the events for run `{run}` are not numbered from {first}");
    Err(StoreError::Database(message))
}

/// Returns the leases after some changes; `None` if one was decided on something that has changed.
fn change_leases(held: &[Lease], changes: &[LeaseChange]) -> Option<Vec<Lease>> {
    let mut leases = held.to_vec();
    for change in changes {
        match change {
            LeaseChange::Drop { generation } => leases.retain(|it| it.generation != *generation),
            LeaseChange::Take { lease, replaces } => {
                let is_same = |it: &Lease| it.step == lease.step && it.part == lease.part;
                let before = leases.iter().find(|it| is_same(it)).map(|it| it.until);
                leases.retain(|it| !is_same(it));
                let is_free = leases.iter().all(|it| it.generation != lease.generation);
                if before != *replaces || !is_free {
                    return None;
                }
                leases.push(lease.clone());
            }
        }
    }
    leases.sort_by_key(|it| it.generation);
    Some(leases)
}

fn conflict(append: &Append, actual: Length) -> StoreError {
    StoreError::Conflict { run: append.run, expected: append.expected, actual }
}
