//! Begins runs: new ones, copies of others, and those that come from elsewhere with their history.

mod files;

use std::sync::Arc;

use definition::{Digest, Workflow};
use engine::{
    Command, Event, Fact, FileFact, ForkPoint, Question, Recorded, RunId, RunState, Standing,
    StartRun, Timestamp, fold, fork, summary,
};
use serde_json::{Map, Value};
use store::{Append, RequestKey, StoreError};

use crate::{
    Appended, Chores, ExecuteError, Outcome, Request, Runtime, Target, View,
    commit::{Checks, definition_of, record, refuse_taken_key},
    fault,
    outbox::Done,
};

/// What to copy.
#[derive(Debug, Clone)]
pub struct Fork {
    pub run: RunId,
    pub point: ForkPoint,
    /// The copy's own key, where the original's is taken.
    pub key: Option<String>,
}

/// A run that comes from elsewhere.
#[derive(Debug, Clone)]
pub struct Import {
    pub run: RunId,
    /// What it is pinned to from now on.
    pub workflow: Arc<Workflow>,
    /// Its whole log: it begins with a start that names this workflow's digest, and is numbered
    /// from 1.
    pub events: Vec<Recorded>,
}

/// A run that begins with a history. Nothing of it is stored yet.
struct Beginning {
    view: View,
    history: Vec<Recorded>,
    /// From which event on the history is the run's own.
    own: usize,
    /// When what is decided happens. `None`: when it is decided.
    times: Option<(Timestamp, Timestamp)>,
}

impl Runtime {
    /// Begins a run.
    pub(crate) async fn begin(
        &self,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Done, ExecuteError> {
        let outcome = match &request.target {
            Target::Run(_) | Target::Log(_) => return Err(ExecuteError::Endless),
            Target::New(name) => {
                let workflow = self.find_to_begin(name)?;
                self.make_way(name, request).await?;
                self.begin_from(workflow, request, key.clone()).await
            }
            Target::Given(workflow, run) => {
                let view = self.blank(Arc::clone(workflow), *run);
                match self.commit_once(&view, request, key.clone(), &mut Checks::new()).await {
                    // Someone else took the same file in at the same moment.
                    Err(ExecuteError::Store(StoreError::Conflict { .. }))
                        if matches!(request.command, Command::AdoptRun(..)) =>
                    {
                        Ok(Outcome::unchanged(self.load(*run).await?))
                    }
                    outcome => outcome,
                }
            }
            Target::Copy(fork) => {
                let (beginning, notices) = self.copy(fork, request).await?;
                let outcome = self.settle_copy(beginning, request, key).await?;
                return Ok(Done { outcome, chores: None, notices });
            }
        };
        let outcome = self.or_repeated(outcome, key.as_ref()).await?;
        Ok(Done { outcome, chores: Some(Chores::default()), notices: Vec::new() })
    }

    /// Refuses a run that would not begin, though its file said this. Nothing is kept.
    pub async fn rehearse_start(
        &self,
        name: &str,
        start: &StartRun,
        (path, text): (&str, &str),
    ) -> Result<(), ExecuteError> {
        let view = self.blank(self.find_to_begin(name)?, RunId::from_bytes([0; 16]));
        let file = FileFact::Present {
            sha256: Digest::of(text.as_bytes()),
            size: text.len() as u64,
            text: Some(text.to_owned()),
            modified: None,
        };
        let mut seen = Checks::from([(Question::File(path.to_owned()), Fact::File(file))]);
        let command = Command::StartRun(start.clone().into());
        self.decide(&view, &command, &mut seen).await.map(drop)
    }

    /// Takes in the file that is there before its run, and has a run give its key up whose file was
    /// taken away.
    async fn make_way(&self, name: &str, request: &Request) -> Result<(), ExecuteError> {
        if let Some(start) = request.command.start()
            && let Some(key) = &start.key
            && self.find_projection(name).is_some()
        {
            self.release_taken_away(name, key).await?;
            // A file that is there already is a run, before another one begins.
            if let Some((view, file)) = self.take_in_file(name, key).await? {
                self.keep_untold(view.state.run, file.notices);
            }
        }
        Ok(())
    }

    /// Starts a new run of a workflow that was read.
    pub(crate) async fn begin_from(
        &self,
        workflow: Arc<Workflow>,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        let view = self.blank(workflow, self.world.new_run());
        self.commit_once(&view, request, key, &mut Checks::new()).await
    }

    /// Returns a run to which nothing has happened.
    fn blank(&self, workflow: Arc<Workflow>, run: RunId) -> View {
        let (project, state) = (self.settings.project.clone(), Arc::new(RunState::new(run)));
        View { project, workflow, state, leases: Vec::new() }
    }

    /// Copies a run and its files. Returns also what could not be copied as it should.
    async fn copy(
        &self,
        asked: &Fork,
        request: &Request,
    ) -> Result<(Beginning, Vec<String>), ExecuteError> {
        let (view, log) = self.load_at(asked.run, None).await?;
        if let Some(key) = &asked.key {
            self.release_taken_away(view.workflow.name.as_str(), key).await?;
        }
        let run = self.world.new_run();
        let at = self.world.now().max(view.state.updated_at);
        let steady = self.world.steady().max(view.state.steady);
        let by = (at, steady, request.actor.clone());
        let mut history = fork(asked.run, &log, &asked.point, asked.key.as_deref(), by)?;
        let own = history.len() - 1;
        let cut = |history: &[Recorded]| {
            let state = Arc::new(fold(run, history));
            View { state, leases: Vec::new(), ..view.clone() }
        };
        let mut copy = cut(&history);
        // The files go first: what the copy does next is decided by them.
        let notices = self.copy_files(&view, &copy).await?;
        let set = self.vars_of_copy(&copy, &view.state).filter(|_| asked.key.is_some());
        if let Some(set) = set {
            let (length, changed) = (copy.state.length, vec![Event::VarsChanged { set }]);
            history.extend(record(length, changed, (at, steady), &request.actor));
            copy = cut(&history);
        }
        Ok((Beginning { view: copy, history, own, times: Some((at, steady)) }, notices))
    }

    async fn settle_copy(
        &self,
        beginning: Beginning,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        let own = beginning.own;
        let (view, mut append) = self.settle_history(beginning, request).await?;
        let events = append.events.clone();
        let own = events.get(own..).unwrap_or_default();
        let change = Appended { before: &view.state, after: &view.state, events: own };
        append.owes = self.owed_by(&view.workflow, &change);
        let owes = append.owes.clone();
        append.request.clone_from(&key);
        match self.write(append).await.map_err(refuse_taken_key) {
            Ok(()) => {
                self.note_commit(key.as_ref());
                self.remember(&view);
                self.note_owed(view.state.run, &owes);
                Ok(Outcome { events, ..Outcome::unchanged(view) })
            }
            Err(error) => self.or_repeated(Err(error), key.as_ref()).await,
        }
    }

    /// Returns the variables that are not those of the original, if there are any.
    fn vars_of_copy(&self, copy: &View, of: &RunState) -> Option<Map<String, Value>> {
        let projection = self.find_covering(&copy.workflow)?;
        let set = projection.vars_of_copy(copy.state.key()?, &self.home_of(copy), of);
        (!set.is_empty()).then_some(set)
    }

    /// Stores a run with its log. One that is there already is left as it is: nothing happens then.
    pub(crate) async fn import(
        &self,
        import: &Import,
        request: &Request,
    ) -> Result<Outcome, ExecuteError> {
        let Import { run, workflow, events } = import;
        let state = Arc::new(fold(*run, events));
        let view = View { state, ..self.blank(Arc::clone(workflow), *run) };
        if self.store.load(*run, u64::MAX).await.map_err(fault)?.is_some() {
            return Ok(Outcome::unchanged(view));
        }
        let history = events.clone();
        let beginning = Beginning { own: history.len(), view: view.clone(), history, times: None };
        let (after, append) = self.settle_history(beginning, request).await?;
        let events = append.events.clone();
        match self.write(append).await {
            Ok(()) => {
                if self.find_covering(workflow).is_some_and(|it| it.layout().event_log.is_some()) {
                    self.mark_told(*run, after.state.length).await?;
                }
                Ok(Outcome { events, ..Outcome::unchanged(after) })
            }
            // Someone else took it over in between, or it was taken over before and deleted.
            Err(StoreError::Conflict { .. } | StoreError::Deleted { .. }) => {
                Ok(Outcome::unchanged(view))
            }
            Err(error) => Err(fault(error)),
        }
    }

    /// Decides what a history leads to here: it takes no run past a gate. Returns the run as it is
    /// then, and what is to be stored of it.
    async fn settle_history(
        &self,
        beginning: Beginning,
        request: &Request,
    ) -> Result<(View, Append), ExecuteError> {
        let Beginning { view, mut history, times, .. } = beginning;
        let is_copy = times.is_some();
        if is_copy || view.state.standing == Standing::Running {
            let decided = self.decide(&view, &request.command, &mut Checks::new()).await?;
            let times = times.unwrap_or((decided.state.updated_at, decided.state.steady));
            history.extend(record(view.state.length, decided.events, times, &request.actor));
        }
        // The run is what its log says, to the microsecond.
        let view = View { state: Arc::new(fold(view.state.run, &history)), ..view };
        let append = Append {
            project: view.project.clone(),
            run: view.state.run,
            expected: 0,
            events: history,
            summary: summary(&view.workflow, &view.state),
            definition: Some(definition_of(&view.workflow)),
            request: None,
            leases: Vec::new(),
            owes: Vec::new(),
        };
        Ok((view, append))
    }
}
