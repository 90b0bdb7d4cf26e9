//! Everything before a pipeline runs: what a request says, what a person is asked about it, and its
//! beginning.
//!
//! Each rule is a small file of its own that is given all it needs; only the tools look and write.

mod begin;
mod confirm;
mod important;
mod lint_ignore;
mod pipeline_init;
mod pipeline_init_with_context;
mod preferences_get;
mod preferences_set;
mod subscribe_events;
mod validate_artifact;
mod validate_input;

pub(super) use dialects::forge::intake::{
    arguments, artifact, ask, branch, context, effort, extent, flags, flow, preferences, request,
    slug, source,
};

use super::dialect::ToolAdapter;
use crate::tool::Entry;

/// The tools before a pipeline runs.
pub(super) const TOOLS: [Entry; 8] = [
    Entry::of::<ToolAdapter<important::Important>>(),
    Entry::of::<ToolAdapter<validate_input::ValidateInput>>(),
    Entry::of::<ToolAdapter<pipeline_init::PipelineInit>>(),
    Entry::of::<ToolAdapter<pipeline_init_with_context::PipelineInitWithContext>>(),
    Entry::of::<ToolAdapter<validate_artifact::ValidateArtifact>>(),
    Entry::of::<ToolAdapter<preferences_get::PreferencesGet>>(),
    Entry::of::<ToolAdapter<preferences_set::PreferencesSet>>(),
    Entry::of::<ToolAdapter<subscribe_events::SubscribeEvents>>(),
];
