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
        for (link, _) in skill.split("](").skip(1).filter_map(|it| it.split_once(')')) {
            let is_there = match link.strip_prefix('#') {
                Some(anchor) => skill.lines().any(|it| anchor_of(it).as_deref() == Some(anchor)),
                None => folder.join(link).is_file(),
            };
            assert!(is_there, "`{name}` leads to `{link}`");
        }
    }
}

/// Returns what a link within the page to this heading is called; `None` where it is not a heading.
fn anchor_of(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = title.to_lowercase().replace(' ', "-");
    Some(kept.chars().filter(|it| it.is_alphanumeric() || *it == '-').collect())
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
            assert!(is_harmless(event, command), "{event}: {command}");
            assert!(hook["timeout"].as_u64().is_some_and(|it| it <= 10), "{event}: {hook}");
            count += 1;
        }
    }
    assert!(0 < count, "there are no hooks");
}

/// Returns whether a hook can do no harm: if its command fails, what is about to happen happens.
/// Only what is asked before it happens may say no, and only with the exit code that means no.
fn is_harmless(event: &str, command: &str) -> bool {
    let may_say_no = ["PreToolUse", "Stop"].contains(&event)
        && command.starts_with("milepost --project \"${CLAUDE_PROJECT_DIR}\" hook forge ");
    command.ends_with(" 2>/dev/null || true")
        || (may_say_no && command.ends_with("; test $? -ne 2 || exit 2"))
}

#[test]
fn the_check_finds_hooks_that_could_do_harm() {
    let hook = "milepost --project \"${CLAUDE_PROJECT_DIR}\" hook forge stop";
    assert!(is_harmless("Stop", &format!("{hook}; test $? -ne 2 || exit 2")));
    assert!(is_harmless("SessionStart", &format!("{hook} 2>/dev/null || true")));
    assert!(!is_harmless("Stop", hook));
    assert!(!is_harmless("SessionStart", &format!("{hook}; test $? -ne 2 || exit 2")));
    assert!(!is_harmless("Stop", "make; test $? -ne 2 || exit 2"));
}

#[test]
fn every_agent_is_called_like_its_file_and_has_only_placeholders_that_are_filled_in() {
    for path in files_in(&root().join("plugin/agents")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let agent = fs::read_to_string(&path).unwrap();
        let head = agent.strip_prefix("---\n").and_then(|it| it.split_once("\n---\n")).unwrap().0;
        let said: Vec<&str> = head.lines().filter_map(|it| it.strip_prefix("name: ")).collect();
        assert_eq!(said, [name]);
        assert!(head.contains("\ndescription: "), "`{name}` does not say what it is for");
        for placeholder in agent.split('{').skip(1).filter_map(|it| it.split_once('}')) {
            let known = ["workspace", "branch", "spec-name", "N"].contains(&placeholder.0);
            assert!(known, "`{name}`: {{{}}}", placeholder.0);
        }
    }
}

#[test]
fn every_agent_that_the_pipeline_sends_out_is_there() {
    let mut count = 0;
    for path in files_in(&root().join("workflows/forge/steps")) {
        let step = fs::read_to_string(&path).unwrap();
        let said = step.lines().filter_map(|it| it.strip_prefix("agent: "));
        for agent in said.flat_map(named_agents) {
            let file = root().join("plugin/agents").join(format!("{agent}.md"));
            assert!(file.is_file(), "{}: `{agent}`", path.display());
            count += 1;
        }
    }
    assert!(0 < count, "no step has an agent");
}

/// The agents that a template can name: the word itself, or those in quotes that are no values it
/// compares with.
fn named_agents(said: &str) -> Vec<&str> {
    if !said.contains("{{") {
        return vec![said];
    }
    let quoted = said.split('\'').skip(1).step_by(2);
    quoted.filter(|it| it.contains("analyst")).collect()
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
