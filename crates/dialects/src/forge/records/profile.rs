//! `repo-profile.json`: what kind of repository this is, looked at once a week.

use core::time::Duration;
use std::collections::BTreeMap;

use engine::Timestamp;
use insight::profile::{Profile, Sources};

use super::{
    super::place,
    files::{self, PROFILE},
};
use crate::kit::{Caller, Folder, Seeing};

const FRESH_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many folders of the root are looked into.
const FOLDERS_MAX: usize = 200;
/// Folders with what others wrote.
const FOREIGN: [&str; 4] = ["node_modules/", "target/", "vendor/", "dist/"];
/// The hidden folders that say something.
const HIDDEN: [&str; 1] = [".github/"];

/// Finds the profile of the repository that the specs are in.
pub(super) fn profile(caller: &Caller) -> Seeing<Profile> {
    let (specs, now) = (place::specs(caller), caller.at);
    specs.large(PROFILE).then(move |text| {
        let kept = text.as_deref().and_then(Profile::parse);
        let is_fresh = |it: &Profile| {
            let made = Timestamp::parse(&it.last_updated);
            made.is_some_and(|it| it <= now && now.since(it) < FRESH_FOR)
        };
        if let Some(kept) = kept.filter(is_fresh) {
            return Seeing::Seen(kept);
        }
        look(specs.parent()).then(move |sources| {
            let profile = Profile::new(&sources, &now.to_seconds());
            specs.keep(PROFILE, files::pretty(&profile)).map(move |()| profile)
        })
    })
}

/// Looks at a repository. What cannot be read is as good as not there.
fn look(root: Folder) -> Seeing<Sources> {
    root.everything(vec![String::new()]).then(move |names| {
        let mut near: Vec<String> = names.into_iter().flatten().collect();
        let is_own = |it: &&String| !it.starts_with('.') && !FOREIGN.contains(&it.as_str());
        let folders = near.iter().filter(|it| it.ends_with('/'));
        let folders = folders.filter(|it| is_own(it) || HIDDEN.contains(&it.as_str()));
        let folders = folders.take(FOLDERS_MAX).map(|it| it.trim_end_matches('/').to_owned());
        let folders: Vec<String> = folders.collect();
        root.everything(folders.clone()).then(move |names| {
            for (folder, names) in folders.iter().zip(names) {
                near.extend(names.into_iter().map(|it| format!("{folder}/{it}")));
            }
            let wanted: Vec<String> =
                near.iter().filter(|it| Sources::wants(it)).cloned().collect();
            root.texts(wanted.clone()).then(move |texts| {
                let texts = wanted.into_iter().zip(texts.unwrap_or_default());
                let texts: BTreeMap<String, String> =
                    texts.filter_map(|(path, text)| Some((path, text?))).collect();
                root.repository().map(move |kept| Sources {
                    tracked: kept.files,
                    near,
                    texts,
                    branches: kept.branches,
                })
            })
        })
    })
}
