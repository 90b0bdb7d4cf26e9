//! Every client, in every file it has: set up, listed, checked, removed.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

use crate::{answered, done, names, project::Project, read, refused, setup};

/// How to call for each file of each client, the file, and where the servers are in it.
const FILES: [(&str, &str, &[&str]); 7] = [
    ("claude", ".mcp.json", &["mcpServers"]),
    ("claude --global", "../home/.mcp.json", &["mcpServers"]),
    ("claude-desktop", "../home/SETTINGS/Claude/claude_desktop_config.json", &["mcpServers"]),
    ("cursor", ".cursor/mcp.json", &["mcpServers"]),
    ("cursor --global", "../home/SETTINGS/Cursor/User/mcp.json", &["mcpServers"]),
    ("vscode", ".vscode/settings.json", &["mcp", "servers"]),
    ("vscode --global", "../home/SETTINGS/Code/User/settings.json", &["mcp", "servers"]),
];

fn settings(file: &str) -> String {
    let folder = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    file.replace("SETTINGS", folder)
}

fn own_path() -> &'static str {
    env!("CARGO_BIN_EXE_milepost")
}

#[test]
fn each_client_is_set_up_listed_checked_and_removed() {
    for (client, file, path) in FILES {
        let project = Project::new();
        let file = settings(file);
        done(&project, &format!("{client} --yes"));
        let written: Value = serde_json::from_str(&read(&project, &file)).unwrap();
        let inner = path.iter().fold(&written, |it, name| &it[*name]);
        let entry = json!({"command": own_path(), "args": ["mcp"]});
        assert_eq!(inner, &json!({"milepost": entry}), "{client}");
        let folder = Path::new(&file).parent().unwrap().to_str().unwrap().to_owned();
        assert!(!names(&project, &folder).iter().any(|it| it.contains(".backup")));

        let name = client.split(' ').next().unwrap();
        let listed = answered(&project, "list");
        let with_entry: Vec<&Value> = listed["files"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["has_entry"] == true)
            .collect();
        assert_eq!(with_entry.len(), 1, "{listed}");
        assert_eq!(with_entry[0]["client"], name);
        assert_eq!(with_entry[0]["servers"], json!(["milepost"]));
        assert_eq!(answered(&project, &format!("check {client}"))["is_fine"], true);

        done(&project, &format!("{client} --yes --toolset core,generation"));
        let backup = read(&project, &format!("{file}.backup"));
        assert_eq!(serde_json::from_str::<Value>(&backup).unwrap(), written);
        let now: Value = serde_json::from_str(&read(&project, &file)).unwrap();
        let args = &path.iter().fold(&now, |it, name| &it[*name])["milepost"]["args"];
        assert_eq!(args, &json!(["mcp", "--toolset", "core,generation"]));
        done(&project, &format!("{client} --yes"));
        assert!(project.path(&format!("{file}.backup.1")).exists());

        done(&project, &format!("remove {client} --yes"));
        let now: Value = serde_json::from_str(&read(&project, &file)).unwrap();
        assert_eq!(path.iter().fold(&now, |it, name| &it[*name]), &json!({}));
        refused(&project, &format!("remove {client} --yes"), "entry_missing");
    }
}

#[test]
fn codex_is_set_up_listed_checked_and_removed() {
    let project = Project::new();
    let file = "../home/.codex/config.toml";
    done(&project, "codex --yes --name ours");
    let expected = format!("[mcp_servers.ours]\ncommand = \"{}\"\nargs = [\"mcp\"]\n", own_path());
    assert_eq!(read(&project, file), expected);
    let listed = answered(&project, "list");
    let row = listed["files"].as_array().unwrap().iter().find(|it| it["client"] == "codex");
    assert_eq!(row.unwrap()["servers"], json!(["ours"]));
    assert_eq!(answered(&project, "check codex")["files"][0]["entries"][0]["name"], "ours");
    done(&project, "remove codex --yes --name ours");
    assert_eq!(read(&project, file), "");
    let elsewhere = Project::new().with("CODEX_HOME", "/nowhere/else");
    let shown = setup(&elsewhere, "codex --dry-run").out;
    assert!(shown.contains("+++ /nowhere/else/config.toml"), "{shown}");
}

#[test]
fn the_name_of_the_program_is_written_where_it_finds_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let project = Project::new().with("PATH", &path);
    let command =
        |project: &Project| answered(project, "claude --dry-run")["entry"]["command"].clone();
    assert_eq!(command(&project), own_path());
    #[cfg(unix)]
    std::os::unix::fs::symlink(own_path(), folder.path().join("milepost")).unwrap();
    #[cfg(unix)]
    assert_eq!(command(&project), "milepost");
    fs::remove_file(folder.path().join("milepost")).unwrap();
    fs::write(folder.path().join("milepost"), "another program").unwrap();
    assert_eq!(command(&project), own_path());
}

#[test]
fn names_of_old_are_understood_and_unknown_ones_are_usage() {
    let project = Project::new();
    done(&project, "claude-code --yes");
    assert!(project.path(".mcp.json").exists());
    done(&project, "check claude-code");
    for line in ["banana", "remove banana", "check banana", "", "claude --yes --dry-run"] {
        assert_eq!(setup(&project, line).code, 64, "{line}");
    }
    assert_eq!(setup(&project, "check --global").code, 64);
    assert_eq!(setup(&project, "claude --dir nowhere --yes").code, 64);
    let unknown = refused(&project, "claude --yes --toolset core,banana", "toolset_unknown");
    assert!(unknown.contains("`banana`"), "{unknown}");
}

#[test]
fn newer_files_of_the_editors_are_used_where_they_are_in_use() {
    let project = Project::new();
    project.write(".vscode/mcp.json", "{\"inputs\": []}\n");
    fs::create_dir(project.path("../home/.cursor")).unwrap();
    done(&project, "vscode --yes");
    let written: Value = serde_json::from_str(&read(&project, ".vscode/mcp.json")).unwrap();
    assert_eq!(written["servers"]["milepost"]["args"], json!(["mcp"]));
    assert!(!project.path(".vscode/settings.json").exists());
    done(&project, "cursor --global --yes");
    assert!(project.path("../home/.cursor/mcp.json").exists());
}

#[test]
fn the_file_the_name_and_the_folder_can_be_chosen() {
    let project = Project::new();
    fs::create_dir(project.path("here")).unwrap();
    done(&project, "cursor -c deep/er/other.json -s second --dir here -y");
    let written: Value = serde_json::from_str(&read(&project, "deep/er/other.json")).unwrap();
    let folder = project.path("here").canonicalize().unwrap().display().to_string();
    assert_eq!(written["mcpServers"]["second"]["args"], json!(["mcp", "--project", folder]));
    done(&project, "check cursor -c deep/er/other.json");
    let told = refused(&project, "remove cursor -c deep/er/other.json -y", "entry_missing");
    assert!(told.contains("no entry `milepost`"), "{told}");
    done(&project, "remove cursor -c deep/er/other.json -s second -y");
}

#[test]
fn a_project_is_set_up_at_its_root() {
    let project = Project::new();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(project.path("a/b")).unwrap();
    done(&project, "claude --yes -C a/b");
    assert!(project.path(".mcp.json").exists());
    done(&project, "rules claude -C a/b");
    assert!(project.path("CLAUDE.md").exists());
}

#[test]
fn the_folder_of_settings_may_lie_elsewhere() {
    let project = Project::new();
    let elsewhere = project.path("../elsewhere").display().to_string();
    let project = project.with("XDG_CONFIG_HOME", &elsewhere);
    done(&project, "vscode --global --yes");
    if cfg!(target_os = "linux") {
        assert!(project.path("../elsewhere/Code/User/settings.json").exists());
    }
}

#[test]
fn entries_that_cannot_work_are_told() {
    let project = Project::new();
    assert_eq!(refused(&project, "check", "file_missing"), "no client has a file here");
    assert_eq!(
        refused(&project, "check cursor", "file_missing"),
        "there is no file `.cursor/mcp.json`"
    );
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {
            "good": {"command": "x", "args": ["y"], "env": {"Z": "1"}},
            "far": {"type": "http", "url": "http://x"},
            "nothing": {},
            "empty": {"command": " "},
            "args": {"command": "x", "args": "y"},
            "env": {"command": "x", "env": {"Z": 1}},
            "odd": 3,
        }}"#,
    );
    let told = setup(&project, "check --json");
    assert_eq!(told.code, 1);
    let answer: Value = serde_json::from_str(&told.out).unwrap();
    let entries = answer["files"][0]["entries"].as_array().unwrap();
    let bad: Vec<&str> = entries
        .iter()
        .filter(|it| it["is_fine"] == false)
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(bad, ["nothing", "empty", "args", "env", "odd"]);
    let shown = setup(&project, "check claude").out;
    assert!(
        shown.contains("✗ claude          .mcp.json  args\n    `args` is not a list"),
        "{shown}"
    );
    project.write(".cursor/mcp.json", "{");
    let shown = setup(&project, "check cursor");
    assert_eq!(shown.code, 1);
    assert!(shown.out.contains("line 1, column 1: Unterminated object"), "{}", shown.out);
}

#[test]
fn a_broken_configuration_of_ours_does_not_stand_in_the_way() {
    let project = Project::new();
    project.write(".milepost/config.toml", "nonsense = 1\n");
    done(&project, "claude --yes");
    assert!(!project.path(".milepost/milepost.db").exists());
}
