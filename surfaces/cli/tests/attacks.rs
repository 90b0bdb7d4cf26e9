//! Every attack that an independent tester got through with, as a test that failed before it was
//! fixed. Each file holds one kind of attack; each test is named after the attack.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "attacks/bounds.rs"]
mod bounds;
#[path = "attacks/clocks.rs"]
mod clocks;
#[path = "attacks/disk.rs"]
mod disk;
#[path = "attacks/doors.rs"]
mod doors;
#[path = "attacks/gates.rs"]
mod gates;
#[path = "attacks/git.rs"]
mod git;
#[path = "support/http.rs"]
mod http;
#[path = "attacks/links.rs"]
mod links;
#[path = "support/project.rs"]
mod project;
#[path = "attacks/promised.rs"]
mod promised;
#[path = "support/random.rs"]
mod random;
#[path = "attacks/repeats.rs"]
mod repeats;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
