//! A store in one `SQLite` file, which any number of processes may share.
//!
//! ```text
//! append, touch        ──► writer: one thread, everything that waits in one commit
//! load, list, search … ──► readers: a few connections beside it
//! changed              ──► watch: woken by the writer, and by a look at the file now and then
//! ```

mod batch;
mod clock;
mod connection;
mod copy;
mod delete;
mod error;
mod file;
mod index;
mod lease;
mod list;
mod log;
mod maintenance;
mod mark;
mod place;
mod readers;
mod request;
mod row;
mod schema;
mod search;
mod settings;
mod sort;
mod sums;
mod wal;
mod watch;
mod write;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engine::{RunId, Timestamp};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::{runtime::Handle, sync::watch::Receiver, time::timeout};

use self::{
    connection::Slot,
    readers::{Readers, Span, at_one_moment},
    row::{int, number},
    watch::Watch,
    write::{Prepared, Write, Written},
    writer::{FileSystem, Home, Writer},
};
use crate::{
    Answer, Append, Deletion, FileFilter, FileMark, Filter, Hits, Length, Listing, Log, Pending,
    Request, Search, Store, StoreError, Tailed, Touch,
};

pub use clock::Spread;
pub use maintenance::{Figures, sqlite_version};
pub use settings::{SqliteSettings, Synchronous};

/// Keeps logs in a `SQLite` database.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: Arc<Readers>,
    watch: Watch,
    /// The connection of the writer.
    slot: Slot,
    path: Option<PathBuf>,
    settings: SqliteSettings,
}

impl SqliteStore {
    /// Opens the database at `path`. It is made if it is not there, in a folder that is, and
    /// brought to the newest schema if it has an older one, after a copy was put beside it.
    pub fn open(path: &Path, settings: SqliteSettings) -> Result<Self, StoreError> {
        let connection = schema::open(path, &settings)?;
        let home = Home::take(path, &connection)?;
        let slot = Arc::new(Mutex::new(Some(connection)));
        let readers = Readers::of_file(path.to_owned(), settings.clone());
        Self::start(slot, readers, Some(home), settings)
    }

    /// Refuses the database at `path` if it is empty or not there although events were written to it.
    /// [`Self::open`] asks this too; it is for those who would take a missing file for a new one.
    pub fn check_kept(path: &Path) -> Result<(), StoreError> {
        schema::check_kept(path)
    }

    /// Makes a private database that is gone when the store is dropped.
    pub fn in_memory() -> Result<Self, StoreError> {
        let settings = SqliteSettings::default();
        let connection = Connection::open_in_memory()?;
        connection::prepare_writer(&connection, &settings)?;
        schema::fill(&connection)?;
        let slot = Arc::new(Mutex::new(Some(connection)));
        let readers = Readers::of_connection(Arc::clone(&slot), settings.clone());
        Self::start(slot, readers, None, settings)
    }

    fn start(
        slot: Slot,
        readers: Readers,
        home: Option<Home>,
        settings: SqliteSettings,
    ) -> Result<Self, StoreError> {
        let changed = tokio::sync::watch::Sender::new(0);
        let path = home.as_ref().map(|it| it.path.clone());
        let writer = Writer::start(FileSystem {
            slot: Arc::clone(&slot),
            home,
            settings: settings.clone(),
            changed: changed.clone(),
        })?;
        let watch = Watch::new(changed, path.clone(), settings.clone());
        Ok(Self { writer, readers: Arc::new(readers), watch, slot, path, settings })
    }

    /// Copies the database, as it is at one moment, into a new file at `to`. Writers and readers are not blocked.
    pub fn backup(&self, to: &Path) -> Pending<'_, ()> {
        let to = to.to_owned();
        self.apart(move |connection| copy::copy(connection, &to))
    }

    /// Reads everything and returns what is wrong, in words.
    pub fn check(&self) -> Pending<'_, Vec<String>> {
        let path = self.path.clone();
        self.apart(move |connection| {
            let mut problems = check_file(connection, path.as_deref())?;
            problems.extend(maintenance::check_logs(connection)?);
            Ok(problems)
        })
    }

    /// Returns which events at the end of all logs were lost, in words.
    pub fn find_loss(&self) -> Pending<'_, Option<String>> {
        let path = self.path.clone();
        self.apart(move |connection| match path {
            Some(path) => mark::find_loss(&path, connection),
            None => Ok(None),
        })
    }

    /// Returns what is wrong with the file itself, in words. Loading a run says whether its log is
    /// as it was written.
    pub fn check_file(&self) -> Pending<'_, Vec<String>> {
        let path = self.path.clone();
        self.apart(move |connection| check_file(connection, path.as_deref()))
    }

    /// Returns some runs, the oldest first, each with the number to go on after.
    pub fn runs(&self, after: u64, count: u32) -> Pending<'_, Vec<(u64, RunId)>> {
        self.scan(move |connection| maintenance::runs(connection, after, count))
    }

    /// Returns the runs that have events and are in no list.
    pub fn unlisted(&self) -> Pending<'_, Vec<RunId>> {
        self.apart(maintenance::unlisted)
    }

    /// Returns how much there is.
    pub fn figures(&self) -> Pending<'_, Figures> {
        Box::pin(async { self.readers.read(Span::Point, maintenance::figures) })
    }

    /// Returns what the steady clock shows when a machine, which booted as `boot`, has been up for
    /// nothing at all. The first process after a boot sets it, by the wall clock.
    pub fn anchor(
        &self,
        boot: &str,
        uptime: Duration,
        wall: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let known = self.readers.read(Span::Point, |it| Ok(clock::find(it, boot)?))?;
        if let Some(known) = known {
            return Ok(known);
        }
        let slot = self.slot.lock();
        let connection = slot.as_ref().ok_or(StoreError::Busy)?;
        Ok(clock::anchor(connection, boot, uptime, wall)?)
    }

    /// Returns how far the wall clocks of those who wrote since `since` were from the steady clock;
    /// `None` if nothing was written.
    pub fn clock_spread(&self, since: Timestamp) -> Pending<'_, Option<Spread>> {
        Box::pin(async move { self.readers.read(Span::Point, |it| Ok(clock::spread(it, since)?)) })
    }

    /// Does long work by a connection of its own, if there can be more than one.
    fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Pending<'_, T> {
        let (readers, settings) = (Arc::clone(&self.readers), self.settings.clone());
        let path = self.path.clone();
        Box::pin(off_thread(move || match path {
            None => readers.read(Span::Scan, work),
            Some(path) => work(&connection::open_reader(&path, &settings)?),
        }))
    }

    /// Reads something that may take a while.
    fn scan<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Pending<'_, T> {
        let readers = Arc::clone(&self.readers);
        Box::pin(off_thread(move || readers.read(Span::Scan, |it| at_one_moment(it, read))))
    }

    /// Has the rest indexed, so that a search finds everything that was answered before it, and
    /// returns the position that it should reach.
    async fn catch_up(&self) -> Result<u64, StoreError> {
        let newest = self.readers.read(Span::Point, |it| Ok(row::newest(it)?))?;
        let progress = self.readers.read(Span::Point, |it| Ok(index::progress(it)?))?;
        if newest <= progress.indexed {
            return Ok(newest);
        }
        // Another process may hold the lock for long. Then what is indexed must do.
        match timeout(self.settings.search_wait_max, self.index_to(newest, progress.indexed)).await
        {
            Ok(Ok(())) | Ok(Err(StoreError::Busy | StoreError::Full)) | Err(_) => Ok(newest),
            Ok(Err(error)) => Err(error),
        }
    }

    async fn index_to(&self, newest: u64, mut indexed: u64) -> Result<(), StoreError> {
        while indexed < newest {
            let before = indexed;
            indexed = self.writer.index().await?;
            if indexed <= before {
                return Err(StoreError::Database("the search index does not move".to_owned()));
            }
        }
        Ok(())
    }
}

impl Store for SqliteStore {
    fn append(&self, append: Append) -> Pending<'_, ()> {
        Box::pin(async {
            let prepared = Prepared::new(append)?;
            self.writer.write(Write::Append(Box::new(prepared))).await.map(drop)
        })
    }

    fn load(&self, run: RunId, after: Length) -> Pending<'_, Option<Log>> {
        Box::pin(async move {
            self.readers.read(Span::Point, |it| match log::find_unchanged(it, run, after)? {
                Some(log) => Ok(Some(log)),
                None => at_one_moment(it, |it| log::load(it, run, after)),
            })
        })
    }

    fn find_request<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Request>> {
        Box::pin(
            async move { self.readers.read(Span::Point, |it| Ok(request::find(it, project, id)?)) },
        )
    }

    fn find_answer<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Answer>> {
        Box::pin(async move {
            self.readers.read(Span::Point, |it| Ok(request::find_answer(it, project, id)?))
        })
    }

    fn find_definition<'a>(&'a self, digest: &'a str) -> Pending<'a, Option<String>> {
        Box::pin(async move {
            self.readers.read(Span::Point, |connection| {
                let mut statement = connection
                    .prepare_cached("SELECT source FROM definitions WHERE digest = ?1")?;
                Ok(statement.query_row(params![digest], |row| row.get(0)).optional()?)
            })
        })
    }

    fn list(&self, filter: Filter) -> Pending<'_, Listing> {
        self.scan(move |connection| list::list(connection, &filter))
    }

    fn touch(&self, touch: Touch) -> Pending<'_, bool> {
        Box::pin(async {
            let written = self.writer.write(Write::Touch(touch)).await?;
            Ok(written == Written::Touched(true))
        })
    }

    fn delete(&self, deletion: Deletion) -> Pending<'_, ()> {
        Box::pin(async { self.writer.write(Write::Delete(deletion)).await.map(drop) })
    }

    fn files(&self, filter: FileFilter) -> Pending<'_, Vec<(RunId, FileMark)>> {
        self.scan(move |connection| file::files(connection, &filter))
    }

    fn search(&self, search: Search) -> Pending<'_, Hits> {
        Box::pin(async move {
            let newest = self.catch_up().await?;
            self.scan(move |connection| {
                let hits = search::search(connection, &search)?;
                let indexed = index::progress(connection)?.indexed;
                Ok(Hits { hits, pending: newest.saturating_sub(indexed) })
            })
            .await
        })
    }

    fn tail(&self, after: u64, count: u32) -> Pending<'_, Vec<Tailed>> {
        self.scan(move |connection| tail(connection, after, count))
    }

    fn changed(&self) -> Receiver<u64> {
        self.watch.subscribe()
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.watch.stop();
        self.writer.stop();
        self.readers.close();
        // The writer's connection goes last: the last one of all empties the write-ahead log.
        *self.slot.lock() = None;
    }
}

fn check_file(connection: &Connection, path: Option<&Path>) -> Result<Vec<String>, StoreError> {
    let mut problems = maintenance::check_file(connection)?;
    if let Some(path) = path {
        problems.extend(mark::find_loss(path, connection)?);
    }
    Ok(problems)
}

/// Lets a thread that may block do it, if there is one.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match Handle::try_current() {
        Ok(runtime) => runtime
            .spawn_blocking(work)
            .await
            .unwrap_or_else(|error| Err(StoreError::Database(format!("a read failed: {error}")))),
        Err(_) => work(),
    }
}

fn tail(connection: &Connection, after: u64, count: u32) -> Result<Vec<Tailed>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT pos, run, seq FROM events WHERE ?1 < pos ORDER BY pos LIMIT ?2")?;
    let mut rows = statement.query(params![int(after), count])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (position, run) = (number(row.get(0)?), row::run(row, 1)?);
        events.push(Tailed { position, run, seq: number(row.get(2)?) });
    }
    Ok(events)
}
