//! A circuit breaker: an endpoint that keeps failing is not asked for a while, except for one trial
//! now and then.

use std::time::Duration;

use tokio::time::Instant;

/// How many tries in a row may fail before the endpoint is left alone.
const FAILURES_MAX: u32 = 5;
/// How long it is left alone.
const REST: Duration = Duration::from_secs(30);

/// What is known of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    rests_until: Option<Instant>,
}

impl Breaker {
    /// Lets a try through, or says for how long none is.
    pub(super) fn check(&mut self, now: Instant) -> Result<(), Duration> {
        match self.rests_until {
            Some(until) if now < until => Err(until - now),
            Some(_) => {
                // This try is the trial; others wait for its result.
                self.rests_until = Some(now + REST);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records the result of a try.
    pub(super) fn note(&mut self, is_fine: bool, now: Instant) {
        if is_fine {
            *self = Self::default();
            return;
        }
        self.failures += 1;
        if FAILURES_MAX <= self.failures {
            self.rests_until = Some(now + REST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_after_failures_in_a_row_then_lets_one_through() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 1..FAILURES_MAX {
            breaker.note(false, start);
            assert_eq!(breaker.check(start), Ok(()));
        }
        breaker.note(false, start);
        assert_eq!(breaker.check(start), Err(REST));
        let later = start + REST;
        assert_eq!(breaker.check(later), Ok(()), "one is let through");
        assert_eq!(breaker.check(later), Err(REST), "and only one");
        breaker.note(false, later);
        assert_eq!(breaker.check(later), Err(REST), "it is still away");
        let back = later + REST;
        assert_eq!(breaker.check(back), Ok(()));
        breaker.note(true, back);
        assert_eq!(breaker.check(back), Ok(()));
        assert_eq!(breaker.check(back), Ok(()), "it is back");
    }

    #[test]
    fn an_answer_in_between_makes_it_count_again() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            for _ in 1..FAILURES_MAX {
                breaker.note(false, now);
            }
            breaker.note(true, now);
        }
        assert_eq!(breaker.check(now), Ok(()));
    }
}
