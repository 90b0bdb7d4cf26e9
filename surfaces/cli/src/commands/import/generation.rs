//! Takes over the state files of scenes: where they are, if that is this project's own workspace,
//! else by copying them into it.

use std::{path::Path, sync::OnceLock};

use indicatif::ProgressBar;
use runtime::Projection;
use world::beneath::Root;

use super::{Tally, Things, bar, find_folder, reply};
use crate::{
    config::Config,
    failure::Failure,
    join::{Access, Joined},
    output::{Output, Reply},
};

const SCENES: Things = Things { one: "scene", name: "path", doubtful: "" };
/// The folder that has a folder for each session.
const SESSIONS: &str = "sessions";

/// Takes over the files of a folder.
pub(super) async fn perform(
    folder: &Path,
    config: Config,
    output: Output,
) -> Result<Reply, Failure> {
    let folder = find_folder(folder, &config)?;
    let projections = config.projections();
    let files = projections.iter().find(|it| it.workflow() == mcp::SCENE_GENERATION);
    let own = files.and_then(|it| find_own(&config, &**it, &folder));
    let joined = Joined::open(config, Access::Create).await?;
    let shown: OnceLock<ProgressBar> = OnceLock::new();
    let progress = |done: usize, total: usize| {
        let bar = shown.get_or_init(|| bar(total, "scenes", output));
        bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    };
    let (runtime, workflow) = (&joined.runtime, mcp::SCENE_GENERATION);
    let taken = match own {
        Some(inside) => runtime.take_in_files(workflow, &inside, &progress).await,
        None => {
            let from = folder.to_string_lossy();
            runtime.take_over(workflow, &from, &with_sessions(&folder), &progress).await
        }
    };
    if let Some(bar) = shown.get() {
        bar.finish_and_clear();
    }
    let taken = taken?;
    let scenes = |paths: Vec<String>| {
        let key = |path: &String| files.and_then(|it| it.key(path));
        let mut scenes: Vec<String> = paths.iter().filter_map(key).collect();
        scenes.sort();
        scenes
    };
    let (begun, known) = (scenes(taken.begun), scenes(taken.known));
    let mut tally = Tally { taken: begun, known, ..Tally::default() };
    tally.refused = taken.unreadable.into_iter().map(|it| (it.path, it.problem)).collect();
    Ok(reply(&tally, &SCENES, output))
}

/// Returns the folders in the project's own workspace that are meant, if they are in it.
fn find_own(config: &Config, files: &dyn Projection, folder: &Path) -> Option<Vec<String>> {
    let workspace = config.places.root.join(&files.layout().folder).canonicalize().ok()?;
    let inside = folder.strip_prefix(&workspace).ok()?;
    let mut parts = inside.iter().map(|it| it.to_str());
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => Some(with_sessions(folder)),
        (Some(Some(SESSIONS)), Some(Some(session)), None) => {
            Some(vec![format!("{SESSIONS}/{session}")])
        }
        _ => None,
    }
}

/// Returns a workspace and the folders of its sessions, as they are named from within it.
fn with_sessions(workspace: &Path) -> Vec<String> {
    let folder = Root::open(workspace).and_then(|it| it.enter(Path::new(SESSIONS)));
    let names = folder.and_then(|it| it.names()).unwrap_or_default();
    let session = |it: &String| Some(format!("{SESSIONS}/{}", it.strip_suffix('/')?));
    let sessions: Vec<String> = names.iter().filter_map(session).collect();
    [vec![String::new()], sessions].concat()
}
