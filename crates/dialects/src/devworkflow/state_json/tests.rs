//! Both forms of a state file say the same.

use super::{Metadata, StateFile, from_json, to_json};

const FOUND: &str = include_str!("../state_file/tests/found.md");

/// As an older version wrote it.
const OLDER: &str = r#"{
  "metadata": {
    "client_id": "me",
    "created_at": "2025-05-28T19:00:00+00:00",
    "last_updated": "2025-05-28T19:17:37+00:00"
  },
  "state": {
    "phase": "ANALYZE",
    "status": "RUNNING",
    "current_item": "Add: login"
  },
  "plan": null,
  "items": [
    {
      "id": 1,
      "description": "Add: login",
      "status": "pending"
    }
  ],
  "log": [
    "[19:17:37] one\nof two lines",
    "[2025-05-28T19:17:38Z] two"
  ],
  "archive_log": null
}"#;

#[test]
fn the_json_form_comes_back_as_it_was() {
    let (file, metadata) = from_json(OLDER).unwrap();
    assert_eq!(
        (file.phase(), file.status(), file.date()),
        ("ANALYZE", "RUNNING", Some("2025-05-28"))
    );
    assert_eq!(file.log(), "[19:17:37] one\nof two lines\n[2025-05-28T19:17:38Z] two");
    assert_eq!(to_json(&file, &metadata), OLDER);
    assert_eq!(to_json(&StateFile::parse(file.text()), &metadata), OLDER);
}

#[test]
fn all_that_the_markdown_form_says_comes_back() {
    let file = StateFile::parse(FOUND);
    let metadata = Metadata { client_id: Some("me".to_owned()), ..Metadata::default() };
    let (read, known) = from_json(&to_json(&file, &metadata)).unwrap();
    assert_eq!(
        (known.client_id, known.last_updated),
        (metadata.client_id, Some("2024-12-19".to_owned()))
    );
    assert_eq!(
        (read.phase(), read.status(), read.date()),
        (file.phase(), file.status(), file.date())
    );
    assert_eq!((read.current_item(), read.items()), (file.current_item(), file.items()));
    assert_eq!(
        (read.plan(), read.log(), read.archive_log()),
        (file.plan(), file.log(), file.archive_log())
    );
    assert_eq!((read.rules(), read.own_sections()), (file.rules(), file.own_sections()));
}

#[test]
fn what_is_empty_becomes_null_but_the_items_stay_a_list() {
    let text = to_json(&StateFile::blank(), &Metadata::default());
    for line in [
        "\"plan\": null",
        "\"items\": []",
        "\"log\": null",
        "\"archive_log\": null",
        "\"current_item\": null",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("rules") && !text.contains("sections"));
    assert_eq!(from_json(&text).unwrap().0, StateFile::blank());
}

#[test]
fn what_is_missing_has_its_default_and_what_is_wrong_is_said() {
    assert_eq!(from_json("{}").unwrap().0, StateFile::blank());
    let (file, _) = from_json(r#"{"log": "one", "more": 1}"#).unwrap();
    assert_eq!(file.log(), "one");
    for text in ["", "[]", r#"{"items": [{"id": "x"}]}"#, r#"{"plan": 3}"#] {
        assert!(from_json(text).is_err(), "{text}");
    }
}
