//! The MCP surface: tools for agents, grouped into toolsets.
//!
//! ```text
//! client ──line──► server.rs ──► tool/dialect.rs ──► Runtime::execute
//!                  speaks MCP    one loop ▲│
//!                                         │▼
//!                                crates/dialects: parameters → command, outcome → answer
//! ```
//!
//! Beside the tools: `prompts.rs`, `resources.rs` with `complete.rs`, `gate.rs` (a gate as a form)
//! and `app.rs` (a page for hosts that show one).
//!
//! A tool turns typed parameters into a command and an outcome into an answer. It decides nothing.
//! Only `server.rs` and its folder know the MCP library; the tools do not.

mod app;
mod complete;
mod gate;
mod prompts;
mod resources;
mod server;
mod sessions;
mod tool;
mod toolsets;

pub use server::{
    Credential, HttpOptions, Limits, Options, PersonsDoor, Scope, ServeError, endpoint,
    keep_until_written, serve, serve_stdio,
};
pub use tool::{Call, Calling, Effect, Entry, GateReply, Hints, Person, READERS_MAX, Reply, Then};
/// What the configuration says of the dev-workflow dialect, and its files.
pub mod devworkflow {
    pub use crate::sessions::{Memory, Options, adopt_session, tend_sessions};
    pub use dialects::devworkflow::documents::{
        CONFIG_FILE, Glance, GlanceItem, STATE_FILE, STATE_JSON, config_issues, config_paths,
        new_config_path, new_state_path, state_from_json, state_issues, state_paths, state_to_json,
    };
    pub use dialects::{
        devworkflow::{
            WORKFLOW,
            graph::{SessionFile, SessionFiles, read_session},
            options::{
                Fallback, Mode, Options as Settings, Policy, SessionFormat, Sessions, TaskFormat,
            },
        },
        kit::Unadopted,
    };
}
pub use toolsets::{
    Dialects, SCENE_GENERATION, StateFiles, TOOLSETS, Tools, Toolset, ToolsetUnknown, WORKSPACE,
    WorkflowFiles, brief, find_words,
};
