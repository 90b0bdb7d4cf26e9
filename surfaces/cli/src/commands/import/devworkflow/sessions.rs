//! Takes over sessions on graphs, and before them the graphs that they go by.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use engine::{RunId, Timestamp};
use mcp::devworkflow::{SessionFiles, Unadopted, WORKFLOW, adopt_session, read_session};
use runtime::{FileSystem as _, Place, Wanted};

use super::Taker;
use crate::failure::Failure;

/// A session's file.
struct FileText {
    name: String,
    /// As people are told of it.
    shown: String,
    text: String,
    updated_at: Option<Timestamp>,
}

impl Taker<'_> {
    /// Copies the graphs that another project's folder has in one of these.
    pub(super) async fn take_graphs(
        &mut self,
        folder: &Path,
        folders: &[&Path],
    ) -> Result<(), Failure> {
        let own = format!("{}/workflows", self.options.directory.trim_end_matches('/'));
        for inside in folders {
            let inside = inside.join("workflows");
            if self.inside(&folder.join(&inside)).as_deref() == Some(&own) {
                continue;
            }
            for name in self.list(folder, &inside, &[".yaml", ".yml"]).await {
                if let Some((shown, text)) = self.read_text(folder, &inside.join(&name)).await {
                    self.copy_beside((shown, text), &format!("{own}/{name}")).await?;
                }
            }
        }
        Ok(())
    }

    /// Copies a text to a place in this project, unless it has one there.
    async fn copy_beside(
        &mut self,
        (shown, text): (String, String),
        path: &str,
    ) -> Result<(), Failure> {
        let fault = |problem: String| Failure::fault("file_not_written", problem);
        if self.runtime().make_beside(WORKFLOW, path, text.clone()).await.map_err(fault)? {
            self.tally.told.push(format!("{shown} → {path}"));
            self.tally.taken.push(shown);
        } else if self.runtime().read_beside(WORKFLOW, path).await.map_err(fault)? == Some(text) {
            self.tally.known.push(shown);
        } else {
            self.refuse_for(shown, path);
        }
        Ok(())
    }

    /// Begins the sessions whose files a folder has in one of these: of each session, from the file
    /// that was written last.
    pub(super) async fn take_sessions(&mut self, folder: &Path, folders: &[&Path]) {
        let mut sessions: BTreeMap<RunId, Vec<FileText>> = BTreeMap::new();
        for inside in folders {
            let inside = inside.join("sessions");
            for name in self.list(folder, &inside, &[".json"]).await {
                let path = inside.join(&name);
                let Some((shown, text)) = self.read_text(folder, &path).await else { continue };
                if SessionFiles::key_of(&name).is_none() {
                    self.tally.left.push((
                        shown,
                        "it is archived, or does not belong to a session".to_owned(),
                    ));
                    continue;
                }
                match read_session(&text) {
                    Ok(file) => {
                        let updated_at = file.placement.updated_at;
                        let file_text = FileText { name, shown, text, updated_at };
                        sessions.entry(file.run).or_default().push(file_text);
                    }
                    Err(problem) => self.tally.refused.push((shown, problem)),
                }
            }
        }
        for mut file_texts in sessions.into_values() {
            file_texts
                .sort_by(|one, two| (one.updated_at, &one.name).cmp(&(two.updated_at, &two.name)));
            let Some(newest) = file_texts.pop() else { continue };
            for older in file_texts {
                let why = format!("`{}` was written after it", newest.shown);
                self.tally.left.push((older.shown, why));
            }
            self.take_session(newest).await;
        }
    }

    async fn take_session(&mut self, file_text: FileText) {
        let FileText { name, shown, text, .. } = file_text;
        match adopt_session(self.runtime(), (&name, &text), SessionFiles::key_of(&name)).await {
            Ok((run, true)) => {
                self.tally.told.push(format!("{shown}: session {run}"));
                self.tally.taken.push(shown);
            }
            Ok((_, false)) => self.tally.known.push(shown),
            Err(problem @ Unadopted::DefinitionMissing(_)) => {
                let folder = &self.options.directory;
                let why = format!("{problem}; put its YAML file into `{folder}/workflows` first");
                self.tally.refused.push((shown, why));
            }
            Err(problem @ (Unadopted::Unreadable(..) | Unadopted::Stopped(_))) => {
                self.tally.refused.push((shown, problem.to_string()));
            }
        }
    }

    /// Returns the names of files with one of these endings, in order. What cannot be listed is
    /// told of.
    async fn list(
        &mut self,
        folder: &Path,
        inside: &Path,
        endings: &[&'static str],
    ) -> Vec<String> {
        let root = folder.to_string_lossy().into_owned();
        let path = inside.to_string_lossy().into_owned();
        let place = Place { folder: root.clone(), root, path };
        let endings = endings.to_vec();
        let wanted: Wanted = Arc::new(move |name| endings.iter().any(|it| name.ends_with(it)));
        match self.joined.world.scan(&place, wanted).await {
            Ok(found) => {
                let mut names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
                names.sort();
                names
            }
            Err(problem) => {
                let shown = self.joined.config.places.short(&folder.join(inside));
                self.tally.refused.push((shown, problem));
                Vec::new()
            }
        }
    }
}
