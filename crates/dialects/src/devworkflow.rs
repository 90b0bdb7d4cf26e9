//! The dev-workflow dialect: classic tools over `workflow_state.md`, and sessions on graphs.
//!
//! Its words for our things: a *phase* is a step, an *item* an item, the *log* the journal, a *node*
//! a step of a graph, a *session* a run of one. `words.rs` has both columns; `state_file.rs` and
//! `config_file.rs` are its two documents, as people and agents write them.

mod advice;
mod answer;
mod classic;
mod config_file;
pub mod documents;
mod files;
pub mod graph;
mod markdown;
pub mod options;
mod state_file;
mod state_json;
mod text;
mod words;

use crate::kit::{Entry, Toolset};
use classic::{Guidance, Guide};

pub use files::WorkflowFiles;

/// The workflow whose runs are the state files.
pub const WORKFLOW: &str = "dev-workflow";

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost keeps your place in development work: understand, plan, have the plan approved, build, validate.
1. `hello_workflow` says where the work is and which call comes next. New task: `init_workflow_guidance`.
2. Follow each answer: what to do now, what not to do, and `next`, the exact next call. Record plans and progress with `update_workflow_state_guidance`; never edit `workflow_state.md` yourself.
3. Build only what the user approved. Pass `user_approval` only after asking them.
4. Work along another workflow: `workflow_discovery`, then `workflow_guidance` with `action` `start`; pass its `session_id` with every call, and evidence with every choice.
5. An error has `refusal.hint`: the way out.";

/// The tools.
pub const TOOLSET: Toolset = Toolset {
    name: "devworkflow",
    summary: "guide development by `workflow_state.md` and by graphs, as dev_workflow_mcp did",
    instructions: INSTRUCTIONS,
    tools: &TOOLS,
    prompts: &[],
    words: advice::words,
};

/// All tools, in the order they are listed.
const TOOLS: [Entry; 26] = {
    let [guidance, state, discovery, creation, cache, search, check] = graph::TOOLS;
    [
        Entry::of::<Guide<{ Guidance::Init as usize }>>(),
        Entry::of::<Guide<{ Guidance::Analyze as usize }>>(),
        Entry::of::<Guide<{ Guidance::Blueprint as usize }>>(),
        Entry::of::<Guide<{ Guidance::Construct as usize }>>(),
        Entry::of::<Guide<{ Guidance::Validate as usize }>>(),
        Entry::of::<Guide<{ Guidance::Revise as usize }>>(),
        Entry::of::<Guide<{ Guidance::Complete as usize }>>(),
        Entry::of::<Guide<{ Guidance::Iterate as usize }>>(),
        Entry::of::<Guide<{ Guidance::Finalize as usize }>>(),
        Entry::of::<Guide<{ Guidance::ErrorRecovery as usize }>>(),
        Entry::of::<Guide<{ Guidance::FixValidation as usize }>>(),
        Entry::of::<Guide<{ Guidance::Escalate as usize }>>(),
        Entry::of::<Guide<{ Guidance::Changelog as usize }>>(),
        Entry::of::<Guide<{ Guidance::Update as usize }>>(),
        Entry::of::<Guide<{ Guidance::CreateState as usize }>>(),
        Entry::of::<Guide<{ Guidance::CheckConfig as usize }>>(),
        Entry::of::<Guide<{ Guidance::CreateConfig as usize }>>(),
        Entry::of::<Guide<{ Guidance::ValidateFiles as usize }>>(),
        Entry::of::<Guide<{ Guidance::Hello as usize }>>(),
        guidance,
        state,
        discovery,
        creation,
        cache,
        search,
        check,
    ]
};
