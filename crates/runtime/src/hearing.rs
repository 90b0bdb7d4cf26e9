//! What is noticed of runs' files while a call is made. It waits for the answer of the call, whether
//! that is a success or a refusal. Where no answer is given, the next call finds it.

use std::sync::Arc;

use engine::RunId;
use parking_lot::Mutex;

use crate::{Runtime, promise::Promises};

/// What was noticed of which run.
pub(crate) type Heard = Arc<Mutex<Vec<(RunId, String)>>>;

/// What the answer of a call is to tell.
pub struct Hearing {
    heard: Heard,
    promises: Arc<Promises>,
}

impl Hearing {
    /// Returns what an answer is to tell besides what it tells already.
    pub fn take(&self, is_told: impl Fn(&str) -> bool) -> Vec<String> {
        let heard = std::mem::take(&mut *self.heard.lock());
        let mut untold: Vec<String> = Vec::new();
        for (_, notice) in heard {
            if !is_told(&notice) && !untold.contains(&notice) {
                untold.push(notice);
            }
        }
        untold
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        for (run, notice) in self.heard.lock().drain(..) {
            self.promises.keep_untold(run, vec![notice]);
        }
    }
}

impl Runtime {
    /// Returns a runtime for one call, and what is noticed while that is made.
    pub fn hear(&self) -> (Self, Hearing) {
        let heard = Heard::default();
        let hearing = Hearing { heard: Arc::clone(&heard), promises: Arc::clone(&self.promises) };
        (Self { heard: Some(heard), ..self.clone() }, hearing)
    }

    /// Has the answer of the call tell what was noticed, in every dialect.
    pub(crate) fn note_heard(&self, run: RunId, notices: &[String]) {
        if let Some(heard) = &self.heard {
            heard.lock().extend(notices.iter().map(|it| (run, it.clone())));
        }
    }

    /// Keeps what was noticed of a run's file for the next answer about it, unless the answer of
    /// this call tells it.
    pub(crate) fn keep_untold(&self, run: RunId, mut notices: Vec<String>) {
        if let Some(heard) = &self.heard {
            let heard = heard.lock();
            notices.retain(|it| !heard.iter().any(|(_, heard)| heard == it));
        }
        self.promises.keep_untold(run, notices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hearing(promises: &Arc<Promises>, run: RunId) -> Hearing {
        let heard = ["torn", "kept", "torn"].map(|it| (run, it.to_owned()));
        let heard = Arc::new(Mutex::new(heard.to_vec()));
        Hearing { heard, promises: Arc::clone(promises) }
    }

    #[test]
    fn what_an_answer_does_not_carry_stays_untold() {
        let (promises, run) = (Arc::new(Promises::default()), RunId::from_bytes([1; 16]));
        let told = hearing(&promises, run);
        assert_eq!(told.take(|it| it == "kept"), ["torn"]);
        drop(told);
        assert!(promises.take_untold(run).is_empty());
        drop(hearing(&promises, run));
        assert_eq!(promises.take_untold(run), ["torn", "kept"]);
    }
}
