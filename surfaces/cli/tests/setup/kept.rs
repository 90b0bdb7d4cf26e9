//! What is not ours stays: other entries, comments, blanks, rights, links, broken files.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{answered, copies, done, names, project::Project, read, refused, setup};

const SETTINGS: &str = "\
// My settings.
{
\t\"editor.fontSize\": 14, // not smaller
\t/* servers that
\t   I use */
\t\"mcp\": {
\t\t\"inputs\": [],
\t\t\"servers\": {
\t\t\t\"mine\": { \"command\": \"a\", \"args\": [ \"b\" ], }, // keep
\t\t},
\t},
\t\"files.exclude\": { \"**/.git\": true }
}
";

#[test]
fn comments_order_and_blanks_stay_byte_for_byte() {
    for (ending, mark) in [("\n", ""), ("\r\n", ""), ("\n", "\u{feff}")] {
        let project = Project::new();
        let before = format!("{mark}{}", SETTINGS.replace('\n', ending));
        project.write(".vscode/settings.json", &before);
        done(&project, "vscode --config .vscode/settings.json --yes");
        let after = read(&project, ".vscode/settings.json");
        let own = env!("CARGO_BIN_EXE_milepost");
        let entry = format!(
            "\t\t\t\"milepost\": {{\n\t\t\t\t\"command\": \"{own}\",\n\t\t\t\t\"args\": [\"mcp\"]\n\t\t\t}},\n"
        );
        let entry = entry.replace('\n', ending);
        let at = before.find("\t\t},").unwrap();
        assert_eq!(after, format!("{}{entry}{}", &before[..at], &before[at..]));
        let copies = copies(&project, Path::new("settings.json"));
        assert_eq!(fs::read_to_string(&copies[0]).unwrap(), before);
        done(&project, "remove vscode --config .vscode/settings.json --yes");
        assert_eq!(read(&project, ".vscode/settings.json"), before);
    }
}

#[test]
fn what_people_added_to_our_entry_stays() {
    let project = Project::new();
    let before = "{\"mcpServers\": {\"milepost\": {\n  \"command\": \"old\", // which\n  \"env\": {\"A\": \"b\"}\n}}}\n";
    project.write(".mcp.json", before);
    done(&project, "claude --yes");
    let own = env!("CARGO_BIN_EXE_milepost");
    let expected = before
        .replace("\"old\"", &format!("\"{own}\""))
        .replace("{\"A\": \"b\"}\n", "{\"A\": \"b\"},\n  \"args\": [\"mcp\"]\n");
    assert_eq!(read(&project, ".mcp.json"), expected);
    project.write(".mcp.json", "{\"mcpServers\": {\"milepost\": {\"url\": \"http://x\"}}}");
    done(&project, "claude --yes");
    assert!(!read(&project, ".mcp.json").contains("url"));
}

#[test]
fn a_table_of_codex_is_edited_in_place() {
    let project = Project::new();
    let file = "../home/.codex/config.toml";
    let before = "# mine\r\nmodel = 'o' # why\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n\r\n# last\r\n[tui]\r\ntheme = \"t\"";
    project.write(file, before);
    done(&project, "codex --yes");
    let after = read(&project, file);
    let at = before.find("\r\n# last").unwrap();
    assert!(
        after.starts_with(&format!("{}\r\n[mcp_servers.milepost]\r\n", &before[..at])),
        "{after}"
    );
    assert!(after.contains(&before[at..]), "{after}");
    done(&project, "codex --undo --yes");
    assert_eq!(read(&project, file), before);
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_left_alone() {
    for (client, file, text) in [
        ("claude", ".mcp.json", "{\"mcpServers\": {\n  \"a\": {}\n  \"b\": {}\n}}"),
        ("claude", ".mcp.json", "{\"mcpServers\": []}"),
        ("claude", ".mcp.json", "[]"),
        ("vscode", ".vscode/mcp.json", "{\"servers\": 3}"),
        ("zed", ".zed/settings.json", "{ /* no end }"),
        ("cursor", ".cursor/mcp.json", "{\"a\": 1} trailing"),
        ("codex", "../home/.codex/config.toml", "a = = 1\n"),
        ("codex", "../home/.codex/config.toml", "mcp_servers = 1\n"),
    ] {
        let project = Project::new();
        project.write(file, text);
        for line in ["--yes", "--undo --yes", "--dry-run"] {
            let told = refused(&project, &format!("{client} {line}"), "file_unreadable");
            assert!(told.contains("cannot be read: "), "{told}");
        }
        let told = setup(&project, &format!("remove {client} --yes"));
        assert_eq!(told.code, 1, "{}", told.talk);
        assert_eq!(read(&project, file), text);
        let folder = format!("{file}/..");
        assert!(!names(&project, &folder).iter().any(|it| it.contains("backup")));
    }
    let project = Project::new();
    fs::write(project.path(".mcp.json"), b"{\"a\": \"\xff\"}").unwrap();
    refused(&project, "claude --yes", "file_unreadable");
    assert_eq!(fs::read(project.path(".mcp.json")).unwrap(), b"{\"a\": \"\xff\"}");
    fs::remove_file(project.path(".mcp.json")).unwrap();
    fs::create_dir(project.path(".mcp.json")).unwrap();
    assert_eq!(setup(&project, "claude --yes").code, 2);
}

#[test]
fn nothing_is_written_unless_it_is_wanted() {
    let project = Project::new();
    let shown = done(&project, "claude --dry-run");
    assert!(shown.starts_with("--- /dev/null\n+++ .mcp.json\n@@ -0,0 +1,8 @@\n+{\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    assert!(done(&project, "claude --dry-run --color always").contains("\u{1b}[32m+{"));
    let answer = answered(&project, "claude --dry-run");
    assert_eq!((&answer["is_changed"], &answer["is_written"]), (&true.into(), &false.into()));
    refused(&project, "claude", "not_confirmed");
    assert_eq!(setup(&project, "claude").code, 1);
    assert!(names(&project, "").is_empty());
    project.write(".mcp.json", "{\"mcpServers\": {\"milepost\": {}}}");
    for line in ["remove claude", "remove claude --dry-run", "claude --undo --dry-run"] {
        setup(&project, line);
        assert_eq!(names(&project, ""), [".mcp.json"]);
        assert_eq!(read(&project, ".mcp.json"), "{\"mcpServers\": {\"milepost\": {}}}");
    }
}

#[test]
fn the_same_again_changes_nothing_and_says_so() {
    for client in ["claude", "claude-desktop --dir .", "cursor", "vscode", "codex", "opencode"] {
        let project = Project::new();
        let first = answered(&project, &format!("{client} --yes"));
        assert_eq!((&first["is_changed"], &first["is_written"]), (&true.into(), &true.into()));
        let file = first["file"].as_str().unwrap().to_owned();
        let written = fs::read(&file).unwrap();
        let again = answered(&project, client);
        assert_eq!((&again["is_changed"], &again["is_written"]), (&false.into(), &false.into()));
        assert_eq!((&again["diff"], &again["backup"]), (&"".into(), &Value::Null));
        let said = done(&project, &format!("{client} --yes"));
        assert!(said.contains("has this entry `milepost` already; nothing was changed"), "{said}");
        assert_eq!(fs::read(&file).unwrap(), written);
        assert!(copies(&project, Path::new(&file)).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn links_and_rights_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let project = Project::new();
    project.write("dotfiles/mcp.json", "{}\n");
    let target = project.path("dotfiles/mcp.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/mcp.json", project.path(".mcp.json")).unwrap();
    done(&project, "claude --yes");
    assert!(fs::symlink_metadata(project.path(".mcp.json")).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("milepost"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&project, "dotfiles"), ["mcp.json"]);
    assert_eq!(names(&project, ""), [".mcp.json", "dotfiles"]);
}
