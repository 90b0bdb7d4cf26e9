//! A store whose process dies right after a commit, before anyone hears of it. Only in debug builds,
//! where tests ask for it: nothing else hits that moment for certain.

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use engine::RunId;
use store::{
    Answer, Append, FileFilter, FileMark, Filter, Hits, Length, Listing, Log, Pending, Request,
    Search, Store, Tailed, Touch,
};
use tokio::sync::watch;

/// The variable that says after which commit the process dies.
const VARIABLE: &str = "TEST_DIES_AFTER_COMMIT";

/// Returns the store, or one whose process dies if that is asked for.
#[expect(clippy::disallowed_methods, reason = "it is not a setting, and not in a release")]
pub(crate) fn wrapped(store: Arc<dyn Store>) -> Arc<dyn Store> {
    match std::env::var(VARIABLE).ok().and_then(|it| it.parse().ok()) {
        Some(last) => Arc::new(Abrupt { inner: store, last, done: AtomicU64::new(0) }),
        None => store,
    }
}

struct Abrupt {
    inner: Arc<dyn Store>,
    last: u64,
    done: AtomicU64,
}

impl Store for Abrupt {
    fn append(&self, append: Append) -> Pending<'_, ()> {
        Box::pin(async move {
            self.inner.append(append).await?;
            if self.done.fetch_add(1, Ordering::SeqCst) + 1 == self.last {
                process::abort();
            }
            Ok(())
        })
    }

    fn load(&self, run: RunId, after: Length) -> Pending<'_, Option<Log>> {
        self.inner.load(run, after)
    }

    fn find_request<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Request>> {
        self.inner.find_request(project, id)
    }

    fn find_answer<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Answer>> {
        self.inner.find_answer(project, id)
    }

    fn find_definition<'a>(&'a self, digest: &'a str) -> Pending<'a, Option<String>> {
        self.inner.find_definition(digest)
    }

    fn list(&self, filter: Filter) -> Pending<'_, Listing> {
        self.inner.list(filter)
    }

    fn touch(&self, touch: Touch) -> Pending<'_, bool> {
        self.inner.touch(touch)
    }

    fn files(&self, filter: FileFilter) -> Pending<'_, Vec<(RunId, FileMark)>> {
        self.inner.files(filter)
    }

    fn search(&self, search: Search) -> Pending<'_, Hits> {
        self.inner.search(search)
    }

    fn tail(&self, after: u64, count: u32) -> Pending<'_, Vec<Tailed>> {
        self.inner.tail(after, count)
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.inner.changed()
    }
}
