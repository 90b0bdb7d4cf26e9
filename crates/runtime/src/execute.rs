//! Executes one command against one run. A request that was made before is recognized, and answered
//! as it was answered then.

use std::sync::Arc;

use definition::Workflow;
use engine::{Actor, Command, Note, Recorded, Refusal, RunId, Surface};
use store::{RequestKey, StoreError};

use crate::{
    Chores, Fork, Import, RunFile, Runtime, View,
    asked::check_same,
    commit::{Checks, ROUNDS_MAX},
    fault,
    outbox::Done,
};

/// How often a command is decided again because someone else was faster. With eight processes at one
/// run each try has about one chance in eight, so fewer would be too few now and then.
pub(crate) const TRIES_MAX: u32 = 512;

/// What is asked, of which run, by whom.
#[derive(Debug, Clone)]
pub struct Request {
    pub target: Target,
    pub command: Command,
    pub actor: Actor,
    /// The same id with the same content is answered as it was the first time.
    pub request_id: Option<String>,
}

/// Which run is meant.
#[derive(Debug, Clone)]
pub enum Target {
    Run(RunId),
    /// A new run of this workflow.
    New(String),
    /// A new run of a workflow that is handed in, by an id that was known before.
    Given(Arc<Workflow>, RunId),
    /// A copy of a run from some point on. The command settles it.
    Copy(Fork),
    /// A run that comes from elsewhere, with its history. The command settles it.
    Log(Import),
}

impl Request {
    /// Returns what the server itself has to say of a run.
    pub(crate) fn own(run: RunId, command: Command, surface: Surface) -> Self {
        let actor = Actor { surface, ..Actor::default() };
        Self { target: Target::Run(run), command, actor, request_id: None }
    }

    /// Returns everything that is asked for, so that the same request is known again.
    fn content(&self) -> String {
        match &self.target {
            Target::Run(_) | Target::New(_) => format!("{:?} {:?}", self.target, self.command),
            // The id and the key are new with each call.
            Target::Given(workflow, _) => {
                let context = self.command.start().map(|it| (&it.context, &it.vars));
                format!("begin {} {context:?}", workflow.digest.as_str())
            }
            Target::Copy(fork) => format!("fork {} {:?} {:?}", fork.run, fork.point, fork.key),
            Target::Log(import) => format!("import {}", import.run),
        }
    }
}

/// What a command led to.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub view: View,
    pub events: Vec<Recorded>,
    /// The run's file, where it has one.
    pub file: Option<RunFile>,
    /// What came of what the server had to do itself.
    pub chores: Chores,
    /// What the caller should know besides.
    pub notes: Vec<Note>,
    /// Why the run did not go on, although what was said of it was taken.
    pub halted: Option<Refusal>,
}

impl Outcome {
    /// Nothing happened to a run.
    pub(crate) fn unchanged(view: View) -> Self {
        let (events, chores, notes) = (Vec::new(), Chores::default(), Vec::new());
        Self { view, events, file: None, chores, notes, halted: None }
    }
}

/// Why a command led to nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExecuteError {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed.
    #[error("{0}")]
    Store(StoreError),
    /// Others kept appending first.
    #[error("run `{run}` is too busy: gave up after {TRIES_MAX} tries")]
    Busy { run: RunId },
    /// The engine asked without end.
    #[error("the command asked for more than {ROUNDS_MAX} rounds of facts")]
    Endless,
}

impl ExecuteError {
    /// Returns whether the same call may work later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Endless => false,
            Self::Store(error) => error.is_retryable(),
            Self::Busy { .. } => true,
        }
    }

    /// Returns whether the same call may work in a moment, though nobody does anything about it.
    pub fn passes(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Endless => false,
            Self::Store(error) => error.passes(),
            Self::Busy { .. } => true,
        }
    }

    /// Returns what helps.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Store(error) => error.hint(),
            Self::Busy { .. } => StoreError::Busy.hint(),
            Self::Endless => "this is a bug of milepost: please report it".to_owned(),
        }
    }

    /// Returns the stable name that callers match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Busy { .. } => "busy",
            Self::Endless => "bug",
            Self::Store(error) => error.code(),
        }
    }
}

impl Runtime {
    /// Executes a command, and returns once its events are on disk.
    pub async fn execute(&self, request: Request) -> Result<Outcome, ExecuteError> {
        let key = self.next_key(request.request_id.clone(), &request.content())?;
        self.refuse_repeated(&request, key.as_ref()).await?;
        let repeated = self.find_repeated(key.as_ref()).await?;
        let done = match (repeated, &request.target) {
            (Some(outcome), _) => self.finish_repeated(outcome, &request).await?,
            (None, Target::Run(run)) => Box::pin(self.change(*run, &request, key)).await?,
            // What comes from elsewhere was written and told there.
            (None, Target::Log(import)) => {
                return Box::pin(self.import(import, &request)).await;
            }
            // Boxed, as is what comes after it, so that the future of every call stays small.
            (None, _) => Box::pin(self.begin(&request, key)).await?,
        };
        let outcome =
            match self.is_log_alone(&done.outcome.view) && request.command.onward().is_none() {
                true => done.outcome,
                false => Box::pin(self.perform(&request, done)).await?,
            };
        if request.actor.surface == Surface::Cli {
            // The process ends with its answer.
            self.keep_notes().await;
        }
        Ok(outcome)
    }

    /// Changes a run that there is. What was written into its file comes before anything is decided;
    /// and before that, what a process that is gone left undone.
    async fn change(
        &self,
        run: RunId,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Done, ExecuteError> {
        let view = self.load(run).await?;
        if self.is_log_alone(&view) {
            let outcome = self.commit(request, key, Some(view)).await?;
            return Ok(Done { outcome, chores: Some(Chores::default()), notices: Vec::new() });
        }
        let left = self.finish_left(&view).await;
        let (view, file) = self.sync(view).await?;
        let mut notices = file.map(|it| it.notices).unwrap_or_default();
        notices.extend(left);
        match self.commit_after_chores(request, key, view).await {
            Ok((outcome, chores)) => Ok(Done { outcome, chores: Some(chores), notices }),
            Err(error) => {
                // A refusal tells nothing of the file, so the next answer does.
                self.keep_untold(run, notices);
                Err(error)
            }
        }
    }

    /// Refuses again what a call had refused before it made the commit that comes next.
    pub(crate) async fn refuse_repeated(
        &self,
        request: &Request,
        key: Option<&RequestKey>,
    ) -> Result<(), ExecuteError> {
        let (Some(key), Target::Run(run), true) = (key, &request.target, self.is_repeating())
        else {
            return Ok(());
        };
        let seen = self.store.find_request(&self.settings.project, &key.id).await.map_err(fault)?;
        if seen.is_none_or(|it| it.fingerprint == key.fingerprint) {
            return Ok(());
        }
        let view = self.load(*run).await?;
        self.decide(&view, &request.command, &mut Checks::new()).await.map(drop)
    }

    /// Returns what a request with this key led to, if it was seen before.
    pub(crate) async fn find_repeated(
        &self,
        key: Option<&RequestKey>,
    ) -> Result<Option<Outcome>, ExecuteError> {
        let Some(key) = key else { return Ok(None) };
        let seen = self.store.find_request(&self.settings.project, &key.id).await;
        match seen.map_err(fault)? {
            Some(seen) => self.repeat(&seen, key).await.map(Some),
            None => {
                self.note_present();
                Ok(None)
            }
        }
    }

    /// Answers as the first time where the same request was answered meanwhile.
    pub(crate) async fn or_repeated(
        &self,
        outcome: Result<Outcome, ExecuteError>,
        key: Option<&RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        match (outcome, key) {
            (Err(ExecuteError::Store(StoreError::RequestSeen { request, .. })), Some(key)) => {
                self.repeat(&request, key).await
            }
            (outcome, _) => outcome,
        }
    }

    /// Answers a request as it was answered the first time.
    pub(crate) async fn repeat(
        &self,
        seen: &store::Request,
        key: &RequestKey,
    ) -> Result<Outcome, ExecuteError> {
        check_same(key, &seen.fingerprint)?;
        self.note_repeat(seen.run, seen.last);
        let (view, log) = self.load_at(seen.run, Some(seen.last)).await?;
        let events = log.into_iter().filter(|it| seen.first <= it.seq).collect();
        Ok(Outcome { events, ..Outcome::unchanged(view) })
    }

    /// Returns the outcome of a commit that was recognized, and what is to be performed after it.
    pub(crate) async fn finish_repeated(
        &self,
        outcome: Outcome,
        request: &Request,
    ) -> Result<Done, ExecuteError> {
        let is_last = !self.is_repeating() && self.ask.is_some();
        let may_follow =
            !outcome.view.workflow.chores.is_empty() || request.command.onward().is_some();
        if !is_last || !may_follow || matches!(request.target, Target::Copy(_)) {
            return Ok(Done { outcome, chores: None, notices: Vec::new() });
        }
        // The server's own work comes after a commit, and may not be done; and what the run could
        // not go on for then may be repaired.
        self.note_present();
        let view = self.load(outcome.view.state.run).await?;
        let (outcome, chores) = (Outcome { view, ..outcome }, Some(Chores::default()));
        Ok(Done { outcome, chores, notices: Vec::new() })
    }
}
