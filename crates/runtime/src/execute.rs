//! Executes one command against one run.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use definition::Workflow;
use engine::{
    Actor, Command, Decided, Fact, Known, Note, Question, Recorded, Refusal, RunId, RunState, Stop,
    Surface, decide, find_due, summary,
};
use store::{Append, Definition, LeaseChange, RequestKey, StoreError};

use crate::{Chores, RunFile, Runtime, View, asked::check_same, fault, watch};

/// How often a command is decided again because someone else was faster. With eight processes at one
/// run each try has about one chance in eight, so fewer would be too few now and then.
const TRIES_MAX: u32 = 512;
/// How often the engine may ask before it has to decide.
const ROUNDS_MAX: u32 = 500;

/// What commands that the server ran have ended with, and what a language model said. A race that
/// is lost does not run or ask them again.
pub(crate) type Checks = BTreeMap<Question, Fact>;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Run(RunId),
    /// A new run of this workflow.
    New(String),
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
        let asked = format!("{:?} {:?}", request.target, request.command);
        let key = self.next_key(request.request_id.clone(), &asked)?;
        self.refuse_repeated(&request, key.as_ref()).await?;
        let mut notices = Vec::new();
        let mut outcome = match (self.find_repeated(key.as_ref()).await?, &request.target) {
            (Some(outcome), _) => Box::pin(self.finish_repeated(outcome, &request)).await?,
            (None, Target::Run(run)) => {
                let view = self.load(*run).await?;
                // What was written into the run's file comes before anything is decided; and before
                // that, what a process that is gone left undone.
                let left = self.finish_left(&view).await;
                let (view, file) = self.sync(view).await?;
                notices = file.map(|it| it.notices).unwrap_or_default();
                notices.extend(left);
                match Box::pin(self.commit_between_chores(&request, key, view)).await {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        // A refusal tells nothing of the file, so the next answer does.
                        self.keep_untold(*run, notices);
                        return Err(error);
                    }
                }
            }
            (None, Target::New(_)) => {
                let begun = self.begin(&request, key).await?;
                Box::pin(self.follow_up(&request, begun, Chores::default())).await
            }
        };
        if self.pinned(outcome.view.state.run).is_some() {
            notices.extend(self.finish_files(outcome.view.state.run).await);
        } else if self.has_side_files(&outcome) {
            notices.extend(self.keep_side_files(&outcome.view).await);
        }
        outcome.file = self.keep_promise(&outcome.view, notices).await;
        if request.actor.surface == Surface::Cli {
            // The process ends with its answer.
            self.keep_notes().await;
        }
        Ok(outcome)
    }

    /// Writes the run's file. What is committed is committed: a file that cannot be written stays
    /// owed, and the caller is told.
    pub(crate) async fn keep_promise(
        &self,
        view: &View,
        mut notices: Vec<String>,
    ) -> Option<RunFile> {
        match self.sync(view.clone()).await {
            Ok((_, file)) => file.map(|mut file| {
                notices.append(&mut file.notices);
                RunFile { notices, ..file }
            }),
            Err(error) => {
                tracing::warn!(run = %view.state.run, %error, "a file was not written");
                None
            }
        }
    }

    /// Decides a command on a run, which may just have been loaded, and appends what it leads to.
    pub(crate) async fn commit(
        &self,
        request: &Request,
        key: Option<RequestKey>,
        mut loaded: Option<View>,
    ) -> Result<Outcome, ExecuteError> {
        let Target::Run(run) = request.target else { return Err(ExecuteError::Endless) };
        let mut first: Option<Arc<RunState>> = None;
        let mut checks = Checks::new();
        let mut turn = None;
        for tries in 0..TRIES_MAX {
            let mut view = match loaded.take() {
                Some(view) => view,
                None => self.load(run).await?,
            };
            if tries == 0 && self.is_overdue(&view, &request.command) {
                self.expire(&view).await?;
                view = self.load(run).await?;
            }
            if let Some(first) = &first {
                check_unmoved(&request.command, first, &view.state)?;
            }
            let decided = self.decide(&view, &request.command, &mut checks).await?;
            match self.append(&view, decided, request, key.clone()).await {
                Ok(outcome) => return Ok(outcome),
                Err(ExecuteError::Store(StoreError::Conflict { .. })) => {
                    first.get_or_insert(Arc::clone(&view.state));
                    if turn.is_none() {
                        turn = Some(self.loaded.queue(run).lock_owned().await);
                    }
                    self.pause(tries).await;
                }
                Err(ExecuteError::Store(StoreError::RequestSeen { request: seen, .. })) => {
                    let Some(key) = &key else { return Err(ExecuteError::Busy { run }) };
                    return self.repeat(&seen, key).await;
                }
                Err(error) => return Err(error),
            }
        }
        Err(ExecuteError::Busy { run })
    }

    /// Starts a new run.
    async fn begin(
        &self,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        let Target::New(name) = &request.target else { return Err(ExecuteError::Endless) };
        let workflow = self.find_to_begin(name)?;
        if let Some(start) = request.command.start()
            && let Some(key) = &start.key
            && self.find_projection(name).is_some()
        {
            self.release_taken_away(name, key).await?;
            // A file that is there already is a run, before another one begins.
            if let Some((view, file)) = self.find_file(name, key).await? {
                self.keep_untold(view.state.run, file.notices);
            }
        }
        self.begin_from(workflow, request, key).await
    }

    /// Starts a new run of a workflow that was read.
    pub(crate) async fn begin_from(
        &self,
        workflow: Arc<Workflow>,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        let run = self.world.new_run();
        let view = View {
            project: self.settings.project.clone(),
            workflow,
            state: Arc::new(RunState::new(run)),
            leases: Vec::new(),
        };
        let decided = self.decide(&view, &request.command, &mut Checks::new()).await?;
        let outcome = self.append(&view, decided, request, key.clone()).await;
        self.or_repeated(outcome, key.as_ref()).await
    }

    /// The clock speaks first: an attempt whose time is over failed before anything else.
    fn is_overdue(&self, view: &View, command: &Command) -> bool {
        let due = find_due(&view.workflow, &view.state);
        *command != Command::ExpireStep && due.is_some_and(|it| it <= self.world.steady())
    }

    async fn expire(&self, view: &View) -> Result<(), ExecuteError> {
        let request = Request {
            target: Target::Run(view.state.run),
            command: Command::ExpireStep,
            actor: Actor { surface: Surface::Timer, ..Actor::default() },
            request_id: None,
        };
        let expired = self.decide(view, &request.command, &mut Checks::new()).await;
        let appended = match expired {
            Ok(decided) => self.append(view, decided, &request, None).await.map(drop),
            Err(error) => Err(error),
        };
        match appended {
            // Someone else let it speak, or moved the run on.
            Err(ExecuteError::Refused(_) | ExecuteError::Store(StoreError::Conflict { .. })) => {
                Ok(())
            }
            other => other,
        }
    }

    /// Decides, looking at whatever the engine asks for.
    pub(crate) async fn decide(
        &self,
        view: &View,
        command: &Command,
        checks: &mut Checks,
    ) -> Result<Decided, ExecuteError> {
        let mut known = self.known(view);
        known.facts.clone_from(checks);
        // A run that has not begun has no folder yet but the one it is to begin in.
        let folders = match command.start() {
            Some(start) => {
                let home = self.home(&view.workflow, &start.root, start.key.as_deref());
                (start.root.clone(), home)
            }
            None => self.folders_of(view),
        };
        for _ in 0..ROUNDS_MAX {
            match decide(&view.workflow, &view.state, &known, command) {
                Ok(decided) => {
                    known.facts.retain(|it, _| {
                        matches!(it, Question::Check { .. } | Question::Model { .. })
                    });
                    *checks = known.facts;
                    return Ok(decided);
                }
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => self.look(&folders, &mut known, questions).await?,
            }
        }
        Err(ExecuteError::Endless)
    }

    /// Returns what is known before anything was looked at.
    pub fn known(&self, view: &View) -> Known {
        Known {
            // A clock that went back must not make a log whose times do, nor one in which what
            // came later has the same time.
            now: self.world.now().max(view.state.updated_at.after(Duration::from_micros(1))),
            steady: self.world.steady().max(view.state.steady),
            lease_ends: view.leases.iter().map(|it| (it.generation, it.until)).collect(),
            bounds: self.settings.bounds,
            gates: self.settings.gates,
            policy: self.settings.policies.of(&view.workflow),
            has_model: self.settings.has_model,
            fail_on_model_error: self.settings.fail_on_model_error,
            ..Known::default()
        }
    }

    pub(crate) async fn look(
        &self,
        (root, home): &(String, String),
        known: &mut Known,
        questions: Vec<Question>,
    ) -> Result<(), Refusal> {
        for question in questions {
            let looking = self.world.look((root, home), &question);
            let fact = match &question {
                Question::Check { .. } | Question::Model { .. } => watch::unhurried(looking).await,
                Question::File(_) | Question::Beside(_) | Question::Git | Question::Branch(_) => {
                    looking.await
                }
            };
            let Some(fact) = fact else {
                return Err(Refusal::WorkspaceNotHere { root: home.clone() });
            };
            known.facts.insert(question, fact);
        }
        Ok(())
    }

    pub(crate) async fn append(
        &self,
        view: &View,
        decided: Decided,
        request: &Request,
        key: Option<RequestKey>,
    ) -> Result<Outcome, ExecuteError> {
        let Decided { events, state, notes, halted } = decided;
        let expected = view.state.length;
        let events: Vec<Recorded> = (expected + 1..)
            .zip(events)
            .map(|(seq, event)| Recorded {
                seq,
                at: state.updated_at,
                steady: state.steady,
                by: request.actor.clone(),
                event,
            })
            .collect();
        let after = View { state: Arc::new(state), ..view.clone() };
        if !events.is_empty() {
            let append = Append {
                project: view.project.clone(),
                run: view.state.run,
                expected,
                events: events.clone(),
                summary: summary(&view.workflow, &after.state),
                definition: (expected == 0).then(|| definition_of(&view.workflow)),
                request: key.filter(|_| self.carries(&events)),
                leases: lease_changes(view, &after.state),
                owes: self.owed_by(view, after.state.key(), &events),
            };
            let key = append.request.clone();
            let written = if request.command.traits().is_aside {
                self.store.append(append).await
            } else {
                self.write(append).await
            };
            written.map_err(refuse_taken_key)?;
            self.note_commit(key.as_ref());
            self.remember(&after);
            self.note_side_files(&after, &events);
        }
        tracing::debug!(run = %view.state.run, command = request.command.name(), "executed");
        Ok(Outcome { events, notes, halted, ..Outcome::unchanged(after) })
    }

    /// Appends what a call asks for.
    pub(crate) async fn write(&self, append: Append) -> Result<(), StoreError> {
        watch::writing(self.store.append(append)).await
    }

    /// Refuses again what a call had refused before it made the commit that comes next.
    async fn refuse_repeated(
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
    async fn repeat(
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

    async fn pause(&self, tries: u32) {
        if 2 < tries {
            let micros = u64::from(tries.min(16)) * 200;
            self.world.sleep(Duration::from_micros(micros)).await;
        }
    }
}

/// What an agent said of a step is not about the step that came after it.
fn check_unmoved(command: &Command, before: &RunState, now: &RunState) -> Result<(), Refusal> {
    let is_unmoved = || before.is_same_place(now) && is_same_part(command, before, now);
    if command.traits().speaks_of_place && !is_unmoved() {
        let current = now.current.as_ref().map(ToString::to_string).unwrap_or_default();
        return Err(Refusal::RunMoved { current });
    }
    Ok(())
}

/// Whether the part that a report is about is as far as it was.
fn is_same_part(command: &Command, before: &RunState, now: &RunState) -> bool {
    if let Command::All(commands) = command {
        return commands.iter().all(|it| is_same_part(it, before, now));
    }
    let Command::ReportStep(report) = command else { return true };
    let (Some(part), Some(step)) = (&report.part, &now.current) else { return true };
    let effort = |state: &RunState| {
        let effort = state.effort(step, Some(part));
        effort.map(|it| (it.attempts, it.progress.is_settled()))
    };
    effort(before) == effort(now)
}

pub(crate) fn refuse_taken_key(error: StoreError) -> ExecuteError {
    match error {
        StoreError::KeyTaken { key, run } => Refusal::KeyTaken { key, run: run.short() }.into(),
        StoreError::Conflict { .. }
        | StoreError::RequestSeen { .. }
        | StoreError::Full
        | StoreError::Busy
        | StoreError::NewerSchema { .. }
        | StoreError::Event(_)
        | StoreError::DamagedRun { .. }
        | StoreError::Damaged(_)
        | StoreError::Gone { .. }
        | StoreError::Emptied { .. }
        | StoreError::Foreign { .. }
        | StoreError::Database(_) => fault(error),
    }
}

pub(crate) fn definition_of(workflow: &Workflow) -> Definition {
    Definition {
        digest: workflow.digest.as_str().to_owned(),
        name: workflow.name.to_string(),
        source: serde_json::to_string(&workflow.source).unwrap_or_default(),
    }
}

/// What changed of who holds what.
fn lease_changes(before: &View, after: &RunState) -> Vec<LeaseChange> {
    let mut changes = Vec::new();
    for (place, lease) in &before.state.leases {
        let is_kept = after.leases.contains_key(place);
        if !is_kept {
            changes.push(LeaseChange::Drop { generation: lease.generation });
        }
    }
    for (place, lease) in &after.leases {
        let old = before.state.leases.get(place);
        if old.map(|it| it.generation) != Some(lease.generation) {
            let end = |it: &engine::Lease| {
                let moved = before.leases.iter().find(|lease| lease.generation == it.generation);
                moved.map_or(it.until, |lease| lease.until)
            };
            let replaces = old.map(end);
            changes.push(LeaseChange::Take { lease: lease.clone(), replaces });
        }
    }
    changes
}
