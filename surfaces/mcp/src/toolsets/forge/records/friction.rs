//! `friction.json`: made of the reports at the end of pipelines.

use std::collections::BTreeMap;

use insight::past::{Friction, improvement_report};

use super::{
    super::{answer::Failure, place::Folder},
    files::{self, FRICTION, STATE, SUMMARY, unreadable},
    library::{Library, Seen, library, path},
};
use crate::tool::Call;

const IMPROVEMENT: &str = "improvement.md";
/// How many specs are read at once.
const READ_AT_ONCE: usize = 256;

/// The reports that were read, and what they come to.
#[derive(Default)]
pub(super) struct Reports {
    read: BTreeMap<String, (Seen, Option<String>)>,
    friction: Option<Friction>,
}

/// Returns what makes work hard here. Where no pipeline reports anything that is what was written
/// down before.
pub(super) async fn friction(call: &Call<'_>) -> Result<Friction, Failure> {
    let specs = Folder::specs(call);
    let mut library = library(call, &specs).await;
    let made = library.update_friction(call, &specs).await;
    let made = made.map_err(|problem| unreadable(specs.as_str(), &problem))?;
    let text = specs.read_large(call, FRICTION).await;
    let kept = text.as_deref().map(Friction::parse).unwrap_or_default();
    if made.total_reports_analyzed == 0 {
        return Ok(kept);
    }
    if !made.says_same(&kept) {
        files::keep(call, &specs, FRICTION, files::pretty(&made)).await;
    }
    Ok(made)
}

impl Library {
    async fn update_friction(
        &mut self,
        call: &Call<'_>,
        specs: &Folder,
    ) -> Result<Friction, String> {
        let all = specs.inner(call, STATE).await?;
        let reports = &mut self.reports;
        let mut before = std::mem::take(&mut reports.read);
        let mut changed = Vec::new();
        for inner in all.iter() {
            let seen = Seen::of(inner);
            match before.remove(&inner.name).filter(|(known, _)| known.is_still(seen)) {
                Some(known) => drop(reports.read.insert(inner.name.clone(), known)),
                None => changed.push((inner.name.clone(), seen)),
            }
        }
        for some in changed.chunks(READ_AT_ONCE) {
            let paths = some
                .iter()
                .flat_map(|(name, _)| [IMPROVEMENT, SUMMARY].map(|file| path(name, file)));
            let texts = specs.read_all(call, paths.collect()).await?;
            for ((name, seen), texts) in some.iter().zip(texts.chunks(2)) {
                let [improvement, summary] = texts else { continue };
                let report = improvement_report(improvement.as_deref(), summary.as_deref());
                reports.read.insert(name.clone(), (*seen, report.map(ToOwned::to_owned)));
            }
        }
        let has_news = !changed.is_empty() || !before.is_empty();
        if let Some(friction) = reports.friction.as_ref().filter(|_| !has_news) {
            return Ok(friction.clone());
        }
        let texts = reports.read.values().filter_map(|(_, report)| report.as_deref());
        let friction = Friction::new(texts, &call.runtime.now().to_seconds());
        reports.friction = Some(friction.clone());
        Ok(friction)
    }
}
