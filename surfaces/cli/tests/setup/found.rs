//! `setup` without a client, and a Claude Code that changes its own file.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{answered, copies, done, names, project::Project, read, refused, setup};

/// Stands for Claude Code: it keeps the user's servers in a file that it writes itself.
const CLAUDE: &str = r#"#!/usr/bin/env python3
import json, os, sys
path = os.path.join(os.environ["HOME"], ".claude.json")
try:
    state = json.load(open(path))
except FileNotFoundError:
    state = {"startups": 0}
assert sys.argv[1] == "mcp" and sys.argv[3:6] == ["--scope", "user", "--"], sys.argv
verb, name = sys.argv[2], sys.argv[6]
servers = state.setdefault("mcpServers", {})
if os.path.exists(os.path.join(os.environ["HOME"], "broken")):
    sys.exit("the disk is full")
if verb == "remove":
    del servers[name]
elif name in servers:
    sys.exit("exists already")
else:
    servers[name] = {"type": "stdio", **json.loads(sys.argv[7])}
state["startups"] += 1
json.dump(state, open(path, "w"))
"#;

/// Puts a program into a folder of its own, and returns a project that finds it.
fn with_program(name: &str, text: &str) -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join(name);
    fs::write(&program, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.path().display());
    let project = Project::new().with("PATH", &path);
    (folder, project)
}

fn state(project: &Project) -> Value {
    serde_json::from_str(&read(project, "../home/.claude.json")).unwrap()
}

#[test]
fn the_clients_that_are_found_are_listed_and_set_up() {
    let project = Project::new();
    let told = refused(&project, "", "client_missing");
    assert_eq!(told, "no client was found here");
    for folder in [".cursor", "../home/.codex", "../home/.codeium/windsurf"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    let listed = setup(&project, "");
    assert_eq!(listed.code, 0);
    let lines: Vec<&str> = listed.out.lines().map(|it| it.trim_start()).collect();
    assert_eq!(lines.len(), 3, "{}", listed.out);
    assert!(lines[0].starts_with("Cursor          milepost setup cursor "), "{}", listed.out);
    assert!(lines[2].contains("milepost setup windsurf --dir . "), "{}", listed.out);
    assert!(listed.talk.contains("Nothing was written."), "{}", listed.talk);
    assert!(names(&project, ".cursor").is_empty());

    done(&project, "--dry-run");
    assert!(names(&project, ".cursor").is_empty());
    let answer = answered(&project, "--yes --toolset core");
    let written = |it: &Value| it["is_written"] == true;
    assert!(answer["clients"].as_array().unwrap().iter().all(written), "{answer}");
    for file in [
        ".cursor/mcp.json",
        "../home/.codex/config.toml",
        "../home/.codeium/windsurf/mcp_config.json",
    ] {
        assert!(read(&project, file).contains("core"), "{file}");
    }
    let listed = setup(&project, "");
    assert_eq!(listed.out.matches("is set up in").count(), 3, "{}", listed.out);
    assert!(listed.talk.is_empty(), "{}", listed.talk);
    let again = answered(&project, "--yes");
    assert!(again["clients"].as_array().unwrap().iter().all(|it| it["has_entry"] == true));
}

#[test]
fn one_client_that_fails_does_not_keep_the_others_back() {
    let project = Project::new();
    project.write(".cursor/mcp.json", "{");
    fs::create_dir_all(project.path(".vscode")).unwrap();
    let told = setup(&project, "--yes");
    assert_eq!(told.code, 1, "{}", told.out);
    assert!(told.talk.contains("not set up: ") && told.talk.contains("line 1"), "{}", told.talk);
    assert!(project.path(".vscode/mcp.json").exists());
    assert_eq!(read(&project, ".cursor/mcp.json"), "{");
}

#[test]
fn claude_code_changes_its_own_file() {
    let (_folder, project) = with_program("claude", CLAUDE);
    project.write("../home/.claude.json", "{\"startups\": 5, \"projects\": {\"/x\": {}}}");
    let told = setup(&project, "claude --global --yes");
    assert_eq!(told.code, 0, "{}", told.talk);
    assert!(told.out.contains("Claude Code added the entry `milepost`"), "{}", told.out);
    let own = env!("CARGO_BIN_EXE_milepost");
    let entry = json!({"type": "stdio", "command": own, "args": ["mcp"]});
    let now = state(&project);
    assert_eq!(now["mcpServers"]["milepost"], entry);
    assert_eq!((&now["startups"], &now["projects"]["/x"]), (&json!(6), &json!({})));

    done(&project, "claude --global --yes --toolset core");
    let now = state(&project);
    assert_eq!(now["mcpServers"]["milepost"]["args"], json!(["mcp", "--toolset", "core"]));
    assert_eq!(now["startups"], 8);
    done(&project, "claude --global --undo --yes");
    assert_eq!(state(&project)["mcpServers"]["milepost"], entry);
    done(&project, "remove claude --global --yes");
    assert_eq!(state(&project)["mcpServers"], json!({}));
    assert_eq!(answered(&project, "claude --global --yes")["is_written"], true);
}

#[test]
fn a_claude_code_that_fails_is_told_and_the_file_can_be_edited_without_it() {
    let (_folder, project) = with_program("claude", CLAUDE);
    project.write("../home/broken", "");
    let told = refused(&project, "claude --global --yes", "client_failed");
    assert!(told.contains("`mcp add-json` failed: the disk is full"), "{told}");
    done(&project, "claude --config ../home/.claude.json --yes");
    assert_eq!(state(&project)["mcpServers"]["milepost"]["args"], json!(["mcp"]));
    assert!(copies(&project, &project.path("../home/.claude.json")).is_empty());
}

#[test]
fn a_person_is_told_what_the_client_asks_next() {
    let project = Project::new();
    let told = setup(&project, "claude --yes").talk;
    assert!(told.contains("choose \"Use this MCP server\""), "{told}");
    assert!(told.contains("`milepost setup claude --undo` takes it back."), "{told}");
    let next = |line: &str| answered(&project, &format!("{line} --dry-run"))["next"].to_string();
    assert!(next("gemini").contains("trust the folder"));
    assert!(next("codex").contains("/mcp"));
    assert!(next("vscode").contains("MCP: List Servers"));
    assert!(next("opencode").contains("opencode mcp list"));
}

#[test]
fn a_server_that_was_rejected_in_claude_code_is_told() {
    let project = Project::new();
    done(&project, "claude --yes");
    let rejected = "{\"disabledMcpjsonServers\": [\"milepost\"]}\n";
    project.write(".claude/settings.local.json", rejected);
    let told = setup(&project, "claude --yes");
    assert_eq!(told.code, 0);
    assert!(told.talk.contains("claude mcp reset-project-choices"), "{}", told.talk);
    assert!(told.talk.contains(".claude/settings.local.json"), "{}", told.talk);
    let checked = setup(&project, "check claude");
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains("it was rejected in Claude Code"), "{}", checked.out);
}
