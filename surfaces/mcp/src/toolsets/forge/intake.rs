//! Everything before a pipeline runs: what a request says, what a person is asked about it, and its
//! beginning.
//!
//! Each rule is a small file of its own that is given all it needs; only the tools look and write.

mod arguments;
pub(in crate::toolsets::forge) mod artifact;
mod ask;
pub(in crate::toolsets::forge) mod begin;
pub(in crate::toolsets::forge) mod branch;
mod confirm;
mod context;
pub(in crate::toolsets::forge) mod effort;
mod extent;
mod external;
mod flags;
mod flow;
mod important;
mod lint_ignore;
mod pipeline_init;
mod pipeline_init_with_context;
mod preferences;
mod preferences_get;
mod preferences_set;
pub(in crate::toolsets::forge) mod request;
pub(in crate::toolsets::forge) mod slug;
pub(in crate::toolsets::forge) mod source;
mod subscribe_events;
mod validate_artifact;
mod validate_input;

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
