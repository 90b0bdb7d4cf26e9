//! What the disk can do at best: a block is written into a file that has room for it, and forced to
//! the disk, again and again.

use std::{
    fs::File,
    os::unix::fs::FileExt as _,
    path::Path,
    time::{Duration, Instant},
};

use crate::Measured;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 4096;

/// A file whose blocks are written over.
pub(crate) struct Raw {
    file: File,
    next: u64,
}

impl Raw {
    pub(crate) fn new(folder: &Path) -> Measured<Self> {
        let file = File::create(folder.join("raw"))?;
        let block = vec![0; BLOCK];
        for number in 0..BLOCKS {
            file.write_all_at(&block, number * BLOCK as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file, next: 0 })
    }

    /// Writes one block, and returns how long it took to reach the disk.
    pub(crate) fn write(&mut self) -> Measured<Duration> {
        let block = [7; BLOCK];
        let begun = Instant::now();
        self.file.write_all_at(&block, (self.next % BLOCKS) * BLOCK as u64)?;
        self.file.sync_data()?;
        self.next += 1;
        Ok(begun.elapsed())
    }

    /// Returns how many blocks reach the disk in a second.
    pub(crate) fn rate(&mut self, during: Duration) -> Measured<f64> {
        let (begun, before) = (Instant::now(), self.next);
        while begun.elapsed() < during {
            self.write()?;
        }
        Ok((self.next - before) as f64 / begun.elapsed().as_secs_f64())
    }
}
