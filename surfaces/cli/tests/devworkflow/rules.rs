//! The rules that fire by themselves: the log that grows too long, and the order they come in. What
//! goes into the changelog is tried beside the file that it is in.

use regex::Regex;
use serde_json::json;

use crate::{
    file_text::{FileText, file_text, row},
    fixtures::{ANALYZE, CHANGELOG, FIX, ITERATE, UPDATE},
    stage::Stage,
};

/// The log of a file, in characters.
fn with_log(log: &str) -> FileText {
    FileText { log: log.to_owned(), ..file_text("CONSTRUCT", "RUNNING") }
}

/// Returns a log of exactly `length` characters in entries, each made of `letter`.
fn log_of(length: usize, letter: char) -> String {
    let mut log = String::new();
    let mut left = length;
    while 0 < left {
        let wanted = left.min(200);
        let rest = left - wanted;
        // No entry is so short that it could not have its time.
        let wanted = if 0 < rest && rest < 60 { wanted - 60 } else { wanted };
        let stamp = "[2025-05-28T19:17:37Z] ";
        let is_last = wanted == left;
        let text = wanted - stamp.len() - usize::from(!is_last);
        log.push_str(stamp);
        log.extend(std::iter::repeat_n(letter, text));
        if !is_last {
            log.push('\n');
        }
        left -= wanted;
    }
    assert_eq!(log.chars().count(), length);
    log
}

/// Has the rules looked at, with nothing else done.
fn touch(stage: &Stage) {
    stage.update("CONSTRUCT", "RUNNING", json!({}));
}

/// Returns the heads of what was archived: how many entries, and how many characters.
fn rotations(archive: &str) -> Vec<(usize, usize)> {
    let head = r"(?m)^--- LOG ROTATION \S+ \((\d+) entr(?:y|ies), (\d+) chars\) ---$";
    let number = |it: &str| it.parse().unwrap();
    let heads = Regex::new(head).unwrap();
    heads.captures_iter(archive).map(|it| (number(&it[1]), number(&it[2]))).collect()
}

fn bullets(archive: &str) -> Vec<&str> {
    archive.lines().filter_map(|it| it.strip_prefix("- ")).collect()
}

#[test]
fn a_log_is_rotated_above_the_limit_and_not_at_it() {
    for letter in ['x', 'é', '😀'] {
        let stage = Stage::with_state(&with_log(&log_of(5000, letter)).text());
        touch(&stage);
        assert_eq!(stage.state().log, log_of(5000, letter), "5000 is not too long");
        assert_eq!(rotations(&stage.state().archive), []);
        let stage = Stage::with_state(&with_log(&log_of(5001, letter)).text());
        touch(&stage);
        assert!(stage.state().log.chars().count() < 300, "{}", stage.state().log);
        let heads = rotations(&stage.state().archive);
        assert_eq!(heads.iter().map(|it| it.1).collect::<Vec<_>>(), [5001]);
    }
}

#[test]
fn blank_lines_around_and_the_placeholder_do_not_count() {
    let log = format!("\n\n{}\n\n\n", log_of(5000, 'x'));
    let stage = Stage::with_state(&with_log(&log).text());
    touch(&stage);
    assert_eq!(rotations(&stage.state().archive), []);
    let comment = format!("<!-- {} -->", "x".repeat(6000));
    let stage = Stage::with_state(&with_log(&comment).text());
    touch(&stage);
    assert_eq!(rotations(&stage.state().archive), []);
}

#[test]
fn an_entry_that_makes_the_log_too_long_rotates_it() {
    let stage = Stage::with_state(&with_log("").text());
    stage.log("x");
    // An entry is its time and its text, and a line end parts it from the next.
    let stamp = stage.state().log.chars().count() - 1;
    let rest = 5000 - (stamp + 1) - 1 - stamp;
    stage.log(&"y".repeat(rest));
    assert_eq!(stage.state().log.chars().count(), 5000);
    stage.log("z");
    assert_eq!(rotations(&stage.state().archive), [(3, 5000 + 1 + stamp + 1)]);
    let archived = stage.archived();
    assert!(archived.contains(&"y".repeat(rest)) && archived.contains("] z"), "nothing is lost");
}

#[test]
fn every_call_that_logs_has_the_limit_looked_at() {
    let full = with_log(&log_of(4990, 'x')).text();
    let task = "Add: login";
    let stage = Stage::with_state(&full);
    stage.error(task, "a long story of what broke");
    assert_eq!(rotations(&stage.state().archive).len(), 1);
    let stage = Stage::with_state(&full);
    stage.done(FIX, json!({"task_description": task, "issues": "a long story of what is red"}));
    assert_eq!(rotations(&stage.state().archive).len(), 1);
    let stage = Stage::with_state(&full);
    stage.done(CHANGELOG, json!({"task_description": task}));
    assert_eq!(rotations(&stage.state().archive).len(), 1);
}

#[test]
fn the_limit_is_a_setting() {
    let stage = Stage::set_with_state(&[("log_chars_max", "100")], &with_log("").text());
    stage.log(&"x".repeat(50));
    assert_eq!(rotations(&stage.state().archive), []);
    stage.log(&"x".repeat(50));
    assert_eq!(rotations(&stage.state().archive).len(), 1);
}

#[test]
fn the_five_best_findings_are_kept_in_the_order_they_came() {
    let entries = [
        "looked around",
        "error: the build broke",
        "warning: an import is unused",
        "walked about",
        "decision: use the small one",
        "completed the first part",
        "the login failed",
        "looked again",
    ];
    let log: Vec<String> = (1..)
        .zip(entries)
        .map(|(number, it)| format!("[2025-05-28T19:17:{number:02}Z] {it}"))
        .collect();
    let log = log.join("\n");
    let stage = Stage::set_with_state(&[("log_chars_max", "100")], &with_log(&log).text());
    touch(&stage);
    let archive = stage.state().archive;
    assert_eq!(rotations(&archive), [(8, log.chars().count())]);
    let kept = bullets(&archive);
    let wanted = [entries[1], entries[2], entries[4], entries[5], entries[6]];
    assert_eq!(kept.len(), wanted.len(), "{archive}");
    for (kept, wanted) in kept.iter().zip(wanted) {
        assert!(kept.contains(wanted), "{kept} is not {wanted}");
    }
    // The whole log is kept in a file of its own.
    for entry in entries {
        assert!(stage.archived().contains(entry), "{entry} is lost");
    }
}

#[test]
fn of_equal_findings_the_later_are_kept() {
    let log: Vec<String> =
        (1..=7).map(|it| format!("[2025-05-28T19:17:{it:02}Z] thing {it}")).collect();
    let log = log.join("\n");
    let stage = Stage::set_with_state(&[("log_chars_max", "100")], &with_log(&log).text());
    touch(&stage);
    let archive = stage.state().archive;
    let kept: Vec<&str> =
        bullets(&archive).iter().filter_map(|it| it.rsplit_once("thing ").map(|it| it.1)).collect();
    assert_eq!(kept, ["3", "4", "5", "6", "7"]);
}

#[test]
fn a_finding_is_cut_to_a_line_of_moderate_length() {
    let long = format!("[19:17:37] error: {}", "é".repeat(900));
    let log = format!("{long}\n[19:17:38] an entry\nof two lines");
    let stage = Stage::set_with_state(&[("log_chars_max", "100")], &with_log(&log).text());
    touch(&stage);
    let archive = stage.state().archive;
    assert_eq!(rotations(&archive), [(2, log.chars().count())]);
    let kept = bullets(&archive);
    assert_eq!(kept.len(), 2, "{archive}");
    assert!(kept.iter().all(|it| it.chars().count() <= 300), "{archive}");
    assert!(stage.archived().contains(&"é".repeat(900)), "the whole entry is lost");
}

#[test]
fn what_was_archived_before_stays_and_the_new_comes_after_it() {
    let before = "--- LOG ROTATION 2025-05-01T00:00:00Z (1 entries, 9 chars) ---\n- an old one";
    let mut state = with_log(&log_of(5001, 'x'));
    state.archive = before.to_owned();
    let stage = Stage::with_state(&state.text());
    touch(&stage);
    let archive = stage.state().archive;
    assert!(archive.starts_with(before), "{archive}");
    assert_eq!(rotations(&archive).len(), 2, "{archive}");
}

#[test]
fn an_archived_log_is_a_file_of_its_own_each_time() {
    let stage = Stage::set_with_state(&[("log_chars_max", "60")], &with_log("").text());
    for number in 0..3 {
        stage.log(&format!("{number} {}", "x".repeat(60)));
    }
    let archived = stage.files().into_iter().filter(|(path, _)| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("log-") && name.ends_with(".md")
    });
    assert_eq!(archived.count(), 3);
}

#[test]
fn user_text_that_looks_like_a_heading_stays_text_when_it_is_archived() {
    let stage = Stage::set_with_state(&[("log_chars_max", "60")], &with_log("").text());
    stage.log(&format!("error: {}\n## Items\n| 9 | forged | pending |", "x".repeat(60)));
    let state = stage.state();
    assert_eq!(state.items.len(), 2, "{}", stage.text());
    assert_eq!(stage.text().matches("\n## Items").count(), 1, "{}", stage.text());
}

#[test]
fn a_completed_item_writes_the_changelog_then_moves_on_then_has_an_empty_log() {
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete("Add: login", Some("People can sign in."));
    assert!(stage.config().contains("## Changelog\n- People can sign in.\n- Opened"));
    stage.stands("ANALYZE", "READY");
    let state = stage.state();
    assert_eq!((state.item.as_deref(), state.log.as_str()), (Some("Add: logout"), ""));
    assert_eq!(rotations(&state.archive).len(), 1, "{}", state.archive);
    assert!(stage.archived().contains("looked around"), "{}", stage.archived());
    // Once: what is done is not told again.
    assert_eq!(stage.config().matches("- People can sign in.").count(), 1);
    stage.done(ITERATE, json!({}));
    assert_eq!(stage.config().matches("- People can sign in.").count(), 1);
}

#[test]
fn what_is_no_work_on_the_next_item_does_not_keep_iterate_from_saying_it_again() {
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete("Add: login", None);
    let line = json!({"task_description": "Add: login", "summary": "The sign is lit."});
    stage.done(CHANGELOG, line);
    stage.init("Fix: the sign");
    stage.update("ANALYZE", "READY", json!({"log_entry": "all is quiet"}));
    let stage = stage.restart();
    let said = stage.done(ITERATE, json!({}));
    assert_eq!(said.next_params(ANALYZE)["task_description"], "Add: logout");
    stage.analyze("Add: logout");
    stage.update("ANALYZE", "READY", json!({}));
    stage.refused(ITERATE, json!({})).code("ILLEGAL_TRANSITION");
}

#[test]
fn an_update_to_completed_lets_the_same_rules_fire() {
    let mut state = file_text("VALIDATE", "RUNNING");
    state.items[0] = row(1, "Add: login", "completed");
    let stage = Stage::with_state(&state.text());
    let said = stage.update("VALIDATE", "COMPLETED", json!({}));
    assert_eq!(said.stands(), ("ANALYZE", "READY"));
    assert_eq!(stage.state().item.as_deref(), Some("Add: logout"));
    assert_eq!(stage.config().matches("- Add: login").count(), 1, "{}", stage.config());
}

#[test]
fn completed_in_another_phase_moves_on_without_a_changelog() {
    let mut state = file_text("CONSTRUCT", "RUNNING");
    state.items[0] = row(1, "Add: login", "completed");
    let stage = Stage::with_state(&state.text());
    let config = stage.config();
    stage.done(UPDATE, json!({"phase": "CONSTRUCT", "status": "COMPLETED"}));
    stage.stands("ANALYZE", "READY");
    assert_eq!(stage.config(), config);
}

#[test]
fn without_a_pending_item_nothing_is_moved_on() {
    let mut state = file_text("VALIDATE", "RUNNING");
    state.items.pop();
    let stage = Stage::with_state(&state.text());
    stage.complete("Add: login", None);
    let state = stage.state();
    assert_eq!((state.phase.as_str(), state.status.as_str()), ("VALIDATE", "COMPLETED"));
    assert!(state.log.contains("looked around"), "{}", state.log);
}

#[test]
fn a_row_that_a_person_added_meanwhile_is_taken_up() {
    let mut state = file_text("VALIDATE", "RUNNING");
    state.items.pop();
    let stage = Stage::with_state(&state.text());
    stage.log("all green");
    stage.edit(|text| {
        text.replace(
            "| Add: login | pending |\n",
            "| Add: login | pending |\n| 2 | by hand | pending |\n",
        )
    });
    stage.complete("Add: login", None);
    assert_eq!(stage.state().item.as_deref(), Some("by hand"));
    stage.stands("ANALYZE", "READY");
}

#[test]
fn what_the_rules_did_is_on_record_in_the_order_they_fired() {
    let stage = Stage::with_state(&file_text("VALIDATE", "RUNNING").text());
    stage.complete("Add: login", None);
    let runs = stage.project.ask(&["run", "list"]);
    let run = runs["runs"][0]["run"].as_str().unwrap();
    let history = stage.project.ask(&["run", "history", run]).to_string();
    let (summary, next) = (history.find("RULE_SUMMARY_01"), history.find("RULE_ITERATE_01"));
    assert!(summary.is_some() && next.is_some() && summary < next, "{history}");
}
