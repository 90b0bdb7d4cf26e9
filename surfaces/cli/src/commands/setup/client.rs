//! The clients that are known: where each keeps its file, and how that is written.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::notation::Notation;
use crate::config::Config;

/// A program that starts servers for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    #[value(alias = "claude-code")]
    Claude,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
}

/// For whom a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// For everyone who works in the project.
    Project,
    /// For the user, in all projects.
    Global,
}

impl Client {
    pub(super) const ALL: [Self; 5] =
        [Self::Claude, Self::ClaudeDesktop, Self::Cursor, Self::Vscode, Self::Codex];

    /// Returns the name that is typed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// Returns the name that people know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    /// Returns the page that says more.
    pub(super) fn link(self) -> &'static str {
        match self {
            Self::Claude => "https://code.claude.com/docs/en/mcp",
            Self::ClaudeDesktop => {
                "https://modelcontextprotocol.io/docs/develop/connect-local-servers"
            }
            Self::Cursor => "https://cursor.com/docs/mcp",
            Self::Vscode => "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
            Self::Codex => "https://developers.openai.com/codex/mcp",
        }
    }

    /// Returns the file that is meant unless another is named: the project's, if there is such.
    pub(super) fn usual(self) -> Reach {
        match self {
            Self::Claude | Self::Cursor | Self::Vscode => Reach::Project,
            Self::ClaudeDesktop | Self::Codex => Reach::Global,
        }
    }

    /// Returns where the file is; nothing where the client has no such file, or there is no home.
    pub(super) fn file(self, reach: Reach, config: &Config) -> Option<PathBuf> {
        let root = &config.places.root;
        let clients = &config.clients;
        let settings = |inner: &str| clients.settings.as_ref().map(|it| it.join(inner));
        let home = |inner: &str| clients.home.as_ref().map(|it| it.join(inner));
        match (self, reach) {
            (Self::Claude, Reach::Project) => Some(root.join(".mcp.json")),
            (Self::Claude, Reach::Global) => home(".mcp.json"),
            (Self::ClaudeDesktop, Reach::Global) => settings("Claude/claude_desktop_config.json"),
            (Self::Cursor, Reach::Project) => Some(root.join(".cursor/mcp.json")),
            // Where Cursor has a folder of its own in the home, it reads the file there.
            (Self::Cursor, Reach::Global) => home(".cursor")
                .filter(|it| it.is_dir())
                .map(|it| it.join("mcp.json"))
                .or_else(|| settings("Cursor/User/mcp.json")),
            (Self::Vscode, Reach::Project) => Some(in_folder(&root.join(".vscode"))),
            (Self::Vscode, Reach::Global) => settings("Code/User").map(|it| in_folder(&it)),
            (Self::Codex, Reach::Global) => clients.codex.as_ref().map(|it| it.join("config.toml")),
            (Self::ClaudeDesktop | Self::Codex, Reach::Project) => None,
        }
    }

    /// Returns how a file of this client is written.
    pub(super) fn notation(self, file: &Path) -> Notation {
        let is_named = |name: &str| file.file_name().is_some_and(|it| it == name);
        match self {
            Self::Codex => Notation::Toml,
            Self::Vscode if is_named(SERVERS_ONLY) => Notation::Json(&["servers"]),
            Self::Vscode => Notation::Json(&["mcp", "servers"]),
            Self::Claude | Self::ClaudeDesktop | Self::Cursor => Notation::Json(&["mcpServers"]),
        }
    }
}

/// The file in which newer releases of VS Code keep servers and nothing else.
const SERVERS_ONLY: &str = "mcp.json";

/// Returns the file of VS Code in a folder: the one for servers where it is in use.
fn in_folder(folder: &Path) -> PathBuf {
    let servers = folder.join(SERVERS_ONLY);
    if servers.is_file() { servers } else { folder.join("settings.json") }
}

impl Reach {
    pub(super) const ALL: [Self; 2] = [Self::Project, Self::Global];

    /// Returns the word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}
