//! What is doubtful about a workflow that can be run all the same.

use crate::{Diagnostic, Workflow};

/// Looks for mistakes that the parser lets pass.
pub fn lint(_workflow: &Workflow) -> Vec<Diagnostic> {
    Vec::new()
}
