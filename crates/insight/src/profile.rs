//! What kind of repository this is: its languages, how it is built and tested, what checks it.
//!
//! Going by names of files, and by the few texts that say how a project is built.

mod commands;
mod languages;
mod layout;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use languages::Language;

/// What is known of a repository before it is understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The paths of all files that are kept.
    pub tracked: Vec<String>,
    /// The paths of files and folders in the root and one level below it, also of those that are
    /// not kept. Folders end with `/`.
    pub near: Vec<String>,
    /// What the files of [`Sources::wants`] say, by path.
    pub texts: BTreeMap<String, String>,
    /// Branches of the remote repositories, without the name of the remote.
    pub branches: Vec<String>,
}

/// A repository, as it is told to agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub languages: Vec<Language>,
    pub test_framework: String,
    pub ci_system: String,
    pub linter_configs: Vec<String>,
    /// What the folders of the root are for.
    pub dir_conventions: BTreeMap<String, String>,
    pub branch_naming: String,
    pub build_command: String,
    pub test_command: String,
    pub monorepo: bool,
    pub last_updated: String,
    pub staleness: String,
}

/// What a profile says of its age as long as it is good.
pub const FRESH: &str = "fresh";

impl Sources {
    /// Whether a file says how the project is built. `path` is in the root or one level below.
    pub fn wants(path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        matches!(name, "package.json" | "Makefile" | "makefile" | "GNUmakefile" | "Gemfile")
    }

    fn has(&self, path: &str) -> bool {
        self.near.iter().any(|it| it == path)
    }

    /// Whether a file of this name is in the root or one level below.
    fn has_near(&self, name: &str) -> bool {
        self.near.iter().any(|it| it.rsplit('/').next() == Some(name))
    }

    fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }
}

impl Profile {
    /// Makes a profile of what is known.
    pub fn new(sources: &Sources, now: &str) -> Self {
        Self {
            languages: languages::languages(&sources.tracked),
            test_framework: commands::test_framework(sources),
            ci_system: layout::ci_system(sources),
            linter_configs: layout::linters(sources),
            dir_conventions: layout::folders(sources),
            branch_naming: layout::branch_naming(&sources.branches),
            build_command: commands::command(sources, commands::Goal::Build),
            test_command: commands::command(sources, commands::Goal::Test),
            monorepo: layout::is_monorepo(sources),
            last_updated: now.to_owned(),
            staleness: FRESH.to_owned(),
        }
    }

    /// Reads a profile that was kept; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let profile: Self = serde_json::from_str(text).ok()?;
        (!profile.last_updated.is_empty()).then_some(profile)
    }

    /// Returns what agents are told: a name and what is known, each if it is.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let languages = self.languages.iter().map(|it| format!("{} {}%", it.name, it.percentage));
        let languages: Vec<String> = languages.collect();
        let all = [
            ("Languages", languages.join(", ")),
            ("Test framework", self.test_framework.clone()),
            ("CI system", self.ci_system.clone()),
            ("Linter configs", self.linter_configs.join(", ")),
            ("Build command", self.build_command.clone()),
            ("Test command", self.test_command.clone()),
            ("Branch naming", self.branch_naming.clone()),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Profile, Sources};

    #[test]
    fn a_rust_project_is_seen() {
        let paths = ["Cargo.toml", "src/lib.rs", "src/main.rs", "README.md"];
        let sources = Sources {
            tracked: paths.map(ToOwned::to_owned).to_vec(),
            near: ["Cargo.toml", "README.md", "src/", "src/lib.rs", ".github/", "clippy.toml"]
                .map(ToOwned::to_owned)
                .to_vec(),
            branches: ["main", "feature/a"].map(ToOwned::to_owned).to_vec(),
            ..Sources::default()
        };
        let profile = Profile::new(&sources, "2026-01-01T00:00:00Z");
        let lines: Vec<String> =
            profile.lines().into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
        assert_eq!(
            lines,
            [
                "Languages: Rust 50%, Markdown 25%, TOML 25%",
                "Test framework: cargo test",
                "Linter configs: clippy",
                "Build command: cargo build",
                "Test command: cargo test",
                "Branch naming: feature/{name}",
            ]
        );
        assert_eq!(profile.dir_conventions["src"], "source code");
        assert!(!profile.monorepo);
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(Profile::parse(&text), Some(profile));
        assert_eq!(Profile::parse("{}"), None);
    }
}
