//! Decides a command on a run, and appends what it leads to. Nothing else appends to a log.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use definition::Workflow;
use engine::{
    Actor, Command, Decided, Event, Fact, Known, Question, Recorded, Refusal, RunState, Stop,
    Surface, Timestamp, decide, find_due, lease_until, summary,
};
use store::{Append, Definition, Heartbeat, LeaseChange, RequestKey, StoreError, Touch};

use crate::{
    Appended, ExecuteError, Outcome, Request, Runtime, Target, View, execute::TRIES_MAX, fault,
    watch,
};

/// How often the engine may ask before it has to decide.
pub(crate) const ROUNDS_MAX: u32 = 500;

/// What commands that the server ran have ended with, and what a language model said. A race that
/// is lost does not run or ask them again.
pub(crate) type Checks = BTreeMap<Question, Fact>;

impl Runtime {
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
            match self.commit_once(&view, request, key.clone(), &mut checks).await {
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

    /// Decides a command on a run as it is seen, and appends what it leads to. Someone else may be
    /// faster.
    pub(crate) async fn commit_once(
        &self,
        view: &View,
        request: &Request,
        key: Option<RequestKey>,
        checks: &mut Checks,
    ) -> Result<Outcome, ExecuteError> {
        let decided = self.decide(view, &request.command, checks).await?;
        self.append(view, decided, request, key).await
    }

    /// Does the same for what the server itself has to say. `None` where someone else was faster.
    pub(crate) async fn commit_unless_moved(
        &self,
        view: &View,
        command: Command,
        surface: Surface,
    ) -> Result<Option<Outcome>, ExecuteError> {
        let request = Request::own(view.state.run, command, surface);
        match self.commit_once(view, &request, None, &mut Checks::new()).await {
            Err(ExecuteError::Store(StoreError::Conflict { .. })) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// The clock speaks first: an attempt whose time is over failed before anything else.
    fn is_overdue(&self, view: &View, command: &Command) -> bool {
        let due = find_due(&view.workflow, &view.state);
        *command != Command::ExpireStep && due.is_some_and(|it| it <= self.world.steady())
    }

    async fn expire(&self, view: &View) -> Result<(), ExecuteError> {
        match self.commit_unless_moved(view, Command::ExpireStep, Surface::Timer).await {
            // Someone else let it speak, or moved the run on.
            Err(ExecuteError::Refused(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Moves the end of a lease. That is a column of the store, and not an event.
    async fn extend_lease(
        &self,
        view: &View,
        generation: u64,
        duration: Option<Duration>,
    ) -> Result<(), ExecuteError> {
        let held = view.state.leases.values().find(|it| it.generation == generation);
        let Some(lease) = held else { return Err(Refusal::LeaseUnknown(generation).into()) };
        let step = view.workflow.find_step(&lease.step);
        let now = self.world.steady();
        let until = lease_until(step, duration, now, &self.settings.bounds);
        let beat = Heartbeat { run: view.state.run, generation, now, until };
        if !self.store.touch(Touch::Lease(beat)).await.map_err(fault)? {
            let step = lease.step.clone();
            return Err(Refusal::LeaseStale { step, given: generation }.into());
        }
        Ok(())
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
                    known.facts.retain(|it, _| is_work(it));
                    *checks = known.facts;
                    return Ok(decided);
                }
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => self.look(&folders, &mut known, questions).await?,
            }
        }
        Err(ExecuteError::Endless)
    }

    /// Returns why the engine would refuse a command now, or would not go on from it. Nothing is kept,
    /// and nothing is run to find out.
    pub async fn find_refusal(&self, view: &View, command: &Command) -> Option<Refusal> {
        let mut known = self.known(view);
        for _ in 0..ROUNDS_MAX {
            match decide(&view.workflow, &view.state, &known, command) {
                Ok(decided) => return decided.halted,
                Err(Stop::Refused(refusal)) => return Some(refusal),
                Err(Stop::Ask(questions)) if questions.iter().any(is_work) => return None,
                Err(Stop::Ask(questions)) => {
                    let looked = self.look(&self.folders_of(view), &mut known, questions).await;
                    if let Err(refusal) = looked {
                        return Some(refusal);
                    }
                }
            }
        }
        None
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
        let times = (state.updated_at, state.steady);
        let events = record(expected, events, times, &request.actor);
        let mut after = View { state: Arc::new(state), ..view.clone() };
        if !events.is_empty() {
            let change = Appended { before: &view.state, after: &after.state, events: &events };
            let append = Append {
                project: view.project.clone(),
                run: view.state.run,
                expected,
                events: events.clone(),
                summary: summary(&view.workflow, &after.state),
                definition: (expected == 0).then(|| definition_of(&view.workflow)),
                request: key.filter(|_| self.carries(&events)),
                leases: lease_changes(view, &after.state),
                owes: self.owed_by(&view.workflow, &change),
            };
            let (key, owes) = (append.request.clone(), append.owes.clone());
            let written = if request.command.traits().is_aside {
                self.store.append(append).await
            } else {
                self.write(append).await
            };
            written.map_err(refuse_taken_key)?;
            self.note_commit(key.as_ref());
            self.remember(&after);
            self.note_owed(view.state.run, &owes);
        }
        if let Command::ExtendLease { generation, duration } = &request.command {
            self.extend_lease(view, *generation, *duration).await?;
            after = self.load(view.state.run).await?;
        }
        tracing::debug!(run = %view.state.run, command = request.command.name(), "executed");
        Ok(Outcome { events, notes, halted, ..Outcome::unchanged(after) })
    }

    /// Appends what a call asks for.
    pub(crate) async fn write(&self, append: Append) -> Result<(), StoreError> {
        watch::writing(self.store.append(append)).await
    }

    async fn pause(&self, tries: u32) {
        if 2 < tries {
            let micros = u64::from(tries.min(16)) * 200;
            self.world.sleep(Duration::from_micros(micros)).await;
        }
    }
}

/// Whether something is run to answer a question.
fn is_work(question: &Question) -> bool {
    matches!(question, Question::Check { .. } | Question::Model { .. })
}

/// Returns events as they are in a log that has so many before them.
pub(crate) fn record(
    length: u64,
    events: Vec<Event>,
    (at, steady): (Timestamp, Timestamp),
    by: &Actor,
) -> Vec<Recorded> {
    let recorded = |(seq, event)| Recorded { seq, at, steady, by: by.clone(), event };
    (length + 1..).zip(events).map(recorded).collect()
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
    if let StoreError::KeyTaken { key, run } = error {
        return Refusal::KeyTaken { key, run: run.short() }.into();
    }
    fault(error)
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
