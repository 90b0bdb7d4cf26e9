//! Chance that can be repeated: everything follows from one number.

/// A source of numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Returns the seed of this run: `MILEPOST_TEST_SEED`, to repeat a failure, else a new one.
#[expect(clippy::disallowed_methods, reason = "a test has no configuration but this")]
pub(crate) fn seed() -> u64 {
    let given = std::env::var("MILEPOST_TEST_SEED").ok().and_then(|it| it.parse().ok());
    given.unwrap_or_else(|| u64::from(std::process::id()))
}
