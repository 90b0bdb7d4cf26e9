//! Wakes anyone who waits for something to be appended, by this process or another.
//!
//! The writer tells of its own commits. Those of other processes are found by looking at the
//! file now and then, by a thread that exists only while someone watches.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::watch;
use tracing::warn;

use super::{connection::open_reader, row::newest, settings::SqliteSettings};
use crate::StoreError;

/// How often the file is looked at for what other processes wrote, while someone watches.
const POLL_EVERY: Duration = Duration::from_millis(75);

/// Tells watchers that there are events up to `position`.
pub(super) fn tell(changed: &watch::Sender<u64>, position: u64) {
    changed.send_if_modified(|known| {
        let is_new = *known < position;
        *known = position.max(*known);
        is_new
    });
}

/// Looks for what other processes append.
#[derive(Debug)]
pub(super) struct Watch {
    changed: watch::Sender<u64>,
    /// `None`: nobody else can write.
    path: Option<PathBuf>,
    settings: SqliteSettings,
    looking: Arc<Mutex<Option<Looking>>>,
}

/// The thread that looks, while there is one.
#[derive(Debug)]
struct Looking {
    /// Ends the thread when it is dropped.
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// There are no watchers yet.
    pub(super) fn new(
        changed: watch::Sender<u64>,
        path: Option<PathBuf>,
        settings: SqliteSettings,
    ) -> Self {
        Self { changed, path, settings, looking: Arc::default() }
    }

    /// Returns a receiver that is woken by every later append.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        let mut looking = self.looking.lock();
        if looking.is_none()
            && let Some(path) = &self.path
        {
            match self.look(path) {
                Ok(started) => *looking = Some(started),
                // Appends of this process are still told.
                Err(error) => warn!("appends of other processes cannot be watched: {error}"),
            }
        }
        self.changed.subscribe()
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        let looking = self.looking.lock().take();
        if let Some(Looking { stop, thread }) = looking {
            drop(stop);
            drop(thread.join());
        }
    }

    fn look(&self, path: &std::path::Path) -> Result<Looking, StoreError> {
        let connection = open_reader(path, &self.settings)?;
        // What is there now is not news.
        let version = data_version(&connection)?;
        let position = newest(&connection)?;
        self.changed.send_if_modified(|known| {
            *known = position.max(*known);
            false
        });
        let (stop, stopped) = mpsc::channel();
        let look = Look {
            connection,
            version,
            changed: self.changed.clone(),
            looking: Arc::clone(&self.looking),
        };
        let thread = thread::Builder::new()
            .name("store-watch".to_owned())
            .spawn(move || look.run(&stopped))
            .map_err(|error| StoreError::Database(format!("no thread to watch: {error}")))?;
        Ok(Looking { stop, thread })
    }
}

struct Look {
    connection: Connection,
    version: i64,
    changed: watch::Sender<u64>,
    looking: Arc<Mutex<Option<Looking>>>,
}

impl Look {
    fn run(mut self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(POLL_EVERY) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = self.look() {
                warn!("the database could not be watched: {error}");
            }
            // Under the lock no one can subscribe and count on a thread that is about to end.
            let Some(mut looking) = self.looking.try_lock() else {
                continue;
            };
            if self.changed.receiver_count() == 0 {
                *looking = None;
                return;
            }
        }
    }

    fn look(&mut self) -> Result<(), rusqlite::Error> {
        // The version changes with every commit of another connection, whatever it wrote.
        let version = data_version(&self.connection)?;
        if version != self.version {
            tell(&self.changed, newest(&self.connection)?);
            self.version = version;
        }
        Ok(())
    }
}

fn data_version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}
