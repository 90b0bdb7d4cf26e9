//! Stops a call, as long as nothing of it is written.
//!
//! ```text
//! open ──commit()──► committing      the call goes on to its end
//!   └────stop()────► stopped         nothing of it is ever written
//! ```
//!
//! Whoever comes first decides, so no call is written after its caller was told that it stopped.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

const OPEN: u8 = 0;
const COMMITTING: u8 = 1;
const STOPPED: u8 = 2;

tokio::task_local! {
    /// How far the call has come that this task works on.
    static CALL: Arc<AtomicU8>;
}

/// Stops one call.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<AtomicU8>);

impl Stopper {
    /// Works on a call that can be stopped until it writes for the first time.
    pub async fn watch<T>(&self, call: impl Future<Output = T>) -> T {
        CALL.scope(Arc::clone(&self.0), call).await
    }

    /// Stops the call unless it has begun to write; returns whether it is stopped. The future of
    /// a call that was stopped must be dropped: it never ends.
    pub fn stop(&self) -> bool {
        let stopped = self.0.compare_exchange(OPEN, STOPPED, Ordering::SeqCst, Ordering::SeqCst);
        stopped != Err(COMMITTING)
    }
}

/// Waits for ever where the call was stopped. From here on it cannot be stopped.
pub(crate) async fn commit() {
    let begin = |call: &Arc<AtomicU8>| {
        call.compare_exchange(OPEN, COMMITTING, Ordering::SeqCst, Ordering::SeqCst)
    };
    // Outside of a call nobody can stop anything.
    if CALL.try_with(begin) == Ok(Err(STOPPED)) {
        pending::<()>().await;
    }
}

/// Waits for ever where the call was stopped. Its own commit is still to come.
pub(crate) async fn commit_aside() {
    if CALL.try_with(|call| call.load(Ordering::SeqCst)) == Ok(STOPPED) {
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::{Stopper, commit, commit_aside};

    fn poll(call: impl Future<Output = ()>) -> Poll<()> {
        pin!(call).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_call_that_was_stopped_does_not_write() {
        let stopper = Stopper::default();
        assert!(stopper.stop());
        assert_eq!(poll(stopper.watch(commit())), Poll::Pending);
        assert!(stopper.stop());
    }

    #[test]
    fn a_call_that_writes_is_not_stopped_any_more() {
        let stopper = Stopper::default();
        assert_eq!(
            poll(stopper.watch(async {
                commit().await;
                commit().await
            })),
            Poll::Ready(())
        );
        assert!(!stopper.stop());
    }

    #[test]
    fn a_call_can_be_stopped_after_what_others_did_was_written() {
        let stopper = Stopper::default();
        assert_eq!(poll(stopper.watch(commit_aside())), Poll::Ready(()));
        assert!(stopper.stop());
        assert_eq!(poll(stopper.watch(commit_aside())), Poll::Pending);
    }

    #[test]
    fn outside_of_a_call_everything_is_written() {
        assert_eq!(poll(commit()), Poll::Ready(()));
    }
}
