//! The plugin for agents' clients: whatever it names is there, and nothing in it can hold a session
//! up.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// What the name of a tool ends with, as far as the commands of the plugin use tools.
const TOOL_ENDINGS: &[&str] = &["_generation", "_generations", "_generation_status", "_step"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[track_caller]
fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns every file in a folder, also in its folders.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() { found.extend(files_in(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn every_json_file_can_be_read() {
    let mut count = 0;
    for folder in ["plugin", ".claude-plugin"] {
        for path in files_in(&root().join(folder)) {
            if path.extension().is_some_and(|it| it == "json") {
                let text = fs::read_to_string(&path).unwrap();
                let read = serde_json::from_str::<Value>(&text);
                assert!(read.is_ok(), "{}: {read:?}", path.display());
                count += 1;
            }
        }
    }
    assert!(3 < count, "too few files found: the listing is broken");
}

#[test]
fn the_plugin_has_the_name_and_the_version_of_what_it_is_part_of() {
    let plugin = json("plugin/.claude-plugin/plugin.json");
    let manifest = text("Cargo.toml");
    let (_, package) = manifest.split_once("[workspace.package]").unwrap();
    let version = package.lines().find_map(|it| it.strip_prefix("version = ")).unwrap();
    assert_eq!(plugin["version"].as_str().unwrap(), version.trim_matches('"'));
    let market = json(".claude-plugin/marketplace.json");
    let listed = market["plugins"].as_array().unwrap();
    let entry = listed.iter().find(|it| it["name"] == plugin["name"]).unwrap();
    assert_eq!(entry["description"], plugin["description"]);
    let source = root().join(entry["source"].as_str().unwrap());
    assert!(source.join(".claude-plugin/plugin.json").is_file(), "{}", source.display());
}

#[test]
fn every_skill_is_called_like_its_folder_and_leads_to_files_that_are_there() {
    for folder in skills() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let skill = fs::read_to_string(folder.join("SKILL.md")).unwrap();
        let head = skill.strip_prefix("---\n").and_then(|it| it.split_once("\n---\n")).unwrap().0;
        let said: Vec<&str> = head.lines().filter_map(|it| it.strip_prefix("name: ")).collect();
        assert_eq!(said, [name]);
        assert!(head.contains("\ndescription: "), "`{name}` does not say when it is used");
        for link in skill.split("](").skip(1).filter_map(|it| it.split_once(')')) {
            assert!(folder.join(link.0).is_file(), "`{name}` leads to `{}`", link.0);
        }
    }
}

#[test]
fn no_hook_can_hold_a_session_up() {
    let hooks = json("plugin/hooks/hooks.json");
    let mut count = 0;
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let inner =
            groups.as_array().unwrap().iter().flat_map(|it| it["hooks"].as_array().unwrap());
        for hook in inner {
            let command = hook["command"].as_str().unwrap();
            assert!(command.ends_with("|| true"), "{event}: {command}");
            assert!(hook["timeout"].as_u64().is_some_and(|it| it <= 10), "{event}: {hook}");
            count += 1;
        }
    }
    assert!(0 < count, "there are no hooks");
}

#[test]
fn every_tool_that_is_named_is_there() {
    let page = text("docs/reference/tools.md");
    let (_, own) = page.split_once("\n## Toolset `generation`\n").unwrap();
    let own = own.split("\n## ").next().unwrap();
    let heads = own.lines().filter_map(|it| it.strip_prefix("### "));
    let tools: BTreeSet<&str> = heads.map(|it| it.trim_matches('`')).collect();
    assert!(tools.contains("list_generations"), "{tools:?}");
    for folder in skills() {
        for path in files_in(&folder) {
            let text = fs::read_to_string(&path).unwrap();
            let unknown: Vec<&str> =
                named(&text).into_iter().filter(|it| !tools.contains(it)).collect();
            assert_eq!(unknown, Vec::<&str>::new(), "{}", path.display());
        }
    }
}

#[test]
fn the_check_finds_the_tools_that_a_text_names() {
    let text = "Call `stop_generation` (not mcp__milepost__get_generation_status, or a generation): \
                `start_step(scene_id)`, step_4_generation";
    let found = ["get_generation_status", "start_step", "stop_generation"];
    assert_eq!(named(text).into_iter().collect::<Vec<_>>(), found);
}

/// Returns what is named in a text that can only be a tool.
fn named(text: &str) -> BTreeSet<&str> {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let words = text.split(|it| !is_letter(it));
    let bare = words.map(|it| it.rsplit("__").next().unwrap_or(it));
    // What has a digit in it is the key of a step.
    let is_tool = |it: &&str| {
        TOOL_ENDINGS.iter().any(|ending| it.ends_with(ending))
            && !it.bytes().any(|it| it.is_ascii_digit())
            && !["current_step", "failed_at_step", "resume_step"].contains(it)
    };
    bare.filter(is_tool).collect()
}

/// Returns the folder of each skill.
fn skills() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("plugin/skills")).unwrap();
    let found: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    assert!(!found.is_empty(), "there are no skills");
    found
}
