//! Every shipped definition, from its start to its end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{done, id_of, in_both_eras, played::Played, project::Project, server::Server};

/// The workflows that are played with the files and the evidence that their scenarios have.
const PLAYED: [&str; 18] = [
    "REFACTOR_WITH_TESTS",
    "RESUME",
    "SAVE",
    "SPRINT_TASK",
    "WORK",
    "WORKFLOW_CREATOR",
    "bug-fix",
    "build",
    "code-review",
    "data-migration",
    "dependency-upgrade",
    "documentation",
    "feature",
    "incident",
    "long-form",
    "refactor",
    "release",
    "research",
];

/// How much longer than its list of steps a run can be: parts are reported one by one.
const PARTS_MAX: usize = 4;

/// The most steps that one of the graphs has.
const GRAPH_STEPS_MAX: usize = 10;

/// The graphs: the agent names each step that follows.
const GRAPHS: [&str; 9] = [
    "Approval Example Workflow",
    "Classic",
    "Custom template",
    "Debugging Workflow",
    "Default Coding Workflow",
    "Documentation Workflow",
    "Editorial Article Workflow",
    "Simple Decision Workflow",
    "Simple Linear Workflow",
];

#[test]
fn every_graph_is_completed_by_going_where_one_has_not_been() {
    in_both_eras(|project, server| {
        let steps = count_steps(server);
        for name in GRAPHS {
            // They are not listed here, and can be started all the same.
            assert!(!steps.contains_key(name), "{name}");
            let context = json!({"task_description": "the task"});
            let arguments = json!({"workflow_name": name, "context": context});
            let begun = done(server, "start_workflow", arguments);
            // A step with several that may follow is reported twice: that it is done, and which.
            assert!(play(project, server, begun) <= 2 * GRAPH_STEPS_MAX, "{name}");
        }
    });
}

#[test]
fn a22_every_workflow_of_the_gallery_is_completed_with_its_files_and_evidence() {
    in_both_eras(|project, server| {
        let steps = count_steps(server);
        for name in PLAYED {
            let played = Played::read(name);
            let mut arguments = json!({"workflow_name": name, "context": played.context});
            // A key that the scenario has may be one that the workflow wants.
            let key = played.key.clone().unwrap_or_else(|| "plain".to_owned());
            arguments["key"] = json!(key);
            let begun = done(server, "start_workflow", arguments);
            let write = || {
                for (path, text) in played.files(&key) {
                    project.write(&path, &text);
                }
                project.write("scripts/check", "exit 0\n");
                if ["refactor", "dependency-upgrade"].contains(&name) {
                    project.ask(&["trust", "--yes"]);
                }
            };
            let advances = play_with(project, server, begun, write);
            assert!(advances <= steps[name] + PARTS_MAX, "{name} took {advances} advances");
        }
    });
}

#[test]
fn a22_every_other_workflow_is_completed_with_its_files_and_answers() {
    in_both_eras(|project, server| {
        let steps = count_steps(server);
        let others: Vec<&String> = steps.keys().filter(|it| !is_ours(it)).collect();
        assert_eq!(others, ["dev-workflow", "forge", "scene-generation"]);
        for (flow, key) in [("light", "S-1"), ("standard", "M-1"), ("full", "L-1")] {
            let arguments = json!({"workflow_name": "forge", "flow": flow, "key": key});
            let begun = done(server, "start_workflow", arguments);
            // Parts are reported one by one, and tasks and reviews have two each.
            // What a review said before is taken away when its subject is made again.
            let write = || write_forge(project, key);
            assert!(play_with(project, server, begun, write) <= steps["forge"] + 1 + 2);
        }
        let begun = done(server, "start_workflow", json!({"workflow_name": "dev-workflow"}));
        assert!(play(project, server, begun) <= steps["dev-workflow"] + 1);
        let arguments = json!({"workflow_name": "scene-generation", "key": "0204"});
        let begun = done(server, "start_workflow", arguments);
        assert!(play(project, server, begun) <= steps["scene-generation"] + 1 + 6);
    });
}

fn is_ours(name: &str) -> bool {
    name == "DEMO" || PLAYED.contains(&name) || GRAPHS.contains(&name)
}

fn count_steps(server: &Server) -> BTreeMap<String, usize> {
    let answer = done(server, "list_workflows", json!({}));
    let count = |it: &Value| {
        let name = it["name"].as_str().unwrap();
        let whole = done(server, "list_workflows", json!({"workflow_name": name}));
        (name.to_owned(), whole["workflows"][0]["steps"].as_array().unwrap().len())
    };
    answer["workflows"].as_array().unwrap().iter().map(count).collect()
}

/// Reports success until the run is over, answers its gates, and returns how many reports it took.
fn play(project: &Project, server: &Server, begun: Value) -> usize {
    play_with(project, server, begun, || {})
}

/// The same, with something that is done before each report.
fn play_with(project: &Project, server: &Server, begun: Value, before: impl Fn()) -> usize {
    const ADVANCES_MAX: usize = 60;
    let run = id_of(&begun);
    let mut answer = begun;
    let (mut step, mut seen) = (String::new(), BTreeSet::new());
    for advances in 0..ADVANCES_MAX {
        while answer["status"] == "SUSPENDED" {
            let arguments = json!({"instance_id": run, "answer": "approve", "person": "ann"});
            let relayed = server.call("answer_gate", arguments);
            answer = relayed.value;
            // Where only a person's own answer counts, the person gives it.
            if relayed.is_error {
                project.ask(&["gate", "approve", &run, "--yes"]);
                answer = done(server, "get_workflow_status", json!({"instance_id": run}));
            }
        }
        if answer["status"] == "COMPLETED" {
            return advances;
        }
        before();
        assert_eq!(answer["status"], "RUNNING", "{answer:#}");
        if let Some(next) = answer["next_step"]["step_name"].as_str() {
            next.clone_into(&mut step);
            seen.insert(step.clone());
        }
        let evidence = answer["next_step"]["criteria"].clone();
        let details = json!({"evidence": evidence, "verdict": "APPROVE"});
        let report = json!({"step_id": step, "status": "success", "details": details});
        let mut arguments = json!({"instance_id": run, "report": report});
        if let Some(choices) = answer["choices"].as_array() {
            let names = || choices.iter().filter_map(|it| it["step_name"].as_str());
            let fresh = names().find(|it| !seen.contains(*it));
            arguments["next_step_name"] = fresh.or_else(|| names().next_back()).into();
        }
        if let Some(part) = answer["parts"].get(0) {
            arguments["part"] = part["id"].clone();
        }
        answer = done(server, "advance_workflow", arguments);
    }
    panic!("run {run} is not over after {ADVANCES_MAX} advances: {answer:#}");
}

/// Writes every file that the forge asks for into the folder of a run, with two tasks and reviews that approve.
fn write_forge(project: &Project, key: &str) {
    let verdict = "# Review\n\n## Verdict: APPROVE\n";
    for (path, text) in [
        ("request.md", "# Request\n"),
        ("analysis.md", "# Analysis\n"),
        ("investigation.md", "# Investigation\n"),
        ("design.md", "# Design\n\n## Approach\n\nSmall.\n"),
        ("review-design.md", verdict),
        (
            "tasks.md",
            "# Tasks\n\n## Task 1: Build\n\nmode: sequential\n\n## Task 2: Test\n\nmode: sequential\n",
        ),
        ("review-tasks.md", verdict),
        ("impl-1.md", "# Done\n"),
        ("impl-2.md", "# Done\n"),
        ("review-1.md", "# Review\n\n## Verdict: PASS\n"),
        ("review-2.md", "# Review\n\n## Verdict: PASS\n"),
        ("comprehensive-review.md", "# All good\n"),
        ("final-verification.md", "# Verified\n"),
        ("summary.md", "# Summary\n"),
    ] {
        project.write(&format!("{key}/{path}"), text);
    }
}
