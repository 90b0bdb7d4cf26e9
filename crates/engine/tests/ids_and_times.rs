//! How ids and moments are written, and read back.

use std::time::Duration;

use engine::{RunId, Timestamp};

#[test]
fn an_id_is_read_in_both_forms() {
    for seed in [0_u128, 1, u128::MAX, 0x0190_1234_5678_7abc_8def_0123_4567_89ab] {
        let run = RunId::from_bytes(seed.to_be_bytes());
        assert_eq!(RunId::parse(&run.to_string()), Some(run));
        assert_eq!(RunId::parse(&run.short()), Some(run));
        assert_eq!(RunId::parse(&run.short().to_uppercase().replace("RUN_", "run_")), Some(run));
    }
}

#[test]
fn what_is_no_id_is_none() {
    for text in [
        "",
        "run_",
        "run_zzzzzzzzzzzzzzzzzzzzzzzzzz",
        "run_0000000000000000000000000u",
        "01901234567 87abc-8def-0123-456789ab",
        "01901234-5678-7abc-8def-0123456789a",
        "01901234x5678-7abc-8def-0123456789ab",
        "../../etc/passwd",
    ] {
        assert_eq!(RunId::parse(text), None, "{text}");
    }
}

#[test]
fn the_beginning_of_an_id_spans_every_id_that_begins_so() {
    let run = RunId::from_bytes(0x0190_1234_5678_7abc_8def_0123_4567_89ab_u128.to_be_bytes());
    for whole in [run.to_string(), run.short()] {
        for length in 5..whole.len() {
            let (first, last) = RunId::parse_prefix(&whole[..length]).unwrap();
            assert!(first <= run && run <= last, "{}", &whole[..length]);
        }
    }
    assert_eq!(RunId::parse_prefix("run_u"), None);
    assert_eq!(RunId::parse_prefix("scene"), None);
}

#[test]
fn a_moment_is_read_as_it_was_written() {
    let cases = [
        (0, "1970-01-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (1_767_225_599_999_999, "2025-12-31T23:59:59.999999Z"),
        (4_107_542_400_000_001, "2100-03-01T00:00:00.000001Z"),
    ];
    for (micros, text) in cases {
        assert_eq!(Timestamp(micros).to_string(), text);
        assert_eq!(Timestamp::parse(text), Some(Timestamp(micros)));
    }
    let half = Timestamp::parse("1970-01-01T00:00:01.5Z").unwrap();
    assert_eq!(half, Timestamp(1_500_000));
    assert_eq!(half.since(Timestamp(500_000)), Duration::from_secs(1));
    assert_eq!(Timestamp(0).since(half), Duration::ZERO);
}

#[test]
fn what_is_no_moment_is_none() {
    for text in [
        "",
        "Z",
        "2026-01-01",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00",
    ] {
        assert_eq!(Timestamp::parse(text), None, "{text}");
    }
}
