//! The dialects: how agents name things, and what they are told. Pure: no clock, no file, no
//! network, no runtime.
//!
//! ```text
//! arguments ──► Tool::ask ──► looks ──► one deed ──► looks ──► answer
//! state ──► Projection::render ──► text of a file ──► Projection::read ──► claim
//! ```
//!
//! A dialect is a table of tools ([`kit::Toolset`]). A tool turns its parameters and what it has
//! seen into one command, and the outcome into an answer. It decides nothing; the engine does. What
//! it wants to see or have done it asks for ([`kit::Ask`]), and `surfaces/mcp` has the one loop that
//! answers.

pub mod core;
pub mod devworkflow;
pub mod forge;
pub mod generation;
pub mod kit;

use std::sync::Arc;

/// What the configuration says of the dialects. Every call has a share of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    pub devworkflow: Arc<devworkflow::options::Options>,
    pub forge: Arc<forge::Options>,
}
