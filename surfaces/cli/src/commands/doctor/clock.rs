//! Whether the clocks of those who wrote to the database agree with each other and with this one.

use std::time::Duration;

use engine::Timestamp;
use runtime::World as _;
use store::{Spread, SqliteStore, StoreError};
use world::RealWorld;

use super::{Finding, State};
use crate::output::text;

/// Clocks that are kept in step differ by less.
const DIFFERENCE_MAX: Duration = Duration::from_secs(5);
/// What was written before is of no interest: perhaps the clock was put right since.
const LOOKED_BACK: Duration = Duration::from_secs(24 * 60 * 60);
const HINT: &str = "have the clock set by NTP (`timedatectl status` tells); leases, time limits and \
                    request ids do not depend on it, but the times in the history do";

/// Compares the wall clock with what was written.
pub(super) async fn look(store: &SqliteStore, world: &RealWorld) -> Finding {
    let (wall, steady) = (world.now(), world.steady());
    let since = Timestamp(steady.0.saturating_sub(Timestamp(0).after(LOOKED_BACK).0));
    let spread: Result<Option<Spread>, StoreError> = store.clock_spread(since).await;
    match spread {
        Err(error) => Finding::new("clock", State::Wrong, error.to_string()),
        Ok(_) if world.boot().is_none() => {
            let text = "only the wall clock: if it is set, leases and time limits move with it";
            Finding::new("clock", State::Fine, text)
        }
        Ok(spread) => judge(wall.0.saturating_sub(steady.0), spread),
    }
}

/// `ahead` is how far the wall clock is ahead of the steady one, in microseconds.
fn judge(ahead: i64, spread: Option<Spread>) -> Finding {
    let Spread { least, most } = spread.unwrap_or(Spread { least: ahead, most: ahead });
    let apart = |one: i64, two: i64| Duration::from_micros(one.abs_diff(two));
    let doubtful = |text: String| Finding::new("clock", State::Doubtful, text).with_hint(HINT);
    let told = |duration: Duration| text::span(duration);
    if ahead < most && DIFFERENCE_MAX < apart(ahead, most) {
        let behind = told(apart(ahead, most));
        return doubtful(format!(
            "the wall clock is {behind} behind what it was for events of the last day: it was set, \
             or another process had another time"
        ));
    }
    if least < ahead && DIFFERENCE_MAX < apart(ahead, least) {
        let before = told(apart(ahead, least));
        return doubtful(format!(
            "the wall clock is {before} ahead of what it was for events of the last day: it was \
             set, the machine was paused, or another process had another time"
        ));
    }
    if DIFFERENCE_MAX < apart(ahead, 0) {
        let moved = told(apart(ahead, 0));
        return doubtful(format!("the wall clock was moved by {moved} since the machine booted"));
    }
    Finding::new("clock", State::Fine, "it has not jumped, and all who wrote had the same time")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn clocks_that_differ_by_more_than_a_little_are_told_of() {
        let spread = |least, most| Some(Spread { least: least * SECOND, most: most * SECOND });
        for (ahead, spread, said) in [
            (0, None, "has not jumped"),
            (2, spread(-1, 1), "has not jumped"),
            (0, spread(0, 691_200), "8d behind"),
            (691_200, spread(0, 0), "8d ahead"),
            (0, spread(-60, 0), "60s ahead"),
            (60, spread(60, 60), "moved by 60s"),
            (-60, None, "moved by 60s"),
        ] {
            let finding = judge(ahead * SECOND, spread);
            assert!(finding.text.contains(said), "{said}: {finding:?}");
            assert_eq!(finding.state == State::Fine, finding.hint.is_none());
        }
    }
}
