//! `friction.json`: made of the reports at the end of pipelines.

use std::collections::BTreeMap;

use engine::{Subfolder, Timestamp};
use insight::past::{Friction, improvement_report};

use super::{
    super::answer::Failure,
    files::{self, FRICTION, STATE, SUMMARY, unreadable},
    library::{Library, Seen, Specs, Wanted},
};
use crate::kit::{Folder, Seeing};

const IMPROVEMENT: &str = "improvement.md";

/// The reports that were read, and what they come to.
#[derive(Default)]
pub(super) struct Reports {
    read: BTreeMap<String, (Seen, Option<String>)>,
    /// Nothing after a report came, changed or went.
    friction: Option<Friction>,
}

impl Specs {
    /// Finds what makes work hard here. Where no pipeline reports anything that is what was written
    /// down before.
    pub(super) fn friction(self) -> Seeing<Result<Friction, Failure>> {
        let (folder, library, at) = (self.folder.clone(), self.library.clone(), self.at);
        self.read_reports().then(move |read| {
            if let Err(problem) = read {
                return Seeing::Seen(Err(unreadable(folder.as_str(), &problem)));
            }
            let made = library.lock().reports.friction(at);
            folder.large(FRICTION).then(move |text| {
                let kept = text.as_deref().map(Friction::parse).unwrap_or_default();
                if made.total_reports_analyzed == 0 {
                    return Seeing::Seen(Ok(kept));
                }
                if made.says_same(&kept) {
                    return Seeing::Seen(Ok(made));
                }
                folder.keep(FRICTION, files::pretty(&made)).map(move |()| Ok(made))
            })
        })
    }

    fn read_reports(self) -> Seeing<Result<(), String>> {
        self.folder.folders(STATE).and_then(move |all| {
            let changed = self.library.lock().reports.compare(&all);
            self.read(changed, Wanted::These(&[IMPROVEMENT, SUMMARY]), Library::read_report)
        })
    }
}

impl Library {
    fn read_report(&mut self, _: &Folder, inner: &Subfolder, texts: &[(String, String)]) {
        let [improvement, summary] = [IMPROVEMENT, SUMMARY].map(|it| files::find(texts, it));
        let report = improvement_report(improvement, summary).map(ToOwned::to_owned);
        self.reports.read.insert(inner.name.clone(), (Seen::of(inner), report));
        self.reports.friction = None;
    }
}

impl Reports {
    /// Returns the specs that are to be read again.
    fn compare(&mut self, all: &[Subfolder]) -> Vec<Subfolder> {
        let mut before = std::mem::take(&mut self.read);
        let mut changed = Vec::new();
        for inner in all {
            let seen = Seen::of(inner);
            match before.remove(&inner.name).filter(|(known, _)| known.is_still(seen)) {
                Some(known) => drop(self.read.insert(inner.name.clone(), known)),
                None => changed.push(inner.clone()),
            }
        }
        if !before.is_empty() {
            self.friction = None;
        }
        changed
    }

    fn friction(&mut self, now: Timestamp) -> Friction {
        let texts = self.read.values().filter_map(|(_, report)| report.as_deref());
        self.friction.get_or_insert_with(|| Friction::new(texts, &now.to_seconds())).clone()
    }
}
