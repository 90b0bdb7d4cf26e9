//! Source code for agents: what a file declares, who imports whom, what a change can reach.
//!
//! What is understood of code is in `insight`; here are its questions and how much is answered.

mod ast_find_definition;
mod ast_summary;
mod dependency_graph;
mod impact_scope;
mod language;
mod looking;

use crate::kit::Entry;

/// The tools on source code.
pub const TOOLS: [Entry; 4] = [
    Entry::of::<ast_summary::AstSummary>(),
    Entry::of::<ast_find_definition::AstFindDefinition>(),
    Entry::of::<dependency_graph::DependencyGraph>(),
    Entry::of::<impact_scope::ImpactScope>(),
];

/// How much one answer says, in bytes. More would fill the context of most agents.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// What to do about an answer that is cut.
const NARROW: &str = "there is more: name a folder further in as `root_path`";
