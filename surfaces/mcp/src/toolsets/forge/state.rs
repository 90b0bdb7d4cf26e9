//! The tools on the state of a pipeline.

mod init;

use dialects::forge::state;

use super::dialect::ToolAdapter;
use crate::tool::Entry;

/// The tools on the state.
pub(super) const TOOLS: [Entry; 1 + state::TOOLS.len()] = joined();

#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over lengths it knows")]
const fn joined() -> [Entry; 1 + state::TOOLS.len()] {
    let mut all = [Entry::of::<ToolAdapter<init::Init>>(); 1 + state::TOOLS.len()];
    let mut at = 0;
    while at < state::TOOLS.len() {
        all[at + 1] = Entry::pure(state::TOOLS[at]);
        at += 1;
    }
    all
}
