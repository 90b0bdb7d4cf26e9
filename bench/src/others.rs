//! How busy the machine is with other things. Figures from a busy machine mean little.

use std::{fs, time::Instant};

/// How many of the kernel's ticks a second has.
const TICKS: f64 = 100.0;

/// A look at the machine, to be compared with a later one.
pub(crate) struct Look {
    at: Instant,
    all: f64,
    own: f64,
}

impl Look {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), all: all_ticks(), own: own_ticks() }
    }

    /// Returns how many cores other processes have kept busy since. Servers of ours count as ours
    /// once they have ended.
    pub(crate) fn others(&self) -> f64 {
        let now = Self::now();
        let ticks = (now.all - self.all) - (now.own - self.own);
        (ticks / TICKS / (now.at - self.at).as_secs_f64()).max(0.0)
    }
}

/// Everything that any process did: user, nice, system, irq and softirq.
fn all_ticks() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let fields: Vec<f64> = line.split_whitespace().skip(1).map(number).collect();
    [0, 1, 2, 5, 6].iter().filter_map(|it| fields.get(*it)).sum()
}

/// What this process and those it waited for did.
fn own_ticks() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the process is in brackets, and may hold anything.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().skip(11).take(4).map(number).sum()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}
