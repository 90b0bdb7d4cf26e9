//! Finding past work by its words, and looking after what is kept of it.

use regex::Regex;
use serde_json::{Value, json};

use crate::{fixtures::yaml, said::Said, stage::Stage};

const TREE: &str = "    a: {goal: x, acceptance_criteria: {c: y}, next_allowed_nodes: [b]}\n    b: \
                    {goal: z}\n";

/// Three pieces of work that have nothing to do with each other.
const WORK: [(&str, &str, &str); 3] = [
    ("Payments", "Fix: rounding of invoices", "the invoice totals are rounded half to even now"),
    ("Kernels", "Tune: matrix multiplication", "blocked loops keep tiles within the cache lines"),
    ("Gardens", "Plant: tomatoes", "seedlings were moved outdoors after the last frost"),
];

fn filled(settings: &[(&str, &str)]) -> (Stage, Vec<String>) {
    let stage = Stage::graph(settings);
    let ids = WORK.map(|(name, task, evidence)| {
        let start = json!({
            "action": "start", "context": yaml(name, "a", TREE), "task_description": task,
        });
        let id = stage.guide(start).session();
        let choice = json!({"choose": "b", "criteria_evidence": {"c": evidence}});
        stage.go(&id, &choice);
        id
    });
    (stage, ids.to_vec())
}

fn cached() -> (Stage, Vec<String>) {
    filled(&[("cache", "true")])
}

fn search(stage: &Stage, query: &str, more: &Value) -> Said {
    let mut arguments = json!({"query": query});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.read("workflow_semantic_search", arguments)
}

/// Returns the results: the text of each, and how similar it is said to be.
fn results(said: &Said) -> Vec<(String, f64)> {
    let number = Regex::new(r"(?i)similarity\D*(\d\.\d{3})\b").unwrap();
    let blocks = Regex::new(r"(?m)^--- Result \d+ ---$").unwrap();
    let blocks: Vec<&str> = blocks.split(&said.text).skip(1).collect();
    let similar = |block: &str| {
        let found = number.captures(block).unwrap_or_else(|| panic!("no similarity in {block}"));
        found[1].parse().unwrap()
    };
    blocks.into_iter().map(|it| (it.to_owned(), similar(it))).collect()
}

#[test]
fn b28_the_session_that_the_words_are_of_comes_first_and_clearly() {
    let (stage, ids) = cached();
    let queries = [
        "rounded invoice totals",
        "matrix tiles cache lines blocked loops",
        "seedlings and frost for tomatoes",
    ];
    for (number, query) in queries.into_iter().enumerate() {
        let said = search(&stage, query, &json!({"min_similarity": 0.0}));
        let found = results(&said);
        assert!(!found.is_empty(), "{}", said.text);
        assert!(found[0].0.contains(&ids[number]), "{query}: {}", said.text);
        assert!(found[0].0.contains(WORK[number].2), "{query}: {}", said.text);
        for (block, similar) in &found[1..] {
            assert!(*similar < 0.3 && similar + 0.1 < found[0].1, "{query}: {block}");
        }
        assert!(found.iter().all(|(_, it)| (0.0..=1.0).contains(it)), "{}", said.text);
    }
}

#[test]
fn a_result_says_where_it_is_from() {
    let (stage, ids) = cached();
    let said = search(&stage, "seedlings frost tomatoes", &json!({"max_results": 1}));
    let found = results(&said);
    assert_eq!(found.len(), 1, "{}", said.text);
    for part in [ids[2].as_str(), "Gardens", "default", "COMPLETED", "b", "Plant: tomatoes"] {
        assert!(found[0].0.contains(part), "no {part} in {}", said.text);
    }
    assert!(said.text.contains("--- Result 1 ---"));
}

#[test]
fn limits_are_brought_into_their_range() {
    let (stage, _) = cached();
    for (given, most) in [(json!(0), 1), (json!(-5), 1), (json!(2), 2), (json!(5000), 3)] {
        let said =
            search(&stage, "seedlings", &json!({"max_results": given, "min_similarity": -3}));
        assert!(results(&said).len() <= most, "{given}: {}", said.text);
        assert!(!results(&said).is_empty(), "{given}: {}", said.text);
    }
    let said = search(&stage, "zebra quartz", &json!({"min_similarity": 7}));
    said.has(&["No results found for query: zebra quartz"]);
}

#[test]
fn results_are_sorted_and_the_threshold_holds() {
    let (stage, _) = cached();
    let said = search(&stage, "invoice frost tiles", &json!({"min_similarity": 0.0}));
    let similar: Vec<f64> = results(&said).into_iter().map(|it| it.1).collect();
    assert!(similar.is_sorted_by(|left, right| left >= right), "{similar:?}");
    let said = search(&stage, "rounded invoice totals", &json!({"min_similarity": 0.2}));
    assert!(results(&said).iter().all(|it| 0.2 <= it.1), "{}", said.text);
    search(&stage, "xylophone", &json!({"min_similarity": 0.9}))
        .has(&["No results found for query: xylophone"]);
}

#[test]
fn the_same_words_bring_the_same_answer() {
    let (stage, _) = cached();
    let first = search(&stage, "rounded invoice totals", &json!({}));
    assert_eq!(search(&stage, "rounded invoice totals", &json!({})), first);
    let stage = stage.restart();
    let again = search(&stage, "rounded invoice totals", &json!({}));
    assert_eq!(results(&again), results(&first));
}

#[test]
fn b29_without_the_cache_there_is_no_search_but_a_list() {
    let (stage, ids) = filled(&[]);
    let said = stage.call("workflow_semantic_search", json!({"query": "frost"}));
    said.has(&["❌ Cache mode not enabled. Semantic analysis unavailable."]);
    assert!(said.is_error, "{:#}", said.value);
    let said = stage.read("workflow_cache_management", json!({"operation": "list"}));
    for ((name, task, _), id) in WORK.into_iter().zip(&ids) {
        said.has(&[name, task, id]);
    }
    let said = stage.call("workflow_cache_management", json!({"operation": "stats"}));
    said.has(&["❌ Cache mode is not enabled or not available"]);
}

#[test]
fn nothing_is_listed_where_nothing_is() {
    let stage = Stage::graph(&[]);
    for client in ["default", "someone"] {
        let arguments = json!({"operation": "list", "client_id": client});
        let said = stage.read("workflow_cache_management", arguments);
        said.has(&[&format!("📭 No cached sessions found for client '{client}'")]);
    }
}

#[test]
fn restoring_counts_what_was_not_there() {
    let (stage, ids) = cached();
    let restore = json!({"operation": "restore"});
    let said = stage.done("workflow_cache_management", restore.clone());
    said.lacks(&["restored 3"]);
    let stage = stage.restart();
    stage.done("workflow_cache_management", restore);
    for id in &ids {
        assert_eq!(stage.guide(json!({"session_id": id})).session(), *id);
    }
}

#[test]
fn the_statistics_count_what_is_there() {
    let (stage, _) = cached();
    stage.begin("workflow: Tiny");
    let said = stage.read("workflow_cache_management", json!({"operation": "stats"}));
    said.has(&["4", "3", "1", "workflow_states"]);
}

#[test]
fn the_index_can_be_made_again() {
    let (stage, ids) = cached();
    for operation in ["regenerate_embeddings", "force_regenerate_embeddings"] {
        let said = stage.done("workflow_cache_management", json!({"operation": operation}));
        if operation.starts_with("force") {
            said.has(&["3"]);
        }
        let said = search(&stage, "rounded invoice totals", &json!({}));
        assert!(results(&said)[0].0.contains(&ids[0]), "{}", said.text);
    }
    // Also when everything but the sessions is gone.
    let stage = stage.restart_without_database();
    stage.done("workflow_cache_management", json!({"operation": "force_regenerate_embeddings"}));
    let said = search(&stage, "rounded invoice totals", &json!({}));
    assert!(results(&said)[0].0.contains(&ids[0]), "{}", said.text);
}

#[test]
fn an_operation_that_is_not_there_is_refused_with_those_that_are() {
    let stage = Stage::graph(&[]);
    let said = stage.refused("workflow_cache_management", json!({"operation": "peel"}));
    said.has(&["❌ **Invalid operation:**", "list", "restore", "stats"]);
    said.has(&["regenerate_embeddings", "force_regenerate_embeddings", "cleanup", "delete"]);
}

#[test]
fn what_was_put_away_is_still_found_and_what_was_deleted_is_not() {
    let (stage, ids) = cached();
    let found = |query: &str| search(&stage, query, &json!({}));
    stage.done("workflow_state", json!({"operation": "reset", "session_id": ids[2]}));
    found("seedlings frost tomatoes").has(&[&ids[2]]);
    found("matrix tiles blocked loops").has(&[&ids[1]]);
    let delete = json!({"operation": "delete", "session_id": ids[1]});
    stage.done("workflow_cache_management", delete);
    found("matrix tiles blocked loops").lacks(&[&ids[1]]);
}

#[test]
fn a_change_is_found_at_once() {
    let (stage, _) = cached();
    let id = stage.begin(&yaml("Letters", "a", TREE));
    stage.update_session(&id, &json!({"log_entry": "the typographer chose garamond ligatures"}));
    let said = search(&stage, "garamond ligatures typographer", &json!({}));
    assert!(results(&said)[0].0.contains(&id), "{}", said.text);
}
