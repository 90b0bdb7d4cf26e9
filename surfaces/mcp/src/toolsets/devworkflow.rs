//! The dev-workflow dialect: classic tools over `workflow_state.md`, and sessions on graphs.
//!
//! Its words for our things: a *phase* is a step, an *item* an item, the *log* the journal, a *node*
//! a step of a graph, a *session* a run of one. `words.rs` has both columns; `state_file.rs` and
//! `config_file.rs` are its two documents, as people and agents write them.

mod answer;
mod classic;
pub(crate) mod graph;
pub(crate) mod options;
mod text;

use definition::Form;
use dialects::devworkflow::{config_file, documents, files, state_file, words};
use engine::Idiom;

use crate::{
    tool::Entry,
    toolsets::{Table, Toolset},
};

pub use dialects::devworkflow::{WORKFLOW, files::WorkflowFiles};

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
    tools: Table::Here(&TOOLS),
    prompts: &[],
    idiom,
};

/// Returns how work is gone on with: along the state file, or on a graph.
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
