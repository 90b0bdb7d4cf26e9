//! The dev-workflow dialect: classic tools over `workflow_state.md`, and sessions on graphs.
//!
//! Its words for our things: a *phase* is a step, an *item* an item, the *log* the journal, a *node*
//! a step of a graph, a *session* a run of one. `words.rs` has both columns; `state_file.rs` and
//! `config_file.rs` are its two documents, as people and agents write them.

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

use definition::Form;
use engine::Idiom;

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
    idiom,
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

/// Returns the words for the tools that continue the runs of a workflow.
fn idiom(workflow: &str, form: Form) -> Option<Idiom> {
    if workflow == WORKFLOW {
        return Some(CLASSIC);
    }
    (form == Form::Graph).then_some(ON_GRAPH)
}

const CLASSIC: Idiom = Idiom {
    start: "Call `init_workflow_guidance` with what is to be done, then follow each answer.",
    resume: "call `hello_workflow`, and make the call that it says comes next",
    report: "record it with `update_workflow_state_guidance`; `hello_workflow` says which call \
             comes next",
    choose: "`hello_workflow` says which call begins the next one:",
    finish: "",
    relay: "Ask the person; only once they said yes, call `construct_phase_guidance` with \
            `user_approval`.",
    wait: "Only a person can answer: tell them to use `milepost gate`, do not run it yourself, \
           and look with `hello_workflow`.",
    reopen: "`init_workflow_guidance` starts over.",
    more: "`workflow_state.md` has more.",
};

const ON_GRAPH: Idiom = Idiom {
    start: "Call `workflow_discovery`, then `workflow_guidance` with `action` `start`, and pass \
            its `session_id` with every call.",
    resume: "call `workflow_state` for its session, and go on with `workflow_guidance`",
    report: "call `workflow_guidance` with its `session_id`, and in `context` what you `choose` and \
             the `criteria_evidence`",
    choose: "Name the next one as `choose` in the `context` of `workflow_guidance`:",
    finish: "",
    relay: "Ask the person; only once they said yes, pass `user_approval` with \
            `workflow_guidance`.",
    wait: "Only a person can answer: tell them to use `milepost gate`, do not run it yourself, \
           and look with `workflow_state`.",
    reopen: "`workflow_guidance` with `action` `start` starts over.",
    more: "`workflow_state` has more.",
};
