//! Graph mode: sessions that go through workflows written as graphs.
//!
//! Its words for our things: a *session* is a run, a *node* a step. `words.rs` has both columns;
//! `record.rs` is what a session's file says, from which every answer is made (`view.rs`).

mod answer;
mod change;
mod context;
mod dialect;
mod files;
mod library;
mod memory;
mod record;
mod search;
mod session;
mod upkeep;
mod validate_workflow_file;
mod view;
mod words;
mod workflow_cache_management;
mod workflow_creation_guidance;
mod workflow_discovery;
mod workflow_guidance;
mod workflow_semantic_search;
mod workflow_state;

use crate::tool::Entry;
use dialect::ToolAdapter;

pub use files::{SessionFile, SessionFiles, read_session};
pub use memory::Memory;
pub use upkeep::{Unadopted, adopt_session, tend_sessions};

/// The tools of graph mode, in the order they are listed.
pub(super) const TOOLS: [Entry; 7] = [
    Entry::of::<ToolAdapter<workflow_guidance::WorkflowGuidance>>(),
    Entry::of::<ToolAdapter<workflow_state::WorkflowState>>(),
    Entry::of::<workflow_discovery::WorkflowDiscovery>(),
    Entry::of::<workflow_creation_guidance::WorkflowCreationGuidance>(),
    Entry::of::<ToolAdapter<workflow_cache_management::WorkflowCacheManagement>>(),
    Entry::of::<ToolAdapter<workflow_semantic_search::WorkflowSemanticSearch>>(),
    Entry::of::<validate_workflow_file::ValidateWorkflowFile>(),
];
