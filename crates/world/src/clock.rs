//! The two real clocks: the wall clock, which people read and anyone may set, and a steady one,
//! which no one can set and which all processes of one machine share.

use std::{sync::OnceLock, time::Duration};

use engine::Timestamp;

/// Tells the time.
#[derive(Debug)]
pub(crate) struct Clock {
    /// How far the wall clock is ahead of what the system says, in seconds. For tests.
    ahead_s: i64,
    /// What the steady clock showed when the machine booted.
    at_boot: OnceLock<Timestamp>,
}

/// A boot of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boot {
    /// Differs between boots, machines, and containers whose clocks differ.
    pub id: String,
    /// How long ago it was. Time asleep counts.
    pub uptime: Duration,
}

impl Clock {
    pub(crate) fn new(ahead_s: i64) -> Self {
        Self { ahead_s, at_boot: OnceLock::new() }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one real clock")]
    pub(crate) fn wall(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let micros = i64::try_from(since.map_or(0, |it| it.as_micros())).unwrap_or(i64::MAX);
        Timestamp(micros.saturating_add(self.ahead_s.saturating_mul(1_000_000)))
    }

    pub(crate) fn steady(&self) -> Timestamp {
        let Some(uptime) = uptime() else { return self.wall() };
        let at_boot = || Timestamp(self.wall().0.saturating_sub(Timestamp(0).after(uptime).0));
        self.at_boot.get_or_init(at_boot).after(uptime)
    }

    pub(crate) fn set_steady(&self, at_boot: Timestamp) {
        // What was measured already keeps its beginning.
        let _ = self.at_boot.get_or_init(|| at_boot);
    }
}

impl Boot {
    /// Returns the boot that this process belongs to, where the system tells.
    #[cfg(target_os = "linux")]
    pub(crate) fn look() -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        // Containers may have clocks of their own, by the time namespace that they are in.
        let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
        let id = format!("{} {}", boot.trim(), namespace.display());
        Some(Self { id, uptime: uptime()? })
    }

    /// Nothing is known of it here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn look() -> Option<Self> {
        None
    }
}

#[cfg(target_os = "linux")]
fn uptime() -> Option<Duration> {
    rustix::time::clock_gettime(rustix::time::ClockId::Boottime).try_into().ok()
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn clocks_that_were_set_differently_agree_about_the_steady_time() {
        let (one, two) = (Clock::new(0), Clock::new(8 * 24 * 60 * 60));
        assert!(Duration::from_secs(7 * 24 * 60 * 60) < two.wall().since(one.wall()));
        for clock in [&one, &two] {
            clock.set_steady(Timestamp(5));
            clock.set_steady(Timestamp(6_000_000_000));
        }
        let (before, between, after) = (one.steady(), two.steady(), one.steady());
        assert!(before <= between && between <= after, "{before} {between} {after}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_boot_is_known_again() {
        let (one, two) = (Boot::look().unwrap(), Boot::look().unwrap());
        assert_eq!(one.id, two.id);
        assert!(one.uptime <= two.uptime);
    }
}
