//! Other files that events have written or changed: each event once, at least once, in order.

use definition::Digest;
use engine::{Event, Recorded};
use store::FileMark;

use crate::{
    ExecuteError, FileSystem, Place, Projection, Runtime, SideFileWrite, View, fault,
    promise::{place, shown},
};

impl Runtime {
    /// Has the events of a run written that are newer than a mark. Returns whether all are.
    pub(super) async fn write_side_file(
        &self,
        view: &View,
        side_files: &SideFileWrites<'_>,
        mut mark: FileMark,
        notices: &mut Vec<String>,
    ) -> Result<bool, ExecuteError> {
        let run = view.state.run;
        let log = self.store.load(run, mark.written).await.map_err(fault)?;
        let Some(log) = log else { return Ok(true) };
        let mut events = log.events;
        // What a copy has from its original was done by that.
        let copied = events.iter().rposition(|it| matches!(it.event, Event::RunForked { .. }));
        events.drain(..copied.unwrap_or_default());
        for recorded in &events {
            if find_name(side_files.projection, recorded) != Some(mark.path.as_str()) {
                continue;
            }
            if let Some(problem) = self.find_file_ban(view, &recorded.event) {
                notices.push(problem);
                return Ok(false);
            }
            match side_files.run(recorded).await {
                Ok(notice) => notices.extend(notice),
                Err(problem) => {
                    notices.push(problem);
                    return Ok(false);
                }
            }
            mark.written = recorded.seq;
            self.keep_mark(run, mark.clone()).await?;
        }
        mark.written = log.length;
        self.keep_mark(run, mark).await?;
        Ok(true)
    }
}

impl Runtime {
    /// Returns why the file that an event names is not changed, if nobody has allowed that.
    fn find_file_ban(&self, view: &View, event: &Event) -> Option<String> {
        let (Event::FileLeft { path, .. } | Event::LineInserted { path, .. }) = event else {
            return None;
        };
        // The digest is of the text that the deed was read from, not what the log says of it.
        let banned = self.world.find_ban(view.state.root(), &view.workflow.digest)?;
        Some(format!("`{path}` is not changed: {banned}"))
    }
}

/// The name under which is kept how far the files are that a run leaves or takes away.
const FILES: &str = "errand:files";

/// Returns the name of what an event has done to other files, if it does anything to any.
pub(super) fn find_name(
    projection: Option<&dyn Projection>,
    recorded: &Recorded,
) -> Option<&'static str> {
    if let Event::FileLeft { .. } = recorded.event {
        return Some(FILES);
    }
    projection?.side_file(recorded).map(|it| it.name)
}

/// Where side files are written.
pub(super) struct SideFileWrites<'a> {
    pub(super) projection: Option<&'a dyn Projection>,
    pub(super) file_system: &'a dyn FileSystem,
    pub(super) root: &'a str,
    pub(super) home: String,
}

impl SideFileWrites<'_> {
    pub(super) fn place(&self, path: String) -> Place {
        match self.projection {
            Some(projection) => place(projection, self.root, path),
            None => Place { root: self.root.to_owned(), folder: self.root.to_owned(), path },
        }
    }

    async fn run(&self, recorded: &Recorded) -> Result<Option<String>, String> {
        if let Event::FileLeft { path, was, text } = &recorded.event {
            return self.leave(path, was.as_ref(), text.as_ref()).await.map(|()| None);
        }
        let Some(projection) = self.projection else { return Ok(None) };
        let Some(side_file) = projection.side_file(recorded) else { return Ok(None) };
        let Some(place) = self.find(&side_file.paths).await? else { return Ok(None) };
        let named = |problem: String| self.not_changed(&place, &problem);
        let bytes = self.file_system.read(&place).await.map_err(named)?.map(|(bytes, _)| bytes);
        let text = bytes.map(String::from_utf8).transpose();
        let text = text.map_err(|_| named("it is not UTF-8 text".to_owned()))?;
        let SideFileWrite { text, notice } = (side_file.change)(text.as_deref());
        if let Some(text) = text {
            self.write(&place, text).await.map_err(named)?;
        }
        Ok(notice)
    }

    fn not_changed(&self, place: &Place, problem: &str) -> String {
        let name = self.projection.map_or_else(|| place.path.clone(), |it| shown(it, &place.path));
        format!("`{name}` could not be changed: {problem}")
    }

    /// Writes or removes a file of the run, unless someone wrote into it meanwhile.
    async fn leave(
        &self,
        path: &str,
        was: Option<&Digest>,
        text: Option<&String>,
    ) -> Result<(), String> {
        let named = |problem: String| format!("`{path}` could not be changed: {problem}");
        let place =
            Place { root: self.home.clone(), folder: self.home.clone(), path: path.to_owned() };
        let found = self.file_system.read(&place).await.map_err(named)?;
        let found = found.map(|(bytes, _)| Digest::of(&bytes));
        match text {
            _ if found.is_some() && found.as_ref() != was => Ok(()),
            Some(text) => self.write(&place, text.clone()).await.map_err(named),
            None => self.file_system.remove(&place).await.map_err(named),
        }
    }

    /// Writes a file, for its owner alone where the run's own file is.
    async fn write(&self, place: &Place, text: String) -> Result<(), String> {
        let is_private = self.projection.is_some_and(|it| it.layout().is_private);
        let written = if is_private {
            self.file_system.write_privately(place, text)
        } else {
            self.file_system.write_durably(place, text)
        };
        written.await.map(drop)
    }

    /// Returns the first of the files that is there, else where it is to be made.
    async fn find(&self, paths: &[String]) -> Result<Option<Place>, String> {
        let mut made = None;
        for path in paths {
            let place = self.place(path.clone());
            let stat = self.file_system.stat(&place).await;
            if stat.map_err(|problem| self.not_changed(&place, &problem))?.is_some() {
                return Ok(Some(place));
            }
            let whole = std::path::Path::new(&place.folder).join(path);
            let folder = whole.parent().map(|it| it.to_string_lossy().into_owned());
            let has_folder = self.file_system.has_folder(&folder.unwrap_or_default()).await;
            if made.is_none() && (has_folder || paths.len() == 1) {
                made = Some(place);
            }
        }
        Ok(made)
    }
}
