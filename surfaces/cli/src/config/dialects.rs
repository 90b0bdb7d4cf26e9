//! What the toolsets of other contracts are told.

use std::{path::Path, time::Duration};

use definition::Evidence;
use dialects::forge;
use insight::past::{Price, Prices};
use mcp::{
    Dialects,
    devworkflow::{Fallback, Mode, Policy, SessionFormat, Sessions, Settings, TaskFormat},
};

use super::{Config, Origin, place::Places};

/// The toolset that works on specs.
const FORGE: &str = "forge";
/// Where in the user's home it is told what happens to forge pipelines.
const EVENTS_LOG: &str = ".claude/forge-events.jsonl";

impl Config {
    /// Returns what the configuration says of the dialects.
    pub(crate) fn dialects(&self) -> Dialects {
        Dialects { devworkflow: self.devworkflow().into(), forge: self.forge().into() }
    }

    fn forge(&self) -> forge::Options {
        let agents = Some(self.text("forge.agents")).filter(|it| !it.is_empty());
        forge::Options {
            specs: self.inside("forge.specs"),
            agents: agents.map(ToOwned::to_owned),
            default_model: self.text("forge.default_model").to_owned(),
            poll: self.duration("forge.poll"),
            events_port: self.count("forge.events_port").try_into().unwrap_or_default(),
            events_log: self.events_log(),
            prices: self.prices(),
            friction_tokens: self.count("forge.friction_tokens"),
            memory: forge::Memory::default(),
        }
    }

    /// Returns the places of the project that the specs lie in, if the tools of forge are offered and
    /// anyone who started them names specs that are not in the project around the working directory. A
    /// project does not send its own away.
    pub(super) fn find_elsewhere(&self) -> Option<Places> {
        let places = &self.places;
        let specs = Path::new(self.text("forge.specs"));
        let is_offered = self.toolsets().iter().any(|it| it == FORGE);
        if !is_offered || !specs.is_absolute() || specs.starts_with(&places.root) {
            return None;
        }
        let own = Origin::File(places.folder().join("config.toml"));
        if self.values.get("forge.specs").is_none_or(|(_, origin)| *origin == own) {
            return None;
        }
        let root = specs.parent().filter(|it| it.is_dir())?;
        let found = Places::find(root, places.user.clone(), places.home.clone());
        Some(Places { working: places.working.clone(), ..found })
    }

    /// Returns the file for what happens to pipelines; without a home there is none unless it is
    /// named.
    fn events_log(&self) -> Option<String> {
        let named = Some(self.text("forge.events_log")).filter(|it| !it.is_empty());
        let usual = || Some(self.places.home.as_ref()?.join(EVENTS_LOG));
        named.map(ToOwned::to_owned).or_else(|| Some(usual()?.to_string_lossy().into_owned()))
    }

    /// Returns what tokens cost. A price that cannot be read is as if it were not there.
    fn prices(&self) -> Prices {
        let mut prices = Prices::default();
        if let Ok(rate) = self.text("forge.cost_per_token").parse() {
            prices.per_token = rate;
        }
        for said in self.list("forge.prices") {
            let Some((model, price)) = said.split_once('=') else { continue };
            let Some((input, output)) = price.split_once('/') else { continue };
            if let (Ok(input), Ok(output)) = (input.trim().parse(), output.trim().parse()) {
                prices.models.insert(model.trim().to_owned(), Price { input, output });
            }
        }
        prices
    }

    fn devworkflow(&self) -> Settings {
        Settings {
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
