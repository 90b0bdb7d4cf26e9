//! What becomes of two changes to one file.

use proptest::prelude::*;

use super::{FOUND, Row, StateFile, row};

fn edited(text: &str, change: impl FnOnce(&mut StateFile)) -> String {
    let mut file = StateFile::parse(text);
    change(&mut file);
    file.text
}

fn with_row(text: &str, id: u64, description: &str) -> String {
    edited(text, |file| {
        let mut items = file.items();
        items.push(row(id, description, "pending"));
        file.set_items(&items);
    })
}

fn joined(theirs: &str, ours: &str) -> Option<StateFile> {
    StateFile::rebase(FOUND, theirs, ours).as_deref().map(StateFile::parse)
}

#[test]
fn a_change_of_one_side_is_taken() {
    let changed = FOUND.replace("Anything", "Something");
    assert_eq!(StateFile::rebase(FOUND, &changed, FOUND), Some(changed.clone()));
    assert_eq!(StateFile::rebase(FOUND, FOUND, &changed), Some(changed.clone()));
    assert_eq!(StateFile::rebase(FOUND, &changed, &changed), Some(changed));
}

#[test]
fn changes_to_different_sections_are_both_kept_in_the_style_of_the_person() {
    let theirs = FOUND.replace("Anything", "Something").replace('\n', "\r\n");
    let ours = edited(FOUND, |it| {
        it.set_phase("CONSTRUCT");
        it.set_plan("a\nb");
        it.append_log(["c"]);
        it.set_date("2025-01-02");
    });
    let both = StateFile::rebase(FOUND, &theirs, &ours).unwrap();
    assert_eq!(both, ours.replace("Anything", "Something").replace('\n', "\r\n"));
}

#[test]
fn a_status_goes_with_its_phase() {
    let ours = edited(FOUND, |it| it.set_phase("CONSTRUCT"));
    let file = joined(&edited(FOUND, |it| it.set_current_item(None)), &ours).unwrap();
    assert_eq!((file.phase(), file.current_item()), ("CONSTRUCT", None));
    assert_eq!(joined(&edited(FOUND, |it| it.set_status("ERROR")), &ours), None);
    assert_eq!(joined(&edited(FOUND, |it| it.set_phase("INIT")), &ours), None);
}

#[test]
fn rows_are_joined_by_their_ids_and_an_id_given_twice_is_given_again() {
    let ours = with_row(FOUND, 3, "ours").replace("|completed   |", "|done   |");
    let theirs =
        with_row(&with_row(FOUND, 3, "theirs"), 7, "far").replace("Write the page", "Write a page");
    let items = joined(&theirs, &ours).unwrap().items();
    let row = |at: usize| (items[at].id, items[at].description.as_str(), items[at].status.as_str());
    assert_eq!(row(1), (2, "Write a page about it", "done"));
    assert_eq!(
        [row(2), row(3), row(4)],
        [(7, "far", "pending"), (3, "ours", "pending"), (8, "theirs", "pending")]
    );
    assert_eq!(
        joined(&with_row(FOUND, 3, "a"), &with_row(FOUND, 3, "a")).unwrap().items().len(),
        3
    );
}

#[test]
fn a_row_that_one_side_removed_and_the_other_changed_cannot_be_joined() {
    let removed = FOUND.replace("|  2|Write the page about it|completed   |\n", "");
    assert_eq!(joined(&removed, &FOUND.replace("|completed   |", "|x|")), None);
    assert_eq!(joined(&removed, &with_row(FOUND, 3, "c")).unwrap().items().len(), 2);
}

#[test]
fn what_was_added_to_a_log_is_joined_ours_first() {
    let log = |entry: &'static str| edited(FOUND, |it| it.append_log([entry]));
    let base = StateFile::parse(FOUND).log();
    assert_eq!(
        joined(&log("theirs"), &log("ours")).unwrap().log(),
        format!("{base}\nours\ntheirs")
    );
    let emptied = edited(FOUND, |it| it.set_log(""));
    assert_eq!(joined(&log("theirs"), &emptied).unwrap().log(), "theirs");
    let rewritten = edited(FOUND, |it| it.set_log("new"));
    assert_eq!(joined(&rewritten, &log("ours")).unwrap().log(), "new\nours");
    assert_eq!(joined(&rewritten, &edited(FOUND, |it| it.set_log("other"))), None);
}

#[test]
fn a_plan_or_a_section_that_both_changed_cannot_be_joined() {
    let plan = |text: &'static str| edited(FOUND, |it| it.set_plan(text));
    assert_eq!(joined(&plan("a"), &plan("b")), None);
    assert_eq!(joined(&plan("a"), &plan("a")).unwrap().plan(), "a");
    let own = |word| FOUND.replace("Anything", word);
    assert_eq!(joined(&own("a"), &own("b")), None);
}

#[test]
fn sections_that_either_side_added_or_removed_are_respected() {
    let theirs = FOUND.replace("## Notes of ours\nAnything goes.\n\n", "");
    let ours = format!("{FOUND}\n\n## Later\nx\n");
    let file = joined(&theirs, &ours).unwrap();
    assert_eq!(file.own_sections(), [("Later".to_owned(), "x".to_owned())]);
    assert_eq!(joined(&theirs, &FOUND.replace("Anything", "x")), None);
    let ours = FOUND.replace("## Rules", "## New\nn\n\n## Rules");
    let both = StateFile::rebase(FOUND, &FOUND.replace("goes", "went"), &ours);
    assert_eq!(both, Some(ours.replace("goes", "went")));
    let both = StateFile::rebase("a\n", "b\r\n", "a\n## New\n");
    assert_eq!(both.as_deref(), Some("b\r\n\r\n## New\r\n"));
}

#[test]
fn a_fence_left_open_by_one_side_and_closed_by_the_other_cannot_be_joined() {
    let theirs = FOUND.replace("## Rules", "````\n\n## Rules");
    let ours = FOUND.replace("Anything goes.", "Anything goes.\n````\ncode\n````");
    assert_eq!(joined(&theirs, &ours), None);
}

#[test]
fn the_distance_tells_the_version_that_was_edited() {
    let later = edited(FOUND, |it| it.append_log(["x"]));
    let edit = later.replace("Anything", "Something").replace('\n', "\r\n");
    assert!(StateFile::distance(&later, &edit) < StateFile::distance(FOUND, &edit));
    assert_eq!(StateFile::distance(FOUND, &FOUND.replace('\n', "\r\n")), 1);
}

/// Where a side adds a line.
#[derive(Debug, Clone, Copy)]
enum Place {
    Plan,
    Rules,
    Items,
    Log,
    Archive,
    Own,
    Front,
    State,
    Any(usize),
}

fn place() -> impl Strategy<Value = Place> {
    use Place::{Any, Archive, Front, Items, Log, Own, Plan, Rules, State};
    let named = prop::sample::select(vec![Plan, Rules, Items, Log, Archive, Own, Front, State]);
    prop_oneof![2 => named, 1 => (0..60_usize).prop_map(Any)]
}

fn with_line(text: &str, place: Place, line: &str) -> String {
    let before = |heading: &str| text.replace(heading, &format!("{line}\n{heading}"));
    match place {
        Place::Plan => before("## Rules"),
        Place::Rules => before("## Notes"),
        Place::Items => {
            let items: Vec<Row> = StateFile::parse(text).items();
            with_row(text, items.iter().map(|it| it.id).max().unwrap_or_default() + 1, line)
        }
        Place::Log => edited(text, |it| it.append_log([line])),
        Place::Archive => edited(text, |it| it.append_archive_log([line])),
        Place::Own => before("## Items"),
        Place::Front => before("## State"),
        Place::State => before("## Plan"),
        Place::Any(at) => {
            let mut lines: Vec<&str> = text.split('\n').collect();
            lines.insert(at.min(lines.len()), line);
            lines.join("\n")
        }
    }
}

fn with_lines(places: &[Place], word: &str, fence: &str) -> (String, Vec<String>) {
    let lines: Vec<String> = (0..places.len()).map(|it| format!("{word}{it}end{fence}")).collect();
    let text = places.iter().zip(&lines);
    (text.fold(FOUND.to_owned(), |text, (place, line)| with_line(&text, *place, line)), lines)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_that_either_side_added_gets_lost(
        theirs in prop::collection::vec(place(), 0..4),
        ours in prop::collection::vec(place(), 0..4),
        fence in prop::sample::select(vec!["", "\n```", "\n## Own", "\n## Log"]),
        is_crlf in any::<bool>(),
    ) {
        let (mut theirs, mut lines) = with_lines(&theirs, "theirs", fence);
        let (ours, more) = with_lines(&ours, "ours", fence);
        lines.extend(more);
        if is_crlf {
            theirs = theirs.replace('\n', "\r\n");
        }
        if let Some(both) = StateFile::rebase(FOUND, &theirs, &ours) {
            for line in lines {
                let word = line.split('\n').next().unwrap_or_default();
                prop_assert!(both.contains(word), "{} of {:?}", word, both);
            }
        }
    }
}
