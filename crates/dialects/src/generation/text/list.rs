//! `list_generations`: the table of all scenes. Made from rows; no document is read for it.

mod table;

use engine::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::generation::{
    answer::{Facts, Generation},
    words::Status,
};

/// How many characters a list may have.
const CHARACTERS_MAX: usize = 25_000;
/// How many corrupted files are named.
const CORRUPTED_MAX: usize = 20;

/// One generation in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) scene_id: String,
    /// As its document says it.
    pub(crate) status: String,
    pub(crate) step: u8,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
}

/// Which generations are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Filter {
    #[default]
    All,
    Active,
    Failed,
    Completed,
}

/// By what a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortBy {
    SceneId,
    // The most recent one first.
    #[default]
    StartedAt,
    Status,
}

impl Filter {
    /// Returns the word as it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Active => "active",
            Self::Failed => "failed",
            Self::Completed => "completed",
        }
    }

    /// Returns the statuses that pass; `None` where all do. What failed waits for a resume, and so
    /// is active.
    pub(crate) fn statuses(self) -> Option<&'static [Status]> {
        match self {
            Self::All => None,
            Self::Active => {
                Some(&[Status::InProgress, Status::WaitingUserApproval, Status::Failed])
            }
            Self::Failed => Some(&[Status::Failed]),
            Self::Completed => Some(&[Status::Completed]),
        }
    }

    /// Whether a row passes.
    pub(crate) fn takes(self, row: &Row) -> bool {
        self.statuses().is_none_or(|it| it.iter().any(|status| status.word() == row.status))
    }
}

impl SortBy {
    /// Sorts rows; equal ones by their scene.
    pub(crate) fn sort(self, rows: &mut [Row]) {
        rows.sort_by(|a, b| {
            let order = match self {
                Self::SceneId => std::cmp::Ordering::Equal,
                Self::StartedAt => b.started_at.cmp(&a.started_at),
                Self::Status => a.status.cmp(&b.status),
            };
            order.then_with(|| a.scene_id.cmp(&b.scene_id))
        });
    }
}

/// What is listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing<'a> {
    pub(crate) filter: Filter,
    /// Those of the page, filtered and sorted.
    pub(crate) rows: &'a [Row],
    /// How many came before the page.
    pub(crate) offset: u64,
    /// How many pass the filter, also beyond the page.
    pub(crate) total: u64,
    /// Whether there is any state at all, also one that does not pass.
    pub(crate) has_states: bool,
    /// The names of files that are no states.
    pub(crate) corrupted: &'a [String],
}

/// The list, of which as much is shown as fits.
pub(crate) fn list(listing: &Listing<'_>, now: Timestamp) -> Facts {
    let (result, shown) = match empty(listing) {
        Some(text) => (format!("{text}\n{}", warnings(listing)).trim_end().to_owned(), 0),
        None => full(listing, now),
    };
    let generations = listing.rows.iter().take(shown).map(generation).collect();
    Facts {
        result,
        ok: true,
        total: Some(listing.total),
        generations: Some(generations),
        ..Facts::default()
    }
}

/// What is said where nothing is listed.
fn empty(listing: &Listing<'_>) -> Option<String> {
    if !listing.has_states && listing.corrupted.is_empty() {
        return Some(
            "📋 GENERATION STATES (0 total)

No generation states found.

💡 Start a generation: \"Generate scene {scene_id}\""
                .to_owned(),
        );
    }
    (listing.total == 0).then(|| {
        format!(
            "📋 GENERATION STATES (0 total)

No generations matching filter: {}

💡 Try different filter: 'all', 'active', 'failed', 'completed'",
            listing.filter.word()
        )
    })
}

/// The text, and how many rows it shows.
fn full(listing: &Listing<'_>, now: Timestamp) -> (String, usize) {
    let head = format!("📋 GENERATION STATES ({} total)\n\n{}\n", listing.total, table::HEAD);
    let more = |shown: usize| {
        let before = listing.offset.saturating_add(u64::try_from(shown).unwrap_or(u64::MAX));
        let left = listing.total.saturating_sub(before);
        if left == 0 {
            String::new()
        } else {
            format!("\n... {left} more (use filter, limit/offset)")
        }
    };
    let foot = format!("{LEGEND}{}{FILTERS}{}", actions(listing.rows), warnings(listing));
    let fixed = [&head, table::FOOT, &more(0), &foot].map(|it| it.chars().count());
    let mut room = CHARACTERS_MAX.saturating_sub(fixed.iter().sum());
    let mut body = String::new();
    let mut shown = 0;
    for row in listing.rows {
        let line = table::line(row, now);
        let Some(rest) = room.checked_sub(line.chars().count() + 1) else { break };
        room = rest;
        shown += 1;
        body.push_str(&line);
        body.push('\n');
    }
    (format!("{head}{body}{}{}{foot}", table::FOOT, more(shown)), shown)
}

const LEGEND: &str = "

Legend:
  • IN_PROGRESS: Workflow currently running
  • WAITING_USER_APPROVAL: Paused at Step 3, needs approval
  • COMPLETED: Successfully finished all 7 steps
  • FAILED: Stopped due to error (can resume)
  • CANCELLED: Manually stopped by user (can resume)

💡 Quick actions:
";

const FILTERS: &str = "
🔍 Filters:
   --active     Show only IN_PROGRESS, WAITING_USER_APPROVAL, FAILED
   --completed  Show only COMPLETED
   --failed     Show only FAILED (resumable)
";

/// What can be done with the first that runs and the first that failed.
fn actions(rows: &[Row]) -> String {
    let first = |status: Status| rows.iter().find(|it| it.status == status.word());
    let mut text = String::new();
    if let Some(Row { scene_id, .. }) = first(Status::InProgress) {
        text.push_str(&format!(
            "   - Check details: get_generation_status(scene_id='{scene_id}')\n   \
             - Cancel running: cancel_generation(scene_id='{scene_id}')\n"
        ));
    }
    if let Some(Row { scene_id, .. }) = first(Status::Failed) {
        text.push_str(&format!("   - Resume failed: resume_generation(scene_id='{scene_id}')\n"));
    }
    text
}

/// The files that were left out, with an empty line before and behind them.
fn warnings(listing: &Listing<'_>) -> String {
    if listing.corrupted.is_empty() {
        return String::new();
    }
    let mut lines = vec!["\n⚠️ Warnings:".to_owned()];
    let named = listing.corrupted.iter().take(CORRUPTED_MAX);
    lines.extend(named.map(|it| format!("   - Skipped corrupted file: {it}")));
    let left = listing.corrupted.len().saturating_sub(CORRUPTED_MAX);
    if 0 < left {
        lines.push(format!("   ... {left} more"));
    }
    lines.join("\n") + "\n"
}

fn generation(row: &Row) -> Generation {
    Generation {
        scene_id: row.scene_id.clone(),
        workflow_status: row.status.clone(),
        current_step: row.step,
        started_at: row.started_at.map(|it| it.to_string()),
        updated_at: row.updated_at.map(|it| it.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use unicode_width::UnicodeWidthStr as _;

    use super::{Filter, Listing, Row, SortBy, list};
    use crate::{generation::text::fixture::now, kit::moment};

    fn row(scene_id: &str, status: &str, step: u8, started_at: &str) -> Row {
        Row {
            scene_id: scene_id.to_owned(),
            status: status.to_owned(),
            step,
            started_at: moment(started_at),
            updated_at: moment(started_at).map(|it| it.after(std::time::Duration::from_secs(375))),
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("0204", "IN_PROGRESS", 4, "2025-11-03T14:36:09Z"),
            row("0205", "WAITING_USER_APPROVAL", 3, "2025-11-03T03:02:00Z"),
            row("0206", "COMPLETED", 7, "2025-11-02T12:00:00+00:00"),
            row("0207", "FAILED", 4, "2025-10-01T12:00:00Z"),
            row("0208", "CANCELLED", 0, "never"),
            row("0209", "日本語日本語日本語\n", 1, "2025-11-04T00:00:00Z"),
        ]
    }

    fn listing<'a>(rows: &'a [Row], corrupted: &'a [String]) -> Listing<'a> {
        let total = rows.len() as u64;
        Listing { filter: Filter::All, rows, offset: 0, total, has_states: true, corrupted }
    }

    #[test]
    fn every_line_of_the_table_is_as_wide_as_the_others() {
        let corrupted = ["generation-state-0707.json".to_owned()];
        let rows = rows();
        let facts = list(&listing(&rows, &corrupted), now());
        let is_table = |it: &&str| it.starts_with(['┌', '│', '├', '└']);
        assert!(facts.result.lines().filter(is_table).all(|it| it.width() == 72));
        assert_eq!((facts.total, facts.generations.unwrap().len()), (Some(6), 6));
        expect![[r#"
            📋 GENERATION STATES (6 total)

            ┌────────┬──────────────┬─────────┬──────────────┬──────────┬──────────┐
            │ Scene  │ Status       │ Step    │ Started      │ Duration │ Actions  │
            ├────────┼──────────────┼─────────┼──────────────┼──────────┼──────────┤
            │ 0204   │ IN_PROGRESS  │ 4/7     │ 14:36 (6m)   │ 6m 15s   │ [Status] │
            │ 0205   │ WAITING_USER │ 3/7     │ 03:02 (11h)  │ 6m 15s   │ [Status] │
            │ 0206   │ COMPLETED    │ 7/7     │ Yesterday    │ 6m 15s   │ [View]   │
            │ 0207   │ FAILED       │ 4/7     │ 2025-10-01   │ 6m 15s   │ [Resume] │
            │ 0208   │ CANCELLED    │ 0/7     │ unknown      │ unknown  │ [Resume] │
            │ 0209   │ 日本語日本語 │ 1/7     │ 00:00 (0m)   │ 6m 15s   │ -        │
            └────────┴──────────────┴─────────┴──────────────┴──────────┴──────────┘

            Legend:
              • IN_PROGRESS: Workflow currently running
              • WAITING_USER_APPROVAL: Paused at Step 3, needs approval
              • COMPLETED: Successfully finished all 7 steps
              • FAILED: Stopped due to error (can resume)
              • CANCELLED: Manually stopped by user (can resume)

            💡 Quick actions:
               - Check details: get_generation_status(scene_id='0204')
               - Cancel running: cancel_generation(scene_id='0204')
               - Resume failed: resume_generation(scene_id='0207')

            🔍 Filters:
               --active     Show only IN_PROGRESS, WAITING_USER_APPROVAL, FAILED
               --completed  Show only COMPLETED
               --failed     Show only FAILED (resumable)

            ⚠️ Warnings:
               - Skipped corrupted file: generation-state-0707.json
        "#]]
        .assert_eq(&facts.result);
    }

    #[test]
    fn filters_and_orders_are_as_the_skill_says() {
        let check = |filter: Filter, sort: SortBy, wanted: &str| {
            let mut rows: Vec<Row> = rows().into_iter().filter(|it| filter.takes(it)).collect();
            sort.sort(&mut rows);
            let ids: Vec<&str> = rows.iter().map(|it| it.scene_id.as_str()).collect();
            assert_eq!(ids.join(" "), wanted, "{filter:?} {sort:?}");
        };
        check(Filter::All, SortBy::SceneId, "0204 0205 0206 0207 0208 0209");
        check(Filter::All, SortBy::StartedAt, "0209 0204 0205 0206 0207 0208");
        check(Filter::All, SortBy::Status, "0208 0206 0207 0204 0205 0209");
        check(Filter::Active, SortBy::StartedAt, "0204 0205 0207");
        check(Filter::Failed, SortBy::StartedAt, "0207");
        check(Filter::Completed, SortBy::StartedAt, "0206");
    }

    #[test]
    fn a_long_list_is_cut_and_says_how_much_there_is() {
        let rows: Vec<Row> = (0..1000)
            .map(|it| row(&format!("{it:04}"), "FAILED", 4, "2025-11-03T14:00:00Z"))
            .collect();
        let facts = list(&Listing { total: 5000, offset: 10, ..listing(&rows, &[]) }, now());
        let count = facts.result.chars().count();
        assert!(24_900 < count && count <= 25_000, "{count}");
        let left = 5000 - 10 - facts.generations.unwrap().len();
        assert!(facts.result.starts_with("📋 GENERATION STATES (5000 total)\n"));
        assert!(
            facts.result.contains(&format!("┘\n... {left} more (use filter, limit/offset)\n\n"))
        );
    }

    #[test]
    fn an_empty_list_says_why() {
        let none = Listing { has_states: false, ..listing(&[], &[]) };
        assert!(list(&none, now()).result.contains("\"Generate scene {scene_id}\""));
        let filtered = Listing { filter: Filter::Failed, ..listing(&[], &[]) };
        assert!(list(&filtered, now()).result.contains("No generations matching filter: failed\n"));
    }
}
