//! The forge dialect: pipelines from a request to a reviewed change, in phases.
//!
//! Its words for our things: a *pipeline* is a run, a *phase* a step, a *task* a part, a *checkpoint*
//! a gate, a *workspace* the folder that a run is worked in.

mod code;
mod dialect;
mod drive;
mod intake;
mod place;
mod records;
mod state;
mod workspace;

use dialects::forge::{
    INSTRUCTIONS, STATE_FILE, WORKFLOW, answer, display, idiom, prompt, state_file, way_out,
};

use crate::{
    tool::Entry,
    toolsets::{Table, Toolset},
};

pub(crate) use records::Memory;

pub(super) const TOOLSET: Toolset = Toolset {
    name: "forge",
    summary: "take requests through a pipeline of phases, as claude-forge did",
    instructions: INSTRUCTIONS,
    tools: Table::Here(&TOOLS),
    prompts: &[],
    idiom,
};

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
