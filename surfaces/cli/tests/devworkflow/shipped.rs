//! The workflows that come with the program: each is valid, starts, and is walked to its end, with
//! approvals where they are needed and nowhere else.

use serde_json::{Value, json};

use crate::{said::Said, stage::Stage};

/// A workflow: its nodes on one way to the end (`!` needs approval), and the defaults of its inputs.
type Shipped = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SHIPPED: [Shipped; 11] = [
    (
        "Default Coding Workflow",
        "semantic_analysis analyze blueprint! construct validate complete",
        &[("project_config_path", ".accordo/project_config.md")],
    ),
    (
        "Debugging Workflow",
        "investigate analyze_root_cause! develop_fix test_fix validate_solution finalize_bugfix",
        &[("bug_severity", "medium"), ("reproduction_steps", "")],
    ),
    (
        "Documentation Workflow",
        "analyze_docs semantic_analysis plan_docs! create_docs review_docs finalize_docs",
        &[("documentation_type", "general")],
    ),
    (
        "Editorial Article Workflow",
        "research_and_analyze plan_article write_article edit_and_refine final_review",
        &[
            ("topic", "general"),
            ("target_audience", "general public"),
            ("article_length", "medium"),
        ],
    ),
    (
        "Simple Linear Workflow",
        "start analyze plan execute review complete",
        &[("output_format", "markdown")],
    ),
    (
        "Simple Decision Workflow",
        "assess choose_approach simple_approach finalize",
        &[("complexity_level", "medium")],
    ),
    (
        "Simple Decision Workflow",
        "assess choose_approach standard_approach validate_standard finalize",
        &[],
    ),
    (
        "Simple Decision Workflow",
        "assess choose_approach complex_approach validate_complex review_complex finalize",
        &[],
    ),
    (
        "Approval Example Workflow",
        "analyze plan_with_approval! implement review_for_deployment! deploy complete",
        &[("approval_threshold", "medium")],
    ),
    ("Classic", "INIT ANALYZE BLUEPRINT! CONSTRUCT VALIDATE", &[]),
    (
        "Classic",
        "INIT ANALYZE BLUEPRINT! CONSTRUCT BLUEPRINT! CONSTRUCT VALIDATE CONSTRUCT VALIDATE",
        &[],
    ),
];

/// Goes from one node to another, with an approval if it is needed and not without.
fn step(stage: &Stage, id: &str, to: &str, needs_approval: bool) -> Said {
    if needs_approval {
        stage.guide(json!({"session_id": id})).has(&["⚠️ APPROVAL REQUIRED"]);
        let said = stage.choose(id, &json!({"choose": to}));
        assert!(said.is_error, "no approval was needed: {}", said.text);
        return stage.go(id, &json!({"choose": to, "user_approval": true}));
    }
    stage.go(id, &json!({"choose": to}))
}

#[test]
fn every_shipped_workflow_is_walked_to_its_end() {
    for (name, way, inputs) in SHIPPED {
        let stage = Stage::new();
        let said = stage.guide(json!({"action": "start", "context": format!("workflow: {name}")}));
        said.has(&[&format!("🚀 **Workflow Started:** {name}")]).lacks(&["${{"]);
        assert_eq!(said.warnings().len(), 0, "{name}: {:#}", said.value);
        let id = said.session();
        let record = stage.session(&id);
        for (input, default) in inputs {
            assert_eq!(record["inputs"][input], *default, "{name}: {input}");
        }
        let nodes: Vec<(&str, bool)> =
            way.split(' ').map(|it| (it.trim_end_matches('!'), it.ends_with('!'))).collect();
        assert_eq!(record["current_node"], nodes[0].0, "{name}");
        for pair in nodes.windows(2) {
            let said = step(&stage, &id, pair[1].0, pair[0].1);
            assert_eq!(stage.session(&id)["current_node"], pair[1].0, "{name}");
            said.lacks(&["${{", "Loading"]);
        }
        if stage.session(&id)["status"] != "COMPLETED" {
            stage.update_session(&id, &json!({"status": "COMPLETED"}));
        }
    }
}

#[test]
fn every_node_of_a_shipped_workflow_has_criteria() {
    let names: std::collections::BTreeSet<&str> = SHIPPED.iter().map(|it| it.0).collect();
    for name in names {
        let stage = Stage::new();
        let id = stage.begin(&format!("workflow: {name}"));
        let text = stage.session(&id)["definition"].as_str().unwrap().to_owned();
        // It passes the checks as a file of its own, too.
        stage.project.write("flows/shipped.yaml", &text);
        let arguments = json!({"task_description": "x", "workflows_dir": "flows"});
        let found = stage.read("workflow_discovery", arguments).value;
        assert_eq!(found["total_workflows"], 1, "{name}: {found:#}");
        let nodes = found["available_workflows"][name]["total_nodes"].as_u64().unwrap();
        let criteria = text.matches("acceptance_criteria:").count();
        assert!(nodes <= u64::try_from(criteria).unwrap(), "{name}: {criteria} of {nodes}");
    }
}

#[test]
fn a_file_of_the_project_goes_before_a_shipped_workflow_of_its_name() {
    let stage = Stage::new();
    let own =
        crate::fixtures::yaml("Simple Linear Workflow", "mine", "    mine: {goal: My own way.}\n");
    stage.project.write(".accordo/workflows/own.yaml", &own);
    let said =
        stage.guide(json!({"action": "start", "context": "workflow: Simple Linear Workflow"}));
    said.has(&["My own way."]);
}

#[test]
fn the_classic_graph_takes_the_five_words() {
    let stage = Stage::new();
    let start = json!({"action": "start", "context": "workflow: Classic"});
    let id = stage.guide(start).session();
    let say = |action: &str, context: &str| {
        stage.ask(json!({"session_id": id, "action": action, "context": context}))
    };
    let at = || stage.session(&id)["current_node"].as_str().unwrap().to_owned();
    say("start", "");
    assert_eq!(at(), "ANALYZE");
    assert!(say("plan", "").is_error, "a plan needs a summary");
    say("plan", "people must sign in");
    assert_eq!(at(), "BLUEPRINT");
    assert!(say("revise", "").is_error, "a revision needs feedback");
    say("revise", "name the risks");
    assert_eq!(at(), "BLUEPRINT");
    assert!(say("build", "").is_error, "a plan needs an approval");
    assert_eq!(at(), "BLUEPRINT");
    stage.go(&id, &json!({"choose": "CONSTRUCT", "user_approval": true}));
    assert_eq!(at(), "CONSTRUCT");
    let said = say("next", "");
    assert!(!said.is_error, "{}", said.text);
    let said = say("peel", "");
    assert!(said.is_error, "{}", said.text);
    said.has(&["start", "plan", "build", "revise", "next"]);
    assert_ne!(stage.session(&id)["status"], Value::Null);
}
