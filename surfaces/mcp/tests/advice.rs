//! Every piece of advice can be followed: walks at random through each dialect's tools make the
//! calls that the answers name, and must come to an end of the run.
//!
//! A failure names its seed; `WALK_SEED=17` plays just that one.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    reason = "a test may panic, says how many calls it made, and is handed values as they are made"
)]

#[expect(dead_code, reason = "other tests use more of it")]
#[path = "support/client.rs"]
mod client;
#[path = "advice/core.rs"]
mod core;
#[path = "advice/forge.rs"]
mod forge;
#[path = "advice/generation.rs"]
mod generation;
#[path = "advice/graph.rs"]
mod graph;
#[path = "../../../crates/store/tests/support/memory.rs"]
mod memory;
#[path = "../../cli/tests/support/played.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod played;
#[path = "support/walk.rs"]
mod walk;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "support/world.rs"]
mod world;
