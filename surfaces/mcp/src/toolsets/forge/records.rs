//! What past pipelines left, and what that teaches: searched, counted, and told to agents.
//!
//! The rules are in `insight`; here folders are read, each only once for as long as nothing in it
//! changes, and the files that others read are written.

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
mod memory;
mod patterns;
mod profile;
mod profile_get;
mod refresh_index;
mod search_patterns;

use super::dialect::Spoken;
use crate::tool::Entry;

pub(super) use self::{
    analytics_estimate::estimate, analytics_pipeline_summary::summary_of, layers::past,
    library::index_now, patterns::accumulate,
};
pub use memory::Memory;

/// The tools over past pipelines and the repository.
pub(super) const TOOLS: [Entry; 9] = [
    Entry::of::<Spoken<refresh_index::RefreshIndex>>(),
    Entry::of::<Spoken<search_patterns::SearchPatterns>>(),
    Entry::of::<Spoken<history_search::HistorySearch>>(),
    Entry::of::<Spoken<history_get_patterns::HistoryGetPatterns>>(),
    Entry::of::<Spoken<history_get_friction_map::HistoryGetFrictionMap>>(),
    Entry::of::<Spoken<analytics_pipeline_summary::AnalyticsPipelineSummary>>(),
    Entry::of::<Spoken<analytics_repo_dashboard::AnalyticsRepoDashboard>>(),
    Entry::of::<Spoken<analytics_estimate::AnalyticsEstimate>>(),
    Entry::of::<Spoken<profile_get::ProfileGet>>(),
];
