//! The project's configuration: what is required of it, what is written into its changelog, and
//! where both files are looked for.

use serde_json::json;

use crate::{
    file_text::file_text,
    fixtures::{
        ANALYZE, CHANGELOG, CHECK_CONFIG, CHECK_FILES, CONFIG, CREATE_CONFIG, CREATE_STATE,
    },
    project::Project,
    stage::{Stage, project},
};

const SECTIONS: [&str; 4] =
    ["## Project Info", "## Dependencies", "## Test Commands", "## Changelog"];

/// A stage over a configuration of its own, with work in hand.
fn over(config: &str) -> Stage {
    let project = project(&[]);
    project.write("workflow_state.md", &file_text("CONSTRUCT", "RUNNING").text());
    project.write("project_config.md", config);
    Stage::over(project)
}

#[test]
fn a_changelog_line_goes_right_under_the_heading() {
    let cases = [
        ("", "a\n\n## Changelog\n- old\n", "a\n\n## Changelog\n- new\n- old\n"),
        ("blank lines", "## Changelog\n\n- old\n", "## Changelog\n- new\n\n- old\n"),
        ("a comment", "## Changelog\n<!-- c -->\n", "## Changelog\n- new\n<!-- c -->\n"),
        ("blanks after it", "## Changelog  \t\n- old\n", "## Changelog  \t\n- new\n- old\n"),
        ("no line end", "## Changelog\n- old", "## Changelog\n- new\n- old"),
        ("another after it", "## Changelog\n## More\n", "## Changelog\n- new\n## More\n"),
        ("CRLF", "a\r\n## Changelog\r\n- old\r\n", "a\r\n## Changelog\r\n- new\r\n- old\r\n"),
        (
            "a fence",
            "```\n## Changelog\n```\n## Changelog\n- old\n",
            "```\n## Changelog\n```\n## Changelog\n- new\n- old\n",
        ),
        (
            "two of them",
            "## Changelog\n- a\n\n## Changelog\n- b\n",
            "## Changelog\n- new\n- a\n\n## Changelog\n- b\n",
        ),
        (
            "one that only begins so",
            "## Changelog of 2024\n- a\n## Changelog\n- b\n",
            "## Changelog of 2024\n- a\n## Changelog\n- new\n- b\n",
        ),
        ("there already", "## Changelog\n- new\n- old\n", "## Changelog\n- new\n- old\n"),
        (
            "there, but not first",
            "## Changelog\n- old\n- new\n",
            "## Changelog\n- new\n- old\n- new\n",
        ),
        (
            "a mark at the start",
            "\u{feff}## Changelog\n- old\n",
            "\u{feff}## Changelog\n- new\n- old\n",
        ),
    ];
    for (name, before, after) in cases {
        let stage = over(before);
        stage.changelog("new");
        assert_eq!(stage.config(), after, "{name}");
    }
}

#[test]
fn a_heading_on_the_last_line_gets_its_line_too() {
    for (before, end) in [("a\n## Changelog", "\n"), ("a\r\n## Changelog", "\r\n")] {
        let stage = over(before);
        stage.changelog("new");
        let config = stage.config();
        assert!(config.starts_with(&format!("{before}{end}- new")), "{config:?}");
    }
}

#[test]
fn without_the_heading_the_section_is_appended_with_a_warning() {
    let stage = over("# c\n\n## Project Info\nA shop.\n");
    let said = stage.changelog("new");
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    let config = stage.config();
    assert!(config.starts_with("# c\n\n## Project Info\nA shop.\n"), "{config}");
    assert!(config.trim_end().ends_with("## Changelog\n- new"), "{config}");
}

#[test]
fn a_summary_is_one_line() {
    let cases = [
        ("  new  ", "- new\n"),
        ("- new", "- new\n"),
        ("one\ntwo\r\nthree", "- one two three\n"),
        ("## Not a heading", "- ## Not a heading\n"),
    ];
    for (summary, line) in cases {
        let stage = over("## Changelog\n- old\n");
        stage.changelog(summary);
        assert_eq!(stage.config(), format!("## Changelog\n{line}- old\n"));
    }
}

#[test]
fn the_date_before_a_line_is_a_setting() {
    let project = project(&[("changelog_date", "true")]);
    project.write("workflow_state.md", &file_text("CONSTRUCT", "RUNNING").text());
    let stage = Stage::over(project);
    stage.changelog("new");
    let line = regex::Regex::new(r"## Changelog\n- \[\d{4}-\d\d-\d\d\] new\n- Opened").unwrap();
    assert!(line.is_match(&stage.config()), "{}", stage.config());
}

#[test]
fn without_a_summary_the_changelog_call_only_tells_how() {
    let stage = over(CONFIG);
    let said = stage.done(CHANGELOG, json!({"task_description": "Add: login"}));
    said.has(&["## Changelog"]);
    assert_eq!(stage.config(), CONFIG);
}

#[test]
fn another_configuration_can_be_named() {
    let stage = over(CONFIG);
    stage.project.write("docs/other.md", "## Changelog\n- old\n");
    let arguments = json!({
        "task_description": "Add: login", "summary": "new", "project_config_path": "docs/other.md",
    });
    stage.done(CHANGELOG, arguments);
    let other = std::fs::read_to_string(stage.project.path("docs/other.md")).unwrap();
    assert_eq!(other, "## Changelog\n- new\n- old\n");
    assert_eq!(stage.config(), CONFIG);
    let arguments =
        json!({"task_description": "Add: login", "project_config_path": "docs/other.md"});
    let stage = Stage::with_state(&file_text("INIT", "READY").text());
    stage.project.write("docs/other.md", CONFIG);
    stage.done(ANALYZE, arguments).has(&["docs/other.md"]);
}

#[test]
fn b12_files_that_are_not_there_are_told() {
    let stage = Stage::over(Project::new());
    let said = stage.unchanged(CHECK_FILES, json!({}));
    said.has(&[
        "workflow_state.md: workflow_state.md file does not exist",
        "project_config.md: project_config.md file does not exist",
    ]);
    assert!(said.next().contains(&CREATE_STATE), "{:#}", said.value);
    assert!(said.next().contains(&CREATE_CONFIG), "{:#}", said.value);
    let said = stage.unchanged(CHECK_CONFIG, json!({}));
    said.has(&["project_config.md file does not exist"]);
    assert!(said.next().contains(&CREATE_CONFIG), "{:#}", said.value);
}

#[test]
fn b12_what_the_template_makes_is_in_order() {
    let stage = Stage::over(Project::new());
    stage.done(CREATE_CONFIG, json!({}));
    stage.done(CREATE_STATE, json!({"task_description": "Add: login"}));
    let said = stage.read(CHECK_FILES, json!({}));
    said.lacks(&["workflow_state.md: ", "project_config.md: ", "Missing", "does not exist"]);
    let config = stage.config();
    for name in SECTIONS.iter().chain(&["## Project Structure"]) {
        assert!(config.lines().any(|it| it == *name), "no {name} in:\n{config}");
    }
    assert_eq!(config.matches("```bash").count(), 2, "{config}");
    // And it is not made again over what is there.
    stage.project.write("project_config.md", CONFIG);
    stage.call(CREATE_CONFIG, json!({}));
    assert_eq!(stage.config(), CONFIG);
}

#[test]
fn every_section_that_is_missing_is_named() {
    for missing in SECTIONS {
        // It must be a heading: not in a fence, not of another level, not in the midst of a line.
        for instead in [
            String::new(),
            format!("#{missing}"),
            format!("see {missing}"),
            format!("```\n{missing}\n```"),
        ] {
            let stage = over(&CONFIG.replace(missing, &instead));
            let issue = format!("Missing required section: {missing}");
            let said = stage.unchanged(CHECK_CONFIG, json!({}));
            said.has(&[&issue]);
            assert!(said.next().contains(&CREATE_CONFIG), "{:#}", said.value);
            let files = stage.unchanged(CHECK_FILES, json!({}));
            files.has(&[&format!("project_config.md: {issue}")]);
            for other in SECTIONS.iter().filter(|it| **it != missing) {
                files.lacks(&[&format!("Missing required section: {other}")]);
            }
        }
    }
    over(CONFIG).read(CHECK_CONFIG, json!({})).lacks(&["Missing"]);
}

#[test]
fn the_commands_of_the_configuration_are_given_to_the_agent() {
    let stage = over(CONFIG);
    let said = stage.validate("Add: login");
    said.has(&["cargo test", "cargo clippy"]).lacks(&["# all of them"]);
}

#[test]
fn files_are_looked_for_in_our_folder_and_then_in_the_root() {
    let text = file_text("ANALYZE", "RUNNING").text();
    let other = text.replace("Add: login", "Add: old");
    let project = project(&[]);
    project.write(".accordo/workflow_state.md", &text);
    project.write("workflow_state.md", &other);
    project.write(".accordo/project_config.md", "## Changelog\n- inner\n");
    let stage = Stage::over(project);
    stage.changelog("new");
    assert_eq!(stage.config(), CONFIG);
    let inner = std::fs::read_to_string(stage.project.path(".accordo/project_config.md")).unwrap();
    assert_eq!(inner, "## Changelog\n- new\n- inner\n");
    let root = std::fs::read_to_string(stage.project.path("workflow_state.md")).unwrap();
    assert_eq!(root, other);
}

#[test]
fn a_new_file_is_made_in_our_folder_if_there_is_one() {
    let project = project(&[]);
    project.write(".accordo/workflows/readme.txt", "");
    let stage = Stage::over(project);
    stage.init("Add: login");
    assert!(stage.project.path(".accordo/workflow_state.md").is_file());
    assert!(!stage.project.path("workflow_state.md").exists());
    let stage = Stage::new();
    stage.init("Add: login");
    assert!(stage.project.path("workflow_state.md").is_file());
}

#[test]
fn places_are_settings() {
    let settings = [
        ("state_file", "docs/state.md"),
        ("project_config", "docs/config.md"),
        ("directory", ".wf"),
    ];
    let project = project(&settings);
    project.write("docs/config.md", "## Changelog\n- inner\n");
    project.write("workflow_state.md", "not mine\n");
    let stage = Stage::over(project);
    stage.call(crate::fixtures::INIT, json!({"task_description": "Add: login"}));
    assert!(stage.project.path("docs/state.md").is_file());
    let root = std::fs::read_to_string(stage.project.path("workflow_state.md")).unwrap();
    assert_eq!(root, "not mine\n");
    stage.call(CHANGELOG, json!({"task_description": "Add: login", "summary": "new"}));
    let inner = std::fs::read_to_string(stage.project.path("docs/config.md")).unwrap();
    assert_eq!(inner, "## Changelog\n- new\n- inner\n");
    assert!(!stage.project.path(".accordo").exists());
}

#[test]
fn settings_may_come_from_the_file_of_the_project() {
    let project = project(&[]);
    project.write(".milepost/config.toml", "[devworkflow]\ntransitions = \"warn\"\n");
    project.ask(&["trust", "--yes"]);
    project.write("workflow_state.md", &file_text("ANALYZE", "RUNNING").text());
    let stage = Stage::over(project);
    let said = stage.validate("Add: login");
    assert!(!said.warnings().is_empty(), "{:#}", said.value);
    stage.stands("VALIDATE", "RUNNING");
}
