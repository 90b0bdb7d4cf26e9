//! What the toolsets of other contracts are told.

use std::{path::Path, time::Duration};

use definition::Evidence;
use mcp::{
    Dialects,
    devworkflow::{Fallback, Memory, Mode, Options, Policy, SessionFormat, Sessions, TaskFormat},
};

use super::Config;

impl Config {
    /// Returns what the configuration says of the dialects.
    pub(crate) fn dialects(&self) -> Dialects {
        Dialects { devworkflow: self.devworkflow() }
    }

    fn devworkflow(&self) -> Options {
        Options {
            mode: match self.text("devworkflow.mode") {
                "advisory" => Mode::Advisory,
                _ => Mode::Managed,
            },
            directory: self.inside("devworkflow.directory"),
            state_file: self.inside("devworkflow.state_file"),
            project_config: self.inside("devworkflow.project_config"),
            transitions: match self.text("devworkflow.transitions") {
                "warn" => Policy::Warn,
                _ => Policy::Strict,
            },
            evidence: match self.text("devworkflow.evidence") {
                "strict" => Evidence::Strict,
                "off" => Evidence::Off,
                _ => Evidence::Warn,
            },
            auto_approve: self.flag("devworkflow.auto_approve"),
            log_chars_max: self.count("devworkflow.log_chars_max").try_into().unwrap_or(u64::MAX),
            task_format: match self.text("devworkflow.task_format") {
                "action" => TaskFormat::Action,
                _ => TaskFormat::Free,
            },
            changelog_date: self.flag("devworkflow.changelog_date"),
            sessions: self.sessions(),
            memory: Memory::default(),
        }
    }

    fn sessions(&self) -> Sessions {
        Sessions {
            fallback: match self.text("devworkflow.session_fallback") {
                "latest" => Fallback::Latest,
                "none" => Fallback::None,
                _ => Fallback::Single,
            },
            cache: self.flag("devworkflow.cache"),
            format: match self.text("devworkflow.session_format") {
                "md" => SessionFormat::Markdown,
                _ => SessionFormat::Json,
            },
            retention: self.retention(),
            archiving: self.flag("devworkflow.session_archiving"),
        }
    }

    fn retention(&self) -> Duration {
        let hours = u64::try_from(self.count("devworkflow.session_retention_hours"));
        Duration::from_secs(hours.unwrap_or(u64::MAX).saturating_mul(60 * 60))
    }

    /// Returns a path as it is seen from the project's root, where it lies in it.
    fn inside(&self, name: &str) -> String {
        let path = Path::new(self.text(name));
        let inside = path.strip_prefix(&self.places.root).unwrap_or(path);
        inside.to_string_lossy().into_owned()
    }
}
