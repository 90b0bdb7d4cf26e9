//! Every client, in every file it has: set up, listed, checked, removed.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

use crate::{answered, copies, done, names, project::Project, read, refused, setup};

/// How to call for each file of each client, the file, and where the servers are in it.
const FILES: [(&str, &str, &[&str]); 14] = [
    ("claude", ".mcp.json", &["mcpServers"]),
    ("claude --global", "../home/.claude.json", &["mcpServers"]),
    (
        "claude-desktop --dir .",
        "../home/SETTINGS/Claude/claude_desktop_config.json",
        &["mcpServers"],
    ),
    ("cursor", ".cursor/mcp.json", &["mcpServers"]),
    ("cursor --global", "../home/.cursor/mcp.json", &["mcpServers"]),
    ("vscode", ".vscode/mcp.json", &["servers"]),
    ("vscode --global", "../home/SETTINGS/Code/User/mcp.json", &["servers"]),
    ("gemini", ".gemini/settings.json", &["mcpServers"]),
    ("gemini --scope user", "../home/.gemini/settings.json", &["mcpServers"]),
    ("windsurf --dir .", "../home/.codeium/windsurf/mcp_config.json", &["mcpServers"]),
    ("zed", ".zed/settings.json", &["context_servers"]),
    ("zed --global", "../home/.config/zed/settings.json", &["context_servers"]),
    ("opencode", "opencode.json", &["mcp"]),
    ("opencode --global", "../home/.config/opencode/opencode.json", &["mcp"]),
];

/// Returns the entry that a client gets.
fn entry(project: &Project, line: &str, more: &[&str]) -> Value {
    let mut args = vec!["mcp".to_owned()];
    args.extend(more.iter().map(|it| (*it).to_owned()));
    let folder = project.path("").canonicalize().unwrap().display().to_string();
    if line.contains("--dir") {
        args.extend(["--project".to_owned(), folder]);
    } else if line == "cursor --global" {
        args.extend(["--project".to_owned(), "${workspaceFolder}".to_owned()]);
    }
    if line.starts_with("opencode") {
        args.insert(0, own_path().to_owned());
        return json!({"type": "local", "command": args});
    }
    json!({"command": own_path(), "args": args})
}

/// Returns what `check`, `remove` and `list` take of a line: only `setup NAME` knows `--dir`.
fn place(line: &str) -> &str {
    line.trim_end_matches(" --dir .")
}

fn settings(file: &str) -> String {
    let folder = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    file.replace("SETTINGS", folder)
}

fn own_path() -> &'static str {
    env!("CARGO_BIN_EXE_milepost")
}

#[test]
fn each_client_is_set_up_listed_checked_and_removed() {
    for (line, file, path) in FILES {
        let project = Project::new();
        let file = settings(file);
        let inner = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            path.iter().fold(value, |it, name| it[*name].clone())
        };
        done(&project, &format!("{line} --yes"));
        let written = read(&project, &file);
        assert_eq!(inner(&written), json!({"milepost": entry(&project, line, &[])}), "{line}");
        assert!(copies(&project, Path::new(&file)).is_empty());

        let name = line.split(' ').next().unwrap();
        let listed = answered(&project, "list");
        let rows = listed["files"].as_array().unwrap().iter();
        let with_entry: Vec<&Value> = rows.filter(|it| it["has_entry"] == true).collect();
        assert_eq!(with_entry.len(), 1, "{listed}");
        assert_eq!(with_entry[0]["client"], name);
        assert_eq!(with_entry[0]["servers"], json!(["milepost"]));
        assert_eq!(answered(&project, &format!("check {}", place(line)))["is_fine"], true);

        done(&project, &format!("{line} --yes --toolset core,generation"));
        let first = copies(&project, Path::new(&file));
        assert_eq!(fs::read_to_string(&first[0]).unwrap(), written);
        let expected = entry(&project, line, &["--toolset", "core,generation"]);
        assert_eq!(inner(&read(&project, &file))["milepost"], expected, "{line}");
        done(&project, &format!("{line} --yes"));
        assert_eq!(copies(&project, Path::new(&file)).len(), 2);
        let folder = Path::new(&file).parent().unwrap().to_str().unwrap().to_owned();
        assert!(!names(&project, &folder).iter().any(|it| it.contains("backup")));

        done(&project, &format!("remove {} --yes", place(line)));
        assert_eq!(inner(&read(&project, &file)), json!({}));
        refused(&project, &format!("remove {} --yes", place(line)), "entry_missing");
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
    let is_own = |it: &&Value| it["client"] == "codex" && it["reach"] == "global";
    let row = listed["files"].as_array().unwrap().iter().find(is_own);
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
    for line in
        ["banana", "remove banana", "check banana", "--yes claude", "claude --yes --dry-run"]
    {
        assert_eq!(setup(&project, line).code, 64, "{line}");
    }
    assert_eq!(setup(&project, "check --scope user").code, 64);
    assert_eq!(setup(&project, "claude --scope user --global --yes").code, 64);
    assert_eq!(setup(&project, "check --global").code, 64);
    assert_eq!(setup(&project, "claude --dir nowhere --yes").code, 64);
    let unknown = refused(&project, "claude --yes --toolset core,banana", "toolset_unknown");
    assert!(unknown.contains("`banana`"), "{unknown}");
}

#[test]
fn a_client_that_starts_servers_in_no_project_needs_a_folder() {
    let project = Project::new();
    for client in ["claude-desktop", "windsurf"] {
        let told = refused(&project, &format!("{client} --yes"), "folder_missing");
        assert!(told.contains("starts servers in no project's folder"), "{told}");
        let told = refused(&project, &format!("{client} --scope project --yes"), "scope_unknown");
        assert!(told.contains("has no file for a single project"), "{told}");
    }
    assert!(names(&project, "../home").is_empty());
}

#[test]
fn a_file_of_codex_in_the_project_is_written_when_it_is_wanted() {
    let project = Project::new();
    let told = setup(&project, "codex --scope project --yes");
    assert!(read(&project, ".codex/config.toml").starts_with("[mcp_servers.milepost]\n"));
    assert!(told.talk.contains("whether you trust the folder"), "{}", told.talk);
    assert!(told.talk.contains("`milepost setup codex --scope project --undo`"), "{}", told.talk);
    done(&project, "codex --scope project --undo --yes");
    assert!(!project.path(".codex/config.toml").exists());
}

#[test]
fn opencode_keeps_the_file_that_it_has_and_what_people_added() {
    let project = Project::new();
    project.write("opencode.jsonc", "{\n  // mine\n  \"mcp\": {\n    \"milepost\": {\"type\": \"local\", \"command\": [\"old\"], \"enabled\": false}\n  }\n}\n");
    done(&project, "opencode --yes");
    let text = read(&project, "opencode.jsonc");
    assert!(text.contains("// mine") && text.contains("\"enabled\": false"), "{text}");
    assert!(text.contains(&format!("[\"{}\", \"mcp\"]", own_path())), "{text}");
    assert!(!project.path("opencode.json").exists());
    done(&project, "opencode --undo --yes");
    assert!(read(&project, "opencode.jsonc").contains("[\"old\"]"));
}

#[test]
fn an_entry_that_the_client_does_not_read_is_named() {
    let project = Project::new();
    let old = "{\"mcp\": {\"servers\": {\"milepost\": {\"command\": \"milepost\"}}}}\n";
    project.write(".vscode/settings.json", old);
    let told = setup(&project, "vscode --yes").talk;
    let command = "milepost setup remove vscode --config .vscode/settings.json";
    assert!(told.contains(command), "{told}");
    let checked = setup(&project, "check");
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains(command), "{}", checked.out);
    done(&project, "remove vscode --config .vscode/settings.json --yes");
    assert_eq!(setup(&project, "check").code, 0);
    project.write("../home/.mcp.json", "{\"mcpServers\": {\"milepost\": {\"command\": \"x\"}}}");
    let told = setup(&project, "claude --global --yes").talk;
    assert!(told.contains("milepost setup remove claude --config ~/.mcp.json"), "{told}");
}

#[test]
fn a_path_in_a_command_to_type_is_quoted() {
    let project = Project::new();
    fs::create_dir(project.path("my files")).unwrap();
    let whole = project.path("").canonicalize().unwrap().display().to_string();
    let command = project
        .milepost(&[
            "setup",
            "cursor",
            "--yes",
            "--name",
            "my server",
            "--config",
            "my files/m.json",
        ])
        .output()
        .unwrap();
    let told = String::from_utf8(command.stderr).unwrap();
    let wanted = format!(
        "`milepost setup cursor --config '{whole}/my files/m.json' --name 'my server' --undo`"
    );
    assert!(told.contains(&wanted), "{told}");
}

#[test]
fn the_path_of_the_program_is_written_for_programs_without_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let project = Project::new().with("PATH", &path);
    #[cfg(unix)]
    std::os::unix::fs::symlink(own_path(), folder.path().join("milepost")).unwrap();
    let found = folder.path().join("milepost").display().to_string();
    for (line, command) in [
        ("claude-desktop --dir .", found.as_str()),
        ("windsurf --dir .", &found),
        ("cursor --global", &found),
        ("cursor", "milepost"),
        ("codex", "milepost"),
    ] {
        let answer = answered(&project, &format!("{line} --dry-run"));
        assert_eq!(answer["entry"]["command"], command, "{line}");
    }
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
        assert!(project.path("../elsewhere/Code/User/mcp.json").exists());
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
            "good": {"command": "sh", "args": ["y"], "env": {"Z": "1"}},
            "unknown": {"command": "no-such-program"},
            "untyped": {"url": "http://x"},
            "milepost": {"command": "sh", "args": ["mcp", "--toolset", "core,banana"]},
            "far": {"type": "http", "url": "http://x"},
            "nothing": {},
            "empty": {"command": " "},
            "args": {"command": "sh", "args": "y"},
            "env": {"command": "sh", "env": {"Z": 1}},
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
    assert_eq!(bad, ["unknown", "untyped", "milepost", "nothing", "empty", "args", "env", "odd"]);
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
