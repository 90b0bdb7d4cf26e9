//! What becomes of a changelog, and what is read from the file.

use super::{Inserted, TEMPLATE, build_commands, insert_changelog, issues, test_commands};

const TODAY: &str = "2025-01-02";

const NO_HEADING: &str = "there was no `## Changelog`, so it was added at the end";

#[track_caller]
fn inserts(text: &str, summary: &str, after: &str) {
    let inserted = insert_changelog(Some(text), summary, TODAY, false);
    let expected = Inserted { text: after.to_owned(), is_changed: text != after, warning: None };
    assert_eq!(inserted, expected);
}

#[track_caller]
fn adds_heading(text: &str, after: &str) {
    let inserted = insert_changelog(Some(text), "new", TODAY, false);
    assert_eq!(inserted.text, after);
    assert_eq!((inserted.is_changed, inserted.warning.as_deref()), (true, Some(NO_HEADING)));
}

#[test]
fn a_line_comes_directly_after_the_heading() {
    inserts("## Changelog\n- old\n", "new", "## Changelog\n- new\n- old\n");
    inserts(
        "## Changelog  \n\n<!-- c -->\n- old",
        "new",
        "## Changelog  \n- new\n\n<!-- c -->\n- old",
    );
    inserts("# x\r\n## Changelog\r\n- old\r\n", "new", "# x\r\n## Changelog\r\n- new\r\n- old\r\n");
    inserts("# x\n## Changelog", "new", "# x\n## Changelog\n- new");
    inserts("# x\r\n## Changelog", "new", "# x\r\n## Changelog\r\n- new");
    inserts("\u{feff}## Changelog\n## Other\n", "new", "\u{feff}## Changelog\n- new\n## Other\n");
}

#[test]
fn only_a_real_heading_counts() {
    inserts(
        "```\n## Changelog\n```\n## Changelog\n",
        "new",
        "```\n## Changelog\n```\n## Changelog\n- new\n",
    );
    inserts("## Changelog\n## Changelog\n", "new", "## Changelog\n- new\n## Changelog\n");
    adds_heading("## Changelog of old\n", "## Changelog of old\n\n## Changelog\n- new\n");
    adds_heading("### Changelog\n\n", "### Changelog\n\n## Changelog\n- new\n");
}

#[test]
fn a_missing_heading_is_added_at_the_end() {
    adds_heading("", "## Changelog\n- new\n");
    adds_heading("a", "a\n\n## Changelog\n- new");
    adds_heading("a\r\n", "a\r\n\r\n## Changelog\r\n- new\r\n");
    adds_heading("a\r\n\r\n", "a\r\n\r\n## Changelog\r\n- new\r\n");
}

#[test]
fn a_summary_becomes_one_line() {
    inserts("## Changelog\n", "- Two\r\nlines\n\n  here \n", "## Changelog\n- Two lines here\n");
    inserts("## Changelog\n", "a\n## Items", "## Changelog\n- a ## Items\n");
    let dated = insert_changelog(Some("## Changelog\n"), "new", TODAY, true);
    assert_eq!(dated.text, "## Changelog\n- [2025-01-02] new\n");
}

#[test]
fn the_same_line_is_not_inserted_twice_in_a_row() {
    for text in ["## Changelog\n- new\n", "## Changelog\r\n\r\n<!-- c -->\r\n- new  \r\n- old"] {
        inserts(text, "new", text);
    }
    inserts("## Changelog\n- a\n- new\n", "new", "## Changelog\n- new\n- a\n- new\n");
}

#[test]
fn an_empty_summary_changes_nothing() {
    for summary in ["", " \n", "-", "- "] {
        let inserted = insert_changelog(Some("## Changelog\n"), summary, TODAY, false);
        assert_eq!((inserted.text.as_str(), inserted.is_changed), ("## Changelog\n", false));
        assert!(inserted.warning.is_some());
    }
}

#[test]
fn a_missing_file_is_made_with_the_day_on_which_it_was_made() {
    let inserted = insert_changelog(None, "new", TODAY, false);
    let made = TEMPLATE.replace("## Changelog\n", "## Changelog\n- new\n");
    assert_eq!(inserted.text, made.replace("YYYY-MM-DD", TODAY));
    assert!(inserted.warning.is_some());
}

#[test]
fn the_template_passes_its_own_check_and_has_both_project_sections() {
    assert_eq!(issues(TEMPLATE), [""; 0]);
    assert!(
        TEMPLATE.contains("\n## Project Structure\n") && TEMPLATE.contains("\n## Project Info\n")
    );
    assert_eq!((test_commands(TEMPLATE), build_commands(TEMPLATE)), (vec![], vec![]));
}

#[test]
fn issues_name_the_sections_that_are_missing() {
    let text = "## Project Info (short)\nsee **## Dependencies**\n```\n## Test Commands\n```\n## Changelog\n";
    let missing =
        ["Dependencies", "Test Commands"].map(|it| format!("Missing required section: ## {it}"));
    assert_eq!(issues(text), missing);
    assert_eq!(issues("").len(), 4);
}

#[test]
fn commands_are_the_lines_of_shell_blocks_that_are_no_comments() {
    let text = "## Test Commands\r\nRun:\r\n```bash\r\n# all\r\ncargo test\r\n\r\n  cargo clippy \\\r\n    -- -D warnings\r\n```\r\n```json\r\n{}\r\n```\r\n~~~\r\nmake check\r\n~~~\r\n## Build Commands\r\n```sh\r\nmake\r\n```\r\n";
    assert_eq!(test_commands(text), ["cargo test", "cargo clippy -- -D warnings", "make check"]);
    assert_eq!(build_commands(text), ["make"]);
    assert_eq!(build_commands("## Build Commands\n```sh\nmake"), [""; 0]);
}
