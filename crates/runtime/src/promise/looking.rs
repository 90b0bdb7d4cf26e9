//! Finds out what a promised file is to its run: as it was left, behind, or written by someone.

use std::time::Duration;

use definition::Digest;
use engine::{Event, RunId, Timestamp};
use store::{FileFilter, FileMark};

use super::{Known, Promise, Rendering, shown};
use crate::{Basis, Edits, ExecuteError, Reading, Rebased, Runtime, Stat, fault};

/// How long anyone who writes a file in place may take between two pieces of it.
const WRITING: Duration = Duration::from_millis(30);
/// From how many of the newest states of a file an edit may have been made.
const BASES_MAX: u64 = 300;

/// What someone wrote into a file.
pub(super) struct Edit {
    /// What the file says.
    pub(super) text: String,
    /// What it is to say once that is taken in.
    pub(super) taken: String,
    pub(super) reading: Reading,
    pub(super) made: Made,
}

/// What an edit was made from.
pub(super) enum Made {
    /// From what the file said last.
    Now,
    /// From what it said before.
    Before,
    /// It is what the file said before.
    Back,
    /// From what a copy of the run said that went on elsewhere. `continues`: it went on from what
    /// the file said last.
    Elsewhere { continues: bool },
}

/// What a file is to its run.
pub(super) enum Found {
    /// It says what the log says.
    Same(Stat),
    /// It was not written yet, or says what the log said before.
    Behind,
    /// It was there, and is not any more.
    Gone,
    /// It says what is not taken in, for this reason.
    Refused(Left, String),
    /// Someone changed it.
    Edited(Box<Edit>),
    /// It is not there, because its run gave it up just now.
    GivenUp,
    /// It cannot be looked at.
    Unseen(String),
    /// Someone has begun to write it, and is not done.
    Changing,
}

/// What is in a file that is not taken in.
pub(super) enum Left {
    Nothing,
    Text(String),
    /// Bytes that are not text.
    Bytes,
}

/// A run that was copied from another.
struct Copy {
    /// Its file, as people name it.
    path: String,
    /// Whether it went on from what the file of the other says now.
    continues: bool,
}

fn edited(text: &str, taken: String, reading: Reading, made: Made) -> Found {
    Found::Edited(Box::new(Edit { text: text.to_owned(), taken, reading, made }))
}

impl Runtime {
    /// Finds out what a file is to its run, whose log is known to its end then.
    pub(super) async fn look_at(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
    ) -> Result<Found, ExecuteError> {
        let stat = promise.file_system.stat(&promise.place).await;
        if let (true, Ok(Some(stat))) = (known.is_as_left(&stat), stat) {
            self.catch_up(known, promise.run, None, None).await?;
            let is_behind = known.written() < known.length() || !known.is_current();
            return Ok(if is_behind { Found::Behind } else { Found::Same(stat) });
        }
        let read = promise.file_system.read(&promise.place).await;
        let bytes =
            read.as_ref().ok().and_then(|it| it.as_ref()).map(|(bytes, _)| bytes.as_slice());
        let met = self.catch_up(known, promise.run, None, bytes).await?;
        let (bytes, stat) = match read {
            Ok(Some(read)) => read,
            Ok(None) if self.load(promise.run).await?.state.gave_up_key => {
                return Ok(Found::GivenUp);
            }
            Ok(None) if 0 < known.written() => return Ok(Found::Gone),
            Ok(None) => return Ok(Found::Behind),
            Err(problem) => return Ok(Found::Unseen(problem)),
        };
        if bytes == known.text().as_bytes() {
            return Ok(Found::Same(stat));
        }
        if self.is_past(promise, known, (&bytes, met)).await? {
            return Ok(Found::Behind);
        }
        let torn = self.find_torn(promise, known, &bytes).await?;
        let text = String::from_utf8(bytes);
        let is_odd =
            torn.is_some() || text.as_ref().is_ok_and(|it| promise.projection.read(it).is_err());
        if is_odd && self.is_being_written(promise, stat).await {
            return Ok(Found::Changing);
        }
        let text = match (text, torn) {
            (Ok(text), _) if text.is_empty() => {
                return Ok(Found::Refused(Left::Nothing, "it was empty".to_owned()));
            }
            (Ok(text), Some(whole)) => {
                let problem = format!("its end is missing, after {} of {whole} bytes", text.len());
                return Ok(Found::Refused(Left::Text(text), problem));
            }
            (Ok(text), None) => text,
            (Err(_), _) => {
                let problem = "it is not UTF-8 text".to_owned();
                return Ok(Found::Refused(Left::Bytes, problem));
            }
        };
        self.place_edit(promise, known, text).await
    }

    /// Finds out whether a text is taken in that was not made from an older state, going by what it
    /// says and by its marks.
    async fn place_edit(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        text: String,
    ) -> Result<Found, ExecuteError> {
        let basis = known.file.basis(&text);
        if basis == Basis::Earlier
            && let Some(found) = self.find_rebased(promise, known, &text).await?
        {
            return Ok(found);
        }
        let reading = promise.projection.read(&text);
        let reading = reading.and_then(|it| match &it.doubt {
            Some(problem) => Err(problem.clone()),
            None => Ok(it),
        });
        let reading = match reading {
            Ok(reading) => reading,
            Err(problem) => return Ok(Found::Refused(Left::Text(text), problem)),
        };
        let older = match basis {
            Basis::Current | Basis::Earlier => {
                return Ok(edited(&text, text.clone(), reading, Made::Now));
            }
            Basis::Other(problem) => return Ok(Found::Refused(Left::Text(text), problem)),
            Basis::At(at, _) if !self.was_changed_at(promise, at).await? => {
                return Ok(edited(&text, text.clone(), reading, Made::Now));
            }
            Basis::At(_, problem) | Basis::Older(problem) => {
                Some(format!("it was changed from an older state: {problem}"))
            }
            Basis::Newer => None,
        };
        let copy = self.find_copy(promise, known, &text).await?;
        let problem = match (&copy, older) {
            (Some(Copy { continues: true, .. }), _) => None,
            (Some(Copy { path, continues: false }), _) => Some(format!(
                "it is `{path}`, which was copied from here, and lacks what was done here since"
            )),
            (None, older) => older,
        };
        if let Some(problem) = problem {
            let way_out = known.file.stamp().map(|it| {
                format!("; to have it all the same, set {it} in it and put it there again")
            });
            let problem = format!("{problem}{}", way_out.unwrap_or_default());
            return Ok(Found::Refused(Left::Text(text), problem));
        }
        let made = Made::Elsewhere { continues: copy.is_some() };
        Ok(edited(&text, text.clone(), reading, made))
    }

    /// Whether anything happened to the run at this time, or a file that was taken in says so.
    async fn was_changed_at(
        &self,
        promise: &Promise<'_>,
        at: Timestamp,
    ) -> Result<bool, ExecuteError> {
        let (_, log) = self.load_at(promise.run, None).await?;
        let is_said =
            |event: &Event| matches!(event, Event::RunPlaced(it) if it.updated_at == Some(at));
        Ok(log.iter().any(|it| it.at == at || is_said(&it.event)))
    }

    /// Finds the run that a text is the file of, if it is that of a copy.
    async fn find_copy(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        text: &str,
    ) -> Result<Option<Copy>, ExecuteError> {
        let digest = Digest::of(text.as_bytes());
        let filter = FileFilter {
            project: Some(self.settings.project.clone()),
            workflow: Some(promise.workflow.name.to_string()),
            ..FileFilter::default()
        };
        let marks = self.store.files(filter).await.map_err(fault)?;
        let is_it =
            |(run, mark): &(RunId, FileMark)| *run != promise.run && mark.sha256 == digest.as_str();
        let Some((run, mark)) = marks.into_iter().find(is_it) else { return Ok(None) };
        let (view, log) = self.load_at(run, None).await?;
        let mut file = Rendering::blank(promise.projection, &view.workflow, run);
        let now = known.text();
        let continues = log.iter().any(|recorded| {
            file.apply(recorded);
            file.text() == now
        });
        Ok(Some(Copy { path: shown(&**promise.projection, &mark.path), continues }))
    }

    /// Whether someone is just writing a file that makes no sense as it is.
    async fn is_being_written(&self, promise: &Promise<'_>, stat: Stat) -> bool {
        self.world.sleep(WRITING).await;
        promise.file_system.stat(&promise.place).await != Ok(Some(stat))
    }

    /// Whether the file says what it had to say at a length of the log since it was last written.
    /// `met` is such a length, where this process knows one.
    async fn is_past(
        &self,
        promise: &Promise<'_>,
        known: &Known,
        (bytes, met): (&[u8], Option<u64>),
    ) -> Result<bool, ExecuteError> {
        // A mark is kept some time after the file is written, so the store may know less of what
        // this process wrote, and more of what others did.
        let marks = [known.mark.clone(), self.find_mark(promise).await?];
        let mark = marks.into_iter().flatten().max_by_key(|it| it.written);
        let from = mark.as_ref().map_or(0, |it| it.written);
        let is_last = mark.is_some_and(|it| it.sha256 == Digest::of(bytes).as_str());
        if is_last || met.is_some_and(|it| from <= it) {
            return Ok(true);
        }
        let (_, log) = self.load_at(promise.run, None).await?;
        let mut file = promise.blank();
        for recorded in log.iter().filter(|it| it.seq <= known.length()) {
            file.apply(recorded);
            if from <= recorded.seq && file.text().as_bytes() == bytes {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns how long the text was that a file is only the beginning of: what the file has to say
    /// now, or what it said before. `None` where it is not such a beginning.
    async fn find_torn(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        bytes: &[u8],
    ) -> Result<Option<usize>, ExecuteError> {
        let text = std::str::from_utf8(bytes);
        let reading = text.map_err(|_| ()).and_then(|it| promise.projection.read(it).map_err(drop));
        // What has all of its parts and ends with a line is what someone meant who cut the rest.
        if bytes.ends_with(b"\n") && reading.is_ok_and(|it| !it.is_cut) {
            return Ok(None);
        }
        let own = known.text();
        if is_torn(bytes, own.as_bytes()) {
            return Ok(Some(own.len()));
        }
        if promise.projection.layout().edits == Edits::Stamped || text.is_err() {
            return Ok(None);
        }
        // Where an edit of an older state is joined, what is missing would count as deleted.
        let before = self.find_before(promise, known.length()).await?;
        let is_it = |it: &&String| it.as_bytes() != bytes && is_torn(bytes, it.as_bytes());
        Ok(before.iter().rfind(is_it).map(String::len))
    }

    /// Returns what a file said before the end of its run's log, the newest last. States that are
    /// long past are left out.
    async fn find_before(
        &self,
        promise: &Promise<'_>,
        length: u64,
    ) -> Result<Vec<String>, ExecuteError> {
        let (_, log) = self.load_at(promise.run, None).await?;
        let mut file = promise.blank();
        let next = log.iter().skip(1).map(|it| it.at);
        let mut before = Vec::new();
        for (recorded, next) in log.iter().zip(next).filter(|(it, _)| it.seq < length) {
            file.apply(recorded);
            // Events of one append have one time, and only the last of them was ever on disk.
            let is_old = recorded.seq.saturating_add(BASES_MAX) < length;
            if !is_old && recorded.at != next {
                before.push(file.text().to_owned());
            }
        }
        Ok(before)
    }

    /// Finds out what becomes of an edit that was made from an older state of the file. `None` where
    /// it was made from the newest after all.
    async fn find_rebased(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        text: &str,
    ) -> Result<Option<Found>, ExecuteError> {
        let before = self.find_before(promise, known.length()).await?;
        let read = |it: &str| promise.projection.read(it);
        let spoilt = |why: &str| Found::Refused(Left::Text(text.to_owned()), why.to_owned());
        Ok(match promise.projection.rebase(known.text(), &before, text) {
            Rebased::Current => None,
            Rebased::Back => {
                read(text).ok().map(|it| edited(text, text.to_owned(), it, Made::Back))
            }
            Rebased::Text(joined) => Some(match read(&joined) {
                Ok(reading) => edited(text, joined, reading, Made::Before),
                Err(problem) => spoilt(&problem),
            }),
            Rebased::Conflict => {
                Some(spoilt("it was changed from an older state, and so was the same part since"))
            }
        })
    }
}

/// Whether a file is what a crash leaves of a text: its beginning, nothing, or zeros.
fn is_torn(bytes: &[u8], whole: &[u8]) -> bool {
    let text = bytes.trim_ascii_end();
    let beginning = text.iter().position(|it| *it == 0).unwrap_or(text.len());
    let (written, rest) = text.split_at(beginning);
    rest.iter().all(|it| *it == 0) && whole.starts_with(written)
}

#[cfg(test)]
mod tests {
    use super::is_torn;

    #[test]
    fn what_a_crash_leaves_is_told_from_what_a_person_wrote() {
        let whole = b"{\"a\": 1}";
        for torn in [&b""[..], b"{\"a\"", b"\0\0\0", b"{\"a\"\0\0"] {
            assert!(is_torn(torn, whole), "{torn:?}");
        }
        for written in [&b"{\"b\""[..], b"{\"a\": 2", b"{\"a\"\0x", b"oops"] {
            assert!(!is_torn(written, whole), "{written:?}");
        }
    }
}
