//! The scenarios about definitions: which are found, which are refused, and why.

use std::fs;

use serde_json::{Value, json};

use crate::{advance, demo, done, id_of, in_both_eras, project::Project, refused, server::Server};

const STEP: &str = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";

fn listed(server: &Server) -> Vec<String> {
    let answer = done(server, "list_workflows", json!({}));
    let workflows = answer["workflows"].as_array().unwrap();
    workflows.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Writes a workflow with this list of steps, and one step file for it.
fn write(project: &Project, name: &str, index: &str) {
    project.write(&format!("definitions/{name}/index.md"), index);
    project.write(&format!("definitions/{name}/steps/a.md"), STEP);
}

#[test]
fn a06_a_definition_that_does_not_parse_is_not_listed_and_says_why() {
    in_both_eras(|project, server| {
        write(project, "HALF", "# Half\n1. [A](steps/a.md)\n");
        project.write("definitions/HALF/steps/a.md", "# Client Instructions\nWork.\n");
        assert!(!listed(server).contains(&"HALF".to_owned()));
        let (error, code) = refused(server, "start_workflow", json!({"workflow_name": "HALF"}));
        assert!(error.starts_with("Failed to start workflow 'HALF':"), "{error}");
        assert!(error.contains("steps/a.md"), "{error}");
        assert!(error.contains("# Orchestrator Guidance"), "{error}");
        assert_eq!(code, "DEFINITION_INVALID");
        let invalid =
            done(server, "list_workflows", json!({"include_invalid": true}))["invalid"].clone();
        assert_eq!(invalid[0]["id"], "HALF", "{invalid}");
    });
}

#[test]
fn a18_a_run_keeps_the_definition_it_began_with() {
    in_both_eras(|project, server| {
        let begin = || id_of(&done(server, "start_workflow", json!({"workflow_name": "DEMO"})));
        let old = begin();
        let path = "definitions/DEMO/steps/NextStep.md";
        let text = fs::read_to_string(project.path(path)).unwrap();
        project.write(path, &text.replace("Do the work of NextStep.", "Do it the new way."));
        let instructions = |run: &str| {
            let moved = advance(server, run, &json!({"step_id": "Start", "status": "success"}));
            moved["next_step"]["instructions"].as_str().unwrap().to_owned()
        };
        assert!(instructions(&old).starts_with("Do the work of NextStep."));
        assert!(instructions(&begin()).starts_with("Do it the new way."));
    });
}

#[test]
fn a19_a_new_folder_is_listed_at_once_and_a_deleted_one_is_gone() {
    in_both_eras(|project, server| {
        let before = listed(server);
        assert!(before.is_sorted() && before.contains(&"DEMO".to_owned()), "{before:?}");
        write(project, "LATER", "# Later\n1. [A](steps/a.md)\n");
        assert!(listed(server).contains(&"LATER".to_owned()));
        fs::remove_dir_all(project.path("definitions/LATER")).unwrap();
        assert_eq!(listed(server), before);
    });
}

#[test]
fn a20_every_form_of_a_step_link_is_known_and_no_other() {
    let index = "# Forms\n\n\
        1. [One](steps/a.md) with words after it\n\
        - [Two](steps/a.md)\n\
        * [Three](steps/a.md)\n\
        + [Four](steps/a.md)\n   \
           - [ Five ](steps/a.md)\n\
        12.   [Six](steps/a.md)\n\
        1) [No bracket](steps/a.md)\n\
        -[No space](steps/a.md)\n\
        - [No anchor](steps/a.md#x)\n\
        - [No title](steps/a.md \"t\")\n\
        - see [Not first](steps/a.md)\n\
        - [No text](steps/a.txt)\n\
        ```\n- [Fenced](steps/a.md)\n```\n";
    in_both_eras(|project, server| {
        write(project, "FORMS", index);
        let answer = done(server, "list_workflows", json!({"workflow_name": "FORMS"}));
        let steps = answer["workflows"][0]["steps"].as_array().unwrap();
        let names: Vec<&str> = steps.iter().map(|it| it["step_name"].as_str().unwrap()).collect();
        assert_eq!(names, ["One", "Two", "Three", "Four", "Five", "Six"]);
    });
}

#[test]
fn a21_each_fault_of_a_definition_has_its_own_words() {
    in_both_eras(|project, server| {
        write(project, "TWICE", "1. [A](steps/a.md)\n2. [A](steps/a.md)\n");
        write(project, "EMPTY", "# Nothing here\n");
        write(project, "LINK", "1. [A](steps/a.md)\n2. [B](steps/gone.md)\n");
        project.write("definitions/STEPLESS/index.md", "1. [A](a.md)\n");
        let faults = [
            ("TWICE", "Duplicate step name 'A' found in workflow index file:"),
            ("EMPTY", "No steps found in workflow index file:"),
            ("LINK", "Step file does not exist:"),
            ("STEPLESS", "Workflow steps directory not found:"),
        ];
        for (name, words) in faults {
            let (error, code) = refused(server, "start_workflow", json!({"workflow_name": name}));
            assert!(error.contains(words), "{name}: {error}");
            assert!(code.starts_with("DEFINITION_"), "{name}: {code}");
        }
    });
}

#[test]
fn a27_a_name_that_leads_out_of_the_folder_is_refused() {
    in_both_eras(|project, server| {
        project.write_all(&demo::demo("elsewhere"));
        let before = listed(server);
        for name in ["../elsewhere/DEMO", "../x/DEMO", "", "a/b", "DEMO\0", "..", "/DEMO"] {
            let (error, code) = refused(server, "start_workflow", json!({"workflow_name": name}));
            assert!(error.starts_with("Failed to start workflow"), "{name:?}: {error}");
            assert_eq!(code, "DEFINITION_NOT_FOUND", "{name:?}");
        }
        assert_eq!(listed(server), before);
        assert_eq!(done(server, "list_runs", json!({}))["runs"], Value::Array(Vec::new()));
    });
}
