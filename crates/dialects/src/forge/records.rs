//! What past pipelines left, and what that teaches: searched, counted, and told to agents.
//!
//! The rules are in `insight`; here it is said which files are read, each only once for as long as
//! nothing in its folder changes, and what the files say that are made of them.

mod analytics_estimate;
mod analytics_pipeline_summary;
mod analytics_repo_dashboard;
mod files;
mod friction;
mod history_get_friction_map;
mod history_get_patterns;
mod history_search;
mod index;
mod layers;
mod library;
mod patterns;
mod profile;
mod profile_get;
mod refresh_index;
mod search_patterns;

use crate::kit::{Caller, Entry, Seeing};

pub use self::{
    analytics_pipeline_summary::summary_of,
    layers::{Past, past},
    library::Memory,
    patterns::accumulate,
};
pub(super) use analytics_estimate::estimate;

/// The tools over past pipelines and the repository.
pub const TOOLS: [Entry; 9] = [
    Entry::of::<refresh_index::RefreshIndex>(),
    Entry::of::<search_patterns::SearchPatterns>(),
    Entry::of::<history_search::HistorySearch>(),
    Entry::of::<history_get_patterns::HistoryGetPatterns>(),
    Entry::of::<history_get_friction_map::HistoryGetFrictionMap>(),
    Entry::of::<analytics_pipeline_summary::AnalyticsPipelineSummary>(),
    Entry::of::<analytics_repo_dashboard::AnalyticsRepoDashboard>(),
    Entry::of::<analytics_estimate::AnalyticsEstimate>(),
    Entry::of::<profile_get::ProfileGet>(),
];

/// Takes what changed among the specs into the history now, so that nobody has to wait for it later.
pub fn index_now(caller: &Caller) -> Seeing<()> {
    library::Specs::of(caller).index_now()
}
