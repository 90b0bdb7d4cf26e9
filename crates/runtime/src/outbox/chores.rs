//! What the server itself does for a run: one chore after another, while nobody else is at it.
//!
//! ```text
//! lock ──► load ──► what is due? ──► rehearse ──► do it ──► append what was rehearsed
//! ```
//!
//! A crash between doing and appending leaves the chore due. It is then done once more, which
//! every deed bears: what is done already is found to be done.

use std::sync::Arc;

use engine::{
    Actor, Chore, ChoreOutcome, Command, Decided, Event, GitDeed, Progress, Pushed, Recorded,
    Refusal, Standing, Surface, find_chore, find_unseen_branch,
};
use store::{RequestKey, StoreError};

use crate::{
    ExecuteError, Held, Outcome, Place, Request, Runtime, View,
    commit::{Checks, record},
    watch,
};

/// How many chores are done for one call.
const TURNS_MAX: u32 = 20;

/// What came of the chores that were due.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chores {
    /// What was odd about those that were done, or count as such.
    pub warnings: Vec<String>,
    /// Why one is due still: it is tried again with the next call.
    pub failure: Option<Refusal>,
}

impl Chores {
    /// Returns all that the caller should know, in lines.
    pub fn notices(&self) -> Vec<String> {
        let failure = self.failure.as_ref().map(|it| format!("{it} ({})", it.hint()));
        self.warnings.iter().cloned().chain(failure).collect()
    }
}

/// Where a branch stands before a run has done anything to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standpoint {
    pub name: String,
    /// Its last commit, or that of what is checked out where the branch is not there yet.
    pub commit: Option<String>,
    /// Whether the branch is there, and another one is checked out.
    pub is_elsewhere: bool,
}

/// What one turn came to.
enum Turn {
    /// There may be more to do.
    Done(Outcome),
    Over(View),
}

impl Runtime {
    /// Does what is due before a report, and commits, so that no surface gets past it. Returns what
    /// came of it; `None` where nothing is to be done after the commit.
    pub(crate) async fn commit_after_chores(
        &self,
        request: &Request,
        key: Option<RequestKey>,
        mut view: View,
    ) -> Result<(Outcome, Option<Chores>), ExecuteError> {
        let (mut before, mut earlier) = (Chores::default(), Vec::new());
        if !view.workflow.chores.is_empty() && waits_for_chores(&request.command) {
            let (outcome, chores) = self.keep_chores(view).await?;
            let is_over = !outcome.events.is_empty() && !outcome.view.state.standing.is_live();
            if is_over && is_going_on(&request.command) {
                // The chore was all that was left, so the run went on to its end.
                return Ok((Outcome { chores, ..outcome }, None));
            }
            (view, before, earlier) = (outcome.view, chores, outcome.events);
        }
        let mut outcome = self.commit(request, key, Some(view)).await?;
        outcome.events.splice(0..0, earlier);
        Ok((outcome, Some(before)))
    }

    /// Does what is due after a command, and goes on where the run waited for that.
    pub(crate) async fn chores_after(
        &self,
        request: &Request,
        mut outcome: Outcome,
        before: Chores,
    ) -> Result<Outcome, ExecuteError> {
        if is_halting(&request.command) {
            // Anyone who goes on has the next ones done.
            outcome.chores = before;
            return Ok(outcome);
        }
        let mut is_held = is_going_on(&request.command) && is_held_up(&outcome.view);
        let mut outcome = self.follow_up(outcome, before).await;
        while is_held && outcome.chores.failure.is_none() {
            // What waited for a chore goes on once it is done.
            if outcome.view.state.standing != Standing::Running {
                break;
            }
            let further = self.commit(&going_on(request), None, Some(outcome.view)).await?;
            is_held = is_held_up(&further.view);
            let (events, chores) = (outcome.events, outcome.chores);
            outcome = self.follow_up(further, chores).await;
            outcome.events.splice(0..0, events);
        }
        Ok(outcome)
    }

    /// Does what is due after a command. What is committed is committed: what cannot be done is
    /// told, and stays due.
    pub(crate) async fn follow_up(&self, mut outcome: Outcome, before: Chores) -> Outcome {
        if outcome.view.workflow.chores.is_empty() {
            return outcome;
        }
        match self.keep_chores(outcome.view.clone()).await {
            Ok((done, chores)) => {
                outcome.view = done.view;
                outcome.events.extend(done.events);
                outcome.chores = chores;
            }
            Err(error) => {
                tracing::warn!(run = %outcome.view.state.run, %error, "chores were not done");
                let problem = format!("what the server is to do is done later: {error}");
                outcome.chores.warnings.push(problem);
            }
        }
        outcome.chores.warnings.splice(0..0, before.warnings);
        outcome
    }

    /// Does what is due. The run's file is left to the caller.
    pub(crate) async fn keep_chores(&self, view: View) -> Result<(Outcome, Chores), ExecuteError> {
        let run = view.state.run;
        let mut chores = Chores::default();
        let mut outcome = self.note_branch(view).await?;
        if !self.is_chore_due(&outcome.view, &mut chores) {
            return Ok((outcome, chores));
        }
        let held = match self.hold_chores(&outcome.view).await {
            Ok(held) => Arc::new(held),
            Err(refusal) => {
                chores.failure = Some(refusal);
                return Ok((outcome, chores));
            }
        };
        let mut last: Option<Chore> = None;
        for _ in 0..TURNS_MAX {
            // Anyone who held the lock before may have done it.
            let view = self.load(run).await?;
            match self.do_next(view, &mut last, &mut chores, &held).await? {
                Turn::Done(done) => {
                    outcome.view = done.view;
                    outcome.events.extend(done.events);
                }
                Turn::Over(view) => {
                    outcome.view = view;
                    break;
                }
            }
        }
        drop(held);
        Ok((outcome, chores))
    }

    /// Looks where the run's branch stands before anything is done to it, if nobody has looked so far.
    async fn note_branch(&self, view: View) -> Result<Outcome, ExecuteError> {
        // What cannot be told is found out when a chore needs it.
        let unseen = find_unseen_branch(&view.workflow, &view.state).ok().flatten();
        let home = self.home_of(&view);
        let found = match &unseen {
            Some(name) => self.world.find_branch(&home, name.as_deref()).await,
            None => None,
        };
        let unchanged =
            |view| Outcome { view, events: Vec::new(), file: None, chores: Chores::default() };
        let Some(Standpoint { name, commit, is_elsewhere }) = found else {
            return Ok(unchanged(view));
        };
        let command = Command::NoteBranch { name, base: commit, is_elsewhere };
        match self.commit_unless_moved(&view, command, Surface::Timer).await? {
            Some(noted) => Ok(noted),
            // Someone else was faster, and is looked at the next time.
            None => Ok(unchanged(self.load(view.state.run).await?)),
        }
    }

    /// Whether a chore is due. A condition that has no value is a failure.
    fn is_chore_due(&self, view: &View, chores: &mut Chores) -> bool {
        match find_chore(&view.workflow, &view.state) {
            Ok(due) => due.is_some(),
            Err(error) => {
                let step = view.state.current.clone();
                let problem = error.to_string();
                chores.failure = step.map(|step| Refusal::ConditionFailed { step, problem });
                false
            }
        }
    }

    /// Keeps other processes from doing what is due in the same folder at the same time.
    async fn hold_chores(&self, view: &View) -> Result<Option<Held>, Refusal> {
        let Some(file_system) = self.world.file_system() else { return Ok(None) };
        let root = view.state.root().to_owned();
        if !file_system.has_folder(&root).await {
            return Err(Refusal::WorkspaceNotHere { root });
        }
        // A folder of its own: the locks of promised files are taken while this one is held.
        let folder = format!("{}/.milepost", root.trim_end_matches('/'));
        let place = Place { root, folder, path: "chores".to_owned() };
        file_system.lock(&place).await.map(Some).map_err(|problem| {
            let due = find_chore(&view.workflow, &view.state).ok().flatten();
            let (chore, what) = due.map(|it| (it.name, it.deed.describe())).unwrap_or_default();
            Refusal::ChoreDue { chore, what, problem }
        })
    }

    async fn do_next(
        &self,
        view: View,
        last: &mut Option<Chore>,
        chores: &mut Chores,
        held: &Arc<Option<Held>>,
    ) -> Result<Turn, ExecuteError> {
        if !self.is_chore_due(&view, chores) {
            return Ok(Turn::Over(view));
        }
        let Ok(Some(due)) = find_chore(&view.workflow, &view.state) else {
            return Ok(Turn::Over(view));
        };
        let again = || {
            let problem = "it would be due again as soon as it is done: its `when` must no longer \
                           hold then";
            Some(refusal(&due, problem.to_owned()))
        };
        if last.as_ref().is_some_and(|it| it.name == due.name) {
            chores.failure = again();
            return Ok(Turn::Over(view));
        }
        let rehearsed = match self.rehearse(&view, &due).await {
            Ok(decided) => decided,
            Err(ExecuteError::Refused(refusal)) => {
                chores.failure = Some(refusal);
                return Ok(Turn::Over(view));
            }
            Err(error) => return Err(error),
        };
        let next = find_chore(&view.workflow, &rehearsed.state).ok().flatten();
        if next.is_some_and(|it| it.name == due.name) {
            chores.failure = again();
            return Ok(Turn::Over(view));
        }
        let (root, home) = (view.state.root(), self.home_of(&view));
        let texts = match &due.deed {
            GitDeed::Publish { .. } => self.foresee(&view, &will_be(&view, &rehearsed)),
            GitDeed::RenameBranch { .. }
            | GitDeed::Commit { .. }
            | GitDeed::Push { .. }
            | GitDeed::Checkout { .. } => Vec::new(),
        };
        // The digest is of the text that the chore was read from, not what the log says of it.
        let banned = self.world.find_ban(root, &view.workflow.digest);
        let done = match banned.map(|reason| ChoreOutcome::Failed { reason }) {
            Some(failed) => Some(failed),
            None => self.do_chore((root, &home), &due.deed, texts, held).await,
        };
        let Some(done) = done else {
            chores.failure = Some(Refusal::WorkspaceNotHere { root: home });
            return Ok(Turn::Over(view));
        };
        tracing::debug!(run = %view.state.run, chore = due.name, ?done, "did a chore");
        let outcome = self.note_chore(&view, &due, rehearsed, &done).await?;
        let Some(outcome) = outcome else {
            return Ok(Turn::Over(self.load(view.state.run).await?));
        };
        if tell(&due, done, chores) {
            *last = Some(due);
            return Ok(Turn::Done(outcome));
        }
        Ok(Turn::Over(outcome.view))
    }

    /// Does a chore to its end, also when the call that it is done for is given up meanwhile: a
    /// `git` that is killed leaves its locks behind. Nobody else begins one before it has ended.
    async fn do_chore(
        &self,
        (root, home): (&str, &str),
        deed: &GitDeed,
        texts: Vec<(String, String)>,
        held: &Arc<Option<Held>>,
    ) -> Option<ChoreOutcome> {
        let (root, home, deed) = (root.to_owned(), home.to_owned(), deed.clone());
        let (world, held) = (Arc::clone(&self.world), Arc::clone(held));
        let doing = tokio::spawn(async move {
            let done = world.do_chore((&root, &home), &deed, &texts).await;
            drop(held);
            done
        });
        watch::unhurried(doing).await.unwrap_or_else(|error| {
            Some(ChoreOutcome::Failed { reason: format!("it broke down: {error}") })
        })
    }

    /// Decides what follows once the chore is done: if that is refused, it is not done.
    async fn rehearse(&self, view: &View, due: &Chore) -> Result<Decided, ExecuteError> {
        let done = ChoreOutcome::Done { detail: String::new(), warnings: Vec::new(), pushed: None };
        self.decide(view, &report(due, &done), &mut Checks::new()).await
    }

    /// Appends what came of a chore. `None` where the run has moved on meanwhile.
    async fn note_chore(
        &self,
        view: &View,
        due: &Chore,
        mut rehearsed: Decided,
        done: &ChoreOutcome,
    ) -> Result<Option<Outcome>, ExecuteError> {
        let request = Request::own(view.state.run, report(due, done), Surface::Timer);
        if let ChoreOutcome::Done { detail, warnings, pushed } = done {
            fill_in(&mut rehearsed, (detail, warnings), pushed.as_ref());
            match self.append(view, rehearsed, &request, None).await {
                // Someone else was faster, so it is decided again.
                Err(ExecuteError::Store(StoreError::Conflict { .. })) => {}
                appended => return appended.map(Some),
            }
        }
        match self.commit(&request, None, None).await {
            Err(ExecuteError::Refused(refusal)) => {
                let chore = &due.name;
                tracing::warn!(run = %view.state.run, chore, %refusal, "a chore is not recorded");
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }
}

/// Returns what will be in the log.
fn will_be(view: &View, decided: &Decided) -> Vec<Recorded> {
    let times = (decided.state.updated_at, decided.state.steady);
    let by = Actor { surface: Surface::Timer, ..Actor::default() };
    record(view.state.length, decided.events.clone(), times, &by)
}

/// Puts what was done into the event that was rehearsed, and what was pushed into the state.
fn fill_in(rehearsed: &mut Decided, (done, odd): (&str, &[String]), sent: Option<&Pushed>) {
    for event in &mut rehearsed.events {
        if let Event::ChoreDone { deed, detail, warnings, pushed, .. } = event {
            done.clone_into(detail);
            *warnings = odd.to_vec();
            *pushed = sent.cloned();
            rehearsed.state.follow_chore(deed, sent);
        }
    }
}

/// Keeps what the caller should know. Returns whether there may be more to do.
fn tell(due: &Chore, done: ChoreOutcome, chores: &mut Chores) -> bool {
    match (done, due.on_failure) {
        (ChoreOutcome::Done { warnings, .. }, _) => {
            let named = |it: String| format!("chore `{}`: {it}", due.name);
            chores.warnings.extend(warnings.into_iter().map(named));
            true
        }
        (ChoreOutcome::Failed { reason }, definition::OnFailure::Warn) => {
            chores.warnings.push(refusal(due, reason).to_string());
            true
        }
        (ChoreOutcome::Failed { reason }, definition::OnFailure::Refuse) => {
            chores.failure = Some(refusal(due, reason));
            false
        }
    }
}

fn refusal(due: &Chore, problem: String) -> Refusal {
    Refusal::ChoreDue { chore: due.name.clone(), what: due.deed.describe(), problem }
}

fn report(due: &Chore, outcome: &ChoreOutcome) -> Command {
    let (name, deed) = (due.name.clone(), due.deed.clone());
    Command::ReportChore { name, deed, outcome: outcome.clone() }
}

/// Whether a command only has the run go on in the end.
fn is_going_on(command: &Command) -> bool {
    matches!(last(command), Command::GoOn { .. })
}

fn last(command: &Command) -> &Command {
    if let Command::All(all) = command { all.last().unwrap_or(command) } else { command }
}

/// Whether a command leaves it to others to find out what is to be done.
fn is_halting(command: &Command) -> bool {
    matches!(last(command), Command::StopAtNextStep(_))
}

/// Only to go on, of all that was asked.
fn going_on(request: &Request) -> Request {
    let command = last(&request.command).clone();
    Request { command, request_id: None, ..request.clone() }
}

/// Whether a run that is to go on has stopped for what the server has to do first.
fn is_held_up(view: &View) -> bool {
    let state = &view.state;
    let is_begun = state.current.as_ref().is_some_and(|it| state.progress(it) == Progress::Active);
    let due = find_chore(&view.workflow, state);
    state.standing == Standing::Running && !is_begun && matches!(due, Ok(Some(_)))
}

/// Whether a command is refused while a chore is due, so that it is tried before.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the engine refuses no other command for a chore"
)]
pub(crate) fn waits_for_chores(command: &Command) -> bool {
    match command {
        Command::ReportStep(_) | Command::ResumeRun(_) | Command::GoOn { .. } => true,
        Command::StopAtNextStep(command) => waits_for_chores(command),
        Command::All(commands) => commands.iter().any(waits_for_chores),
        _ => false,
    }
}
