//! Graph mode: sessions that go through workflows written as graphs.
//!
//! Its words for our things: a *session* is a run, a *node* a step. `words.rs` has both columns;
//! `record.rs` is what a session's file says, from which every answer is made (`view.rs`).

mod answer;
mod change;
mod context;
mod files;
mod library;
mod record;
mod search;
mod session;
mod validate_workflow_file;
mod view;
mod words;
mod workflow_cache_management;
mod workflow_creation_guidance;
mod workflow_discovery;
mod workflow_guidance;
mod workflow_semantic_search;
mod workflow_state;

use crate::kit::Entry;

pub use files::{SessionFile, SessionFiles, read_session};

/// The tools of graph mode, in the order they are listed.
pub const TOOLS: [Entry; 7] = [
    Entry::of::<workflow_guidance::WorkflowGuidance>(),
    Entry::of::<workflow_state::WorkflowState>(),
    Entry::of::<workflow_discovery::WorkflowDiscovery>(),
    Entry::of::<workflow_creation_guidance::WorkflowCreationGuidance>(),
    Entry::of::<workflow_cache_management::WorkflowCacheManagement>(),
    Entry::of::<workflow_semantic_search::WorkflowSemanticSearch>(),
    Entry::of::<validate_workflow_file::ValidateWorkflowFile>(),
];
