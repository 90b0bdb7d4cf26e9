//! How a pipeline begins: what a request means, and what its workspace and branch are called.

pub mod arguments;
pub mod artifact;
pub mod ask;
pub mod branch;
pub mod context;
pub mod effort;
pub mod extent;
pub mod external;
pub mod flags;
pub mod flow;
pub mod preferences;
pub mod request;
pub mod slug;
pub mod source;
