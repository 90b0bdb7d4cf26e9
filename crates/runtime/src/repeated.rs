//! Recognizes a request that was made before, and answers it as it was answered then.

use store::{RequestKey, StoreError};

use crate::{
    Chores, ExecuteError, Outcome, Request, Runtime, Target, asked::check_same, commit::Checks,
    fault, outbox::Done,
};

impl Runtime {
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
