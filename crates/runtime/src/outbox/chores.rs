//! What the server itself does for a run: one chore after another, while nobody else is at it.
//!
//! ```text
//! lock ──► load ──► what is due? ──► rehearse ──► do it ──► append what was rehearsed
//! ```
//!
//! A crash between doing and appending leaves the chore due. It is then done once more, which
//! every deed bears: what is done already is found to be done.

use std::sync::Arc;

use definition::StepName;
use engine::{
    Actor, Advance, Chore, ChoreOutcome, Command, Decided, Event, GitDeed, Onward, Pushed,
    Recorded, Refusal, ReportChore, Standing, Surface, awaits_revision, find_chore,
    find_unseen_branch,
};
use serde_json::Map;
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

/// Whom chores are done for, and what comes after them.
#[derive(Debug, Clone, Default)]
struct Cause {
    actor: Option<Actor>,
    /// How the run goes on, if it waits for them.
    then: Option<Onward>,
}

/// A chore, and the step that the run was at when it was due.
type Spot = (String, Option<StepName>);

/// What one turn came to.
enum Turn {
    /// There may be more to do.
    Done(Box<Outcome>),
    Over(View),
}

impl Runtime {
    /// Does what is due before a report, and commits, so that no surface gets past it. Returns also
    /// what came of it.
    pub(crate) async fn commit_after_chores(
        &self,
        request: &Request,
        key: Option<RequestKey>,
        mut view: View,
    ) -> Result<(Outcome, Chores), ExecuteError> {
        let (mut before, mut earlier) = (Chores::default(), Vec::new());
        if !view.workflow.chores.is_empty() && request.command.traits().waits_for_chores {
            let outcome = self.keep_chores(view, &Cause::default()).await?;
            (view, before, earlier) = (outcome.view, outcome.chores, outcome.events);
        }
        let mut outcome = self.commit(request, key, Some(view)).await?;
        outcome.events.splice(0..0, earlier);
        Ok((outcome, before))
    }

    /// Does what is due after a command, and has the run go on that waits for nothing else.
    pub(crate) async fn chores_after(
        &self,
        request: &Request,
        mut outcome: Outcome,
        before: Chores,
    ) -> Result<Outcome, ExecuteError> {
        if request.command.traits().leaves_chores {
            // Anyone who goes on has the next ones done.
            outcome.chores = before;
            return Ok(outcome);
        }
        let mut outcome = self.follow_up(request, outcome, before).await;
        for _ in 0..TURNS_MAX {
            let Some(onward) = find_onward(request, &outcome) else { break };
            let advance = Advance { onward: Some(onward), ..Advance::default() };
            let again = Request { command: Command::Advance(advance.into()), ..request.clone() };
            let further = match self.commit(&again, None, Some(outcome.view.clone())).await {
                Ok(further) => further,
                Err(ExecuteError::Refused(refusal)) => {
                    outcome.halted = Some(refusal);
                    break;
                }
                Err(error) => return Err(error),
            };
            let (events, notes, chores) = (outcome.events, outcome.notes, outcome.chores);
            outcome = self.follow_up(&again, further, chores).await;
            outcome.events.splice(0..0, events);
            outcome.notes.splice(0..0, notes);
        }
        Ok(outcome)
    }

    /// Does what is due after a command. What is committed is committed: what cannot be done is
    /// told, and stays due.
    pub(crate) async fn follow_up(
        &self,
        request: &Request,
        mut outcome: Outcome,
        before: Chores,
    ) -> Outcome {
        if outcome.view.workflow.chores.is_empty() {
            return outcome;
        }
        let is_shown_first = awaits_revision(outcome.events.iter().map(|it| &it.event));
        let then = request.command.onward().filter(|_| !is_shown_first);
        // What was found out is set by the command itself.
        let then = then.map(|it| Onward { set: Map::new(), ..it.clone() });
        let cause = Cause { actor: then.is_some().then(|| request.actor.clone()), then };
        self.write_before_chores(&outcome).await;
        match self.keep_chores(outcome.view.clone(), &cause).await {
            Ok(done) => {
                outcome.view = done.view;
                outcome.events.extend(done.events);
                outcome.chores = done.chores;
                outcome.halted = done.halted.or(outcome.halted);
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

    /// Has the files as the run has them before anything is done with them in the repository.
    async fn write_before_chores(&self, outcome: &Outcome) {
        let view = &outcome.view;
        let is_due = matches!(find_chore(&view.workflow, &view.state), Ok(Some(_)));
        if !is_due || outcome.events.is_empty() {
            return;
        }
        let mut notices = Vec::new();
        if self.has_side_files(outcome) {
            notices = self.write_side_files(view).await;
        }
        let file = self.write_file(view, Vec::new()).await;
        notices.extend(file.map(|it| it.notices).unwrap_or_default());
        self.keep_untold(view.state.run, notices);
    }

    /// Does what is due. The run's file is left to the caller.
    async fn keep_chores(&self, view: View, cause: &Cause) -> Result<Outcome, ExecuteError> {
        let run = view.state.run;
        let mut outcome = Outcome::unchanged(view);
        if !self.is_chore_due(&outcome.view, &mut outcome.chores) {
            return Ok(outcome);
        }
        let held = match self.hold_chores(&outcome.view).await {
            Ok(held) => Arc::new(held),
            Err(refusal) => {
                outcome.chores.failure = Some(refusal);
                return Ok(outcome);
            }
        };
        let mut last = None;
        for _ in 0..TURNS_MAX {
            // Anyone who held the lock before may have done it.
            let view = self.see_branch(self.load(run).await?).await?;
            match self.do_next(view, &mut last, &mut outcome.chores, (cause, &held)).await? {
                Turn::Done(done) => {
                    let done = *done;
                    outcome.view = done.view;
                    outcome.events.extend(done.events);
                    outcome.halted = done.halted;
                }
                Turn::Over(view) => {
                    outcome.view = view;
                    break;
                }
            }
        }
        drop(held);
        Ok(outcome)
    }

    /// Has the engine look where the run's branch stands before anything is done to it. Every
    /// decision does, so only a run of an older release has not looked.
    async fn see_branch(&self, view: View) -> Result<View, ExecuteError> {
        if !matches!(find_unseen_branch(&view.workflow, &view.state), Ok(Some(_))) {
            return Ok(view);
        }
        let request = Request::own(view.state.run, Command::All(Vec::new()), Surface::Timer);
        Ok(self.commit(&request, None, Some(view)).await?.view)
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
        last: &mut Option<Spot>,
        chores: &mut Chores,
        (cause, held): (&Cause, &Arc<Option<Held>>),
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
            Some(due.refusal(problem.to_owned()))
        };
        let spot = Some((due.name.clone(), view.state.current.clone()));
        if *last == spot {
            chores.failure = again();
            return Ok(Turn::Over(view));
        }
        let rehearsed = match self.rehearse(&view, &due, cause).await {
            Ok(decided) => decided,
            Err(ExecuteError::Refused(refusal)) => {
                chores.failure = Some(refusal);
                return Ok(Turn::Over(view));
            }
            Err(error) => return Err(error),
        };
        let next = find_chore(&view.workflow, &rehearsed.state).ok().flatten();
        if next.map(|it| (it.name, rehearsed.state.current.clone())) == spot {
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
        let outcome = self.note_chore(&view, (&due, cause), rehearsed, &done).await?;
        let Some(outcome) = outcome else {
            return Ok(Turn::Over(self.load(view.state.run).await?));
        };
        if tell(&due, done, chores) {
            *last = spot;
            return Ok(Turn::Done(outcome.into()));
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
            let held = Option::as_ref(&held);
            world.do_chore((&root, &home), &deed, &texts, held).await
        });
        watch::unhurried(doing).await.unwrap_or_else(|error| {
            Some(ChoreOutcome::Failed { reason: format!("it broke down: {error}") })
        })
    }

    /// Decides what follows once the chore is done: if that is refused, it is not done.
    async fn rehearse(
        &self,
        view: &View,
        due: &Chore,
        cause: &Cause,
    ) -> Result<Decided, ExecuteError> {
        let done = ChoreOutcome::Done { detail: String::new(), warnings: Vec::new(), pushed: None };
        self.decide(view, &report(due, &done, cause), &mut Checks::new()).await
    }

    /// Appends what came of a chore. `None` where the run has moved on meanwhile.
    async fn note_chore(
        &self,
        view: &View,
        (due, cause): (&Chore, &Cause),
        mut rehearsed: Decided,
        done: &ChoreOutcome,
    ) -> Result<Option<Outcome>, ExecuteError> {
        let own = Request::own(view.state.run, report(due, done, cause), Surface::Timer);
        let request = Request { actor: cause.actor.clone().unwrap_or(own.actor), ..own };
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
    let is_it = |it: &&mut Event| matches!(it, Event::ChoreDone { .. });
    if let Some(Event::ChoreDone { deed, detail, warnings, pushed, .. }) =
        rehearsed.events.iter_mut().find(is_it)
    {
        done.clone_into(detail);
        *warnings = odd.to_vec();
        *pushed = sent.cloned();
        rehearsed.state.follow_chore(deed, sent);
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
            chores.warnings.push(due.refusal(reason).to_string());
            true
        }
        (ChoreOutcome::Failed { reason }, definition::OnFailure::Refuse) => {
            chores.failure = Some(due.refusal(reason));
            false
        }
    }
}

fn report(due: &Chore, outcome: &ChoreOutcome, cause: &Cause) -> Command {
    let (name, deed, outcome) = (due.name.clone(), due.deed.clone(), outcome.clone());
    let report = ReportChore { name, deed, outcome, then: cause.then.clone() };
    Command::ReportChore(report.into())
}

/// Returns how a run goes on that waits for nothing: someone else did the chore that it waited for,
/// or the call is made again and what held it up then is repaired.
fn find_onward(request: &Request, outcome: &Outcome) -> Option<Onward> {
    let state = &outcome.view.state;
    let is_free = state.standing == Standing::Running && !state.is_handed_out();
    let is_stopped = outcome.chores.failure.is_some() || outcome.halted.is_some();
    let is_due = !matches!(find_chore(&outcome.view.workflow, state), Ok(None));
    let is_shown_first = awaits_revision(outcome.events.iter().map(|it| &it.event));
    let goes_on = is_free && !is_stopped && !is_due && !is_shown_first;
    request.command.onward().filter(|_| goes_on).cloned()
}
