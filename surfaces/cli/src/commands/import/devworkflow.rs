//! Takes over what a dev-workflow server or its agent left: the state of the work in either form,
//! the file with the project's commands, graphs and sessions on them.
//!
//! A file that already lies where this project looks for it is adopted there; any other is copied
//! to where it belongs. What was read is left as it was.

mod sessions;

use std::path::Path;

use definition::Digest;
use engine::{Event, RunId};
use mcp::devworkflow::{
    CONFIG_FILE, Glance, Options, STATE_FILE, STATE_JSON, WORKFLOW, config_issues, config_paths,
    new_config_path, new_state_path, state_from_json, state_issues, state_paths,
};
use runtime::{ExecuteError, FileSystem as _, Place, Runtime};

use super::{Tally, Things, find_folder, reply};
use crate::{
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{Output, Reply, text},
};

const FILES: Things = Things { one: "file", name: "path", doubtful: "worth fixing" };
/// The folders that such servers have had for their own files.
const FOLDERS: [&str; 2] = [".accordo", ".workflow-commander"];

/// Takes over the files of a project's folder, or of the folder in it that is the server's own.
pub(super) async fn perform(
    folder: &Path,
    config: Config,
    output: Output,
) -> Result<Reply, Failure> {
    let folder = find_folder(folder, &config)?;
    let options = config.dialects().devworkflow;
    let joined = Joined::open(config, Access::Create).await?;
    let mut taker = Taker { joined: &joined, options: &options, tally: Tally::default() };
    let folders = folders(&folder, &options);
    let found = taker.find(&folder, &folders).await;
    taker.take_states(&found).await?;
    taker.take_configs(&found).await?;
    taker.take_graphs(&folder, &folders).await?;
    taker.take_sessions(&folder, &folders).await;
    Ok(reply(&taker.tally, &FILES, output))
}

/// A document that was found.
struct Found {
    name: &'static str,
    /// As people are told of it.
    shown: String,
    /// Where it is, seen from this project's root, if it is in it.
    inside: Option<String>,
    text: String,
}

/// Returns the folders in a folder that files are looked for in, the first one first.
fn folders<'a>(folder: &Path, options: &'a Options) -> Vec<&'a Path> {
    let own = Path::new(&options.directory);
    let named = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let is_own = own.file_name().is_some_and(|it| it == named) || FOLDERS.contains(&named);
    let all = [own].into_iter().chain(FOLDERS.iter().map(Path::new));
    let mut folders: Vec<&Path> = all.filter(|it| !is_own && it.is_relative()).collect();
    folders.dedup();
    folders.push(Path::new(""));
    folders
}

struct Taker<'a> {
    joined: &'a Joined,
    options: &'a Options,
    tally: Tally,
}

impl Taker<'_> {
    fn runtime(&self) -> &Runtime {
        &self.joined.runtime
    }

    /// Whether the project has the dialect's own folder.
    async fn has_folder(&self) -> bool {
        self.runtime().has_beside(WORKFLOW, &self.options.directory).await
    }

    /// Reads every document of a folder: of each name, the one that counts first.
    async fn find(&mut self, folder: &Path, folders: &[&Path]) -> Vec<Found> {
        let mut found = Vec::new();
        for name in [STATE_FILE, STATE_JSON, CONFIG_FILE] {
            for inside in folders {
                let path = inside.join(name);
                if let Some((shown, text)) = self.read_text(folder, &path).await {
                    let inside = self.inside(&folder.join(path));
                    found.push(Found { name, shown, inside, text });
                }
            }
        }
        found
    }

    /// Reads a file of a folder. Returns how people are told of it, and its text.
    async fn read_text(&mut self, folder: &Path, path: &Path) -> Option<(String, String)> {
        let root = folder.to_string_lossy().into_owned();
        let place = Place { folder: root.clone(), root, path: path.to_string_lossy().into_owned() };
        let shown = self.joined.config.places.short(&folder.join(path));
        let bytes = match self.joined.world.read(&place).await {
            Ok(None) => return None,
            Ok(Some((bytes, _))) => Ok(bytes),
            Err(problem) => Err(problem),
        };
        let not_text = |_| "it is not UTF-8 text".to_owned();
        match bytes.and_then(|it| String::from_utf8(it).map_err(not_text)) {
            Ok(text) => Some((shown, text)),
            Err(problem) => {
                self.tally.refused.push((shown, problem));
                None
            }
        }
    }

    /// Says that something would take the place of what this project has.
    fn refuse_for(&mut self, shown: String, own: &str) {
        let why = format!("this project has its own `{own}`; move that away first");
        self.tally.refused.push((shown, why));
    }

    /// Returns a path as it is seen from this project's root, if it is in it.
    fn inside(&self, whole: &Path) -> Option<String> {
        let root = self.joined.config.places.root.canonicalize().ok()?;
        Some(whole.strip_prefix(root).ok()?.to_str()?.to_owned())
    }

    /// Takes over the state that counts: Markdown goes before JSON. The others are left.
    async fn take_states(&mut self, found: &[Found]) -> Result<(), Failure> {
        let mut states = found.iter().filter(|it| it.name != CONFIG_FILE);
        let Some(first) = states.next() else { return Ok(()) };
        for other in states {
            self.tally
                .left
                .push((other.shown.clone(), format!("`{}` goes before it", first.shown)));
        }
        let text = match first.name {
            STATE_JSON => match state_from_json(&first.text) {
                Ok(text) => text,
                Err(problem) => {
                    self.tally.refused.push((first.shown.clone(), problem));
                    return Ok(());
                }
            },
            _ => first.text.clone(),
        };
        let own =
            state_paths(self.options).into_iter().find(|it| first.inside.as_ref() == Some(it));
        let taken = match own {
            Some(key) => self.adopt_state(first, &key).await,
            None => self.copy_state(first, &text).await,
        };
        match taken {
            Ok(()) => {}
            Err(ExecuteError::Refused(refusal)) => {
                let problem = refusal.problem().unwrap_or_else(|| refusal.to_string());
                self.tally.refused.push((first.shown.clone(), problem));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        let issues = state_issues(&text).into_iter();
        self.tally.doubts.extend(issues.map(|it| (first.shown.clone(), it)));
        Ok(())
    }

    /// Begins the run of a file that is where this project looks for it.
    async fn adopt_state(&mut self, found: &Found, key: &str) -> Result<(), ExecuteError> {
        let before = self.runtime().find_newest(WORKFLOW, key).await?;
        let Some((view, file)) = self.runtime().find_file(WORKFLOW, key).await? else {
            return Ok(());
        };
        if before == Some(view.state.run) {
            self.tally.known.push(found.shown.clone());
        } else {
            self.note_state(found, key, &file.text);
        }
        self.tally.doubts.extend(file.notices.into_iter().map(|it| (found.shown.clone(), it)));
        Ok(())
    }

    /// Begins a run of this project from a file that is elsewhere, unless it has one.
    async fn copy_state(&mut self, found: &Found, text: &str) -> Result<(), ExecuteError> {
        for key in state_paths(self.options) {
            if let Some((view, _)) = self.runtime().find_file(WORKFLOW, &key).await? {
                self.meet_state(found, &key, (view.state.run, text)).await?;
                return Ok(());
            }
        }
        let key = new_state_path(self.options, self.has_folder().await);
        let named = (found.shown.as_str(), text.to_owned());
        if self.runtime().take_text(WORKFLOW, &key, named).await? {
            self.note_state(found, &key, text);
        } else {
            self.tally.known.push(found.shown.clone());
        }
        Ok(())
    }

    /// Tells a state that this project has from one that would take its place.
    async fn meet_state(
        &mut self,
        found: &Found,
        key: &str,
        (run, text): (RunId, &str),
    ) -> Result<(), ExecuteError> {
        let digest = Digest::of(text.as_bytes());
        let log = self.runtime().history(run, None, usize::MAX).await?.events;
        let is_known = log
            .iter()
            .any(|it| matches!(&it.event, Event::RunPlaced(placed) if placed.sha256 == digest));
        if is_known {
            self.tally.known.push(found.shown.clone());
        } else {
            self.refuse_for(found.shown.clone(), key);
        }
        Ok(())
    }

    fn note_state(&mut self, found: &Found, key: &str, text: &str) {
        let Glance { phase, status, items, .. } = Glance::of(text);
        let items = text::count(items.len(), "item");
        let shown = &found.shown;
        let became = if found.inside.as_deref() == Some(key) {
            String::new()
        } else {
            format!(" → {key}")
        };
        self.tally.told.push(format!("{shown}{became}: {phase}, {status}, {items}"));
        self.tally.taken.push(found.shown.clone());
    }

    /// Takes over the file with the project's commands, and says what is wrong with it.
    async fn take_configs(&mut self, found: &[Found]) -> Result<(), Failure> {
        let mut configs = found.iter().filter(|it| it.name == CONFIG_FILE);
        let Some(first) = configs.next() else { return Ok(()) };
        for other in configs {
            self.tally
                .left
                .push((other.shown.clone(), format!("`{}` goes before it", first.shown)));
        }
        let paths = config_paths(self.options);
        let is_own = paths.iter().any(|it| first.inside.as_ref() == Some(it));
        if is_own {
            self.tally.known.push(first.shown.clone());
        } else {
            self.copy_config(first, &paths).await?;
        }
        let issues = config_issues(&first.text).into_iter();
        self.tally.doubts.extend(issues.map(|it| (first.shown.clone(), it)));
        Ok(())
    }

    async fn copy_config(&mut self, found: &Found, paths: &[String]) -> Result<(), Failure> {
        let fault = |problem: String| Failure::fault("file_not_written", problem);
        for path in paths {
            let Some(text) = self.runtime().read_beside(WORKFLOW, path).await.map_err(fault)?
            else {
                continue;
            };
            if text == found.text {
                self.tally.known.push(found.shown.clone());
            } else {
                self.refuse_for(found.shown.clone(), path);
            }
            return Ok(());
        }
        let path = new_config_path(self.options, self.has_folder().await);
        let text = found.text.clone();
        if self.runtime().make_beside(WORKFLOW, &path, text).await.map_err(fault)? {
            self.tally.told.push(format!("{} → {path}", found.shown));
            self.tally.taken.push(found.shown.clone());
        } else {
            self.tally.known.push(found.shown.clone());
        }
        Ok(())
    }
}
