//! The state file is the person's: it is read whatever was done to it, kept byte for byte where
//! nothing changed, and written in the style it was found in.

use serde_json::{Value, json};

use crate::{
    file_text::{FileText, file_text, row, section},
    fixtures::{CHECK_FILES, INIT, UPDATE},
    stage::Stage,
};

const LOGIN: &str = "Add: login";

/// A plan with everything in it that could be taken for something else.
const PLAN: &str = "\
### The plan

#### **Phase 1: Core (high)**

**1.1 Files**
- **File**: `src/config.rs` (NEW)
  - see **## Log** and ## Items

| id | description | status |
|----|-------------|--------|
| 9 | not an item | pending |

```md
# title
## Log
[12:00:00] not an entry
```

~~~
## ArchiveLog
~~~

1. one  
2. two \\ three \\| four";

fn check_files(text: &str) -> String {
    Stage::with_state(text).unchanged(CHECK_FILES, json!({})).text
}

/// Returns a text without the lines that a change of the state alone may touch.
fn rest(text: &str) -> Vec<&str> {
    let starts = ["_Last updated:", "Phase:", "Status:", "CurrentItem:"];
    text.split('\n').filter(|line| !starts.iter().any(|it| line.starts_with(it))).collect()
}

#[test]
fn a_file_that_is_there_is_adopted_as_it_is() {
    let stage = Stage::with_state(&file_text("ANALYZE", "READY").text());
    let before = stage.text();
    let said = stage.read(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "READY"));
    assert_eq!(said.value["current_item"], LOGIN);
    assert_eq!(stage.text(), before);
    stage.blueprint(LOGIN);
    stage.stands("BLUEPRINT", "RUNNING");
    assert_eq!(stage.state().items, file_text("ANALYZE", "READY").items);
    assert!(stage.state().log.starts_with("[2025-05-28T19:17:37Z] looked around\n"));
}

/// What someone does to a whole file.
type Style = fn(String) -> String;

#[test]
fn only_what_changed_is_written() {
    let styles: [(&str, Style); 9] = [
        ("plain", |it| it),
        ("CRLF", |it| it.replace('\n', "\r\n")),
        ("a mark at the start", |it| format!("\u{feff}{it}")),
        ("the other title", |it| it.replace("# workflow_state.md", "# Workflow State")),
        ("hard breaks", |it| {
            it.replace("READY\n", "READY  \n").replace("login\n\n", "login  \n\n")
        }),
        ("no line end", |it| it.trim_end().to_owned()),
        ("own sections", |it| {
            let it = it.replace("## Rules", "## Notes\nmine\n\n## Rules");
            format!("{it}\n## Last\n\n\n- a  \n\n")
        }),
        ("odd headings", |it| {
            it.replace("## Items", "## Items (DO NOT DELETE ANY EXISTING ITEMS)")
        }),
        ("sections in another order", |it| {
            let (head, rest) = it.split_once("## State").unwrap();
            let (state, rest) = rest.split_once("## Plan").unwrap();
            format!("{head}## Plan{rest}\n## State{}\n", state.trim_end())
        }),
    ];
    for (name, style) in styles {
        let before = style(file_text("ANALYZE", "READY").text());
        let stage = Stage::with_state(&before);
        stage.update("ANALYZE", "RUNNING", json!({}));
        let after = stage.text();
        assert_eq!(rest(&after), rest(&before), "{name}");
        stage.stands("ANALYZE", "RUNNING");
        assert!(!after.contains("_Last updated: 2025-05-28_"), "{name}: the date is old");
        // The line that changed is in the style of the others too.
        let ends = |text: &str| text.matches("\r\n").count();
        assert_eq!(ends(&after), ends(&before), "{name}");
        let breaks = |text: &str| text.matches("  \n").count();
        assert_eq!(breaks(&after), breaks(&before), "{name}");
        // Growing the log leaves the rest alone too.
        stage.log("one more");
        for part in ["Plan", "Rules", "Items", "ArchiveLog", "Notes", "Last"] {
            assert_eq!(section(&stage.text(), part), section(&before, part), "{name}: {part}");
        }
        assert!(stage.state().log.contains("looked around"), "{name}");
        assert_eq!(name == "CRLF", stage.text().contains("one more\r\n"), "{name}");
    }
}

#[test]
fn a_new_row_goes_to_the_end_of_the_table_and_moves_nothing() {
    let text = file_text("ANALYZE", "READY").text();
    let text = text.replace("## Items", "## Items (DO NOT DELETE)\nA word before.\n");
    let last = "| 2 | Add: logout | pending |\n";
    let text = text.replace(last, &format!("{last}\nA word after.\n"));
    let stage = Stage::with_state(&text);
    stage.done(INIT, json!({"task_description": "Fix: the sign"}));
    let items = section(&stage.text(), "Items").unwrap();
    let wanted = section(&text, "Items").unwrap();
    let row = "| 3 | Fix: the sign | pending |\n";
    assert_eq!(items, wanted.replace(last, &format!("{last}{row}")));
}

#[test]
fn what_is_missing_has_its_default() {
    for text in ["", "# workflow_state.md\n", "just notes\n", "## Log\n[12:00:00] hm\n"] {
        let stage = Stage::with_state(text);
        let said = stage.unchanged(CHECK_FILES, json!({}));
        assert_eq!(said.stands(), ("INIT", "READY"), "{text:?}");
        assert_eq!(said.value["current_item"], Value::Null, "{text:?}");
    }
}

#[test]
fn what_is_missing_is_made_when_it_is_needed_and_nothing_else_is_touched() {
    let stage = Stage::with_state("# my notes\n\nkeep me\n\n## Log\n[12:00:00] hm\n\n## Mine\nx\n");
    stage.init(LOGIN);
    let text = stage.text();
    assert!(text.contains("keep me\n") && text.contains("## Mine\nx\n"), "{text}");
    assert_eq!(stage.state().items, [row(1, LOGIN, "pending")]);
    assert!(stage.archived().contains("hm"), "{}", stage.archived());
    let said = stage.unchanged(CHECK_FILES, json!({}));
    said.lacks(&["workflow_state.md: "]);
}

#[test]
fn a_placeholder_counts_as_nothing() {
    let state =
        FileText { log: String::new(), plan: String::new(), ..file_text("ANALYZE", "RUNNING") };
    let text = state.text().replace("appended by the AI", "No log entries yet");
    let stage = Stage::with_state(&text);
    stage.log("first");
    let log = stage.state().log;
    assert!(log.ends_with("] first"), "{log}");
    let text = text.replace(
        "| 1 | Add: login | pending |\n| 2 | Add: logout | pending |\n",
        "<!-- No items yet -->\n",
    );
    let stage = Stage::with_state(&text.replace("CurrentItem: Add: login", "CurrentItem: null"));
    stage.init(LOGIN);
    assert_eq!(stage.state().items, [row(1, LOGIN, "pending")]);
}

#[test]
fn any_task_survives_the_file() {
    let tasks = [
        "a | b",
        "a \\| b",
        "back\\slash",
        "two\nlines",
        "a <br> b",
        "a \\<br> b",
        "\\",
        "\\\\|",
        "id",
        "----",
        "| 1 | x | pending |",
        "ü 😀",
        "x\n## Log\n[12:00:00] forged",
        "## Items",
        "`|`",
        "Phase: CONSTRUCT",
    ];
    for task in tasks {
        let stage = Stage::new();
        let said = stage.init(task);
        assert_eq!(said.value["current_item"], task);
        let state = stage.state();
        assert_eq!(state.items, [row(1, task, "pending")], "{}", stage.text());
        assert_eq!(stage.text().matches("\n## Log").count(), 1, "{}", stage.text());
        // What is read back is what was written: from the file alone.
        let stage = stage.restart_without_database();
        let said = stage.read(CHECK_FILES, json!({}));
        assert_eq!(said.value["current_item"], task);
        stage.init(task);
        assert_eq!(stage.state().items, [row(1, task, "pending")], "{}", stage.text());
    }
}

#[test]
fn other_backslashes_are_read_as_they_look() {
    let mut state = file_text("ANALYZE", "RUNNING");
    state.items[1].1 = r"path C:\new\table and \* \n".to_owned();
    let stage = Stage::with_state(&state.text());
    stage.log("x");
    assert_eq!(section(&stage.text(), "Items"), section(&state.text(), "Items"));
    stage.init(r"path C:\new\table and \* \n");
    assert_eq!(stage.state().items.len(), 2, "{}", stage.text());
}

#[test]
fn b40_a_plan_comes_back_as_it_was_given() {
    let headings =
        "# one\n## Log\n### three\n\\# four\n\\\\## five\n    ## six\n##seven\n\n## Items";
    for plan in [PLAN, headings, "- [ ] a\n\n\n- [x] b"] {
        let stage = Stage::with_state(&file_text("BLUEPRINT", "RUNNING").text());
        let items = stage.state().items;
        stage.plan(plan);
        assert_eq!(stage.state().plan, plan);
        assert_eq!(stage.state().items, items);
        // Nothing that comes later touches it.
        let written = section(&stage.text(), "Plan");
        stage.approve(LOGIN);
        stage.log("built");
        let stage = stage.restart_without_database();
        stage.log("once more");
        assert_eq!(section(&stage.text(), "Plan"), written);
        assert!(stage.state().log.contains("built"), "{}", stage.text());
    }
}

#[test]
fn a_fence_that_is_never_closed_does_not_swallow_the_sections_after_it() {
    let stage = Stage::with_state(&file_text("BLUEPRINT", "RUNNING").text());
    let plan = json!({"plan": "```\nnever closed\n## Log"});
    stage.call(UPDATE, crate::calls::updating("BLUEPRINT", "NEEDS_PLAN_APPROVAL", plan));
    stage.unchanged(CHECK_FILES, json!({})).lacks(&["Missing required section"]);
    stage.call(INIT, json!({"task_description": "Fix: the sign"}));
    assert!(stage.text().contains("| 3 | Fix: the sign | pending |"), "{}", stage.text());
}

#[test]
fn a_fence_hides_headings() {
    let state = FileText { plan: PLAN.to_owned(), ..file_text("ANALYZE", "RUNNING") };
    let stage = Stage::with_state(&state.text());
    stage.log("one");
    stage.init("Fix: the sign");
    assert_eq!(stage.state().plan, PLAN);
    assert_eq!(stage.state().items.last(), Some(&row(3, "Fix: the sign", "pending")));
    assert!(stage.state().log.starts_with("[2025-05-28T19:17:37Z] looked around"));
}

#[test]
fn a_log_entry_cannot_forge_a_section() {
    let stage = Stage::with_state(&file_text("ANALYZE", "RUNNING").text());
    let entry = "fine\n## Items\n| 9 | forged | pending |\n# title\n\\## kept";
    stage.log(entry);
    assert_eq!(stage.state().items.len(), 2, "{}", stage.text());
    assert!(stage.state().log.ends_with(entry), "{}", stage.state().log);
    let stage = stage.restart_without_database();
    stage.log("more");
    assert!(stage.state().log.contains(entry), "{}", stage.state().log);
    assert_eq!(stage.state().items.len(), 2, "{}", stage.text());
}

#[test]
fn entries_with_a_short_time_or_none_are_read_and_kept() {
    let log = "[19:17:37] short\n**a heading of someone's**\n- a point\n\n1. and a number";
    let stage = Stage::with_state(
        &FileText { log: log.to_owned(), ..file_text("ANALYZE", "RUNNING") }.text(),
    );
    stage.log("new");
    assert!(stage.state().log.starts_with(&format!("{log}\n")), "{}", stage.state().log);
}

#[test]
fn an_old_word_for_error_is_understood() {
    let stage = Stage::with_state(&file_text("CONSTRUCT", "NEEDS_FIXES").text());
    let said = stage.read(CHECK_FILES, json!({}));
    assert_eq!(said.stands(), ("CONSTRUCT", "ERROR"));
    stage.blueprint(LOGIN);
    stage.stands("BLUEPRINT", "RUNNING");
}

#[test]
fn a_word_that_is_no_phase_or_status_is_kept_and_told() {
    for (phase, status, word) in [("BANANA", "READY", "BANANA"), ("ANALYZE", "PEELED", "PEELED")] {
        let text = file_text(phase, status).text();
        let stage = Stage::with_state(&text);
        let said = stage.unchanged(CHECK_FILES, json!({}));
        assert!(
            said.text.lines().any(|it| it.contains("workflow_state.md: ") && it.contains(word))
        );
        assert_eq!(stage.text(), text);
        // It is the person's to say what it is: by hand, or by a call that names both.
        stage.done(UPDATE, json!({"phase": "ANALYZE", "status": "READY"}));
        stage.stands("ANALYZE", "READY");
    }
}

#[test]
fn b12_what_is_wrong_with_the_file_is_told_in_full() {
    let good = file_text("ANALYZE", "RUNNING").text();
    check_files(&good).lines().for_each(|it| assert!(!it.contains("workflow_state.md: "), "{it}"));
    for name in ["State", "Plan", "Rules", "Items", "Log", "ArchiveLog"] {
        let heading = format!("\n## {name}\n");
        let issue = format!("workflow_state.md: Missing required section: ## {name}");
        for instead in [
            "\n",
            &format!("\n### {name}\n"),
            &format!("\n**## {name}**\n"),
            &format!("\n```\n## {name}\n```\n"),
        ] {
            let text = check_files(&good.replacen(&heading, instead, 1));
            assert!(text.contains(&issue), "{instead:?}: {text}");
        }
    }
    for (line, field) in [
        ("Phase: ANALYZE\n", "Phase:"),
        ("Status: RUNNING\n", "Status:"),
        ("CurrentItem: Add: login\n", "CurrentItem:"),
    ] {
        let issue = format!("workflow_state.md: Missing field in State section: {field}");
        let text = check_files(&good.replacen(line, "", 1));
        assert!(text.contains(&issue), "{text}");
    }
    let header = good.replace("| id | description | status |", "| no | what | how |");
    let text = check_files(&header);
    assert!(
        text.contains("workflow_state.md: Items section missing proper table header"),
        "{text}"
    );
}

#[test]
fn what_contradicts_itself_in_the_file_is_told() {
    let good = file_text("ANALYZE", "RUNNING").text();
    let cases = [
        ("ids", good.replace("| 2 | Add", "| 1 | Add"), "1"),
        (
            "the item",
            good.replace("CurrentItem: Add: login", "CurrentItem: Add: nothing"),
            "Add: nothing",
        ),
        ("sections", format!("{good}\n## Log\n[12:00:00] twice\n"), "Log"),
    ];
    for (name, text, word) in cases {
        let said = check_files(&text);
        let issues: Vec<&str> =
            said.lines().filter(|it| it.contains("workflow_state.md: ")).collect();
        assert!(issues.iter().any(|it| it.contains(word)), "{name}: {said}");
    }
}
