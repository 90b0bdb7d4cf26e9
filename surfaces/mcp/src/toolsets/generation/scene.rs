//! A scene as a call finds it: its run, its state file, and the session it is worked on in.

use engine::{Command, ForkPoint, Refusal, Standing, StartRun, Timestamp};
use runtime::{ExecuteError, Fork, Outcome, Request, RunFile, Target, View};
use serde_json::{Map, Value};

use super::{
    WORKFLOW,
    answer::{Facts, Failure},
    document::Document,
    files::{is_session, key, project},
    onward::{self, Onward},
    scene_id::SceneId,
    text::{self, Scene},
    words::Dialect,
};
use crate::tool::{Call, Done};

/// Names the session whose files are worked on.
const SESSION_LOCK: &str = "session.lock";

/// A scene that has a state.
pub(super) struct Found {
    id: String,
    /// The session that is active.
    session: Option<String>,
    view: View,
    path: String,
    pub(super) document: Document,
    onward: Onward,
    notices: Vec<String>,
    now: Timestamp,
}

/// Finds the state of a scene: the session's own, else the common one.
pub(super) async fn find(call: &Call<'_>, id: &SceneId) -> Result<Option<Found>, Failure> {
    let session = find_session(call).await;
    let own = session.as_deref().map(|it| key(id.as_str(), Some(it)));
    for key in own.into_iter().chain([key(id.as_str(), None)]) {
        let found = call.runtime.find_file(WORKFLOW, &key).await;
        if let Some((view, file)) = found.map_err(|error| fault(id, &error))? {
            return Ok(Some(found_in(call, id, (view, file), session)));
        }
    }
    Ok(None)
}

/// Finds the state of a scene that must have one; `missing` says that it has none.
pub(super) async fn expect(
    call: &Call<'_>,
    id: &SceneId,
    missing: String,
) -> Result<Found, Failure> {
    let found = find(call, id).await?;
    found.ok_or_else(|| Failure::new("state_not_found", missing).about(id.as_str(), None))
}

/// Begins a scene: in the session that is active, if one is.
pub(super) async fn start(
    call: &Call<'_>,
    id: &SceneId,
    context: Map<String, Value>,
) -> Result<Found, Stopped> {
    let session = find_session(call).await;
    let start = StartRun {
        key: Some(key(id.as_str(), session.as_deref())),
        flow: None,
        context,
        vars: Map::new(),
        root: call.runtime.root_for(WORKFLOW).to_owned(),
    };
    let (target, command) = (Target::New(WORKFLOW.to_owned()), Command::StartRun(Box::new(start)));
    let outcome = execute(call, target, command).await.map_err(|error| stop(id, error))?;
    taken(call, id, outcome, session).map_err(Stopped::Failed)
}

/// Has a command executed on a scene's run. A common state that is changed while a session is
/// active is copied into it first, and stays as it is.
pub(super) async fn change(
    call: &Call<'_>,
    id: &SceneId,
    found: &Found,
    command: Command,
) -> Result<Found, Stopped> {
    let run = match &found.session {
        Some(session) if !found.is_in(session) => {
            let fork = Fork {
                run: found.view.state.run,
                point: ForkPoint::Seq(found.view.state.length),
                key: Some(key(id.as_str(), Some(session))),
                actor: call.actor.clone(),
                request_id: None,
            };
            let copy = call.runtime.fork(fork).await.map_err(|error| stop(id, error))?;
            copy.view.state.run
        }
        Some(_) | None => found.view.state.run,
    };
    let outcome =
        execute(call, Target::Run(run), command).await.map_err(|error| stop(id, error))?;
    let session = found.session.clone();
    let mut after = taken(call, id, outcome, session).map_err(Stopped::Failed)?;
    after.notices.splice(0..0, found.notices.iter().cloned());
    after.notices.dedup();
    Ok(after)
}

async fn execute(
    call: &Call<'_>,
    target: Target,
    command: Command,
) -> Result<Outcome, ExecuteError> {
    let (actor, request_id) = (call.actor.clone(), None);
    call.runtime.execute(Request { target, command, actor, request_id }).await
}

/// Why a command did not change anything.
pub(super) enum Stopped {
    /// The rules do not allow it. The tool has words for that.
    Refused(Refusal),
    /// Something else went wrong.
    Failed(Failure),
}

impl Stopped {
    /// Words a refusal that the tool has no words of its own for.
    pub(super) fn or_else(
        self,
        found: Option<&Found>,
        words: impl FnOnce(&Refusal) -> Option<String>,
    ) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Refused(refusal) => match (words(&refusal), found) {
                (Some(text), _) => Failure::new(refusal.code(), text),
                (None, Some(found)) => found.refused(&refusal),
                (None, None) => refused(&refusal),
            },
        }
    }
}

impl Found {
    /// Returns the scene to speak of.
    pub(super) fn scene(&self) -> Scene<'_> {
        let Self { id, path, document, onward, now, .. } = self;
        Scene { id, path, document, onward, now: *now }
    }

    /// Words a refusal, with what can be done instead.
    fn refused(&self, refusal: &Refusal) -> Failure {
        if self.onward.ways.is_empty() {
            return refused(refusal);
        }
        let hint = self.scene().hint("What can be done now", Dialect::Numbered);
        Failure::new(refusal.code(), format!("❌ ERROR: {refusal}\n\n{hint}"))
    }

    /// Whether the scene is done.
    pub(super) fn is_completed(&self) -> bool {
        self.view.state.standing == Standing::Completed
    }

    /// Whether the run may go on without being resumed.
    pub(super) fn is_live(&self) -> bool {
        self.view.state.standing.is_live()
    }

    /// Whether no other run of the scene may begin.
    pub(super) fn holds_key(&self) -> bool {
        engine::summary(&self.view.workflow, &self.view.state).holds_key
    }

    /// Answers with a text about the scene.
    pub(super) fn say(&self, text: String) -> Done<Facts> {
        self.done(Facts::new(&self.scene(), text))
    }

    /// Answers, and tells what was noticed on the way.
    pub(super) fn done(&self, answer: impl Into<Done<Facts>>) -> Done<Facts> {
        let mut done = answer.into();
        if let Some(feedback) = self.view.state.sent_back() {
            done.answer.result.push_str(&text::sent_back(&self.scene(), feedback));
        }
        if !self.notices.is_empty() {
            let lines: Vec<String> = self.notices.iter().map(|it| format!("\n  - {it}")).collect();
            done.answer.result.push_str(&format!("\n\n⚠️ Warnings:{}", lines.concat()));
            done.warnings.extend(self.notices.iter().cloned());
        }
        done
    }

    /// Says that the scene's state does not allow it.
    pub(super) fn fail(&self, failure: Failure) -> Failure {
        failure.about(&self.id, Some(&self.document))
    }

    /// Whether it is worked on in a session.
    fn is_in(&self, session: &str) -> bool {
        let own = key(&self.id, Some(session));
        self.view.state.key() == Some(own.as_str())
    }
}

/// Says that there is no state of a scene.
pub(super) fn missing(id: &SceneId, text: String) -> Failure {
    Failure::new("state_not_found", text).about(id.as_str(), None)
}

/// Returns the session that is active. A lock that cannot be understood names none.
pub(super) async fn find_session(call: &Call<'_>) -> Option<String> {
    let lock = call.runtime.read_beside(WORKFLOW, SESSION_LOCK).await.ok()??;
    let lock: Value = serde_json::from_str(&lock).ok()?;
    let session = lock.get("active")?.as_str()?;
    is_session(session).then(|| session.to_owned())
}

fn taken(
    call: &Call<'_>,
    id: &SceneId,
    outcome: Outcome,
    session: Option<String>,
) -> Result<Found, Failure> {
    let Outcome { view, file, .. } = outcome;
    let Some(file) = file else {
        let detail = "the state file could not be written; the change is kept, and the file is \
                      written with the next call";
        return Err(Failure::new("file_unwritten", text::unexpected("IOError", detail)));
    };
    Ok(found_in(call, id, (view, file), session))
}

fn found_in(
    call: &Call<'_>,
    id: &SceneId,
    (view, file): (View, RunFile),
    session: Option<String>,
) -> Found {
    let RunFile { path, notices, .. } = file;
    let document = project(&view.workflow, &view.state);
    let (id, now) = (id.to_string(), call.runtime.now());
    let onward = onward::find_onward(&view.workflow, &view.state, &call.runtime.known(&view));
    Found { id, session, view, path, document, onward, notices, now }
}

fn stop(id: &SceneId, error: ExecuteError) -> Stopped {
    match error {
        ExecuteError::Refused(refusal @ Refusal::FileUnreadable { .. }) => {
            Stopped::Failed(fault(id, &refusal.into()))
        }
        ExecuteError::Refused(refusal) => Stopped::Refused(refusal),
        error @ (ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless) => {
            Stopped::Failed(fault(id, &error))
        }
    }
}

/// Words what went wrong without any rule being broken.
pub(super) fn fault(id: &SceneId, error: &ExecuteError) -> Failure {
    let failure = match error {
        ExecuteError::Refused(Refusal::FileUnreadable { path, problem, is_corrupt: true }) => {
            Failure::new("state_corrupted", text::corrupted(path, problem))
        }
        ExecuteError::Refused(Refusal::FileUnreadable { path, problem, is_corrupt: false }) => {
            Failure::new("state_unreadable", text::unreadable(path, problem))
        }
        ExecuteError::Refused(refusal) => refused(refusal),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
            let said = unexpected(error);
            if error.passes() { said.retry_after(RETRY_MS) } else { said }
        }
    };
    failure.about(id.as_str(), None)
}

/// Words a failure of the store, and what helps.
pub(super) fn unexpected(error: &ExecuteError) -> Failure {
    let said = text::unexpected(error.code(), &error.to_string());
    Failure::new(error.code(), format!("{said}\n\n💡 {}", error.hint()))
}

/// After how long a call that found the store busy may be tried again.
const RETRY_MS: u64 = 500;

fn refused(refusal: &Refusal) -> Failure {
    Failure::new(refusal.code(), format!("❌ ERROR: {refusal}\n\n💡 {}", refusal.hint()))
}
