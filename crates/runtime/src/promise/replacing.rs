//! Replaces what is in a file and was not written here: it is kept, told, and in the history.

use definition::Digest;
use engine::{Command, Decided, Event, Recorded, evolve};
use store::StoreError;

use super::{Known, Promise, looking::Left};
use crate::{ExecuteError, Place, Runtime, Stat};

/// How often a note is added to a log because others were faster.
const TRIES_MAX: u32 = 512;

impl Runtime {
    /// Keeps what is in a file that is not taken in, notes that in the log, and writes the file.
    pub(super) async fn replace(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        (left, problem): (Left, String),
        notices: &mut Vec<String>,
    ) -> Result<Result<Stat, String>, ExecuteError> {
        // What cannot be kept is not written over.
        let kept = match promise.keep(&left).await {
            Ok(kept) => kept,
            Err(problem) => return Ok(Err(problem)),
        };
        let named = kept.as_ref().map(|it| promise.named(it));
        self.note_replaced(promise, (promise.shown.clone(), problem, named), notices).await?;
        self.catch_up(known, promise.run, None, None).await?;
        if let (Left::Bytes, Some(kept)) = (&left, &kept)
            && let Err(problem) = promise.desk.rename(&promise.place, &kept.path).await
        {
            return Ok(Err(problem));
        }
        Ok(promise.write(known).await)
    }

    /// Writes what goes with the file, where it says something else. What others wrote there is
    /// kept.
    pub(super) async fn write_beside(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        notices: &mut Vec<String>,
    ) -> Result<(), ExecuteError> {
        for (path, text) in known.sheet.beside() {
            let place = Place { path, ..promise.place.clone() };
            let name = promise.named(&place);
            let digest = Digest::of(text.as_bytes());
            let written = match promise.desk.read(&place).await {
                Ok(Some((bytes, _))) if bytes == text.as_bytes() => Ok(()),
                Ok(Some((bytes, _))) => {
                    let is_ours = self.is_ours(promise, known, &place.path, &bytes).await?;
                    let kept = if is_ours {
                        Ok(())
                    } else {
                        self.keep_beside(promise, &place, bytes, notices).await?
                    };
                    match kept {
                        Ok(()) => promise.desk.write(&place, text).await.map(drop),
                        Err(problem) => Err(problem),
                    }
                }
                Ok(None) | Err(_) => promise.desk.write(&place, text).await.map(drop),
            };
            match written {
                Ok(()) => drop(known.beside.insert(place.path, digest)),
                Err(problem) => notices.push(format!("`{name}` could not be written: {problem}")),
            }
        }
        Ok(())
    }

    /// Whether the log has ever had these bytes written beside the file.
    async fn is_ours(
        &self,
        promise: &Promise<'_>,
        known: &Known,
        path: &str,
        bytes: &[u8],
    ) -> Result<bool, ExecuteError> {
        if known.beside.get(path) == Some(&Digest::of(bytes)) {
            return Ok(true);
        }
        let (_, log) = self.load_at(promise.run, None).await?;
        let mut sheet = promise.projection.blank(&promise.workflow);
        Ok(log.iter().any(|recorded| {
            sheet.apply(recorded);
            sheet.beside().iter().any(|(at, text)| at == path && text.as_bytes() == bytes)
        }))
    }

    /// Keeps what someone wrote into a file that is only ever written here.
    async fn keep_beside(
        &self,
        promise: &Promise<'_>,
        place: &Place,
        bytes: Vec<u8>,
        notices: &mut Vec<String>,
    ) -> Result<Result<(), String>, ExecuteError> {
        let aside = promise.aside("").path;
        let folder = aside.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = place.path.rsplit('/').next().unwrap_or_default();
        let wanted = Place { path: format!("{folder}/{name}"), ..place.clone() };
        // It is Markdown that people may have written into, so whatever is not text is lost on no one.
        let text = String::from_utf8_lossy(&bytes);
        let kept = match promise.keep_text(wanted, &text).await {
            Ok(kept) => promise.named(&kept),
            Err(problem) => return Ok(Err(problem)),
        };
        let problem = "it is only ever written from the log, never read".to_owned();
        self.note_replaced(promise, (promise.named(place), problem, Some(kept)), notices).await?;
        Ok(Ok(()))
    }

    /// Notes in the log and for the caller that a file is replaced.
    async fn note_replaced(
        &self,
        promise: &Promise<'_>,
        (path, problem, kept): (String, String, Option<String>),
        notices: &mut Vec<String>,
    ) -> Result<(), ExecuteError> {
        let event = Event::FileReplaced { path, problem, kept };
        // It is about the file alone, so it holds wherever the run is by now.
        let request = promise.request(Command::All(Vec::new()));
        for _ in 0..TRIES_MAX {
            let view = self.load(promise.run).await?;
            let at = self.world.now().max(view.state.updated_at);
            let steady = self.world.steady().max(view.state.steady);
            let (seq, by) = (view.state.length + 1, request.actor.clone());
            let recorded = Recorded { seq, at, steady, by, event: event.clone() };
            let state = evolve((*view.state).clone(), &recorded);
            let decided = Decided { events: vec![event.clone()], state };
            match self.append(&view, decided, &request, None).await {
                Ok(_) => {
                    notices.push(event.describe());
                    return Ok(());
                }
                Err(ExecuteError::Store(StoreError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ExecuteError::Busy { run: promise.run })
    }
}

impl Promise<'_> {
    /// Keeps what the file said last before an edit, and tells where.
    pub(super) async fn keep_last(&self, known: &mut Known, notices: &mut Vec<String>) {
        let last = known.text().to_owned();
        notices.push(match self.keep_text(self.aside(&last), &last).await {
            Ok(kept) => {
                format!("what was in `{}` is kept in `{}`", self.shown, self.named(&kept))
            }
            Err(problem) => problem,
        });
    }
}
