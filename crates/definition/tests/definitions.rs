//! Definitions, from text to workflows and diagnostics.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::needless_pass_by_value, reason = "`Expect` is written where it is passed")]

#[path = "definitions/folders.rs"]
mod folders;
#[path = "definitions/index_keys.rs"]
mod index_keys;
#[path = "definitions/lint.rs"]
mod lint;
#[path = "definitions/never_panics.rs"]
mod never_panics;
#[path = "definitions/step_keys.rs"]
mod step_keys;
#[path = "definitions/support.rs"]
mod support;
