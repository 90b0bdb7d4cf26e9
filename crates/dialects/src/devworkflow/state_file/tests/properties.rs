//! What holds for any text.

use proptest::prelude::*;

use super::super::super::markdown::normal;
use super::{FOUND, Row, StateFile, row};

/// What texts are made of that are hard to keep apart from structure.
const PIECES: &[&str] = &[
    "|",
    "\\",
    "<br>",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "## x",
    "# y",
    "## Log\n",
    "\n## Plan\n",
    "```",
    "\n```\n",
    "\n~~~~\n",
    "```rust\n",
    "    ```",
    "\n   ~~~",
    "\\## z",
    "\\```",
    "\\<!--",
    "<!-- a -->",
    "<!-- No log entries yet -->\n",
    "<!--",
    "-->",
    "\0",
    "😀",
    " ",
    "\t",
    "text",
    "null",
    "\u{feff}",
    "\u{2028}",
    "\u{a0}",
    "`",
    "a`b",
    "[10:00:00] x",
    "## Items\n| id | description | status |\n|-|-|-|\n",
    "\n| 3 | a | b |\n",
    "\n1 | x",
    "## State\nPhase: ",
    "\nStatus:",
    "CurrentItem: \\null",
    "_Last updated: 1_",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..14).prop_map(|it| it.concat())
}

/// Files to change: new, found, with other line ends, cut off, with an open fence, and any text.
fn file() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(StateFile::blank().text),
        Just(FOUND.to_owned()),
        Just(FOUND.replace('\n', "\r\n")),
        Just(FOUND.replace("## Rules", "```\n## Rules")),
        (0..FOUND.len()).prop_map(|it| FOUND.chars().take(it).collect()),
        text(),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..6_u64, text(), text()).prop_map(|(id, a, b)| row(id, &a, &b).normal());
    prop::collection::vec(row, 0..5)
}

#[derive(Debug, Clone)]
enum Change {
    Phase(&'static str),
    Status(&'static str),
    Item(Option<String>),
    Plan(String),
    Items(Vec<Row>),
    Log(String),
    Entry(String),
    Archive(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        prop::sample::select(&super::super::super::words::PHASES[..]).prop_map(Change::Phase),
        prop::sample::select(&super::super::super::words::STATUSES[..]).prop_map(Change::Status),
        prop::option::of(text()).prop_map(Change::Item),
        text().prop_map(Change::Plan),
        rows().prop_map(Change::Items),
        text().prop_map(Change::Log),
        text().prop_map(Change::Entry),
        text().prop_map(Change::Archive),
    ]
}

/// All that a file says.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    phase: String,
    status: String,
    item: Option<String>,
    plan: String,
    items: Vec<Row>,
    log: String,
    archive: String,
    rules: String,
    own: Vec<(String, String)>,
}

fn said(file: &StateFile) -> Said {
    Said {
        phase: file.phase().to_owned(),
        status: file.status().to_owned(),
        item: file.current_item(),
        plan: file.plan(),
        items: file.items(),
        log: file.log(),
        archive: file.archive_log(),
        rules: file.rules(),
        own: file.own_sections(),
    }
}

fn trimmed(item: &str) -> Option<String> {
    let item = item.replace("\r\n", "\n").replace('\r', "\n");
    Some(item.trim_matches([' ', '\t']).to_owned()).filter(|it| !it.is_empty())
}

/// Makes a change to the file, and to what it should say afterwards.
fn apply(file: &mut StateFile, said: &mut Said, change: &Change) {
    match change {
        Change::Phase(it) => {
            file.set_phase(it);
            said.phase = (*it).to_owned();
        }
        Change::Status(it) => {
            file.set_status(it);
            said.status = (*it).to_owned();
        }
        Change::Item(it) => {
            file.set_current_item(it.as_deref());
            said.item = it
                .as_deref()
                .and_then(trimmed)
                .map(|it| if it.eq_ignore_ascii_case("null") { "null".to_owned() } else { it });
        }
        Change::Plan(it) => {
            file.set_plan(it);
            if normal(&said.plan) != normal(it) {
                said.plan = normal(it);
            }
        }
        Change::Items(it) => {
            file.set_items(it);
            said.items.clone_from(it);
        }
        Change::Log(it) => {
            file.set_log(it);
            if normal(&said.log) != normal(it) {
                said.log = normal(it);
            }
        }
        Change::Entry(it) => {
            file.append_log([it.as_str()]);
            let lines = [said.log.clone(), normal(it)];
            said.log = lines.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n");
        }
        Change::Archive(it) => {
            file.set_archive_log(it);
            if normal(&said.archive) != normal(it) {
                said.archive = normal(it);
            }
        }
    }
}

fn assert_says(file: &StateFile, expected: &Said) {
    assert_eq!(said(file), *expected);
    assert_eq!(*file, StateFile::parse(file.text()), "what is found is what would be read");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_changes(text in file(), changes in prop::collection::vec(change(), 1..5)) {
        let mut file = StateFile::parse(&text);
        let mut expected = said(&file);
        for change in &changes {
            apply(&mut file, &mut expected, change);
            assert_says(&file, &expected);
        }
    }

    #[test]
    fn a_change_leaves_the_bytes_of_other_sections_alone(change in change(), is_crlf in any::<bool>()) {
        let text = if is_crlf { FOUND.replace('\n', "\r\n") } else { FOUND.to_owned() };
        let mut file = StateFile::parse(&text);
        let before = file.clone();
        let mut expected = said(&file);
        apply(&mut file, &mut expected, &change);
        let differing = before.sections.iter().zip(&file.sections).filter(|(one, two)| {
            before.text[one.heading.start..one.body.end] != file.text[two.heading.start..two.body.end]
        });
        prop_assert!(differing.count() <= 1);
        prop_assert_eq!(before.sections.len(), file.sections.len());
        prop_assert_eq!(&before.text[..before.sections[0].heading.end], &file.text[..file.sections[0].heading.end]);
    }

    #[test]
    fn setting_what_any_file_says_changes_no_byte(text in file()) {
        let mut file = StateFile::parse(&text);
        let was = said(&file);
        file.set_phase(&was.phase);
        file.set_status(&was.status);
        file.set_current_item(was.item.as_deref());
        file.set_plan(&was.plan);
        file.set_items(&was.items);
        file.set_log(&was.log);
        file.set_archive_log(&was.archive);
        file.set_rules(&was.rules);
        prop_assert_eq!(file.text(), text.as_str());
    }

    #[test]
    fn any_text_can_be_read_checked_and_compared(one in text(), two in text(), three in text()) {
        drop(StateFile::parse(&one).issues());
        prop_assert_eq!(StateFile::distance(&one, &two) == 0, one == two);
        drop(StateFile::rebase(&one, &two, &three));
    }
}
