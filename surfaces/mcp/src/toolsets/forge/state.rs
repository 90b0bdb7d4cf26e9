//! The tool on the state of a pipeline that still holds a runtime.

mod init;

use super::dialect::ToolAdapter;
use crate::tool::Entry;

/// The tool that begins a bare pipeline.
pub(super) const TOOLS: [Entry; 1] = [Entry::of::<ToolAdapter<init::Init>>()];
