//! Takes over the workspaces of pipelines: where they are, if that is in this project, else by
//! copying them among its specs.

mod files;

use std::path::{Path, PathBuf};

use dialects::forge::{STATE_FILE, StateFile, WORKFLOW};
use runtime::{ExecuteError, Runtime};

use self::files::Copies;
use super::{Tally, Things, bar, find_folder, reply, was_placed};
use crate::{
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{Output, Reply},
};

const WORKSPACES: Things =
    Things { one: "workspace", name: "path", doubtful: "could not take everything" };
/// What the folder of the specs is called unless someone says otherwise.
const SPECS: &str = ".specs";

/// Takes over the workspaces of a folder of specs, or of a project that has one.
pub(super) async fn perform(
    folder: &Path,
    config: Config,
    output: Output,
) -> Result<Reply, Failure> {
    let folder = find_folder(folder, &config)?;
    let specs = config.dialects().forge.specs.clone();
    let workspaces = find_workspaces(&folder, &specs);
    let joined = Joined::open(config, Access::Create).await?;
    let root = joined.config.places.root.canonicalize().unwrap_or_default();
    let mut taker = Taker { joined: &joined, root, specs: &specs, tally: Tally::default() };
    let bar = bar(workspaces.len(), "workspaces", output);
    for workspace in &workspaces {
        taker.take(workspace).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(reply(&taker.tally, &WORKSPACES, output))
}

/// Returns the workspaces of a folder in order; where it has none, those of the specs in it.
fn find_workspaces(folder: &Path, specs: &str) -> Vec<PathBuf> {
    // Specs that are elsewhere were not named.
    let inside = [Path::new(""), Path::new(specs), Path::new(SPECS)];
    let folders = inside.iter().filter(|it| it.is_relative()).map(|it| folder.join(it));
    let mut found = folders.map(|it| files::folders_with(&it, STATE_FILE));
    found.find(|it| !it.is_empty()).unwrap_or_default()
}

/// Why a workspace was not imported.
enum Untaken {
    /// It is known here.
    Known,
    Refused(String),
    Failed(ExecuteError),
}

impl From<ExecuteError> for Untaken {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Refused(refusal) => {
                Self::Refused(refusal.problem().unwrap_or_else(|| refusal.to_string()))
            }
            error
            @ (ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless) => {
                Self::Failed(error)
            }
        }
    }
}

struct Taker<'a> {
    joined: &'a Joined,
    /// The project's root, as it is really called.
    root: PathBuf,
    /// The folder of the project's specs, seen from its root.
    specs: &'a str,
    tally: Tally,
}

impl Taker<'_> {
    fn runtime(&self) -> &Runtime {
        &self.joined.runtime
    }

    async fn take(&mut self, workspace: &Path) -> Result<(), Failure> {
        let shown = self.joined.config.places.short(workspace);
        let inside = workspace.strip_prefix(&self.root).ok().and_then(Path::to_str);
        let taken = match inside {
            Some(key) => self.adopt(&shown, key).await,
            None => self.copy(&shown, workspace).await,
        };
        match taken {
            Ok(told) => {
                self.tally.told.push(told);
                self.tally.taken.push(shown);
            }
            Err(Untaken::Known) => self.tally.known.push(shown),
            Err(Untaken::Refused(why)) => self.tally.refused.push((shown, why)),
            Err(Untaken::Failed(error)) => return Err(error.into()),
        }
        Ok(())
    }

    /// Begins the run of a workspace that is in this project.
    async fn adopt(&mut self, shown: &str, key: &str) -> Result<String, Untaken> {
        let before = self.runtime().find_newest(WORKFLOW, key).await?;
        let Some((view, file)) = self.runtime().take_in_file(WORKFLOW, key).await? else {
            return Err(Untaken::Refused(format!("its `{STATE_FILE}` is gone")));
        };
        let doubts = file.notices.into_iter().map(|it| (shown.to_owned(), it));
        self.tally.doubts.extend(doubts);
        if before == Some(view.state.run) {
            return Err(Untaken::Known);
        }
        Ok(told(shown, &file.text))
    }

    /// Begins a run from a workspace that is elsewhere: its files are copied, and its state is read
    /// as if it had always been here.
    async fn copy(&mut self, shown: &str, workspace: &Path) -> Result<String, Untaken> {
        let key = self.new_key(workspace)?;
        let target = self.root.join(&key);
        let text = files::read_text(&workspace.join(STATE_FILE)).map_err(Untaken::Refused)?;
        let moved = StateFile::read(&text).and_then(|it| it.moved_to(&target.to_string_lossy()));
        let text = moved.map_err(Untaken::Refused)?.write();
        if self.has_own(&key, &text).await? {
            return Err(Untaken::Known);
        }
        let copies = Copies::plan(workspace, &target, &self.root).map_err(Untaken::Refused)?;
        copies.make().map_err(Untaken::Refused)?;
        let left = copies.left.into_iter().map(|it| (shown.to_owned(), it));
        self.tally.doubts.extend(left);
        let told = told(&format!("{shown} → {key}"), &text);
        if self.runtime().take_text(WORKFLOW, &key, (shown, text)).await? {
            Ok(told)
        } else {
            Err(Untaken::Known)
        }
    }

    /// Returns the key that a workspace is to have here.
    fn new_key(&self, workspace: &Path) -> Result<String, Untaken> {
        let specs = Path::new(self.specs);
        if !specs.is_relative() {
            let why = format!("the specs are at `{}`, outside of this project", self.specs);
            return Err(Untaken::Refused(why));
        }
        let name = workspace.file_name().and_then(|it| it.to_str());
        let name = name.ok_or_else(|| Untaken::Refused("its name is not UTF-8".to_owned()))?;
        Ok(specs.join(name).to_string_lossy().into_owned())
    }

    /// Returns whether this project has the workspace already, from the same text. Another one of
    /// its name is not to be touched.
    async fn has_own(&self, key: &str, text: &str) -> Result<bool, Untaken> {
        let Some((view, _)) = self.runtime().take_in_file(WORKFLOW, key).await? else {
            return Ok(false);
        };
        if was_placed(self.runtime(), view.state.run, text).await? {
            return Ok(true);
        }
        let why = format!("this project has its own `{key}`; move that away first");
        Err(Untaken::Refused(why))
    }
}

/// Returns what people are told of a workspace that was taken.
fn told(shown: &str, text: &str) -> String {
    match StateFile::read(text) {
        Ok(file) => format!("{shown}: {}, {}", file.phase(), file.status_word()),
        Err(_) => shown.to_owned(),
    }
}
