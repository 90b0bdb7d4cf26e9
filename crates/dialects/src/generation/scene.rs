//! A scene as a call finds it: its run, its state file, and the session it is worked on in.

use engine::{Command, Offers, Progress, Refusal, RunFile, Standing, StartRun, View, comes_again};
use serde_json::{Map, Value};

use super::{
    WORKFLOW, advice,
    answer::{Facts, Failure},
    document::Document,
    files::{is_session, key, project},
    scene_id::SceneId,
    text::{self, Scene},
    words::{Dialect, Step},
};
use crate::kit::{Ask, Beside, Deed, Done, Look, Outcome, Snapshot, Stopped, Tell, Tool};

/// Names the session whose files are worked on.
const SESSION_LOCK: &str = "session.lock";

/// What a tool says of a refusal: that it is none, or words of its own, if it has any.
pub(super) type Worded = Result<Done<Facts>, Option<String>>;

/// Where scenes are worked on.
#[derive(Debug, Clone)]
pub(super) struct Place {
    root: String,
    /// The session that is active.
    pub(super) session: Option<String>,
}

/// A scene that has a state.
pub(super) struct Found {
    id: SceneId,
    session: Option<String>,
    pub(super) seen: Snapshot,
    path: String,
    pub(super) document: Document,
    offers: Offers,
    notices: Vec<String>,
}

impl Place {
    /// Finds out where scenes are worked on. A lock that cannot be understood names no session.
    pub(super) fn find<N>(then: impl FnOnce(Self) -> N + Send + 'static) -> Look<N> {
        let read = |beside: Beside| {
            let lock: Option<Value> = beside.text.and_then(|text| serde_json::from_str(&text).ok());
            let session = lock.as_ref().and_then(|it| it.get("active")?.as_str());
            let session = session.filter(|it| is_session(it)).map(ToOwned::to_owned);
            Self { root: beside.root, session }
        };
        Look::Beside(WORKFLOW, SESSION_LOCK, Box::new(move |beside| then(read(beside))))
    }

    /// Finds the state of a scene: the session's own, else the common one.
    pub(super) fn find_scene<N>(
        &self,
        id: &SceneId,
        then: impl FnOnce(Result<Option<Found>, Failure>) -> N + Send + 'static,
    ) -> Look<N> {
        let (id, session) = (id.clone(), self.session.clone());
        let own = session.as_deref().map(|it| key(id.as_str(), Some(it)));
        let keys = own.into_iter().chain([key(id.as_str(), None)]).collect();
        let found = move |found| match found {
            Ok(Some((seen, file))) => Ok(Some(Found::new(id, session, seen, file))),
            Ok(None) => Ok(None),
            Err(stopped) => Err(fault(&id, &stopped)),
        };
        Look::File(WORKFLOW, keys, Box::new(move |it| then(found(it))))
    }

    /// Asks for a scene to begin: in the session that is active, if one is.
    pub(super) fn start(
        &self,
        id: &SceneId,
        context: Map<String, Value>,
        then: impl FnOnce(Result<Result<Found, Refusal>, Failure>) -> Tell + Send + 'static,
    ) -> Ask {
        let (id, session) = (id.clone(), self.session.clone());
        let start = StartRun {
            goes_on: false,
            key: Some(key(id.as_str(), session.as_deref())),
            flow: None,
            context,
            vars: Map::new(),
            root: self.root.clone(),
        };
        let deed = Deed::Start { workflow: WORKFLOW.to_owned(), start: Box::new(start) };
        Ask::Do(deed, Box::new(move |outcome| then(taken(&id, session, outcome))))
    }
}

/// Finds the state of a scene that must have one; `missing` says that it has none.
pub(super) fn open<T: Tool<Answer = Facts, Failure = Failure>>(
    id: &SceneId,
    missing: String,
    then: impl FnOnce(Found) -> Ask + Send + 'static,
) -> Ask {
    let id = id.clone();
    let found = move |place: Place| {
        let absent = Failure::new("state_not_found", missing).about(id.as_str(), None);
        let look = place.find_scene(&id, move |found| match found {
            Ok(Some(found)) => then(found),
            Ok(None) => T::fail(absent).into(),
            Err(failure) => T::fail(failure).into(),
        });
        Ask::Look(look)
    };
    Place::find(found).into()
}

impl Found {
    fn new(id: SceneId, session: Option<String>, seen: Snapshot, file: RunFile) -> Self {
        let RunFile { path, notices, .. } = file;
        let document = project(&seen.view.workflow, &seen.view.state);
        let offers = advice::find(&seen.view, &seen.known);
        Self { id, session, path, document, offers, notices, seen }
    }

    /// Asks for a command on a scene's run. A common state that is changed while a session is
    /// active is copied into it first, and stays as it is.
    pub(super) fn change<T: Tool<Answer = Facts, Failure = Failure>>(
        self,
        command: Command,
        done: impl FnOnce(&Self, &Self) -> Done<Facts> + Send + 'static,
        refused: impl FnOnce(&Self, &Refusal) -> Worded + Send + 'static,
    ) -> Ask {
        let own = self.session.as_deref().map(|it| key(self.id.as_str(), Some(it)));
        let state = &self.seen.view.state;
        let (run, length, command) = (state.run, state.length, Box::new(command));
        let deed = match own.filter(|own| state.key() != Some(own.as_str())) {
            Some(key) => Deed::ChangeCopy { run, length, key, command },
            None => Deed::Change { run, command, by: None },
        };
        let said = move |outcome| {
            let after = taken(&self.id, self.session.clone(), outcome);
            match after.map_err(|it| self.fail(it))? {
                Ok(mut after) => {
                    after.notices.splice(0..0, self.notices.iter().cloned());
                    after.notices.dedup();
                    Ok(done(&self, &after))
                }
                Err(refusal) => refused(&self, &refusal).map_err(|text| {
                    let text = text.unwrap_or_else(|| self.refused(&refusal));
                    self.fail(Failure::new(refusal.code(), text))
                }),
            }
        };
        Ask::Do(deed, Box::new(move |outcome| T::tell(said(outcome))))
    }

    /// Returns the scene to speak of.
    pub(super) fn scene(&self) -> Scene<'_> {
        let Self { id, path, document, offers, seen, .. } = self;
        let state = &seen.view.state;
        let current = state.current.as_ref().filter(|_| !state.is_work_done);
        let point = current.and_then(|it| Step::find_key(it.as_str()));
        Scene { id: id.as_str(), path, document, offers, point, now: seen.at }
    }

    /// Words a refusal, with what can be done instead.
    pub(super) fn refused(&self, refusal: &Refusal) -> String {
        if self.offers.open.is_empty() {
            return refused(refusal);
        }
        let hint = self.scene().hint("What can be done now", Dialect::Numbered);
        format!("❌ ERROR: {refusal}\n\n{hint}")
    }

    /// Whether a step is done, and is not done again when the run gets there.
    pub(super) fn has_done(&self, step: &Step) -> bool {
        let View { workflow, state, .. } = &self.seen.view;
        let is_it = |it: &&definition::Step| it.name.as_str() == step.key;
        let own = workflow.steps.iter().find(is_it).map(|it| &it.name);
        own.is_some_and(|it| {
            let is_again = self.is_live() && comes_again(workflow, state, it);
            state.progress(it) == Progress::Done && !is_again
        })
    }

    /// Whether the scene is done.
    pub(super) fn is_completed(&self) -> bool {
        self.seen.view.state.standing == Standing::Completed
    }

    /// Whether the run may go on without being resumed.
    pub(super) fn is_live(&self) -> bool {
        self.seen.view.state.standing.is_live()
    }

    /// Whether no other run of the scene may begin.
    pub(super) fn holds_key(&self) -> bool {
        engine::summary(&self.seen.view.workflow, &self.seen.view.state).holds_key
    }

    /// Answers with a text about the scene.
    pub(super) fn say(&self, text: String) -> Done<Facts> {
        self.done(Facts::new(&self.scene(), text))
    }

    /// Answers, and tells what was noticed on the way.
    pub(super) fn done(&self, answer: impl Into<Done<Facts>>) -> Done<Facts> {
        let mut done = answer.into();
        if let Some(feedback) = self.seen.view.state.sent_back() {
            done.answer.result.push_str(&text::sent_back(&self.scene(), feedback));
        }
        done.answer.result.push_str(&text::warnings(&self.notices));
        done.warnings.extend(self.notices.iter().cloned());
        done
    }

    /// Says that the scene's state does not allow it.
    pub(super) fn fail(&self, failure: Failure) -> Failure {
        failure.about(self.id.as_str(), Some(&self.document))
    }
}

/// Returns the scene as it is after a deed, or the refusal for which a tool may have words.
fn taken(
    id: &SceneId,
    session: Option<String>,
    outcome: Result<Outcome, Stopped>,
) -> Result<Result<Found, Refusal>, Failure> {
    match outcome {
        Ok(Outcome { now, file: Some(file), .. }) => {
            Ok(Ok(Found::new(id.clone(), session, now, file)))
        }
        Ok(Outcome { file: None, .. }) => {
            let detail = "the state file could not be written; the change is kept, and the file is \
                          written with the next call";
            Err(Failure::new("file_unwritten", text::unexpected("IOError", detail)))
        }
        Err(Stopped::Refused(refusal)) if !matches!(refusal, Refusal::FileUnreadable { .. }) => {
            Ok(Err(refusal))
        }
        Err(stopped) => Err(fault(id, &stopped)),
    }
}

/// Words what went wrong without any rule being broken.
fn fault(id: &SceneId, stopped: &Stopped) -> Failure {
    let failure = match stopped {
        Stopped::Refused(Refusal::FileUnreadable { path, problem, is_corrupt: true }) => {
            Failure::new("state_corrupted", text::corrupted(path, problem))
        }
        Stopped::Refused(Refusal::FileUnreadable { path, problem, is_corrupt: false }) => {
            Failure::new("state_unreadable", text::unreadable(path, problem))
        }
        Stopped::Refused(refusal) => Failure::new(refusal.code(), refused(refusal)),
        Stopped::Failed(fault) => {
            let said = Failure::unexpected(stopped);
            if fault.passes { said.retry_after(RETRY_MS) } else { said }
        }
    };
    failure.about(id.as_str(), None)
}

/// After how long a call that found the store busy may be tried again.
const RETRY_MS: u64 = 500;

/// Words a refusal for which nobody has words of its own.
pub(super) fn refused(refusal: &Refusal) -> String {
    format!("❌ ERROR: {refusal}\n\n💡 {}", advice::WORDS.hint(refusal))
}

/// Whether a run is over.
pub(super) fn is_ended(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::RunEnded { .. })
}

/// Whether another step is to be worked on, or none before someone chose or answered.
pub(super) fn is_elsewhere(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::StepNotCurrent { .. } | Refusal::ChoiceOpen { .. } | Refusal::GateOpen { .. }
    )
}
