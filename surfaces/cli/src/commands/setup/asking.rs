//! What a client does next with an entry that was just written: what it asks, and where one sees
//! that the server is connected.

use std::path::Path;

use serde_json::Value;

use super::{
    client::{Client, Reach},
    file,
};
use crate::config::Config;

/// Returns what comes next, a sentence or two in each text. The first is what matters most.
pub(super) fn next(client: Client, reach: Reach) -> Vec<&'static str> {
    let texts: &[&str] = match (client, reach) {
        (Client::Claude, Reach::Project) => &[
            "Start Claude Code in this project. It asks about the new server: choose \"Use this \
             MCP server\". Enter alone rejects the server.",
            "`claude mcp list` then shows `✔ Connected`.",
        ],
        (Client::Claude, Reach::Global) => &[
            "Claude Code asks nothing: each new session has the server.",
            "`claude mcp list` shows `✔ Connected`.",
        ],
        (Client::ClaudeDesktop, _) => {
            &["Quit Claude Desktop and start it again. It asks before the first call of each tool."]
        }
        (Client::Cursor, Reach::Project) => {
            &["Cursor asks whether to enable the new server: enable it, there or in its settings."]
        }
        (Client::Cursor, Reach::Global) => &["Restart Cursor. Its settings list the server."],
        (Client::Vscode, _) => &[
            "VS Code asks whether you trust the workspace and the server: trust both.",
            "*MCP: List Servers* then shows `milepost, Running`.",
        ],
        (Client::Codex, Reach::Project) => &[
            "Codex asks whether you trust the folder: say yes. Otherwise it ignores this file \
             without a message.",
            "`/mcp` in Codex then shows `milepost: connected`.",
            "Codex does not tell its model about servers: run `milepost setup rules agents` too.",
        ],
        (Client::Codex, Reach::Global) => &[
            "Codex asks nothing: `/mcp` in a new session shows `milepost: connected`.",
            "Codex does not tell its model about servers: run `milepost setup rules agents` too.",
        ],
        (Client::Gemini, _) => &[
            "Gemini CLI asks whether you trust the folder: trust it. Otherwise it starts no server.",
            "`gemini mcp list` then shows `Connected`.",
        ],
        (Client::Opencode, _) => {
            &["OpenCode asks nothing: `opencode mcp list` shows `milepost connected`."]
        }
        (Client::Windsurf, _) => &["Press *Refresh* in Windsurf's MCP settings, or restart it."],
        (Client::Zed, Reach::Project) => &[
            "Zed asks whether you trust the project: trust it. Otherwise it ignores these settings.",
            "The settings of its agent then list the server as running.",
        ],
        (Client::Zed, Reach::Global) => {
            &["Zed asks nothing: the settings of its agent list the server as running."]
        }
    };
    texts.to_vec()
}

/// Returns the file in which Claude Code wrote that a person rejected the server of this name.
pub(super) fn rejected(client: Client, name: &str, config: &Config) -> Option<String> {
    if client != Client::Claude {
        return None;
    }
    let root = &config.places.root;
    let own = config.clients.claude_settings.as_ref().map(|it| it.join("settings.json"));
    let files = [".claude/settings.local.json", ".claude/settings.json"].map(|it| root.join(it));
    let found = files.into_iter().chain(own).find(|it| rejects(it, name))?;
    Some(config.places.short(&found))
}

fn rejects(path: &Path, name: &str) -> bool {
    let text = file::read(path).ok().flatten();
    let settings: Option<Value> = text.and_then(|it| serde_json::from_str(&it).ok());
    let disabled = settings.as_ref().and_then(|it| it.get("disabledMcpjsonServers")?.as_array());
    disabled.is_some_and(|it| it.iter().any(|it| it == name))
}
