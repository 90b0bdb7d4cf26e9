//! Files that others left: an agent's own state file, the JSON form of an older release, and files in
//! the root that move into our folder.

use std::fs;

use serde_json::json;

use crate::{
    file_text::{file_text, row, section},
    fixtures::{CHECK_FILES, CONFIG},
    project::Project,
    stage::{Stage, project},
};

/// A file as an agent left it that kept it by hand: hard breaks, rules that mention sections, a log
/// without any time, and no line end at the end.
const LEFT: &str = "\
# workflow_state.md
_Last updated: 2024-12-19_

## State
Phase: BLUEPRINT  
Status: NEEDS_PLAN_APPROVAL  
CurrentItem: Look through the shop and say what could be sturdier  

## Plan
### A STURDIER SHOP

#### **Part 1: Doors (high)**

**1.1 Hinges**
- **File**: `src/door/hinge.rs` (NEW)
  - Take the load off the frame

| part | days |
|------|------|
| 1 | 2-3 |

```rust
// ## Log
fn open() {}
```

## Rules
> **Each section has a heading of the second level (`##`).**

### [PHASE: BLUEPRINT]
1. Cut the task into steps.  
2. Write them under **## Plan**.  
3. Set `Status = NEEDS_PLAN_APPROVAL`.

---

### RULE_LOG_ROTATE_01
Trigger ▶ `length(## Log) > 5 000 chars`  
Action ▶ Bring the best of **## Log** into **## ArchiveLog**, then clear **## Log**.

---

## Items
| id | description | status |
|----|-------------|--------|
| 1 | Look through the shop and say what could be sturdier | pending |

## Log
**THE LOOK IS DONE**

**1. Doors**
- Hinges are loose
- No stop

**Overall:**
The shop stands.

## ArchiveLog
<!-- RULE_LOG_ROTATE_01 stores condensed summaries here -->";

const TASK: &str = "Look through the shop and say what could be sturdier";

#[test]
fn a_file_that_an_agent_kept_by_hand_goes_on_from_where_it_is() {
    let stage = Stage::with_state(LEFT);
    let said = stage.read(CHECK_FILES, json!({}));
    said.lacks(&["workflow_state.md: "]);
    assert_eq!(said.stands(), ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"));
    assert_eq!(said.value["current_item"], TASK);
    stage.approve(TASK);
    let text = stage.text();
    assert!(text.contains("\nPhase: CONSTRUCT  \nStatus: RUNNING  \nCurrentItem: Look"), "{text}");
    for part in ["Plan", "Rules", "Items", "ArchiveLog"] {
        assert_eq!(section(&text, part), section(LEFT, part), "{part}");
    }
    let log = section(LEFT, "Log").unwrap();
    assert!(stage.state().log.starts_with(&log), "{text}");
    assert!(text.ends_with("summaries here -->"), "a line end was added");
    stage.validate(TASK);
    stage.complete(TASK, Some("The doors hold."));
    assert_eq!(stage.state().items, [row(1, TASK, "completed")]);
    assert!(stage.config().contains("## Changelog\n- The doors hold.\n- Opened"));
}

#[test]
fn a_plan_of_that_file_that_is_rejected_is_revised() {
    let stage = Stage::with_state(LEFT);
    stage.revise(TASK, "what about the windows?");
    stage.stands("BLUEPRINT", "RUNNING");
    assert!(stage.state().log.contains("what about the windows?"), "{}", stage.text());
    assert_eq!(section(&stage.text(), "Plan"), section(LEFT, "Plan"));
}

#[test]
fn the_json_form_of_an_older_release_is_taken_over_whole() {
    let project = Project::new();
    project.write("project_config.md", CONFIG);
    let old = json!({
        "metadata": {
            "client_id": "default", "created_at": "2025-05-29T10:00:00",
            "last_updated": "2025-05-29T11:00:00",
        },
        "state": {"phase": "CONSTRUCT", "status": "RUNNING", "current_item": "Add: a | b"},
        "plan": "1. one\n## two",
        "items": [
            {"id": 1, "description": "Add: a | b", "status": "pending"},
            {"id": 4, "description": "two\nlines", "status": "completed"},
        ],
        "log": ["[10:00:00] began", "[10:00:01] went on"],
        "archive_log": null,
    });
    project.write("workflow_state.json", &serde_json::to_string_pretty(&old).unwrap());
    project.ask(&["import", "devworkflow", "."]);
    let stage = Stage::over(project);
    stage.update("CONSTRUCT", "READY", json!({}));
    let state = stage.state();
    assert_eq!(state.item.as_deref(), Some("Add: a | b"));
    let wanted = [row(1, "Add: a | b", "pending"), row(4, "two\nlines", "completed")];
    assert_eq!(state.items, wanted);
    assert_eq!(state.plan, "1. one\n## two");
    assert!(state.log.starts_with("[10:00:00] began\n[10:00:01] went on"), "{}", state.log);
}

#[test]
fn b14_files_of_the_root_move_into_our_folder_and_nothing_is_lost() {
    let project = project(&[]);
    let text = file_text("ANALYZE", "RUNNING").text();
    project.write("workflow_state.md", &text);
    project.write(".accordo/workflow_state.md", "older\n");
    project.write(".accordo/project_config.md", "older too\n");
    project.ask(&["devworkflow", "migrate"]);
    let at = |path: &str| fs::read_to_string(project.path(path)).unwrap();
    assert_eq!(at(".accordo/workflow_state.md"), text);
    assert_eq!(at(".accordo/project_config.md"), CONFIG);
    assert_eq!(at(".accordo/workflow_state.md.backup"), "older\n");
    assert_eq!(at(".accordo/project_config.md.backup"), "older too\n");
    assert!(!project.path("workflow_state.md").exists());
    // With nothing to move it is done too.
    project.ask(&["devworkflow", "migrate"]);
    // A backup is never overwritten.
    project.write("project_config.md", "newest\n");
    project.ask(&["devworkflow", "migrate"]);
    assert_eq!(at(".accordo/project_config.md"), "newest\n");
    assert_eq!(at(".accordo/project_config.md.backup"), "older too\n");
    let stage = Stage::over(project);
    let kept = stage.files().into_iter().filter(|(_, bytes)| bytes == CONFIG.as_bytes());
    assert_eq!(kept.count(), 1);
}
