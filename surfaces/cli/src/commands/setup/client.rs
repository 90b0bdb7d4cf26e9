//! The clients that are known: where each keeps its file, how that is written, and how one notices
//! that a client is there. What clients ask people is in `asking.rs`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::notation::{Notation, Shape};
use crate::config::{ClientPlaces, Config};

/// A program that starts servers for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    #[value(alias = "claude-code")]
    Claude,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    #[value(alias = "gemini-cli")]
    Gemini,
    Opencode,
    Windsurf,
    Zed,
}

/// For whom a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Reach {
    /// For everyone who works in the project.
    Project,
    /// For the user, in all projects.
    #[value(name = "user", alias = "global")]
    Global,
}

/// What is the same for a client on every machine.
struct Facts {
    /// The name that is typed.
    name: &'static str,
    /// The name that people know.
    title: &'static str,
    /// The page that says more.
    link: &'static str,
    /// The file that is meant unless another is named.
    usual: Reach,
    /// The programs that start it.
    programs: &'static [&'static str],
    /// What it leaves in a project.
    traces: &'static [&'static str],
}

impl Client {
    pub(super) const ALL: [Self; 9] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::Vscode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Windsurf,
        Self::Zed,
    ];

    pub(super) fn name(self) -> &'static str {
        self.facts().name
    }

    pub(super) fn title(self) -> &'static str {
        self.facts().title
    }

    pub(super) fn link(self) -> &'static str {
        self.facts().link
    }

    pub(super) fn usual(self) -> Reach {
        self.facts().usual
    }

    /// Returns where the file is; nothing where the client has no such file, or there is no home.
    pub(super) fn file(self, reach: Reach, config: &Config) -> Option<PathBuf> {
        let root = &config.places.root;
        let clients = &config.clients;
        let settings = |inner: &str| clients.settings.as_ref().map(|it| it.join(inner));
        let home = |inner: &str| clients.home.as_ref().map(|it| it.join(inner));
        match (self, reach) {
            (Self::Claude, Reach::Project) => Some(root.join(".mcp.json")),
            (Self::Claude, Reach::Global) => {
                clients.claude.as_ref().map(|it| it.join(".claude.json"))
            }
            (Self::ClaudeDesktop, Reach::Global) => settings("Claude/claude_desktop_config.json"),
            (Self::Cursor, Reach::Project) => Some(root.join(".cursor/mcp.json")),
            (Self::Cursor, Reach::Global) => home(".cursor/mcp.json"),
            (Self::Vscode, Reach::Project) => Some(root.join(".vscode/mcp.json")),
            (Self::Vscode, Reach::Global) => settings("Code/User/mcp.json"),
            (Self::Codex, Reach::Project) => Some(root.join(".codex/config.toml")),
            (Self::Codex, Reach::Global) => clients.codex.as_ref().map(|it| it.join("config.toml")),
            (Self::Gemini, Reach::Project) => Some(root.join(".gemini/settings.json")),
            (Self::Gemini, Reach::Global) => home(".gemini/settings.json"),
            (Self::Opencode, Reach::Project) => Some(opencode_file(root)),
            (Self::Opencode, Reach::Global) => clients.opencode.as_deref().map(opencode_file),
            (Self::Windsurf, Reach::Global) => home(".codeium/windsurf/mcp_config.json"),
            (Self::Zed, Reach::Project) => Some(root.join(".zed/settings.json")),
            (Self::Zed, Reach::Global) => clients.zed.as_ref().map(|it| it.join("settings.json")),
            (Self::ClaudeDesktop | Self::Windsurf, Reach::Project) => None,
        }
    }

    /// Returns a file to which an earlier release wrote, and which the client does not read.
    pub(super) fn ignored_file(self, reach: Reach, config: &Config) -> Option<PathBuf> {
        let clients = &config.clients;
        match (self, reach) {
            (Self::Claude, Reach::Global) => clients.home.as_ref().map(|it| it.join(".mcp.json")),
            (Self::Cursor, Reach::Global) => {
                clients.settings.as_ref().map(|it| it.join("Cursor/User/mcp.json"))
            }
            (Self::Vscode, Reach::Project) => Some(config.places.root.join(OLD_SETTINGS)),
            (Self::Vscode, Reach::Global) => {
                clients.settings.as_ref().map(|it| it.join("Code/User/settings.json"))
            }
            _ => None,
        }
    }

    /// Returns how a file of this client is written.
    pub(super) fn notation(self, file: &Path) -> Notation {
        let is_settings = file.file_name().is_some_and(|it| it == "settings.json");
        let json = |path| Notation::Json { path, shape: Shape::Separate };
        match self {
            Self::Codex => Notation::Toml,
            Self::Vscode if is_settings => json(&["mcp", "servers"]),
            Self::Vscode => json(&["servers"]),
            Self::Zed => json(&["context_servers"]),
            Self::Opencode => Notation::Json { path: &["mcp"], shape: Shape::Together },
            Self::Claude | Self::ClaudeDesktop | Self::Cursor | Self::Gemini | Self::Windsurf => {
                json(&["mcpServers"])
            }
        }
    }

    /// Returns whether the client starts the servers of its one file in no project's folder.
    pub(super) fn needs_folder(self) -> bool {
        matches!(self, Self::ClaudeDesktop | Self::Windsurf)
    }

    /// Returns whether the entry belongs to this machine, and the client may not have the `PATH` of
    /// a shell: then the whole path of the program is written.
    pub(super) fn needs_path(self, reach: Reach) -> bool {
        let is_desktop = matches!(
            self,
            Self::ClaudeDesktop | Self::Cursor | Self::Vscode | Self::Windsurf | Self::Zed
        );
        is_desktop && reach == Reach::Global
    }

    /// Returns what shows that the client is used here, if anything does.
    pub(super) fn find_sign(self, config: &Config) -> Option<PathBuf> {
        let facts = self.facts();
        let traces = facts.traces.iter().map(|it| config.places.root.join(it));
        let found = find_program(facts.programs, &config.clients.programs);
        found.or_else(|| self.folder(config).into_iter().chain(traces).find(|it| it.exists()))
    }

    /// Returns the program that starts the client, if it is found.
    pub(super) fn find_program(self, clients: &ClientPlaces) -> Option<PathBuf> {
        find_program(self.facts().programs, &clients.programs)
    }

    /// Returns the folder of the user's that the client makes when it is first started.
    fn folder(self, config: &Config) -> Option<PathBuf> {
        let clients = &config.clients;
        let settings = |inner: &str| clients.settings.as_ref().map(|it| it.join(inner));
        let home = |inner: &str| clients.home.as_ref().map(|it| it.join(inner));
        match self {
            Self::Claude => clients.claude_settings.clone(),
            Self::ClaudeDesktop => settings("Claude"),
            Self::Cursor => home(".cursor"),
            Self::Vscode => settings("Code/User"),
            Self::Codex => clients.codex.clone(),
            Self::Gemini => home(".gemini"),
            Self::Opencode => clients.opencode.clone(),
            Self::Windsurf => home(".codeium/windsurf"),
            Self::Zed => clients.zed.clone(),
        }
    }

    fn facts(self) -> &'static Facts {
        match self {
            Self::Claude => &CLAUDE,
            Self::ClaudeDesktop => &CLAUDE_DESKTOP,
            Self::Cursor => &CURSOR,
            Self::Vscode => &VSCODE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Opencode => &OPENCODE,
            Self::Windsurf => &WINDSURF,
            Self::Zed => &ZED,
        }
    }
}

const CLAUDE: Facts = Facts {
    name: "claude",
    title: "Claude Code",
    link: "https://code.claude.com/docs/en/mcp",
    usual: Reach::Project,
    programs: &["claude"],
    traces: &[".claude"],
};
const CLAUDE_DESKTOP: Facts = Facts {
    name: "claude-desktop",
    title: "Claude Desktop",
    link: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    usual: Reach::Global,
    programs: &["claude-desktop"],
    traces: &[],
};
const CURSOR: Facts = Facts {
    name: "cursor",
    title: "Cursor",
    link: "https://cursor.com/docs/mcp",
    usual: Reach::Project,
    programs: &["cursor", "cursor-agent"],
    traces: &[".cursor"],
};
const VSCODE: Facts = Facts {
    name: "vscode",
    title: "VS Code",
    link: "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
    usual: Reach::Project,
    programs: &["code"],
    traces: &[".vscode"],
};
const CODEX: Facts = Facts {
    name: "codex",
    title: "Codex",
    link: "https://developers.openai.com/codex/mcp",
    usual: Reach::Global,
    programs: &["codex"],
    traces: &[".codex"],
};
const GEMINI: Facts = Facts {
    name: "gemini",
    title: "Gemini CLI",
    link: "https://geminicli.com/docs/tools/mcp-server",
    usual: Reach::Project,
    programs: &["gemini"],
    traces: &[".gemini"],
};
const OPENCODE: Facts = Facts {
    name: "opencode",
    title: "OpenCode",
    link: "https://opencode.ai/docs/mcp-servers",
    usual: Reach::Project,
    programs: &["opencode"],
    traces: &["opencode.json", "opencode.jsonc", ".opencode"],
};
const WINDSURF: Facts = Facts {
    name: "windsurf",
    title: "Windsurf",
    link: "https://docs.windsurf.com/windsurf/cascade/mcp",
    usual: Reach::Global,
    programs: &["windsurf"],
    traces: &[".windsurf"],
};
const ZED: Facts = Facts {
    name: "zed",
    title: "Zed",
    link: "https://zed.dev/docs/ai/mcp",
    usual: Reach::Project,
    programs: &["zed", "zeditor"],
    traces: &[".zed"],
};

/// The file in which VS Code looked for servers before it had one for them alone.
const OLD_SETTINGS: &str = ".vscode/settings.json";

/// Returns the file of OpenCode in a folder: of the two names, the one that is in use.
fn opencode_file(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.is_file() { with_comments } else { folder.join("opencode.json") }
}

/// Returns the first of these programs that is found in the folders.
pub(super) fn find_program(names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    let files = names.iter().flat_map(|name| {
        let of_folder = move |folder: &PathBuf| {
            let paths = endings.iter().map(|ending| folder.join(format!("{name}{ending}")));
            paths.collect::<Vec<_>>()
        };
        folders.iter().flat_map(of_folder)
    });
    files.into_iter().find(|it| it.is_file())
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
