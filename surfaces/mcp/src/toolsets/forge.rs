//! The forge dialect: pipelines from a request to a reviewed change, in phases.
//!
//! Its words for our things: a *pipeline* is a run, a *phase* a step, a *task* a part, a *checkpoint*
//! a gate, a *workspace* the folder that a run is worked in.

mod dialect;
mod drive;
mod place;
mod records;
mod state;
mod workspace;

use dialects::forge::{
    INSTRUCTIONS, STATE_FILE, WORKFLOW, answer, display, intake, prompt, state_file, way_out,
};

use crate::toolsets::{Table, Toolset};

pub(super) const TOOLSET: Toolset = Toolset {
    name: "forge",
    summary: "take requests through a pipeline of phases, as claude-forge did",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    prompts: &[],
    words: |workflow, _| (workflow == WORKFLOW).then_some(&way_out::WORDS),
};

/// All tools.
const TOOLS: Table = Table::Groups(&[
    Table::Dialect(&intake::TOOLS),
    Table::Here(&state::TOOLS),
    Table::Dialect(&dialects::forge::state::TOOLS),
    Table::Here(&drive::TOOLS),
    Table::Dialect(&dialects::forge::records::TOOLS),
    Table::Dialect(&dialects::forge::code::TOOLS),
]);
