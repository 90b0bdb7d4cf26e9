//! The dev-workflow dialect: classic tools over `workflow_state.md`, and sessions on graphs.
//!
//! Its words for our things: a *phase* is a step, an *item* an item, the *log* the journal, a *node*
//! a step of a graph, a *session* a run of one. `words.rs` has both columns; `state_file.rs` and
//! `config_file.rs` are its two documents, as people and agents write them.

pub mod config_file;
pub mod documents;
pub mod files;
mod markdown;
pub mod options;
pub mod state_file;
mod state_json;
pub mod words;

/// The workflow whose runs are the state files.
pub const WORKFLOW: &str = "dev-workflow";
