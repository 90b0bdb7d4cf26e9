//! The world of a trial: files are real, in the trial's own folder. Commands count as passed and work
//! in a repository as done, and neither is done.

use std::sync::{Mutex, PoisonError};

use engine::{CheckFact, ChoreOutcome, Fact, GitDeed, Question, RunId, Timestamp};
use runtime::{FileSystem, Found, Held, Looking, World};
use world::{RealWorld, WorldSettings};

/// See the module.
pub(super) struct TrialWorld {
    real: RealWorld,
    /// What would have been run.
    runs: Mutex<Vec<String>>,
}

impl TrialWorld {
    /// Makes a world with the workflows that the settings name, and nothing else of theirs.
    pub(super) fn new(settings: WorldSettings) -> Self {
        let WorldSettings { workflow_dirs, has_builtin, .. } = settings;
        let settings = WorldSettings { workflow_dirs, has_builtin, ..WorldSettings::default() };
        Self { real: RealWorld::new(settings), runs: Mutex::default() }
    }

    /// Returns what would have been run since this was asked last.
    pub(super) fn take_runs(&self) -> Vec<String> {
        std::mem::take(&mut *self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, run: String) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }
}

impl World for TrialWorld {
    fn now(&self) -> Timestamp {
        self.real.now()
    }

    fn steady(&self) -> Timestamp {
        self.real.steady()
    }

    fn new_run(&self) -> RunId {
        self.real.new_run()
    }

    fn look<'a>(
        &'a self,
        folders: (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>> {
        let Question::Check { run, .. } = question else {
            return self.real.look(folders, question);
        };
        self.note(run.join(" "));
        let passed = CheckFact::Ended { exit: 0, output: "not run in a trial".to_owned() };
        Box::pin(async move { Some(Fact::Check(passed)) })
    }

    fn find_workflows(&self) -> Vec<Found> {
        self.real.find_workflows()
    }

    fn sleep(&self, duration: std::time::Duration) -> Looking<'_, ()> {
        self.real.sleep(duration)
    }

    fn do_chore<'a>(
        &'a self,
        _folders: (&'a str, &'a str),
        deed: &'a GitDeed,
        _texts: &'a [(String, String)],
        _held: Option<&'a Held>,
    ) -> Looking<'a, Option<ChoreOutcome>> {
        self.note(deed.describe());
        let detail = "not done in a trial".to_owned();
        let done = ChoreOutcome::Done { detail, warnings: Vec::new(), pushed: None };
        Box::pin(async move { Some(done) })
    }

    fn file_system(&self) -> Option<&dyn FileSystem> {
        self.real.file_system()
    }
}
