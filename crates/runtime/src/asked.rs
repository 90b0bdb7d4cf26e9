//! A call with a request id, from its first commit to its answer.
//!
//! ```text
//! ask ──► answered before?  the same answer again
//!     └─► a runtime for this call ──► commits carry the id ──► keep the answer
//! ```
//!
//! Every commit of the call carries the id, in the transaction of its events. The answer is kept
//! after it was worded. Where the process died between the two, the call is made again on the runs
//! as they were before it: each of its commits is recognized and returns the events that it wrote
//! then, so the tool words the same answer and finishes what it had not done.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use definition::{Digest, Hasher};
use engine::{Recorded, Refusal, RunId, Stop, find_worked};
use parking_lot::Mutex;
use store::{Answered, RequestKey, Touch};
use tokio::sync::OwnedMutexGuard;

use crate::{ExecuteError, Held, Place, RunFile, Runtime, View, fault, watch};

/// The longest id of a request, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 200;
/// The longest answer that is kept, in bytes. A longer one is worded again.
const ANSWER_BYTES_MAX: usize = 512 * 1024;
/// How long another process may take over the same call before this one goes on beside it.
const TURN_WAIT: Duration = Duration::from_secs(2);
/// How many commits of one call are looked for.
const PARTS_MAX: u32 = 1000;

/// How a call is known when it is sent again: by an id, and by everything that it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    id: String,
    fingerprint: String,
    kind: Kind,
}

/// What a call is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its request id.
    Request,
    /// The action that it reports. A call that does not answer the action after all is not known.
    Report,
}

/// Which action a report without a request id is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The report is known by the action that it answers: a new one, or the last one again.
    Known(Asking),
    /// It names an action that was answered long before, or none, and does not say which of two it is.
    Stale,
    /// Nobody handed out what it is about.
    None,
}

impl Asking {
    /// Names a call by its id and by everything that it asks for.
    pub fn new(id: String, content: &str) -> Result<Self, Refusal> {
        if REQUEST_ID_BYTES_MAX < id.len() {
            let (what, max) = ("the request's id".to_owned(), REQUEST_ID_BYTES_MAX);
            return Err(Refusal::TooLarge { what, bytes: id.len(), max });
        }
        let fingerprint: Digest = Hasher::default().field(content).finish();
        Ok(Self { id, fingerprint: fingerprint.as_str().to_owned(), kind: Kind::Request })
    }

    /// Names a report by the action that it is about.
    fn report(run: RunId, action: u64, content: &str) -> Result<Self, Refusal> {
        let named = Self::new(format!("action/{run}/{action}"), content)?;
        Ok(Self { kind: Kind::Report, ..named })
    }
}

/// What is known of a call.
pub enum Asked {
    /// It was answered before.
    Answered(String),
    /// It was not. What it does is done through this runtime.
    Open(Runtime),
}

/// A call, as far as it has come.
pub(crate) struct Ask {
    key: RequestKey,
    kind: Kind,
    progress: Mutex<Progress>,
    /// Keeps the same call of others waiting until this one has its answer.
    _turn: Turn,
}

/// The right to make a call with an id: one of this process, and one of all processes.
type Turn = (OwnedMutexGuard<()>, Option<Held>);

#[derive(Default)]
struct Progress {
    /// How many commits of the call were made or recognized.
    done: u32,
    /// How many were found in the store when the call began.
    found: u32,
    /// The runs that the call changed before, at the length that it saw.
    pins: BTreeMap<RunId, u64>,
}

impl Runtime {
    /// Looks a call up. The same id with other content is refused.
    pub async fn ask(&self, asking: Asking) -> Result<Asked, ExecuteError> {
        let Asking { id, fingerprint, kind } = asking;
        let key = RequestKey { id, fingerprint };
        let turn = watch::unhurried(self.take_turn(&key.id)).await;
        let answer = self.store.find_answer(&self.settings.project, &key.id).await;
        if let Some(answer) = answer.map_err(fault)? {
            check_same(&key, &answer.fingerprint)?;
            return Ok(Asked::Answered(answer.text));
        }
        let mut progress = Progress::default();
        for part in 0..PARTS_MAX {
            let id = part_id(&key.id, part);
            let seen = self.store.find_request(&self.settings.project, &id).await;
            let Some(seen) = seen.map_err(fault)? else { break };
            check_same(&key, &seen.fingerprint)?;
            progress.pins.entry(seen.run).or_insert(seen.first.saturating_sub(1));
            progress.found = part + 1;
        }
        let ask = Ask { key, kind, progress: Mutex::new(progress), _turn: turn };
        Ok(Asked::Open(Self { ask: Some(Arc::new(ask)), ..self.clone() }))
    }

    /// Waits until no other call with this id is being made. Another process that keeps its turn for
    /// long is not waited for: the commits of both are recognized.
    async fn take_turn(&self, id: &str) -> Turn {
        let own = self.loaded.calls.find(id.to_owned()).lock_owned().await;
        let root = &self.settings.root;
        let milepost = format!("{}/.milepost", root.trim_end_matches('/'));
        let Some(file_system) = self.world.file_system() else { return (own, None) };
        if !file_system.has_folder(&milepost).await {
            return (own, None);
        }
        let (root, folder) = (root.clone(), format!("{milepost}/calls"));
        let place = Place { root, folder, path: id.to_owned() };
        let held = tokio::select! {
            held = file_system.lock(&place) => held.ok(),
            () = self.world.sleep(TURN_WAIT) => None,
        };
        (own, held)
    }

    /// Finds out which action a report is about that has no request id. `action` is the one that it
    /// names, if it names one; `content` is everything that it says.
    ///
    /// A report that names no action and says the same as the last one is that again, unless the newest
    /// action left something to show. If work was asked for since, nobody can tell; an answer to a
    /// question that was asked for is one.
    pub async fn identify(
        &self,
        view: &View,
        action: Option<u64>,
        content: &str,
    ) -> Result<Identity, ExecuteError> {
        let (run, handed) = (view.state.run, view.state.handed);
        let name = |action: u64, text: &str| Asking::report(run, action, text);
        let last = match handed.answered {
            Some(answered) => self.find_asking(name(answered, content)?).await?,
            None => None,
        };
        let is_open = !handed.is_answered();
        match (action, last) {
            (Some(action), _) if is_open && action == handed.action => {
                Ok(Identity::Known(name(action, content)?))
            }
            (Some(action), Some(last)) if handed.answered == Some(action) => {
                Ok(Identity::Known(last))
            }
            (Some(_), _) => Ok(Identity::Stale),
            (None, Some(last)) if last == name(handed.answered.unwrap_or_default(), content)? => {
                if is_open && self.is_worked(view).await? {
                    return Ok(Identity::Known(name(handed.action, content)?));
                }
                if is_open && self.is_seen(view).await? {
                    // What a person says to one question may well be what they said to another.
                    let is_asked = view.state.standing.open_gate().is_some();
                    let known = name(handed.action, content)?;
                    return Ok(if is_asked { Identity::Known(known) } else { Identity::Stale });
                }
                Ok(Identity::Known(last))
            }
            (None, _) if is_open => Ok(Identity::Known(name(handed.action, content)?)),
            (None, _) => Ok(Identity::None),
        }
    }

    /// Returns the call with this id as it was made, if it was.
    async fn find_asking(&self, asking: Asking) -> Result<Option<Asking>, ExecuteError> {
        let Asking { id, kind, .. } = asking;
        let answer = self.store.find_answer(&self.settings.project, &id).await.map_err(fault)?;
        let print = match answer {
            Some(answer) => Some(answer.fingerprint),
            None => {
                let seen = self.store.find_request(&self.settings.project, &id).await;
                seen.map_err(fault)?.map(|it| it.fingerprint)
            }
        };
        Ok(print.map(|it| Asking { id, fingerprint: call_of(&it).to_owned(), kind }))
    }

    /// Notes that the newest action of a run was asked for by itself, so that its agent knows it.
    pub async fn note_seen(&self, view: &View) {
        if view.state.handed.answered.is_none() {
            return;
        }
        let key = RequestKey { id: seen_id(view), fingerprint: String::new() };
        let (project, text) = (self.settings.project.clone(), String::new());
        let answered = Answered { project, key, text, at: self.world.steady() };
        if let Err(error) = self.store.touch(Touch::Answer(answered.into())).await {
            tracing::warn!(%error, "that an action was asked for was not kept");
        }
    }

    async fn is_seen(&self, view: &View) -> Result<bool, ExecuteError> {
        let id = seen_id(view);
        let seen = self.store.find_answer(&self.settings.project, &id).await;
        Ok(seen.map_err(fault)?.is_some())
    }

    /// Whether there is anything to show for the newest action.
    async fn is_worked(&self, view: &View) -> Result<bool, ExecuteError> {
        let mut known = self.known(view);
        loop {
            match find_worked(&view.workflow, &view.state, &known) {
                Ok(is_worked) => return Ok(is_worked),
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Ask(questions)) => {
                    self.look(&self.folders_of(view), &mut known, questions).await?;
                }
            }
        }
    }

    /// Keeps what the call was answered. It is worded again where that fails.
    ///
    /// A refusal is not kept: what stood in the way may be gone when the call is sent again. What
    /// the call had committed until then is found in the log, and it goes on from there.
    pub async fn keep_answer(&self, text: String, is_refused: bool) {
        let Some(ask) = self.ask.as_ref().filter(|_| text.len() <= ANSWER_BYTES_MAX) else {
            return;
        };
        let is_known = match ask.kind {
            Kind::Request => true,
            Kind::Report => self.has_committed(),
        };
        if is_refused || !is_known {
            return;
        }
        let (project, key) = (self.settings.project.clone(), ask.key.clone());
        let answered = Answered { project, key, text, at: self.world.steady() };
        if let Err(error) = self.store.touch(Touch::Answer(answered.into())).await {
            tracing::warn!(%error, "an answer was not kept");
        }
    }

    /// Whether the call has changed anything, now or before.
    fn has_committed(&self) -> bool {
        self.ask.as_ref().is_some_and(|it| 0 < it.progress.lock().done)
    }

    /// Whether commits of the call are known that it has not come to yet.
    pub fn is_repeating(&self) -> bool {
        self.ask.as_ref().is_some_and(|it| {
            let progress = it.progress.lock();
            progress.done < progress.found
        })
    }

    /// Returns the runtime for what is not done for the call, but happens to be due.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { ask: None, ..self.clone() }
    }

    /// Returns the run that the call changed before, if there is one that it did not begin.
    pub fn find_changed_before(&self) -> Option<RunId> {
        let progress = self.ask.as_ref()?.progress.lock();
        progress.pins.iter().find(|(_, pin)| 0 < **pin).map(|(run, _)| *run)
    }

    /// Names the next commit: by the call where there is one, else by an id of its own.
    pub(crate) fn next_key(
        &self,
        id: Option<String>,
        asked: &str,
    ) -> Result<Option<RequestKey>, Refusal> {
        let Some(ask) = &self.ask else { return request_key(id, asked) };
        let id = part_id(&ask.key.id, ask.progress.lock().done);
        let part: Digest = Hasher::default().field(asked).finish();
        let fingerprint = format!("{}{PART}{}", ask.key.fingerprint, part.as_str());
        Ok(Some(RequestKey { id, fingerprint }))
    }

    /// Whether a commit is one that the call is known by.
    pub(crate) fn carries(&self, events: &[Recorded]) -> bool {
        let Some(ask) = &self.ask else { return true };
        let has_answered = 0 < ask.progress.lock().done;
        ask.kind == Kind::Request || has_answered || events.iter().any(|it| it.event.is_answer())
    }

    /// Notes that a commit of the call was made. What follows sees the runs as they are now.
    pub(crate) fn note_commit(&self, key: Option<&RequestKey>) {
        if let (Some(ask), Some(_)) = (&self.ask, key) {
            let mut progress = ask.progress.lock();
            progress.done += 1;
            progress.pins.clear();
        }
    }

    /// Notes that a commit of the call was recognized. What follows sees its run as it was then.
    pub(crate) fn note_repeat(&self, run: RunId, last: u64) {
        if let Some(ask) = &self.ask {
            let mut progress = ask.progress.lock();
            progress.done += 1;
            progress.pins.insert(run, last);
        }
    }

    /// Notes that the call goes on from here: what follows sees the runs as they are now.
    pub(crate) fn note_present(&self) {
        if let Some(ask) = &self.ask {
            ask.progress.lock().pins.clear();
        }
    }

    /// Returns the length at which a run is seen, where that is not the present one; 0 where the
    /// run had not begun.
    pub(crate) fn pinned(&self, run: RunId) -> Option<u64> {
        self.ask.as_ref().and_then(|it| it.progress.lock().pins.get(&run).copied())
    }

    /// Whether the call began a run before, and has not come to that yet.
    pub(crate) fn is_before_beginning(&self) -> bool {
        self.ask.as_ref().is_some_and(|it| it.progress.lock().pins.values().any(|it| *it == 0))
    }

    /// Returns a run's file as it was when the run was as it is seen.
    pub(crate) fn file_then(&self, view: &View) -> Option<RunFile> {
        let path = self.path_shown(view)?;
        let text = self.foresee(view, &[]).into_iter().next().map(|(_, text)| text)?;
        Some(RunFile { path, text, notices: Vec::new() })
    }
}

/// Stands between the fingerprint of a call and that of one of its commits.
const PART: char = '.';

/// Names a request by its id and by what it asks for. The form of that is kept for days only, and
/// a new release that writes it differently refuses a repetition rather than doing it twice.
pub(crate) fn request_key(id: Option<String>, asked: &str) -> Result<Option<RequestKey>, Refusal> {
    let Some(id) = id else { return Ok(None) };
    let Asking { id, fingerprint, .. } = Asking::new(id, asked)?;
    Ok(Some(RequestKey { id, fingerprint }))
}

/// Returns the fingerprint of a call from that of one of its commits.
fn call_of(fingerprint: &str) -> &str {
    fingerprint.split(PART).next().unwrap_or_default()
}

fn seen_id(view: &View) -> String {
    format!("seen/{}/{}", view.state.run, view.state.handed.action)
}

/// Refuses an id that was used for something else.
pub(crate) fn check_same(key: &RequestKey, fingerprint: &str) -> Result<(), Refusal> {
    if call_of(&key.fingerprint) == call_of(fingerprint) {
        return Ok(());
    }
    Err(Refusal::RequestConflict(key.id.clone()))
}

/// Returns the id of a commit of a call. Those that are made up cannot be ones that are given, and
/// are never too long.
fn part_id(id: &str, part: u32) -> String {
    match part {
        0 => id.to_owned(),
        part => format!("{}/{part}", Digest::of(id.as_bytes()).as_str()),
    }
}
