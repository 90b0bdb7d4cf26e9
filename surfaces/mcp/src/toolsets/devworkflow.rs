//! The dev-workflow dialect: classic tools over `workflow_state.md`, and sessions on graphs.
//!
//! Its words for our things: a *phase* is a step, an *item* an item, the *log* the journal, a *node*
//! a step of a graph, a *session* a run of one. `words.rs` has both columns; `state_file.rs` and
//! `config_file.rs` are its two documents, as people and agents write them.

mod answer;
mod classic;
mod config_file;
pub(crate) mod documents;
mod files;
pub(crate) mod graph;
mod markdown;
pub(crate) mod options;
mod state_file;
mod state_json;
mod text;
mod words;

use crate::{tool::Entry, toolsets::Toolset};

pub use files::WorkflowFiles;

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost keeps your place in development work: understand, plan, have the plan approved, build, validate.
1. `hello_workflow` says where the work is and which call comes next. New task: `init_workflow_guidance`.
2. Follow each answer: what to do now, what not to do, and `next`, the exact next call. Record plans and progress with `update_workflow_state_guidance`; never edit `workflow_state.md` yourself.
3. Build only what the user approved. Pass `user_approval` only after asking them.
4. Work along another workflow: `workflow_discovery`, then `workflow_guidance` with `action` `start`; pass its `session_id` with every call, and evidence with every choice.
5. An error has `refusal.hint`: the way out.";

pub(super) const TOOLSET: Toolset = Toolset {
    name: "devworkflow",
    summary: "guide development by `workflow_state.md` and by graphs, as dev_workflow_mcp did",
    instructions: INSTRUCTIONS,
    tools: &TOOLS,
    prompts: &[],
};

/// The workflow whose runs are the state files.
pub const WORKFLOW: &str = "dev-workflow";

/// How many tools there are.
const COUNT: usize = classic::TOOLS.len() + graph::TOOLS.len();

/// All tools, those of classic mode first.
const TOOLS: [Entry; COUNT] = joined();

#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over lengths it knows")]
const fn joined() -> [Entry; COUNT] {
    let mut all = [graph::TOOLS[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        let first = classic::TOOLS.len();
        all[at] = if at < first { classic::TOOLS[at] } else { graph::TOOLS[at - first] };
        at += 1;
    }
    all
}
