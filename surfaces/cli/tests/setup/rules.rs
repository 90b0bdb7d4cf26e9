//! `setup rules`: our part of the files that agents read.

use std::fs;

use serde_json::{Value, json};

use crate::{answered, done, project::Project, read, setup};

const BEGIN: &str = "<!-- milepost:begin -->";
const END: &str = "<!-- milepost:end -->";

fn outcomes(answer: &Value) -> Vec<(String, String)> {
    let word = |it: &Value| it.as_str().unwrap().to_owned();
    let rows = answer["files"].as_array().unwrap();
    rows.iter().map(|it| (word(&it["agent"]), word(&it["outcome"]))).collect()
}

fn outcome(project: &Project, line: &str) -> String {
    let found = outcomes(&answered(project, line));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].1.clone()
}

#[test]
fn rules_are_created_appended_skipped_and_replaced() {
    let project = Project::new();
    assert_eq!(outcome(&project, "rules claude"), "created");
    let whole = read(&project, "CLAUDE.md");
    assert!(whole.starts_with(&format!("# Instructions for Claude\n\n{BEGIN}\n## ")), "{whole}");
    assert!(whole.ends_with(&format!("\n{END}\n")), "{whole}");
    for wanted in ["list_runs", "workflow_discovery", "evidence", "id", "Never skip"] {
        assert!(whole.contains(wanted), "{wanted}");
    }
    assert_eq!(outcome(&project, "rules claude"), "skipped");
    assert_eq!(read(&project, "CLAUDE.md"), whole);

    let mine = "# My project\n\nUse tabs.\n";
    project.write("CLAUDE.md", mine);
    assert_eq!(outcome(&project, "rules claude"), "appended");
    let both = read(&project, "CLAUDE.md");
    assert!(both.starts_with(&format!("{mine}\n{BEGIN}\n## ")), "{both}");

    let older = format!("{mine}\n{BEGIN}\nold words\n{END}\n\nAnd spaces never.\n");
    project.write("CLAUDE.md", &older);
    let told = setup(&project, "rules claude");
    assert_eq!(told.code, 0);
    assert!(
        told.out.contains("! CLAUDE.md skipped: ") && told.out.contains("--force"),
        "{}",
        told.out
    );
    assert_eq!(read(&project, "CLAUDE.md"), older);
    assert_eq!(outcome(&project, "rules claude --force"), "replaced");
    assert_eq!(read(&project, "CLAUDE.md"), format!("{both}\nAnd spaces never.\n"));
}

/// Returns the agents whose files were looked at.
fn agents(project: &Project, line: &str) -> Vec<String> {
    outcomes(&answered(project, line)).into_iter().map(|it| it.0).collect()
}

#[test]
fn all_are_written_if_all_are_named() {
    let project = Project::new();
    let all = ["agents", "cursor", "copilot", "claude", "gemini"];
    assert_eq!(agents(&project, "rules all claude"), all);
    let cursor = read(&project, ".cursor/rules/execute-tasks.mdc");
    assert!(
        cursor.starts_with("---\n") && cursor.contains("\nalwaysApply: true\n---\n"),
        "{cursor}"
    );
    for file in [".github/copilot-instructions.md", "AGENTS.md", "GEMINI.md"] {
        assert!(read(&project, file).starts_with("# "), "{file}");
    }
    let project = Project::new();
    assert_eq!(agents(&project, "rules copilot cursor copilot"), ["cursor", "copilot"]);
    assert_eq!(agents(&project, "rules codex"), ["agents"]);
    assert!(!project.path("CLAUDE.md").exists());
    assert_eq!(setup(&project, "rules banana").code, 64);
}

#[test]
fn without_a_name_no_agent_is_told_twice() {
    let project = Project::new();
    assert_eq!(agents(&project, "rules"), ["agents"]);
    project.write("CLAUDE.md", "Mine.\n");
    project.write(".gemini/settings.json", "{}\n");
    project.write(".github/copilot-instructions.md", "Mine too.\n");
    assert_eq!(agents(&project, "rules"), ["agents", "claude", "gemini"]);
    assert_eq!(read(&project, ".github/copilot-instructions.md"), "Mine too.\n");
    // What an earlier release wrote is kept up to date.
    project.write(".github/copilot-instructions.md", &format!("{BEGIN}\nold words\n{END}\n"));
    assert_eq!(agents(&project, "rules --force"), ["agents", "copilot", "claude", "gemini"]);
    assert!(!read(&project, ".github/copilot-instructions.md").contains("old words"));
}

#[test]
fn one_that_fails_does_not_keep_the_others_back() {
    let project = Project::new();
    project.write("CLAUDE.md", &format!("{BEGIN}\nno end\n"));
    fs::create_dir_all(project.path(".github/copilot-instructions.md")).unwrap();
    let told = setup(&project, "rules all --force --json");
    assert_eq!(told.code, 1, "{}", told.out);
    let answer: Value = serde_json::from_str(&told.out).unwrap();
    let found: Vec<String> = outcomes(&answer).into_iter().map(|it| it.1).collect();
    assert_eq!(json!(found), json!(["created", "created", "failed", "failed", "created"]));
    assert_eq!(read(&project, "CLAUDE.md"), format!("{BEGIN}\nno end\n"));
    let said = done(&Project::new(), "rules cursor");
    assert_eq!(said, "✓ .cursor/rules/execute-tasks.mdc created\n");
}
