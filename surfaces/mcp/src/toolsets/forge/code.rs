//! Source code for agents: what a file declares, who imports whom, what a change can reach.
//!
//! What is understood of code is in `insight`; here are its questions and how much is answered.

mod ast_find_definition;
mod ast_summary;
mod dependency_graph;
mod impact_scope;
mod looking;
mod place;

use super::dialect::ToolAdapter;
use crate::tool::Entry;

/// The tools on source code.
pub(super) const TOOLS: [Entry; 4] = [
    Entry::of::<ToolAdapter<ast_summary::AstSummary>>(),
    Entry::of::<ToolAdapter<ast_find_definition::AstFindDefinition>>(),
    Entry::of::<ToolAdapter<dependency_graph::DependencyGraph>>(),
    Entry::of::<ToolAdapter<impact_scope::ImpactScope>>(),
];

/// How much one answer says, in bytes. More would fill the context of most agents.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// What to do about an answer that is cut.
const NARROW: &str = "there is more: name a folder further in as `root_path`";
