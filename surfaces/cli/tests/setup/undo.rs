//! `--undo`: what the last change replaced is there again, and what others wrote since stays.

use std::{fs, path::Path};

use crate::{answered, copies, done, names, project::Project, read, refused};

const CLIENTS: [&str; 9] = [
    "claude",
    "claude --global",
    "claude-desktop --dir .",
    "cursor",
    "vscode",
    "codex",
    "gemini",
    "opencode",
    "zed --global",
];

#[test]
fn a_file_that_was_made_for_us_goes_again() {
    for client in CLIENTS {
        let project = Project::new();
        let made = answered(&project, &format!("{client} --yes"));
        let file = made["file"].as_str().unwrap();
        let client = client.trim_end_matches(" --dir .");
        done(&project, &format!("{client} --undo --yes"));
        assert!(!fs::exists(file).unwrap(), "{client}");
        refused(&project, &format!("{client} --undo --yes"), "nothing_to_undo");
    }
}

#[test]
fn each_undo_goes_one_change_back() {
    let project = Project::new();
    let first = "{ \"mcpServers\": { \"other\": {} } } // mine";
    project.write(".mcp.json", first);
    done(&project, "claude --yes");
    let second = read(&project, ".mcp.json");
    done(&project, "claude --yes --toolset core");
    let third = read(&project, ".mcp.json");
    done(&project, "remove claude --yes");
    assert_eq!(copies(&project, Path::new(".mcp.json")).len(), 3);
    for expected in [third, second, first.to_owned()] {
        done(&project, "claude --undo --yes");
        assert_eq!(read(&project, ".mcp.json"), expected);
    }
    assert_eq!(names(&project, ""), [".mcp.json"]);
    assert!(copies(&project, Path::new(".mcp.json")).is_empty());
    refused(&project, "claude --undo --yes", "nothing_to_undo");
}

#[test]
fn an_entry_that_was_replaced_comes_back_as_it_was() {
    let project = Project::new();
    let before = "{\"mcpServers\": {\"milepost\": {\"url\": \"http://x\", /* far */ }}}\n";
    project.write(".cursor/mcp.json", before);
    done(&project, "cursor --yes");
    done(&project, "cursor --undo --yes");
    assert_eq!(read(&project, ".cursor/mcp.json"), before);
}

#[test]
fn what_others_wrote_since_stays() {
    let project = Project::new();
    project.write(".mcp.json", "{\n  \"mcpServers\": {\n    \"old\": {}\n  }\n}\n");
    done(&project, "claude --yes");
    let edited =
        read(&project, ".mcp.json").replace("{\n  \"mcp", "{\n  \"new\": 1, // later\n  \"mcp");
    project.write(".mcp.json", &edited);
    done(&project, "claude --undo --yes");
    let expected = "{\n  \"new\": 1, // later\n  \"mcpServers\": {\n    \"old\": {}\n  }\n}\n";
    assert_eq!(read(&project, ".mcp.json"), expected);
    assert_eq!(copies(&project, Path::new(".mcp.json")).len(), 1);
    refused(&project, "claude --undo --yes", "nothing_to_undo");
}

#[test]
fn without_a_copy_only_the_entry_goes() {
    let project = Project::new();
    project.write(".mcp.json", "{\n  // mine\n  \"mcpServers\": {}\n}\n");
    let before = read(&project, ".mcp.json");
    done(&project, "claude --yes");
    fs::remove_file(&copies(&project, Path::new(".mcp.json"))[0]).unwrap();
    done(&project, "claude --undo --yes");
    assert_eq!(read(&project, ".mcp.json"), before);
}

#[test]
fn a_table_of_codex_goes_back_too() {
    let project = Project::new();
    let file = "../home/.codex/config.toml";
    let before = "model = 'o'\n\n# far away\n[mcp_servers.milepost]\nurl = \"http://x\"\n\n[tui]\n";
    project.write(file, before);
    done(&project, "codex --yes");
    let edited = read(&project, file).replace("'o'", "'p'");
    project.write(file, &edited);
    done(&project, "codex --undo --yes");
    assert_eq!(read(&project, file), before.replace("'o'", "'p'"));
    done(&project, "remove codex --yes");
    assert_eq!(read(&project, file), "model = 'p'\n\n# far away\n\n[tui]\n");
    done(&project, "codex --undo --yes");
    assert_eq!(read(&project, file), before.replace("'o'", "'p'"));
}
