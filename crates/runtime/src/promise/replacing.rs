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
        let aside = promise.aside(if let Left::Text(text) = &left { text } else { "" });
        let places = (&promise.place, aside);
        let mut told = Vec::new();
        let kept = match self.put_aside(promise, places, (left, problem), &mut told).await? {
            Ok(kept) => kept,
            Err(problem) => return Ok(Err(problem)),
        };
        match kept.filter(|_| known.written() == 0) {
            // It is what was there before the run, and nobody expects it to be taken in.
            Some(kept) => notices.push(format!("`{}` was kept as `{kept}`", promise.shown)),
            None => notices.append(&mut told),
        }
        self.catch_up(known, promise.run, None, None).await?;
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
        for (path, text) in known.file.beside() {
            let place = Place { path, ..promise.place.clone() };
            let digest = Digest::of(text.as_bytes());
            let written = match promise.file_system.read(&place).await {
                Ok(Some((bytes, _))) if bytes == text.as_bytes() => Ok(()),
                Ok(found) => {
                    let found = found.map(|(bytes, _)| bytes).unwrap_or_default();
                    match self.make_room(promise, known, (&place, found), notices).await? {
                        Ok(()) => promise.file_system.write(&place, text).await.map(drop),
                        Err(problem) => Err(problem),
                    }
                }
                Err(problem) => Err(problem),
            };
            if let Err(problem) = written {
                let name = promise.named(&place);
                notices.push(format!("`{name}` could not be written: {problem}"));
                continue;
            }
            known.beside.insert(place.path, digest);
        }
        Ok(())
    }

    /// Keeps what someone wrote into a file that is only ever written here.
    async fn make_room(
        &self,
        promise: &Promise<'_>,
        known: &Known,
        (place, bytes): (&Place, Vec<u8>),
        notices: &mut Vec<String>,
    ) -> Result<Result<(), String>, ExecuteError> {
        if bytes.is_empty() || self.is_ours(promise, known, &place.path, &bytes).await? {
            return Ok(Ok(()));
        }
        let aside = promise.aside("").path;
        let folder = aside.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = place.path.rsplit('/').next().unwrap_or_default();
        let aside = Place { path: format!("{folder}/{name}"), ..place.clone() };
        let left = String::from_utf8(bytes).map_or(Left::Bytes, Left::Text);
        let problem = "it is only ever written from the log".to_owned();
        Ok(self.put_aside(promise, (place, aside), (left, problem), notices).await?.map(drop))
    }

    /// Keeps what is in a file that is written next, and notes that in the log and for the caller.
    /// What cannot be kept must not be written over.
    async fn put_aside(
        &self,
        promise: &Promise<'_>,
        (place, aside): (&Place, Place),
        (left, problem): (Left, String),
        notices: &mut Vec<String>,
    ) -> Result<Result<Option<String>, String>, ExecuteError> {
        let kept = match promise.keep(aside, &left).await {
            Ok(kept) => kept,
            Err(problem) => return Ok(Err(problem)),
        };
        let named = kept.as_ref().map(|it| promise.named(it));
        let replaced = (promise.named(place), problem, named.clone());
        self.note_replaced(promise, replaced, notices).await?;
        if let (Left::Bytes, Some(kept)) = (left, kept)
            && let Err(problem) = promise.file_system.rename(place, &kept.path).await
        {
            return Ok(Err(problem));
        }
        Ok(Ok(named))
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
        let mut file = promise.blank();
        Ok(log.iter().any(|recorded| {
            file.apply(recorded);
            file.beside().iter().any(|(at, text)| at == path && text.as_bytes() == bytes)
        }))
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
            let events = vec![event.clone()];
            let decided = Decided { events, state, notes: Vec::new(), halted: None };
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
