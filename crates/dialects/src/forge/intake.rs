//! Everything before a pipeline runs: what a request says, what a person is asked about it, and its
//! beginning.
//!
//! Each rule is a small file of its own that is given all it needs.

mod arguments;
mod artifact;
mod ask;
mod begin;
pub mod branch;
mod confirm;
mod context;
pub(super) mod effort;
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
pub mod request;
pub mod slug;
pub mod source;
mod subscribe_events;
mod validate_artifact;
mod validate_input;

use crate::kit::Entry;

/// The tools before a pipeline runs.
pub const TOOLS: [Entry; 8] = [
    Entry::of::<important::Important>(),
    Entry::of::<validate_input::ValidateInput>(),
    Entry::of::<pipeline_init::PipelineInit>(),
    Entry::of::<pipeline_init_with_context::PipelineInitWithContext>(),
    Entry::of::<validate_artifact::ValidateArtifact>(),
    Entry::of::<preferences_get::PreferencesGet>(),
    Entry::of::<preferences_set::PreferencesSet>(),
    Entry::of::<subscribe_events::SubscribeEvents>(),
];
