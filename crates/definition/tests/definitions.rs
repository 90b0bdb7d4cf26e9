//! Definitions, from text to workflows and diagnostics.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::needless_pass_by_value, reason = "`Expect` is written where it is passed")]

#[path = "definitions/chores.rs"]
mod chores;
#[path = "definitions/folders.rs"]
mod folders;
#[path = "definitions/graph_composition.rs"]
mod graph_composition;
#[path = "definitions/graph_inputs.rs"]
mod graph_inputs;
#[path = "definitions/graph_limits.rs"]
mod graph_limits;
#[path = "definitions/graphs.rs"]
mod graphs;
#[path = "definitions/guards.rs"]
mod guards;
#[path = "definitions/index_keys.rs"]
mod index_keys;
#[path = "definitions/language_2.rs"]
mod language_2;
#[path = "definitions/lint.rs"]
mod lint;
#[path = "definitions/lint_moves.rs"]
mod lint_moves;
#[path = "definitions/lint_silent.rs"]
mod lint_silent;
#[path = "definitions/moves.rs"]
mod moves;
#[path = "definitions/never_panics.rs"]
mod never_panics;
#[path = "definitions/route_keys.rs"]
mod route_keys;
#[path = "definitions/step_keys.rs"]
mod step_keys;
#[path = "definitions/support.rs"]
mod support;
