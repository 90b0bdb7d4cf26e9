//! The forge dialect: pipelines from a request to a reviewed change, in phases.
//!
//! Its words for our things: a *pipeline* is a run, a *phase* a step, a *task* a part, a *checkpoint*
//! a gate, a *workspace* the folder that a run is worked in.

pub mod answer;
pub mod code;
pub mod display;
mod drive;
mod events;
mod files;
pub mod gate;
pub mod intake;
mod options;
pub mod place;
pub mod prompt;
pub mod records;
pub mod state;
pub mod state_file;
pub mod way_out;
mod workspace;

pub use files::{STATE_FILE, SpecFiles};
pub use options::Options;
pub use records::Memory;
pub use state_file::StateFile;

use crate::kit::{Entry, Toolset, joined};

/// The tools.
pub const TOOLSET: Toolset = Toolset {
    name: "forge",
    summary: "take requests through a pipeline of phases, as claude-forge did",
    instructions: INSTRUCTIONS,
    tools: &TOOLS,
    prompts: &[],
    words: |workflow, _| (workflow == WORKFLOW).then_some(&way_out::WORDS),
};

/// All tools, in the order they are listed.
const TOOLS: [Entry; 47] =
    joined(&[&intake::TOOLS, &state::TOOLS, &drive::TOOLS, &records::TOOLS, &code::TOOLS]);

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost takes a request through a pipeline: analysis, design, tasks, implementation, reviews, summary.
1. `pipeline_init` with what the user typed; then `pipeline_init_with_context`, asking the user what it asks.
2. `pipeline_next_action` with `workspace`; do what its `type` says; call it again with `previous_action_complete` and the `action_id`, until `type` is `done`. If `type` is empty, call it with `workspace` alone. At a checkpoint pass the user's answer as `user_response`.
3. An error says the way out: do that, and repeat the call.";

/// The workflow whose runs are the pipelines.
pub const WORKFLOW: &str = "forge";
