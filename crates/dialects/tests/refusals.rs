//! Every refusal there is, written down for those who match on it: `docs/reference/refusals.md`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../engine/tests/support/refusals.rs"]
mod support;

use std::{collections::BTreeMap, fmt::Write as _};

use dialects::core::WORDS;
use expect_test::expect_file;
use support::one_of_each;

#[test]
fn the_page_of_refusals_is_fresh() {
    let mut rows = BTreeMap::new();
    for refusal in one_of_each() {
        let (message, hint) = (refusal.to_string(), WORDS.hint(&refusal));
        let row = format!("| `{}` | {message} | {hint} |", refusal.code()).replace('\n', " ");
        assert!(rows.insert(refusal.code(), row).is_none(), "two refusals share a code");
    }
    let mut page = String::from(
        "# Refusals\n\n\
         Generated from the code; do not edit.\n\n\
         A refusal says that the rules do not allow a call now: nothing was written, and the same \
         call gets the same answer.\n\
         A code never changes its meaning. Names and numbers in the messages are examples, and the \
         hints are those of the toolset `core`: each toolset names its own calls.\n\n\
         | code | message | hint |\n|---|---|---|\n",
    );
    for row in rows.values() {
        writeln!(page, "{row}").unwrap();
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/refusals.md");
    expect_file![file].assert_eq(&page);
}

#[test]
fn a_message_is_a_fragment_and_so_is_what_helps() {
    for refusal in one_of_each() {
        for text in [refusal.to_string(), refusal.remedy().to_string()] {
            assert!(!text.ends_with('.'), "`{text}` ends with a full stop");
            assert!(!text.starts_with(char::is_uppercase), "`{text}` begins with a capital");
            assert!(!text.contains("milepost ") || text.contains("version"), "`{text}` has a call");
        }
    }
}
