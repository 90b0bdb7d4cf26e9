//! Laws of search: what is found, in which order, and that no text can break it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use engine::Timestamp;
use store::{Hit, Search, Store};

use crate::support::{append, run};

pub(crate) async fn an_answered_append_is_found(store: &dyn Store) {
    assert!(found(store, "anything").await.is_empty());
    for length in 0..20 {
        let word = format!("word{length}");
        store.append(append(run(1), length, &[&word])).await.unwrap();
        assert_eq!(found(store, &word).await, [length + 1]);
    }
}

pub(crate) async fn all_words_are_looked_for_and_then_any(store: &dyn Store) {
    store.append(append(run(1), 0, &["red apple", "green apple", "green pear"])).await.unwrap();
    for (text, expected) in [
        ("apple green", vec![2]),
        ("apple", vec![2, 1]),
        ("pear", vec![3]),
        ("red pear", vec![1, 3]),
        ("pear unheard", vec![3]),
        ("unheard", vec![]),
    ] {
        let mut seqs = found(store, text).await;
        seqs.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(seqs, expected, "{text}");
    }
}

pub(crate) async fn words_are_the_same_in_every_form(store: &dyn Store) {
    store.append(append(run(1), 0, &["The Migrations were FAILING"])).await.unwrap();
    for text in ["migration", "MIGRATIONS", "migrate", "fail", "failed", "fails failing"] {
        assert_eq!(found(store, text).await, [1], "{text}");
    }
}

pub(crate) async fn beginnings_and_phrases_are_found(store: &dyn Store) {
    let texts = ["the disk was full", "full of disks", "database migration order"];
    store.append(append(run(1), 0, &texts)).await.unwrap();
    for (text, expected) in [
        ("dat*", vec![3]),
        ("migr*", vec![3]),
        ("migratio*", vec![3]),
        ("dis* ful*", vec![1, 2]),
        ("\"disk was full\"", vec![1]),
        ("\"was disk\"", vec![]),
        ("\"migration order\" data*", vec![3]),
        ("dat", vec![]),
    ] {
        let mut seqs = found(store, text).await;
        seqs.sort_unstable();
        assert_eq!(seqs, expected, "{text}");
    }
}

pub(crate) async fn better_is_first(store: &dyn Store) {
    let long = format!("lock {}", "filler ".repeat(60));
    let texts = ["nothing of it", &long, "lock lock lock", "another", "and another"];
    store.append(append(run(1), 0, &texts)).await.unwrap();
    let hits = search(store, "lock").await;
    assert_eq!(hits.iter().map(|hit| hit.seq).collect::<Vec<_>>(), [3, 2]);
    assert!(hits[1].score < hits[0].score);
}

pub(crate) async fn no_text_can_break_a_search(store: &dyn Store) {
    store.append(append(run(1), 0, &["plain and simple not near or"])).await.unwrap();
    let endless = "word ".repeat(50_000);
    for text in [
        "",
        " ",
        "*",
        "\"",
        "\"\"",
        "\"\"\"",
        "-",
        "^",
        ":",
        "()",
        "( )",
        "'",
        "''",
        ";--",
        "\\",
        "{text} : x",
        "text:plain",
        "run : x",
        "NEAR(a b, 2)",
        "a NOT b",
        "NOT",
        "AND",
        "OR OR",
        "plain AND",
        "\"plain",
        "plain\"",
        "pl*in",
        "**",
        "* *",
        "plain +simple",
        "x{1,2}",
        "\0",
        "plain\0simple",
        "Ⓐ",
        "Ⓐ plain",
        "\u{300}",
        "a\u{300}",
        "١٢٣",
        "½",
        "\u{e000}",
        "𝒳",
        "%",
        "_",
        "?1",
        "-plain",
        "^plain",
        "plain^2",
        "col-umn",
        "[x]",
        "<x>",
        "日本",
        "é*",
        "𝒳*",
        &endless,
    ] {
        let hits = search(store, text).await;
        assert!(hits.len() <= 1, "{text:?}");
    }
    for text in ["...", "* -- \"\" ()", "\u{200b}", "!?"] {
        assert!(found(store, text).await.is_empty(), "{text:?}");
    }
    for text in ["AND", "not near", "plain* AND simple", "(plain)", "-simple", "plain: simple"] {
        assert_eq!(found(store, text).await, [1], "{text:?}");
    }
}

pub(crate) async fn a_search_stays_within_its_run_and_project(store: &dyn Store) {
    for (number, project) in [(1, "one"), (2, "one"), (3, "two")] {
        let mut append = append(run(number), 0, &["shared word"]);
        append.project = project.to_owned();
        store.append(append).await.unwrap();
    }
    let asked = Search { text: "shared".to_owned(), limit: 9, ..Search::default() };
    for (project, only, expected) in [
        (None, None, vec![3, 2, 1]),
        (Some("one"), None, vec![2, 1]),
        (Some("two"), None, vec![3]),
        (Some("none"), None, vec![]),
        (None, Some(run(2)), vec![2]),
        (Some("one"), Some(run(2)), vec![2]),
        (Some("two"), Some(run(2)), vec![]),
        (None, Some(run(9)), vec![]),
    ] {
        let project = project.map(str::to_owned);
        let hits = store.search(Search { project, run: only, ..asked.clone() }).await.unwrap();
        let runs: Vec<u128> =
            hits.hits.iter().map(|hit| u128::from_be_bytes(*hit.run.as_bytes())).collect();
        assert_eq!(runs, expected);
    }
}

pub(crate) async fn pages_of_hits_follow_each_other(store: &dyn Store) {
    let texts: Vec<String> = (1..=17).map(|count| "same ".repeat(count)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    store.append(append(run(1), 0, &texts)).await.unwrap();
    let asked = Search { text: "same".to_owned(), limit: 100, ..Search::default() };
    let whole = store.search(asked.clone()).await.unwrap().hits;
    assert_eq!(whole.len(), 17);
    let mut paged: Vec<Hit> = Vec::new();
    for offset in (0..20).step_by(5) {
        let page = store.search(Search { offset, limit: 5, ..asked.clone() }).await.unwrap();
        paged.extend(page.hits);
    }
    assert_eq!(paged, whole);
    assert_eq!(store.search(Search { limit: 0, ..asked }).await.unwrap().hits, []);
}

pub(crate) async fn what_was_found_is_shown(store: &dyn Store) {
    store.append(append(run(7), 0, &["first", "The disks\nwere full."])).await.unwrap();
    let hits = search(store, "disk full").await;
    let hit = &hits[0];
    assert_eq!((hit.run, hit.seq, hit.kind.as_str()), (run(7), 2, "EntryRecorded"));
    assert_eq!(hit.at, Timestamp(1002));
    assert_eq!(hit.snippet, "The [disks] were [full].");
}

pub(crate) async fn any_script_is_found(store: &dyn Store) {
    let texts = ["Größe naïve", "日本語 テスト", "Проверка связи", "scene_0204 x86-64", "İstanbul"];
    store.append(append(run(1), 0, &texts)).await.unwrap();
    for (text, expected) in [
        ("größe", 1),
        ("GRÖSSE größe", 1),
        ("naive", 1),
        ("日本語", 2),
        ("テス*", 2),
        ("ПРОВЕРКА", 3),
        ("0204", 4),
        ("x86-64", 4),
        ("scene 64", 4),
    ] {
        assert_eq!(found(store, text).await, [expected], "{text}");
    }
}

async fn search(store: &dyn Store, text: &str) -> Vec<Hit> {
    let asked = Search { text: text.to_owned(), limit: 100, ..Search::default() };
    let found = store.search(asked).await.unwrap();
    assert_eq!(found.pending, 0, "nobody was in the way");
    found.hits
}

async fn found(store: &dyn Store, text: &str) -> Vec<u64> {
    search(store, text).await.iter().map(|hit| hit.seq).collect()
}
