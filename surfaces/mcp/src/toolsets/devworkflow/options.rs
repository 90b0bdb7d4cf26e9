//! What the tools of the dialect are told, and what the process remembers beside it.

use std::ops::Deref;

use super::graph::Memory;

pub(super) use dialects::devworkflow::options::AUTO_APPROVE;
pub use dialects::devworkflow::options::{
    Fallback, Mode, Options as Settings, Policy, SessionFormat, Sessions, TaskFormat,
};

/// The settings, and what the process remembers of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    pub settings: Settings,
    pub memory: Memory,
}

impl Deref for Options {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl From<Settings> for Options {
    fn from(settings: Settings) -> Self {
        Self { settings, memory: Memory::default() }
    }
}
