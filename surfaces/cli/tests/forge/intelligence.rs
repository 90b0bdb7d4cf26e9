//! What past runs teach: estimates, the dashboard, search, patterns and friction.

use serde_json::{Value, json};

use crate::{
    fixtures::{Past, leave},
    player::Player,
    stage::{Stage, words, world},
};

const MINUTE: u64 = 60_000;

const RUNS: [Past; 4] = [
    Past {
        folder: "20260101-run0",
        name: "run0",
        effort: "M",
        tokens: 100_000,
        duration_ms: MINUTE,
    },
    Past {
        folder: "20260102-run1",
        name: "run1",
        effort: "M",
        tokens: 200_000,
        duration_ms: 2 * MINUTE,
    },
    Past {
        folder: "20260103-run2",
        name: "run2",
        effort: "M",
        tokens: 300_000,
        duration_ms: 3 * MINUTE,
    },
    Past {
        folder: "20260104-run3",
        name: "run3",
        effort: "M",
        tokens: 400_000,
        duration_ms: 4 * MINUTE,
    },
];
const SMALL: Past = Past {
    folder: "20260108-s",
    name: "s",
    effort: "S",
    tokens: 1_234_567,
    duration_ms: 3_661_000,
};
const GIVEN_UP: Past =
    Past { folder: "20260105-ab", name: "ab", effort: "M", tokens: 50, duration_ms: 1 };

/// A repository with a past, and a server that finds it there.
fn with_past() -> Stage {
    let project = world(&[]);
    let requests = [
        "# Add caching to search endpoint\n\nUse redis caching for search.",
        "Fix login timeout for users",
        "Third thing",
        "Fourth thing",
    ];
    for (run, request) in RUNS.iter().zip(requests) {
        leave(&project, run.folder, &run.state(), request);
    }
    let mut small = SMALL.state();
    small["revisions"]["designRevisions"] = json!(1);
    small["tasks"]["1"] = json!({
        "title": "t", "executionMode": "sequential", "depends_on": null, "files": null,
        "implStatus": "completed", "reviewStatus": "completed_pass",
        "implRetries": 2, "reviewRetries": 1,
    });
    leave(&project, SMALL.folder, &small, "Small thing");
    let mut given_up = GIVEN_UP.state();
    given_up["currentPhase"] = json!("phase-3");
    given_up["currentPhaseStatus"] = json!("abandoned");
    given_up["completedPhases"] = json!(["setup", "phase-1", "phase-2"]);
    given_up["flowTemplate"] = Value::Null;
    leave(&project, GIVEN_UP.folder, &given_up, "Given up");
    project.write(
        ".specs/20260101-run0/review-design.md",
        "## Verdict: REVISE\n\n**1. [CRITICAL] Cache invalidation missing**\n\n**2. [MINOR] \
         naming**\n",
    );
    project.write(
        ".specs/20260101-run0/impl-1.md",
        "# Task 1: cache\n\n## Files Modified\n\n- `src/cache.rs` - new\n- **bold/x.rs**\n- \
         src/lib.rs — edit\n- README.md\n",
    );
    Stage::over(project)
}

fn estimate(stage: &Stage, effort: &str) -> Value {
    stage.done("analytics_estimate", json!({"effort": effort})).json()
}

#[track_caller]
fn is_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("no number: {value}"));
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

#[test]
fn a33_an_estimate_comes_from_the_completed_runs_of_its_effort() {
    let stage = with_past();
    let told = estimate(&stage, "M");
    assert_eq!(told["sample_size"], 4, "{told:#}");
    assert_eq!(told["tokens"], json!({"p50": 200_000, "p90": 400_000}));
    is_near(&told["duration_min"]["p50"], 2.0);
    is_near(&told["duration_min"]["p90"], 4.0);
    is_near(&told["cost_usd"]["p50"], 1.2);
    is_near(&told["cost_usd"]["p90"], 2.4);
    assert_eq!(told["confidence"], "medium");
}

#[test]
fn a33_one_run_is_its_own_estimate_and_none_is_nothing() {
    let stage = with_past();
    let told = estimate(&stage, "S");
    assert_eq!((&told["sample_size"], &told["confidence"]), (&json!(1), &json!("low")));
    assert_eq!(told["tokens"], json!({"p50": 1_234_567, "p90": 1_234_567}));
    let told = estimate(&stage, "L");
    assert_eq!(told["sample_size"], 0, "{told:#}");
    assert_eq!(told["tokens"], json!({"p50": 0, "p90": 0}));
}

#[test]
fn a33_whoever_starts_a_run_is_told_the_estimate() {
    let stage = with_past();
    let workspace = stage.specs("20260201-new");
    let arguments = json!({"workspace": workspace, "task_text": "rename the button label"});
    let said = stage.done("pipeline_init_with_context", arguments).json();
    let shown = said["needs_user_confirmation"]["estimate_display"].as_str().unwrap();
    assert!(shown.contains("1,234,567 tokens") && shown.contains("$7.41"), "{shown}");
}

#[test]
fn a34_the_dashboard_sums_up_every_run() {
    let told = with_past().done("analytics_repo_dashboard", json!({})).json();
    assert_eq!(told["completed"], 5, "{told:#}");
    assert_eq!(told["abandoned"], 1, "{told:#}");
    assert_eq!(told["total_pipelines"], 6, "{told:#}");
    assert_eq!(told["total_tokens"], 2_234_617, "{told:#}");
    let flows = &told["by_flow_template"];
    assert_eq!((&flows["standard"]["count"], &flows["light"]["count"]), (&json!(4), &json!(1)));
    is_near(&told["review_pass_rate"], 0.8);
    is_near(&told["avg_retries_per_pipeline"], 0.6);
    assert_eq!(told["most_common_findings"], json!([]));
}

#[test]
fn a_run_is_summed_up_by_itself() {
    let stage = with_past();
    let arguments = json!({"workspace": stage.specs(SMALL.folder)});
    let told = stage.done("analytics_pipeline_summary", arguments).json();
    assert_eq!((&told["pipeline"], &told["effort"]), (&json!("s"), &json!("S")));
    assert_eq!(told["total_tokens"], 1_234_567);
    assert_eq!(told["total_duration"], "1h 1m 1s");
    assert_eq!((&told["retries"], &told["phases_executed"]), (&json!(3), &json!(3)));
    is_near(&told["estimated_cost_usd"], 7.407_402);
    let arguments = json!({"workspace": stage.specs("20260101-run0")});
    let told = stage.done("analytics_pipeline_summary", arguments).json();
    assert_eq!(told["review_findings"], json!({"critical": 1, "minor": 1}));
}

fn search(stage: &Stage, query: &str, limit: u32) -> Vec<Value> {
    let arguments = json!({"query": query, "limit": limit});
    let told = stage.done("history_search", arguments).json();
    assert!(told["index_size"].is_u64(), "{told:#}");
    told["results"].as_array().unwrap_or_else(|| panic!("{told:#}")).clone()
}

fn names(found: &[Value]) -> Vec<&str> {
    found.iter().map(|it| it["spec_name"].as_str().unwrap()).collect()
}

#[test]
fn a35_past_runs_are_found_by_the_words_of_their_requests() {
    let stage = with_past();
    let found = search(&stage, "caching search endpoint", 1);
    assert_eq!(names(&found), ["run0"]);
    assert_eq!(found[0]["one_liner"], "Add caching to search endpoint");
    assert_eq!((&found[0]["outcome"], &found[0]["effort"]), (&json!("completed"), &json!("M")));
    assert_eq!(names(&search(&stage, "login caching", 3)), ["run1", "run0"]);
    assert!(search(&stage, "zzzz", 3).is_empty());
    assert!(search(&stage, "", 3).is_empty());
}

#[test]
fn a35_similarity_is_the_promised_number() {
    let project = world(&[]);
    leave(&project, RUNS[0].folder, &RUNS[0].state(), "Fix auth timeout\n\nbody text here");
    let stage = Stage::over(project);
    let found = search(&stage, "auth timeout", 3);
    let similarity = found[0]["similarity"].as_f64().unwrap();
    assert!((similarity - 0.82195).abs() < 1e-4, "{similarity}");
}

#[test]
fn a36_the_index_keeps_what_was_found_and_what_was_changed() {
    let stage = with_past();
    let said = stage.done("refresh_index", json!({"workspace": stage.specs(RUNS[0].folder)}));
    said.has(&["6"]);
    let text = std::fs::read_to_string(stage.specs("index.json")).unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    let entries = index.as_array().unwrap();
    assert_eq!(entries.len(), 6, "{text}");
    let run = entries.iter().find(|it| it["specName"] == "run0").unwrap();
    let [feedback] = run["reviewFeedback"].as_array().unwrap().as_slice() else {
        panic!("not one: {run:#}")
    };
    assert_eq!(feedback["source"], "review-design");
    let findings = ["1. [CRITICAL] Cache invalidation missing", "2. [MINOR] naming"];
    assert_eq!(words(&feedback["findings"]), findings);
    let changed = words(&run["implPatterns"][0]["filesModified"]);
    assert_eq!(changed, ["src/cache.rs", "src/lib.rs", "README.md"]);
    assert_eq!(run["implPatterns"][0]["taskTitle"], "Task 1: cache");
    assert_eq!(run["outcome"], "completed");
}

#[test]
fn an_index_json_of_someone_else_is_kept() {
    let stage = with_past();
    let refresh = |workspace: &str| {
        let arguments = json!({"workspace": stage.project.path(workspace)});
        stage.refused("refresh_index", arguments).text
    };
    let theirs = "{\"mine\": \"precious\"}\n";
    stage.project.write("web/public/a.txt", "a");
    for folder in ["web", ".specs"] {
        stage.project.write(&format!("{folder}/index.json"), theirs);
    }
    let spec = format!(".specs/{}", RUNS[0].folder);
    for workspace in ["web/public", "web/nosuch", ".specs/nosuch", ".specs", spec.as_str()] {
        let said = refresh(workspace);
        for folder in ["web", ".specs"] {
            let text = std::fs::read_to_string(stage.project.path(&format!("{folder}/index.json")));
            assert_eq!(text.unwrap(), theirs, "{workspace}: {said}");
        }
    }
    assert!(refresh(&spec).contains("move it away"));
    assert!(refresh(".specs/nosuch").contains("there is no folder"));
}

#[test]
fn a36_findings_and_changes_of_similar_runs_are_told() {
    let stage = with_past();
    stage.done("refresh_index", json!({"workspace": stage.specs(RUNS[0].folder)}));
    stage.project.write(".specs/20260301-new/request.md", "add search caching layer\n");
    let workspace = stage.specs("20260301-new");
    let said = stage.done("search_patterns", json!({"workspace": workspace}));
    let bullets: Vec<&str> = said.text.lines().filter(|it| it.starts_with("- ")).collect();
    assert_eq!(bullets.len(), 2, "{}", said.text);
    assert!(bullets.iter().all(|it| it.ends_with("_(from: run0)_")), "{}", said.text);
    let said = stage.done("search_patterns", json!({"workspace": workspace, "mode": "impl"}));
    let bullets: Vec<&str> = said.text.lines().filter(|it| it.starts_with("- ")).collect();
    let [bullet] = bullets.as_slice() else { panic!("not one: {}", said.text) };
    assert!(bullet.contains("files: src/cache.rs, src/lib.rs, README.md"), "{bullet}");
}

#[test]
fn without_an_index_there_is_nothing_to_tell() {
    let stage = Stage::begun("M");
    assert_eq!(stage.ok("search_patterns", json!({})).text, "");
}

#[test]
fn a_run_is_found_as_soon_as_it_is_completed() {
    let mut stage = Stage::begun("M");
    assert!(search(&stage, "thing", 3).is_empty());
    Player::new(&mut stage, &[("design.md", 1, "# Ornate\n\n## Decisions\n")]).play();
    let found = search(&stage, "thing", 3);
    assert_eq!(names(&found), ["x"]);
    let excerpt = found[0]["design_excerpt"].as_str().unwrap();
    assert!(excerpt.contains("# Ornate"), "{excerpt}");
    assert_eq!(found[0]["tokens_total"], 10_000);
}

#[test]
fn friction_is_learned_from_the_report_of_a_completed_run() {
    let summary = "# Done\n\n## Improvement Report\n\n- The documentation of the build was \
                   missing\n- Test coverage was unclear\n- An error was hidden\n- mitigation: \
                   write it down\n";
    let mut stage = Stage::begun("S");
    Player::new(&mut stage, &[("summary.md", 1, summary)]).play();
    let told = stage.done("history_get_friction_map", json!({})).json();
    assert_eq!(told["total_reports_analyzed"], 1, "{told:#}");
    assert!(!told["friction_points"].as_array().unwrap().is_empty(), "{told:#}");
}

#[test]
fn patterns_are_filtered_by_weight_and_agent_and_cut() {
    let stage = Stage::begun("M");
    stage.write_at("design.md", "# D\n\n## A\n", 0);
    let text = "## Verdict: REVISE\n**[CRITICAL] One flaw here**\n**[MINOR] Another blemish**\n";
    stage.write_at("review-design.md", text, 10);
    stage.put("phase-3b", json!({}));
    stage.report("phase-3b");
    let count = |arguments: Value| {
        let told = stage.done("history_get_patterns", arguments).json();
        told["patterns"].as_array().unwrap().len()
    };
    assert_eq!(count(json!({})), 2);
    assert_eq!(count(json!({"severity_filter": "CRITICAL"})), 1);
    assert_eq!(count(json!({"agent_filter": "task-reviewer"})), 0);
    assert_eq!(count(json!({"limit": 1})), 1);
}
