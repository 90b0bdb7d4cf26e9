//! The forge dialect: pipelines from a request to a reviewed change, in phases.
//!
//! Its words for our things: a *pipeline* is a run, a *phase* a step, a *task* a part, a *checkpoint*
//! a gate, a *workspace* the folder that a run is worked in.

mod answer;
mod code;
mod dialect;
mod display;
mod drive;
mod events;
mod files;
mod intake;
pub(crate) mod options;
mod place;
mod prompt;
mod records;
mod state;
mod state_file;
mod way_out;
mod workspace;

pub use files::{STATE_FILE, SpecFiles};
pub use state_file::StateFile;

use crate::{
    tool::Entry,
    toolsets::{Table, Toolset},
};

pub use records::Memory;

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost takes a request through a pipeline: analysis, design, tasks, implementation, reviews, summary.
1. `pipeline_init` with what the user typed; then `pipeline_init_with_context`, asking the user what it asks.
2. `pipeline_next_action` with `workspace`; do what its `type` says; call it again with `previous_action_complete` and the `action_id`, until `type` is `done`. If `type` is empty, call it with `workspace` alone. At a checkpoint pass the user's answer as `user_response`.
3. An error says the way out: do that, and repeat the call.";

pub(super) const TOOLSET: Toolset = Toolset {
    name: "forge",
    summary: "take requests through a pipeline of phases, as claude-forge did",
    instructions: INSTRUCTIONS,
    tools: Table::Here(&TOOLS),
    prompts: &[],
    words: |workflow, _| (workflow == WORKFLOW).then_some(&way_out::WORDS),
};

/// The workflow whose runs are the pipelines.
pub const WORKFLOW: &str = "forge";

/// How many tools there are.
const COUNT: usize = intake::TOOLS.len()
    + state::TOOLS.len()
    + drive::TOOLS.len()
    + records::TOOLS.len()
    + code::TOOLS.len();

/// All tools.
const TOOLS: [Entry; COUNT] = joined();

#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over lengths it knows")]
const fn joined() -> [Entry; COUNT] {
    let mut all = [intake::TOOLS[0]; COUNT];
    let groups: [&[Entry]; 5] =
        [&intake::TOOLS, &state::TOOLS, &drive::TOOLS, &records::TOOLS, &code::TOOLS];
    let (mut at, mut group) = (0, 0);
    while group < groups.len() {
        let mut inside = 0;
        while inside < groups[group].len() {
            all[at] = groups[group][inside];
            at += 1;
            inside += 1;
        }
        group += 1;
    }
    all
}
