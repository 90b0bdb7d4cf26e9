//! What drives a pipeline: the next action, and reports on what was done.
//!
//! The engine says what comes next; here it is said in the dialect's words.

mod action;
mod news;
mod pipeline_next_action;
mod pipeline_report_result;
mod prompting;
mod report;

use crate::kit::Entry;

/// The tools that drive a pipeline.
pub(super) const TOOLS: [Entry; 2] = [
    Entry::of::<pipeline_next_action::PipelineNextAction>(),
    Entry::of::<pipeline_report_result::PipelineReportResult>(),
];
