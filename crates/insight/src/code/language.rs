//! The languages that can be read, by name and by the ending of a file's name.

use std::fmt;

use super::{
    bash::Bash, go::Go, python::Python, rust::Rust, syntax::Rules, typescript::TypeScript,
};

/// A language that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    Bash,
    Go,
    Python,
    Rust,
    TypeScript,
}

/// There is no such language here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageUnknown {
    pub name: String,
}

impl Language {
    /// All languages, in the order they are named.
    pub const ALL: [Self; 5] = [Self::Go, Self::TypeScript, Self::Python, Self::Bash, Self::Rust];

    /// Finds a language by its name, or by an ending that its files have.
    pub fn parse(name: &str) -> Result<Self, LanguageUnknown> {
        let wanted = name.trim().to_lowercase();
        let is_meant = |it: &Self| it.name() == wanted || it.endings().contains(&wanted.as_str());
        let found = Self::ALL.into_iter().find(is_meant);
        found.ok_or_else(|| LanguageUnknown { name: name.trim().to_owned() })
    }

    /// Finds the language of a file by how its name ends.
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
        Self::ALL.into_iter().find(|it| it.endings().contains(&ending))
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Go => "go",
            Self::Python => "python",
            Self::Rust => "rust",
            Self::TypeScript => "typescript",
        }
    }

    /// Returns how the names of its files end, without the dot.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["sh", "bash"],
            Self::Go => &["go"],
            Self::Python => &["py"],
            Self::Rust => &["rs"],
            Self::TypeScript => &["ts", "tsx", "mts", "cts"],
        }
    }

    /// Returns the name of the file that names a package, where imports need it.
    pub fn manifest(self) -> Option<&'static str> {
        match self {
            Self::Go => Some("go.mod"),
            Self::Rust => Some("Cargo.toml"),
            Self::Bash | Self::Python | Self::TypeScript => None,
        }
    }

    /// Whether anyone who calls something need not import it by a path that can be followed: values
    /// carry their methods with them.
    pub(super) fn is_loosely_tied(self) -> bool {
        match self {
            Self::Python | Self::TypeScript => true,
            Self::Bash | Self::Go | Self::Rust => false,
        }
    }

    pub(super) fn rules(self) -> &'static dyn Rules {
        match self {
            Self::Bash => &Bash,
            Self::Go => &Go,
            Self::Python => &Python,
            Self::Rust => &Rust,
            Self::TypeScript => &TypeScript,
        }
    }
}

impl fmt::Display for LanguageUnknown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Language::ALL.map(|it| format!("`{}`", it.name())).join(", ");
        write!(out, "language `{}` cannot be read; these can: {names}", self.name)
    }
}

impl std::error::Error for LanguageUnknown {}
