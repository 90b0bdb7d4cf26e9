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

use super::dialect::ToolAdapter;
use crate::tool::Entry;

pub(super) use self::{
    analytics_estimate::estimate, analytics_pipeline_summary::summary_of, layers::past,
    library::index_now, patterns::accumulate,
};
pub(crate) use memory::Memory;

/// The tools over past pipelines and the repository.
pub(super) const TOOLS: [Entry; 9] = [
    Entry::of::<ToolAdapter<refresh_index::RefreshIndex>>(),
    Entry::of::<ToolAdapter<search_patterns::SearchPatterns>>(),
    Entry::of::<ToolAdapter<history_search::HistorySearch>>(),
    Entry::of::<ToolAdapter<history_get_patterns::HistoryGetPatterns>>(),
    Entry::of::<ToolAdapter<history_get_friction_map::HistoryGetFrictionMap>>(),
    Entry::of::<ToolAdapter<analytics_pipeline_summary::AnalyticsPipelineSummary>>(),
    Entry::of::<ToolAdapter<analytics_repo_dashboard::AnalyticsRepoDashboard>>(),
    Entry::of::<ToolAdapter<analytics_estimate::AnalyticsEstimate>>(),
    Entry::of::<ToolAdapter<profile_get::ProfileGet>>(),
];
