//! How far a call has come, for its caller to know whether it can be given up, and how long it
//! takes.
//!
//! ```text
//! open ──► writing ──► written
//!   ▲─────────┘ refused, or someone else was faster
//! ```
//!
//! A call is given up by dropping its future. Before something is written nothing happens then:
//! the store leaves out what nobody waits for. Afterwards it should go on to its end, so that
//! files and chores do not wait for the next call. Time that a call spends with something that
//! has a limit of its own ([`unhurried`]) is not counted: a check, a chore, a language model, a
//! person.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// How long to wait before looking again at a call that has no time left but while it is not
/// counted.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

tokio::task_local! {
    /// The call that this task works on.
    static CALL: Arc<Mutex<Call>>;
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nothing was written for it.
    #[default]
    Open,
    /// The store has been asked to write, and has not answered.
    Writing,
    /// Something is written.
    Written,
}

#[derive(Debug, Default)]
struct Call {
    phase: Phase,
    /// The time that is not counted, and is over.
    uncounted: Duration,
    /// How many times have begun that are not counted, …
    depth: u32,
    /// … and when the first of them did.
    since: Option<Instant>,
}

/// Watches one call.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Mutex<Call>>);

impl Watch {
    /// Works on the call.
    pub async fn over<T>(&self, call: impl Future<Output = T>) -> T {
        CALL.scope(Arc::clone(&self.0), call).await
    }

    /// Returns how far the call has come.
    pub fn phase(&self) -> Phase {
        self.0.lock().phase
    }

    /// Ends when the call has taken `limit` from now on.
    #[expect(clippy::disallowed_methods, reason = "a limit on real time, which nothing simulates")]
    pub async fn overdue(&self, limit: Duration) {
        let begun = Instant::now();
        loop {
            let (uncounted, goes_on) = self.0.lock().uncounted();
            let left = (limit + uncounted).saturating_sub(begun.elapsed());
            if left.is_zero() && !goes_on {
                return;
            }
            sleep(left.max(LOOK_AGAIN)).await;
        }
    }
}

impl Call {
    /// Returns how much time is not counted, and whether that goes on.
    fn uncounted(&self) -> (Duration, bool) {
        let running = self.since.map(|it| it.elapsed());
        (self.uncounted + running.unwrap_or_default(), running.is_some())
    }

    fn end_uncounted(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            (self.uncounted, self.since) = (self.uncounted().0, None);
        }
    }
}

/// Waits for something that has a time limit of its own, without counting the time.
pub async fn unhurried<T>(waiting: impl Future<Output = T>) -> T {
    let Ok(call) = CALL.try_with(Arc::clone) else { return waiting.await };
    {
        let mut call = call.lock();
        call.depth += 1;
        call.since.get_or_insert_with(Instant::now);
    }
    let _uncounted = Uncounted(call);
    waiting.await
}

/// Counts the time again once it is dropped.
struct Uncounted(Arc<Mutex<Call>>);

impl Drop for Uncounted {
    fn drop(&mut self) {
        self.0.lock().end_uncounted();
    }
}

/// Waits for the store to write what a call asks for.
pub(crate) async fn writing<T, E>(write: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let Ok(call) = CALL.try_with(Arc::clone) else { return write.await };
    let before = call.lock().phase;
    // What is written stays so, whatever is written after it.
    if before == Phase::Open {
        call.lock().phase = Phase::Writing;
    }
    let written = write.await;
    call.lock().phase = if written.is_ok() { Phase::Written } else { before };
    written
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        pin::pin,
        task::{Context, Waker},
        time::Duration,
    };

    use tokio::time::{Instant, sleep};

    use super::{Phase, Watch, unhurried, writing};

    fn phase_after<E>(write: impl Future<Output = Result<(), E>>) -> Phase {
        let watch = Watch::default();
        let mut call = pin!(watch.over(writing(write)));
        drop(call.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        watch.phase()
    }

    #[test]
    fn a_call_is_written_once_the_store_says_so() {
        assert_eq!(Watch::default().phase(), Phase::Open);
        assert_eq!(phase_after(pending::<Result<(), ()>>()), Phase::Writing);
        assert_eq!(phase_after(ready(Err(()))), Phase::Open);
        assert_eq!(phase_after(ready(Ok::<(), ()>(()))), Phase::Written);
    }

    #[test]
    fn what_is_written_stays_so_while_more_is_written() {
        let watch = Watch::default();
        let mut call = pin!(watch.over(async {
            assert_eq!(writing(ready(Ok::<(), ()>(()))).await, Ok(()));
            writing(pending::<Result<(), ()>>()).await
        }));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(watch.phase(), Phase::Written);
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "the clock is tokio's own, and paused")]
    async fn time_with_a_limit_of_its_own_is_not_counted() {
        let (begun, watch) = (Instant::now(), Watch::default());
        let call = watch.over(async {
            sleep(Duration::from_secs(2)).await;
            unhurried(unhurried(sleep(Duration::from_secs(100)))).await;
            sleep(Duration::from_secs(1_000)).await;
        });
        tokio::select! {
            () = call => unreachable!("it takes too long"),
            () = watch.overdue(Duration::from_secs(10)) => {}
        }
        assert_eq!(begun.elapsed().as_secs(), 110);
    }
}
