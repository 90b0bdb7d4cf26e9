//! What a state file may look like, and what becomes of it when it is changed.

mod properties;
mod rebase;

use super::{Row, StateFile};

/// A file as an agent left it: with trailing blanks, a table and code in the plan, a section of
/// someone's own, and no line end at the end.
const FOUND: &str = include_str!("tests/found.md");

fn row(id: u64, description: &str, status: &str) -> Row {
    Row { id, description: description.to_owned(), status: status.to_owned() }
}

/// Makes a change, and returns the lines that went and the lines that came.
fn changed(text: &str, change: impl FnOnce(&mut StateFile)) -> (String, Vec<String>, Vec<String>) {
    let mut file = StateFile::parse(text);
    change(&mut file);
    assert_eq!(file, StateFile::parse(file.text()), "what is found must be what would be read");
    let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (mut went, mut came) = (lines(text), lines(file.text()));
    while !went.is_empty() && went.first() == came.first() {
        went.remove(0);
        came.remove(0);
    }
    while !went.is_empty() && went.last() == came.last() {
        went.pop();
        came.pop();
    }
    (file.text, went, came)
}

#[track_caller]
fn changes(text: &str, change: impl FnOnce(&mut StateFile), went: &[&str], came: &[&str]) {
    let (_, gone, new) = changed(text, change);
    assert_eq!(
        (gone, new),
        (
            went.iter().map(|it| (*it).to_owned()).collect(),
            came.iter().map(|it| (*it).to_owned()).collect()
        )
    );
}

#[test]
fn a_file_is_read_as_it_looks() {
    let file = StateFile::parse(FOUND);
    let task = "Make the importer survive files that were cut off";
    assert_eq!((file.phase(), file.status()), ("BLUEPRINT", "NEEDS_PLAN_APPROVAL"));
    assert_eq!(file.current_item().as_deref(), Some(task));
    assert_eq!(
        file.items(),
        [row(1, task, "pending"), row(2, "Write the page about it", "completed")]
    );
    assert!(file.plan().starts_with("### IMPORTER PLAN\n\n#### **Step 1"));
    assert!(file.plan().contains("```bash\n# a comment of the shell\n## and one"));
    assert!(file.plan().ends_with("Say where it stopped**"));
    assert!(file.log().starts_with("**WHAT WAS FOUND**\n\n1."));
    assert_eq!((file.archive_log(), file.date()), (String::new(), Some("2024-12-19")));
    assert_eq!(file.issues(), [""; 0]);
}

#[test]
fn setting_what_is_already_there_changes_no_byte() {
    for text in [FOUND, &FOUND.replace('\n', "\r\n"), StateFile::blank().text(), "", "\u{feff}"] {
        let mut file = StateFile::parse(text);
        let was = file.clone();
        file.set_phase(was.phase());
        file.set_status(was.status());
        file.set_current_item(was.current_item().as_deref());
        file.set_plan(&was.plan());
        file.set_items(&was.items());
        file.set_log(&was.log());
        file.append_log([""]);
        file.set_archive_log(&was.archive_log());
        file.set_rules(&was.rules());
        file.set_date(was.date().unwrap_or_default());
        assert_eq!(file.text(), text);
    }
}

#[test]
fn a_change_touches_its_own_line_and_keeps_the_trailing_blanks() {
    changes(
        FOUND,
        |it| it.set_phase("CONSTRUCT"),
        &["Phase: BLUEPRINT  "],
        &["Phase: CONSTRUCT  "],
    );
    changes(
        FOUND,
        |it| it.set_current_item(None),
        &["CurrentItem: Make the importer survive files that were cut off  "],
        &["CurrentItem: null  "],
    );
    changes(
        FOUND,
        |it| it.set_date("2025-01-02"),
        &["_Last updated: 2024-12-19_"],
        &["_Last updated: 2025-01-02_"],
    );
    changes(FOUND, |it| it.append_log(["[10:00:00] done"]), &[], &["[10:00:00] done"]);
}

#[test]
fn a_row_that_changes_leaves_the_other_rows_as_they_are_written() {
    let with = |change: fn(&mut Vec<Row>)| {
        move |file: &mut StateFile| {
            let mut items = file.items();
            change(&mut items);
            file.set_items(&items);
        }
    };
    let two = "|  2|Write the page about it|completed   |";
    changes(
        FOUND,
        with(|it| it[1].status = "pending".to_owned()),
        &[two],
        &["|  2|Write the page about it|pending   |"],
    );
    changes(
        FOUND,
        with(|it| it[1].description = "a|b".to_owned()),
        &[two],
        &[r"|  2|a\|b|completed   |"],
    );
    changes(FOUND, with(|it| it.push(row(3, "c", "pending"))), &[], &["| 3 | c | pending |"]);
    changes(FOUND, with(|it| drop(it.remove(1))), &[two], &[]);
    changes(FOUND, with(|it| it.insert(1, row(9, "c", "pending"))), &[], &["| 9 | c | pending |"]);
    let one = "| 1 | Make the importer survive files that were cut off | pending |";
    changes(FOUND, with(|it| it.reverse()), &[one, two], &[two, one]);
    changes(FOUND, with(|it| it.clear()), &[one, two], &[]);
}

#[test]
fn a_row_without_a_status_is_pending_and_further_cells_stay() {
    let text = "## Items\n| id | description | status | who |\n|-|-|-|-|\n3 | x\n| 4 | y | done | me |\n| x | y | z |\n";
    let mut file = StateFile::parse(text);
    assert_eq!(file.items(), [row(3, "x", "pending"), row(4, "y", "done")]);
    file.set_items(&[row(3, "x", "completed"), row(4, "y", "pending")]);
    assert!(
        file.text()
            .ends_with("-|\n| 3 | x | completed |\n| 4 | y | pending | me |\n| x | y | z |\n")
    );
}

#[test]
fn line_ends_and_the_missing_last_one_stay_as_they_are() {
    let text = FOUND.replace('\n', "\r\n");
    let mut file = StateFile::parse(&text);
    file.set_plan("one\ntwo");
    file.append_log(["three\nfour"]);
    file.set_archive_log("five");
    let mut items = file.items();
    items.push(row(3, "six", "pending"));
    file.set_items(&items);
    assert!(!file.text().replace("\r\n", "").contains('\n'));
    assert!(file.text().ends_with("\r\nfive"));
    assert_eq!((file.plan().as_str(), file.items().len()), ("one\ntwo", 3));
}

#[test]
fn a_missing_section_is_added_where_the_template_has_it() {
    let mut file = StateFile::parse("# Mine\n\n## Plan\np\n\n## Own\no\n\n## Log\nl\n");
    file.set_phase("ANALYZE");
    file.set_items(&[row(1, "a", "pending")]);
    file.set_archive_log("z");
    let rows = "| id | description | status |\n|----|-------------|--------|\n| 1 | a | pending |";
    let state = "Phase: ANALYZE  \nStatus: READY  \nCurrentItem: null  ";
    assert_eq!(
        file.text(),
        format!(
            "# Mine\n\n## State\n{state}\n\n## Plan\np\n\n## Items\n{rows}\n\n## Own\no\n\n## Log\nl\n\n## ArchiveLog\nz\n"
        )
    );
    let (text, ..) = changed("", |it| it.set_log("x"));
    assert_eq!(text, "## Log\nx\n");
    let (text, ..) = changed("\u{feff}## Log\r\nx", |it| it.set_archive_log("y"));
    assert_eq!(text, "\u{feff}## Log\r\nx\r\n\r\n## ArchiveLog\r\ny");
}

#[test]
fn a_missing_field_is_added_in_the_style_of_the_others() {
    changes("## State\nPhase: INIT\n", |it| it.set_status("ERROR"), &[], &["Status: ERROR"]);
    changes(
        "## State\nCurrentItem: x  \n",
        |it| it.set_phase("ANALYZE"),
        &[],
        &["Phase: ANALYZE  "],
    );
    changes("## State", |it| it.set_phase("ANALYZE"), &[], &["Phase: ANALYZE  "]);
    changes("## State\nPhase:\n", |it| it.set_phase("ANALYZE"), &["Phase:"], &["Phase: ANALYZE"]);
    changes(
        "## State\n- **Phase:** INIT\n",
        |it| it.set_phase("ANALYZE"),
        &["- **Phase:** INIT"],
        &["- **Phase:** ANALYZE"],
    );
}

#[test]
fn a_placeholder_goes_when_text_comes_and_comes_back_when_it_goes() {
    let mut file = StateFile::blank();
    file.set_plan("p");
    file.append_log(["l"]);
    assert!(
        file.text().contains("## Plan\np\n\n## Rules")
            && file.text().contains("## Log\nl\n\n## Arch")
    );
    file.set_plan("");
    file.set_log("  \n");
    assert_eq!(file, StateFile::blank());
    let older = "## Log\n<!-- AI appends detailed reasoning -->\nkept\n";
    changes(older, |it| it.append_log(["new"]), &[], &["new"]);
    assert_eq!(StateFile::parse(older).log(), "kept");
    assert_eq!(StateFile::parse("## Items\n<!-- No items yet -->\n").items(), []);
    let (text, ..) = changed("## Items\n<!-- No items yet -->\n\n## Log\n", |it| {
        it.set_items(&[row(1, "a", "pending")]);
    });
    assert_eq!(
        text,
        "## Items\n| id | description | status |\n|----|-------------|--------|\n| 1 | a | pending |\n\n## Log\n"
    );
}

#[test]
fn only_real_headings_open_a_section() {
    let file = StateFile::parse(
        "## Plan\n### Log\n**## Log**\n```\n## Log\n```\n## Log notes\nx\n## log: \ny",
    );
    assert_eq!(
        (file.log().as_str(), file.plan().as_str()),
        ("y", "### Log\n**## Log**\n```\n## Log\n```")
    );
    assert_eq!(StateFile::parse("\u{feff}## Log\na\n## Log\nb").log(), "a");
}

#[test]
fn a_fence_that_is_left_open_hides_no_section() {
    let mut file = StateFile::parse("## Plan\n```rust\nx\n\n## Log\nl\n");
    assert_eq!((file.log().as_str(), file.plan().as_str()), ("l", "```rust\nx"));
    let code = "# a\n```\n## b\n```";
    file.set_log(code);
    assert_eq!((file.log().as_str(), file.plan().as_str()), (code, "```rust\nx"));
    file.append_log(["~~~\n```"]);
    assert_eq!(file.log(), format!("{code}\n~~~\n```"));
    file.set_plan("```\n## Items");
    assert_eq!((file.plan().as_str(), file.sections.len()), ("```\n## Items", 2));
}

#[test]
fn code_in_a_text_is_written_as_it_is() {
    let plan = "#### 1\n```sh\n# c\n## d\n\\# e\n```\n\n| a | b |\n|---|---|";
    let (text, ..) = changed(StateFile::blank().text(), |it| it.set_plan(plan));
    assert!(text.contains(plan));
    assert_eq!(StateFile::parse(&text).plan(), plan);
}

#[test]
fn text_cannot_forge_structure() {
    let forged = "x\n## Log\n[10:00:00] forged\n# y\n\\## z";
    let mut file = StateFile::blank();
    file.set_current_item(Some(forged));
    file.set_items(&[row(1, forged, "a | b")]);
    file.set_log(forged);
    file.set_plan(forged);
    assert_eq!(file.sections.len(), 6);
    assert_eq!(file.current_item().as_deref(), Some(forged));
    assert_eq!((file.log().as_str(), file.plan().as_str()), (forged, forged));
    assert_eq!(file.items(), [row(1, forged, "a | b")]);
    assert!(file.text().contains("## Log\nx\n\\## Log\n[10:00:00] forged\n\\# y\n\\\\## z\n"));
    assert!(
        file.text()
            .contains("| 1 | x<br>## Log<br>[10:00:00] forged<br># y<br>\\\\## z | a \\| b |\n")
    );
}

#[test]
fn cells_that_people_wrote_keep_their_backslashes() {
    let file = StateFile::parse("## Items\n| 1 | C:\\dir \\<br> \\| a<br>b \\\\ | x |\n");
    assert_eq!(file.items(), [row(1, "C:\\dir <br> | a\nb \\", "x")]);
}

#[test]
fn the_word_for_no_item_can_be_an_item() {
    let mut file = StateFile::blank();
    for item in ["null", "\\null", "NULL "] {
        file.set_current_item(Some(item));
        let read = file.current_item().unwrap();
        assert!(read.trim() == item.trim().to_lowercase(), "{read}");
    }
    file.set_current_item(Some("  "));
    assert_eq!(file.current_item(), None);
}

#[test]
fn what_is_missing_has_its_default() {
    for text in ["", "# x", "## State\n", "## State\nPhase:\nStatus: \nCurrentItem:", "\0"] {
        let file = StateFile::parse(text);
        assert_eq!((file.phase(), file.status(), file.current_item()), ("INIT", "READY", None));
        assert_eq!((file.plan(), file.log(), file.archive_log()), Default::default());
        assert_eq!(file.items(), []);
    }
}

#[test]
fn words_that_nobody_knows_are_kept_and_reported() {
    let text =
        FOUND.replace("BLUEPRINT  ", "BANANA").replace("NEEDS_PLAN_APPROVAL  ", "NEEDS_FIXES");
    let file = StateFile::parse(&text);
    assert_eq!((file.phase(), file.status()), ("BANANA", "ERROR"));
    let issue = "Unknown phase: `BANANA` (one of: INIT, ANALYZE, BLUEPRINT, CONSTRUCT, VALIDATE)";
    assert_eq!(file.issues(), [issue]);
}

#[track_caller]
fn has_issues(text: &str, issues: &[&str]) {
    assert_eq!(StateFile::parse(text).issues(), issues);
}

#[test]
fn issues_name_what_is_missing() {
    has_issues(StateFile::blank().text(), &[]);
    has_issues(
        "**## State**",
        &["State", "Plan", "Rules", "Items", "Log", "ArchiveLog"]
            .map(|it| format!("Missing required section: ## {it}"))
            .each_ref()
            .map(String::as_str),
    );
    has_issues(&FOUND.replace("\n## Log\n", "\n"), &["Missing required section: ## Log"]);
    has_issues(
        &FOUND.replace("Status: NEEDS_PLAN_APPROVAL  \n", ""),
        &["Missing field in State section: Status:"],
    );
    has_issues(
        &FOUND.replace("| id | description", "| nr | description"),
        &["Items section missing proper table header"],
    );
    let bare = StateFile::blank()
        .text()
        .replace("Phase: INIT  \nStatus: READY  \nCurrentItem: null  \n", "");
    has_issues(&bare, &["Could not parse State section"]);
}

#[test]
fn issues_name_what_is_there_twice_or_astray() {
    has_issues(&FOUND.replace("|  2|", "|  1|"), &["Duplicate item id: 1"]);
    has_issues(
        &FOUND.replace("| 1 | Make", "| 1 | Let"),
        &[
            "CurrentItem is not among the items: `Make the importer survive files that were cut off`",
        ],
    );
    has_issues(&format!("{FOUND}\n## Log\n## Log (old)\n"), &["Duplicate section: ## Log"]);
}

#[test]
fn a_large_file_is_changed_in_one_pass() {
    let rows: Vec<Row> = (1..=1000).map(|it| row(it, &format!("item {it}"), "pending")).collect();
    let mut file = StateFile::blank();
    file.set_items(&rows);
    // Openings that nothing closes are the worst there is for anyone who looks for their end.
    file.set_archive_log(&"```a\n~~~b\n### x\n".repeat(100_000));
    let open = format!("{}\n{}", "```a\n".repeat(100_000), file.text());
    let mut file = StateFile::parse(&open);
    file.set_phase("ANALYZE");
    file.append_log(["x"]);
    assert_eq!((file.phase(), file.log().as_str(), file.items().len()), ("ANALYZE", "x", 1000));
}
