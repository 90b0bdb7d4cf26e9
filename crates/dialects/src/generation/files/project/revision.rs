//! How often a file was written, and when it last had something to say.

use engine::{Kind, Timestamp, Visited};

use super::{super::super::words::Status, Base};
use crate::{generation::document::Document, kit::json::Json};

/// Returns how often a document was written, as it says itself.
pub(super) fn of(document: &Document) -> u64 {
    document.object().get("revision").and_then(Json::as_count).unwrap_or_default()
}

/// Whether the file has something to say of an event. Changes of the context are looked at one by
/// one.
fn counts(kind: Kind) -> bool {
    match kind.event {
        "RunStarted" | "RunCompleted" | "RunFailed" | "RunCancelled" | "RunReopened" => true,
        "StepEntered" | "StepStarted" | "StepFailed" | "StepReopened" | "StepRetried" => true,
        "GateOpened" | "GateWithdrawn" => true,
        "StepCompleted" | "StepSkipped" | "GateAnswered" => kind.of.is_empty(),
        "EntryRecorded" => matches!(kind.of, "error" | "question"),
        _ => false,
    }
}

impl Base<'_> {
    /// Returns how many events since the text the file has something to say of.
    pub(super) fn count(&self) -> u64 {
        let before = self.history.placed.as_ref().map_or(0, |it| it.counts.sum(counts));
        let all = self.history.counts.sum(counts).saturating_sub(before);
        let silent = self.entered_unbegun() + u64::from(self.asks_as_placed());
        all.saturating_sub(silent) + self.path_changes().len() as u64
    }

    /// Returns when the file last had something to say.
    pub(super) fn changed_at(&self) -> Timestamp {
        let paths = self.path_changes();
        let newest = self.history.counts.newest(counts).into_iter().chain(paths);
        newest.max().map_or(self.state.started_at, |it| it.at)
    }

    /// Whether the text says that someone is asked, and that is all that happened next.
    pub(super) fn asks_as_placed(&self) -> bool {
        let Some(placed) = &self.history.placed else { return false };
        let first = self.history.asked.iter().find(|it| self.is_new(it.opened));
        let is_waiting = self.document.status() == Some(Status::WaitingUserApproval);
        is_waiting && first.is_some_and(|it| it.opened.seq == placed.mark.seq + 1)
    }

    /// Returns how many steps were entered before anyone took one up: the file does not say so.
    fn entered_unbegun(&self) -> u64 {
        let said = self.document.object().get("current_step");
        if !said.is_none_or(Json::is_null) {
            return 0;
        }
        let begun = self.moved_by().unwrap_or(u64::MAX);
        let entered = self.history.visits.iter().filter(|it| it.what == Visited::Entered);
        entered.filter(|it| self.is_new(it.mark) && it.mark.seq < begun).count() as u64
    }
}
