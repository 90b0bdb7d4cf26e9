//! `repo-profile.json`: what kind of repository this is, looked at once a week.

use std::{collections::BTreeMap, time::Duration};

use engine::Timestamp;
use insight::profile::{Profile, Sources};

use super::{
    super::place::Folder,
    files::{self, PROFILE},
};
use crate::tool::Call;

const FRESH_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many folders of the root are looked into.
const FOLDERS_MAX: usize = 200;
/// Folders with what others wrote.
const FOREIGN: [&str; 4] = ["node_modules/", "target/", "vendor/", "dist/"];
/// The hidden folders that say something.
const HIDDEN: [&str; 1] = [".github/"];

/// Returns the profile of the repository that the specs are in.
pub(super) async fn profile(call: &Call<'_>) -> Profile {
    let specs = Folder::specs(call);
    let now = call.runtime.now();
    let kept = specs.read_large(call, PROFILE).await.as_deref().and_then(Profile::parse);
    let is_fresh = |it: &Profile| {
        let made = Timestamp::parse(&it.last_updated);
        made.is_some_and(|it| it <= now && now.since(it) < FRESH_FOR)
    };
    if let Some(kept) = kept.filter(is_fresh) {
        return kept;
    }
    let profile = Profile::new(&look(call, &specs.parent()).await, &now.to_seconds());
    files::keep(call, &specs, PROFILE, files::pretty(&profile)).await;
    profile
}

/// Looks at a repository. What cannot be read is as good as not there.
async fn look(call: &Call<'_>, root: &Folder) -> Sources {
    let mut near = root.all_names(call, "").await.unwrap_or_default();
    let is_own = |it: &&String| !it.starts_with('.') && !FOREIGN.contains(&it.as_str());
    let folders = near.iter().filter(|it| it.ends_with('/'));
    let folders = folders.filter(|it| is_own(it) || HIDDEN.contains(&it.as_str()));
    let folders: Vec<String> = folders.take(FOLDERS_MAX).cloned().collect();
    for folder in folders {
        let names = root.all_names(call, folder.trim_end_matches('/')).await.unwrap_or_default();
        near.extend(names.into_iter().map(|it| format!("{folder}{it}")));
    }
    let telling: Vec<String> = near.iter().filter(|it| Sources::wants(it)).cloned().collect();
    let texts = root.read_all(call, telling.clone()).await.unwrap_or_default();
    let texts = telling.into_iter().zip(texts).filter_map(|(path, text)| Some((path, text?)));
    let texts: BTreeMap<String, String> = texts.collect();
    let kept = root.kept(call).await.unwrap_or_default();
    Sources { tracked: kept.files, near, texts, branches: kept.branches }
}
