//! The one thread that writes. It commits everything that waits in one transaction.
//!
//! While one commit goes to disk, the next batch gathers by itself, so no caller waits for a
//! batch to fill. A caller is answered after the commit, which waits for the disk unless everything in it
//! may be lost. When nothing comes in, the thread fills the search index.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process, slice,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::{Connection, FileControl};
use tokio::sync::{oneshot, watch::Sender};
use tracing::{debug, error, warn};

use super::{
    batch::{Batch, Op, Reply},
    connection::{Slot, open_writer, set_synchronous},
    error, index,
    mark::Marker,
    place::{Place, gone},
    request, schema,
    settings::{SqliteSettings, Synchronous},
    wal::{self, Tending},
    watch,
    write::{Failure, Write, Written},
};
use crate::StoreError;

/// With this many events not indexed, the writer no longer waits for a pause.
const LAG_MAX: u64 = 256;
/// A batch of at most this many leaves time for other things.
const BATCH_SMALL: usize = 8;

/// The way to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once the store is being dropped.
    queue: Option<SyncSender<Op>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread needs.
#[derive(Debug)]
pub(super) struct FileSystem {
    pub(super) slot: Slot,
    /// `None` for a database in memory, which cannot be opened again.
    pub(super) home: Option<Home>,
    pub(super) settings: SqliteSettings,
    pub(super) changed: Sender<u64>,
}

/// Where a database lies.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) path: PathBuf,
    place: Place,
    marker: Marker,
}

impl Home {
    /// Notes where the database is that was just opened.
    pub(super) fn take(path: &Path, connection: &Connection) -> Result<Self, StoreError> {
        let place = Place::take(path)?;
        check_handle(connection, path)?;
        let marker = Marker::open(path, connection)?;
        Ok(Self { path: path.to_owned(), place, marker })
    }

    /// Opens the database again. It must be the same one.
    fn reopen(&mut self, settings: &SqliteSettings) -> Result<Connection, StoreError> {
        let connection = open_checked(&self.path, settings)?;
        let place = Place::take(&self.path)?;
        if !place.has_same_database(&self.place) {
            return Err(gone(&self.path));
        }
        self.place = place;
        Ok(connection)
    }
}

impl FileSystem {
    fn check_place(&self) -> Result<(), Failure> {
        let moved = self.home.as_ref().and_then(|it| it.place.find_moved());
        moved.map_or(Ok(()), |moved| Err(Failure::Refused(moved.into())))
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(file_system: FileSystem) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::sync_channel(file_system.settings.queue_max.max(1));
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                Thread {
                    file_system,
                    indexing: Indexing::Later,
                    newest: 0,
                    appended: 0,
                    indexed: 0,
                    tending: Tending::default(),
                }
                .run(&waiting);
            })
            .map_err(|error| StoreError::Database(format!("no thread to write: {error}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Writes something, and waits until it is on disk.
    pub(super) async fn write(&self, write: Write) -> Result<Written, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Op::Write(write, reply))?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Indexes some events.
    pub(super) async fn index(&self) -> Result<u64, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Op::Index(reply))?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    fn send(&self, op: Op) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.try_send(op).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy,
            TrySendError::Disconnected(_) => stopped(),
        })
    }

    /// Waits until everything that was asked is done.
    pub(super) fn stop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the writing thread panicked");
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Database("the writing thread has stopped".to_owned())
}

/// When to index next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indexing {
    /// As soon as there is a pause.
    Later,
    /// As soon as nothing waits.
    Now,
    /// Not before something is written.
    Done,
}

struct Thread {
    file_system: FileSystem,
    indexing: Indexing,
    /// The position of the newest event that this thread wrote.
    newest: u64,
    /// How many appends this thread has written.
    appended: u64,
    /// The position up to which events were indexed when this thread last looked.
    indexed: u64,
    tending: Tending,
}

impl Thread {
    fn run(mut self, queue: &Receiver<Op>) {
        while let Some(first) = self.next(queue) {
            let batch = Batch::gather(first, queue);
            let count = batch.writes.len();
            self.write_all(&batch.writes, batch.replies);
            for reply in batch.indexes {
                answer(reply, self.index_some());
            }
            if count <= BATCH_SMALL && LAG_MAX < self.newest.saturating_sub(self.indexed) {
                drop(self.index_some());
            }
            self.tend();
        }
        if let (Some(home), Some(connection)) =
            (&self.file_system.home, self.file_system.slot.lock().as_ref())
        {
            wal::finish(connection);
            home.marker.sync();
        }
    }

    /// Keeps the write-ahead log short. Everyone was answered before.
    fn tend(&mut self) {
        let mut slot = self.file_system.slot.lock();
        let (Some(connection), Some(_)) = (slot.as_mut(), &self.file_system.home) else { return };
        if let Err(error) = self.tending.tend(connection, &self.file_system.settings) {
            debug!("the write-ahead log was not looked after: {error}");
        }
    }

    /// Waits for something to do, and indexes meanwhile. `None`: the store is being dropped.
    fn next(&mut self, queue: &Receiver<Op>) -> Option<Op> {
        loop {
            let wait = match self.indexing {
                Indexing::Done => return queue.recv().ok(),
                Indexing::Later => self.file_system.settings.index_idle,
                Indexing::Now => Duration::ZERO,
            };
            match queue.recv_timeout(wait) {
                Ok(op) => return Some(op),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    drop(self.index_some());
                    self.tend();
                }
            }
        }
    }

    fn write_all(&mut self, writes: &[Write], replies: Vec<Reply<Written>>) {
        if writes.is_empty() {
            return;
        }
        let outcomes = self.write(writes, &replies);
        for outcome in &outcomes {
            if let Ok(Written::Events(position)) = outcome {
                self.newest = self.newest.max(*position);
                self.appended += 1;
                self.indexing = Indexing::Later;
            }
        }
        if let Some(home) = &mut self.file_system.home {
            home.marker.note(self.newest);
        }
        watch::tell(&self.file_system.changed, self.newest);
        if self.file_system.settings.dies_after.is_some_and(|it| it <= self.appended) {
            process::abort();
        }
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            answer(reply, outcome);
        }
    }

    fn write(
        &mut self,
        writes: &[Write],
        replies: &[Reply<Written>],
    ) -> Vec<Result<Written, StoreError>> {
        match self.attempt(writes, replies) {
            Ok(outcomes) => outcomes,
            // One of them cannot be written. The others must not suffer for it.
            Err(Failure::Broken(_)) if 1 < writes.len() => {
                let each = writes.iter().zip(replies);
                each.map(|(write, reply)| self.write_alone(write, reply)).collect()
            }
            Err(Failure::Refused(error) | Failure::Broken(error) | Failure::Fatal(error)) => {
                writes.iter().map(|_| Err(error.clone())).collect()
            }
        }
    }

    fn write_alone(
        &mut self,
        write: &Write,
        reply: &Reply<Written>,
    ) -> Result<Written, StoreError> {
        match self.attempt(slice::from_ref(write), slice::from_ref(reply)) {
            Ok(mut outcomes) => outcomes.pop().unwrap_or_else(|| Err(stopped())),
            Err(Failure::Refused(error) | Failure::Broken(error) | Failure::Fatal(error)) => {
                Err(error)
            }
        }
    }

    /// Writes all in one transaction, or nothing.
    fn attempt(
        &mut self,
        writes: &[Write],
        replies: &[Reply<Written>],
    ) -> Result<Vec<Result<Written, StoreError>>, Failure> {
        self.connected(|connection, file_system| {
            let outcomes = transact(connection, writes, replies, file_system)?;
            // A write into a file that was removed must not be acknowledged.
            file_system.check_place()?;
            Ok(outcomes)
        })
    }

    /// Indexes some events, and decides when to continue.
    fn index_some(&mut self) -> Result<u64, StoreError> {
        match self
            .connected(|connection, file_system| index::index(connection, &file_system.settings))
        {
            Ok(progress) => {
                self.indexed = progress.indexed;
                self.indexing = if progress.is_done { Indexing::Done } else { Indexing::Now };
                Ok(progress.indexed)
            }
            Err(Failure::Refused(error) | Failure::Broken(error) | Failure::Fatal(error)) => {
                warn!("the search index could not be filled: {error}");
                // The next write or search tries again.
                self.indexing = Indexing::Done;
                Err(error)
            }
        }
    }

    /// Works with the connection, opening it if the last one was given up. Whatever goes wrong,
    /// nothing half done is left in it.
    fn connected<T>(
        &mut self,
        work: impl FnOnce(&Connection, &FileSystem) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let slot = Arc::clone(&self.file_system.slot);
        let mut slot = slot.lock();
        let file_system = &mut self.file_system;
        if let Some(home) = file_system.home.as_mut().filter(|_| slot.is_none()) {
            *slot = Some(home.reopen(&file_system.settings).map_err(Failure::Refused)?);
        }
        let connection = slot.as_ref().ok_or_else(|| Failure::Refused(stopped()))?;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(connection, file_system)));
        let outcome = outcome.unwrap_or_else(|_| {
            Err(Failure::Fatal(StoreError::Database("the writer panicked".to_owned())))
        });
        let failure = match outcome {
            Ok(done) => return Ok(done),
            Err(failure) => undo(connection, failure),
        };
        let Some(home) = &file_system.home else { return Err(failure) };
        if let Some(moved) = home.place.find_moved() {
            // Opened again, it would be another database. What is only in a log without a name is
            // saved.
            if moved.is_missing_log() {
                wal::finish(connection);
            }
            return Err(Failure::Refused(moved.into()));
        }
        if let Failure::Fatal(error) = &failure {
            error!("a write failed, the database is opened again: {error}");
            *slot = None;
        }
        Err(failure)
    }
}

fn answer<T>(reply: Reply<T>, outcome: Result<T, StoreError>) {
    // Anyone who no longer waits for the answer does not need it.
    drop(reply.send(outcome));
}

fn open_checked(path: &Path, settings: &SqliteSettings) -> Result<Connection, StoreError> {
    let connection = open_writer(path, settings)?;
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(connection) } else { Err(StoreError::Damaged(verdict)) }
}

/// Leaves no transaction open. If that fails too, so has the connection.
fn undo(connection: &Connection, failure: Failure) -> Failure {
    if connection.is_autocommit() {
        return failure;
    }
    match connection.execute_batch("ROLLBACK") {
        Ok(()) => failure,
        Err(error) => Failure::Fatal(error.into()),
    }
}

/// Writes all in one transaction, which is on disk afterwards if anything in it must not be lost.
fn transact(
    connection: &Connection,
    writes: &[Write],
    replies: &[Reply<Written>],
    file_system: &FileSystem,
) -> Result<Vec<Result<Written, StoreError>>, Failure> {
    let commit = || commit(connection, writes, replies, file_system);
    if writes.iter().all(Write::is_dispensable) {
        unsynced(connection, &file_system.settings, commit)
    } else {
        commit()
    }
}

/// Does `work` without waiting for the disk: what it commits may be gone with the power. Whatever
/// is written afterwards waits again.
pub(super) fn unsynced<T>(
    connection: &Connection,
    settings: &SqliteSettings,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    set_synchronous(connection, Synchronous::Normal)?;
    // Within a transaction it could not be set back.
    let done = work().map_err(|failure| undo(connection, failure));
    // A connection that would not wait must not be used again.
    let fatal = |error: rusqlite::Error| Failure::Fatal(error.into());
    set_synchronous(connection, settings.synchronous).map_err(fatal)?;
    done
}

fn commit(
    connection: &Connection,
    writes: &[Write],
    replies: &[Reply<Written>],
    file_system: &FileSystem,
) -> Result<Vec<Result<Written, StoreError>>, Failure> {
    begin(connection)?;
    let mut outcomes = Vec::with_capacity(writes.len());
    let (mut requests, mut requested_at) = (0, None);
    for (write, reply) in writes.iter().zip(replies) {
        // The caller gave up while this waited for the lock, and must not be surprised by it.
        if reply.is_closed() {
            outcomes.push(Err(StoreError::Busy));
            continue;
        }
        match write.apply(connection) {
            Ok(written) => {
                requests += usize::from(write.requested_at().is_some());
                requested_at = requested_at.max(write.requested_at());
                outcomes.push(Ok(written));
            }
            Err(Failure::Refused(error)) => outcomes.push(Err(error)),
            Err(failure) => return Err(failure),
        }
    }
    if let Some(at) = requested_at {
        request::forget(connection, &file_system.settings, at, requests)?;
    }
    file_system.check_place()?;
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(outcomes)
}

/// Refuses a connection whose file is not the one at its path.
#[cfg(unix)]
fn check_handle(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mut has_moved = 0;
    let asked = connection.file_control(None::<&str>, FileControl::HasMoved(&mut has_moved));
    if asked.is_ok() && has_moved != 0 { Err(gone(path)) } else { Ok(()) }
}

#[cfg(not(unix))]
fn check_handle(_: &Connection, _: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Takes the lock for writing now, so that what is read from here on stays true.
pub(super) fn begin(connection: &Connection) -> Result<(), Failure> {
    let begun = connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut it| it.execute([]));
    match begun {
        // A later release may have come to the file since it was opened.
        Ok(_) => schema::check_current(connection).map_err(Failure::Refused),
        Err(error) if error::is_fatal(&error) => Err(Failure::Fatal(error.into())),
        // Nothing was begun. Trying one by one would only wait as long again.
        Err(error) => Err(Failure::Refused(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use engine::{RunId, Timestamp};

    use super::*;
    use crate::{Heartbeat, Touch, sqlite::connection::prepare_writer};

    /// What a commit waits for, as `SQLite` numbers it.
    const NORMAL: u32 = 1;
    const FULL: u32 = 2;

    fn level(connection: &Connection) -> u32 {
        connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap()
    }

    fn opened(folder: &Path, settings: &SqliteSettings) -> Connection {
        let connection = Connection::open(folder.join("test.db")).unwrap();
        prepare_writer(&connection, settings).unwrap();
        connection
    }

    #[test]
    fn only_marks_of_files_may_be_lost() {
        let run = RunId::from_bytes([1; 16]);
        let now = Timestamp(0);
        let beat = Heartbeat { run, generation: 1, now, until: now };
        assert!(Write::Touch(Touch::Files(run, Vec::new())).is_dispensable());
        assert!(!Write::Touch(Touch::Lease(beat)).is_dispensable());
    }

    #[test]
    fn whatever_comes_after_marks_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let settings = SqliteSettings::default();
        let connection = opened(folder.path(), &settings);
        let refused = || Failure::Refused(StoreError::Busy);
        for _ in 0..3 {
            let during = unsynced(&connection, &settings, || Ok(level(&connection))).unwrap();
            assert_eq!((during, level(&connection)), (NORMAL, FULL));
            unsynced::<()>(&connection, &settings, || Err(refused())).unwrap_err();
            assert_eq!(level(&connection), FULL);
            // Left within a transaction.
            let broken = unsynced::<()>(&connection, &settings, || {
                connection.execute_batch("BEGIN IMMEDIATE").unwrap();
                Err(refused())
            });
            broken.unwrap_err();
            assert!(connection.is_autocommit());
            assert_eq!(level(&connection), FULL);
        }
    }
}
