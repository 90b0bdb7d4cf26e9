//! Which call is legal from where: every call from every phase and status, refused or let through
//! with a warning, as the policy says.

use std::thread;

use serde_json::{Value, json};

use crate::{
    calls::updating,
    file_text::{FileText, file_text},
    fixtures::{
        ANALYZE, BLUEPRINT, CHANGELOG, COMPLETE, CONSTRUCT, ERROR, ESCALATE, FINALIZE, FIX, INIT,
        ITERATE, REVISE, UPDATE, VALIDATE,
    },
    said::Said,
    stage::Stage,
};

/// A call in the table: its letter, its tool, and where it leads.
struct Column {
    letter: char,
    tool: &'static str,
    leads_to: Option<(&'static str, &'static str)>,
}

/// The calls. `c` is without an approval and `C` gives one; `f` is while an item is pending and `F`
/// when none is. Where a call leads is told apart from those that keep the phase.
const COLUMNS: [Column; 16] = [
    Column { letter: 'i', tool: INIT, leads_to: Some(("INIT", "READY")) },
    Column { letter: 'a', tool: ANALYZE, leads_to: Some(("ANALYZE", "RUNNING")) },
    Column { letter: 'b', tool: BLUEPRINT, leads_to: Some(("BLUEPRINT", "RUNNING")) },
    Column { letter: 'r', tool: REVISE, leads_to: Some(("BLUEPRINT", "RUNNING")) },
    Column { letter: 'c', tool: CONSTRUCT, leads_to: Some(("CONSTRUCT", "RUNNING")) },
    Column { letter: 'C', tool: CONSTRUCT, leads_to: Some(("CONSTRUCT", "RUNNING")) },
    Column { letter: 'v', tool: VALIDATE, leads_to: Some(("VALIDATE", "RUNNING")) },
    // Another item is pending, so the rule takes it up at once.
    Column { letter: 'd', tool: COMPLETE, leads_to: Some(("ANALYZE", "READY")) },
    Column { letter: 'n', tool: ITERATE, leads_to: Some(("ANALYZE", "READY")) },
    Column { letter: 'f', tool: FINALIZE, leads_to: Some(("INIT", "READY")) },
    Column { letter: 'F', tool: FINALIZE, leads_to: Some(("INIT", "READY")) },
    Column { letter: 'e', tool: ERROR, leads_to: None },
    Column { letter: 'x', tool: FIX, leads_to: None },
    Column { letter: 's', tool: ESCALATE, leads_to: None },
    Column { letter: 'l', tool: CHANGELOG, leads_to: None },
    Column { letter: 'u', tool: UPDATE, leads_to: None },
];

/// For each phase and status the letters of the calls that are legal. A `+` in place of `i`: the
/// task only joins the items.
const TABLE: [(&str, &str, &str); 25] = [
    ("INIT", "READY", "ia--------- exslu"),
    ("INIT", "RUNNING", "ia--------- exslu"),
    ("INIT", "NEEDS_PLAN_APPROVAL", "ia--------- exslu"),
    ("INIT", "COMPLETED", "ia------n-F exslu"),
    ("INIT", "ERROR", "ia--------- exslu"),
    ("ANALYZE", "READY", "+ab-------- exslu"),
    ("ANALYZE", "RUNNING", "+ab-------- exslu"),
    ("ANALYZE", "NEEDS_PLAN_APPROVAL", "+ab-------- exslu"),
    ("ANALYZE", "COMPLETED", "iab-----n-F exslu"),
    ("ANALYZE", "ERROR", "+ab-------- exslu"),
    ("BLUEPRINT", "READY", "+--r------- exslu"),
    ("BLUEPRINT", "RUNNING", "+--r------- exslu"),
    ("BLUEPRINT", "NEEDS_PLAN_APPROVAL", "+--r-C----- exslu"),
    ("BLUEPRINT", "COMPLETED", "i--r----n-F exslu"),
    ("BLUEPRINT", "ERROR", "+--r------- exslu"),
    ("CONSTRUCT", "READY", "+---cCv---- exslu"),
    ("CONSTRUCT", "RUNNING", "+---cCv---- exslu"),
    ("CONSTRUCT", "NEEDS_PLAN_APPROVAL", "+---cCv---- exslu"),
    ("CONSTRUCT", "COMPLETED", "i---cCv-n-F exslu"),
    ("CONSTRUCT", "ERROR", "+-b-cC----- exslu"),
    ("VALIDATE", "READY", "+-----vd--- exslu"),
    ("VALIDATE", "RUNNING", "+-----vd--- exslu"),
    ("VALIDATE", "NEEDS_PLAN_APPROVAL", "+-----vd--- exslu"),
    ("VALIDATE", "COMPLETED", "i-----vdn-F exslu"),
    ("VALIDATE", "ERROR", "+-b-cCv---- exslu"),
];

/// Returns the file that a call is made on.
fn file(phase: &str, status: &str, letter: char) -> String {
    let mut state = file_text(phase, status);
    match letter {
        // There is something to complete.
        'd' => state.items[0].2 = "pending".to_owned(),
        'F' => state.items.iter_mut().for_each(|it| it.2 = "completed".to_owned()),
        _ => {}
    }
    state.text()
}

fn arguments(letter: char, phase: &str) -> Value {
    let task = if letter == 'i' { "Fix: the sign" } else { "Add: login" };
    let mut all = match letter {
        'n' | 'f' | 'F' => return json!({}),
        'u' => return updating(phase, "RUNNING", json!({})),
        _ => json!({"task_description": task}),
    };
    let (key, value) = match letter {
        'b' => ("requirements_summary", json!("a summary")),
        'r' => ("feedback", json!("name the risks")),
        'C' => ("user_approval", json!(true)),
        'e' | 's' => ("error_details", json!("it broke")),
        'x' => ("issues", json!("one is red")),
        _ => return all,
    };
    all[key] = value;
    all
}

fn call(stage: &Stage, column: &Column, phase: &str) -> Said {
    stage.call(column.tool, arguments(column.letter, phase))
}

/// Checks where a call has led that was followed.
fn check_followed(stage: &Stage, column: &Column, said: &Said, before: &FileText) {
    let cell = format!("`{}` ({}) from {before:?}", column.tool, column.letter);
    assert!(!said.is_error, "{cell}: {}\n{:#}", said.text, said.value);
    let after = stage.state();
    let (phase, status) = (after.phase.as_str(), after.status.as_str());
    assert_eq!(said.stands(), (phase, status), "{cell}");
    let wanted = match (column.letter, column.leads_to) {
        (_, Some(wanted)) => wanted,
        ('e' | 'x' | 's', None) => (before.phase.as_str(), "ERROR"),
        ('u', None) => (before.phase.as_str(), "RUNNING"),
        // A call that is not a move may still let a rule fire that was due.
        (_, None) if before.status == "COMPLETED" => return,
        (_, None) => (before.phase.as_str(), before.status.as_str()),
    };
    assert_eq!((phase, status), wanted, "{cell}");
}

/// A task that comes in the midst of another only joins the items.
fn check_joined(stage: &Stage, said: &Said, before: &FileText) {
    assert!(!said.is_error, "{}", said.text);
    let after = stage.state();
    assert_eq!(after.items.len(), before.items.len() + 1);
    let stands = |it: &FileText| (it.phase.clone(), it.status.clone(), it.item.clone());
    assert_eq!(stands(&after), stands(before));
}

/// Checks that a refusal names the calls that are legal, and no others.
fn check_named(said: &Said, legal: &str) {
    said.code("ILLEGAL_TRANSITION");
    let named: Vec<&str> =
        said.value["legal"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for column in &COLUMNS[1..11] {
        // While an item is pending, there is no end.
        if column.letter == 'F' {
            continue;
        }
        let is_legal =
            legal.contains(column.letter) || (column.letter == 'c' && legal.contains('C'));
        let is_named = named.contains(&column.tool);
        if column.letter != 'C' || is_legal {
            assert_eq!(is_named, is_legal, "{} in {:#}", column.tool, said.value);
        }
    }
}

fn strict(phase: &str, status: &str, legal: &str) {
    let refusing = Stage::with_state(&file(phase, status, '-'));
    for column in &COLUMNS {
        if column.letter == 'i' && legal.starts_with('+') || legal.contains(column.letter) {
            let stage = Stage::with_state(&file(phase, status, column.letter));
            let before = stage.state();
            let said = call(&stage, column, phase);
            if legal.contains(column.letter) {
                check_followed(&stage, column, &said, &before);
            } else {
                check_joined(&stage, &said, &before);
            }
        } else if column.letter == 'F' {
            let stage = Stage::with_state(&file(phase, status, 'F'));
            stage.refused(column.tool, json!({})).code("ILLEGAL_TRANSITION");
        } else {
            let said = refusing.refused(column.tool, arguments(column.letter, phase));
            check_named(&said, legal);
        }
    }
}

fn warned(phase: &str, status: &str, legal: &str) {
    for column in &COLUMNS {
        let text = file(phase, status, column.letter);
        let stage = Stage::set_with_state(&[("transitions", "warn")], &text);
        let before = stage.state();
        let said = call(&stage, column, phase);
        if column.letter == 'i' && legal.starts_with('+') {
            check_joined(&stage, &said, &before);
            continue;
        }
        check_followed(&stage, column, &said, &before);
        let is_legal = legal.contains(column.letter);
        let cell = format!("`{}` ({}) from {phase}/{status}", column.tool, column.letter);
        assert_eq!(said.warnings().is_empty(), is_legal, "{cell}: {:#}", said.value);
    }
}

/// Checks the rows of a phase, each on a thread of its own.
fn check(phase: &str, row: fn(&str, &str, &str)) {
    thread::scope(|scope| {
        for (_, status, legal) in TABLE.into_iter().filter(|it| it.0 == phase) {
            scope.spawn(move || row(phase, status, legal));
        }
    });
}

#[test]
fn from_init_only_legal_calls_are_followed() {
    check("INIT", strict);
}

#[test]
fn from_analyze_only_legal_calls_are_followed() {
    check("ANALYZE", strict);
}

#[test]
fn from_blueprint_only_legal_calls_are_followed() {
    check("BLUEPRINT", strict);
}

#[test]
fn from_construct_only_legal_calls_are_followed() {
    check("CONSTRUCT", strict);
}

#[test]
fn from_validate_only_legal_calls_are_followed() {
    check("VALIDATE", strict);
}

#[test]
fn from_init_every_call_is_followed_with_a_warning_if_that_is_the_policy() {
    check("INIT", warned);
}

#[test]
fn from_analyze_every_call_is_followed_with_a_warning_if_that_is_the_policy() {
    check("ANALYZE", warned);
}

#[test]
fn from_blueprint_every_call_is_followed_with_a_warning_if_that_is_the_policy() {
    check("BLUEPRINT", warned);
}

#[test]
fn from_construct_every_call_is_followed_with_a_warning_if_that_is_the_policy() {
    check("CONSTRUCT", warned);
}

#[test]
fn from_validate_every_call_is_followed_with_a_warning_if_that_is_the_policy() {
    check("VALIDATE", warned);
}

#[test]
fn b07_construction_right_after_analysis_is_refused_and_the_legal_calls_are_listed() {
    let stage = Stage::new();
    stage.init("Add: login");
    stage.analyze("Add: login");
    let said = stage.refused(CONSTRUCT, json!({"task_description": "Add: login"}));
    said.code("ILLEGAL_TRANSITION").has(&[BLUEPRINT]);
    check_named(&said, "ab");
}

#[test]
fn a_word_that_is_no_policy_is_told_at_the_start() {
    let project = crate::stage::project(&[("transitions", "lenient")]);
    let command = ["config", "show"];
    let output = project.milepost(&command).output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    assert!(String::from_utf8(told).unwrap().contains("lenient"));
}
