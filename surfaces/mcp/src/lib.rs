//! The MCP surface: tools for agents, grouped into toolsets.
//!
//! ```text
//! client ──line──► server.rs ──► tool.rs ──► toolsets/core/TOOL.rs ──► Runtime::execute
//!                  speaks MCP    reads and    parameters → command
//!                                checks       outcome → answer
//! ```
//!
//! A tool turns typed parameters into a command and an outcome into an answer. It decides nothing.
//! Only `server.rs` and its folder know the MCP library; the tools do not.

mod server;
mod tool;
mod toolsets;

pub use server::{Options, ServeError, serve, serve_stdio};
pub use tool::{Call, Calling, Effect, Entry, Hints, Reply};
pub use toolsets::{TOOLSETS, Tools, Toolset, ToolsetUnknown};
