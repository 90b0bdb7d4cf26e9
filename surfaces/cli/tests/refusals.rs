//! What is refused, and that nothing is changed by it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "refusals/full_disk.rs"]
mod full_disk;
#[path = "support/project.rs"]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{fs, io::Write as _, os::unix::fs::symlink};

use serde_json::{Value, json};

use project::Project;
use server::{Era, Server};

const WORKFLOWS: &str = "\
== .milepost/workflows/GUARDED/index.md
# Goal

Draft, then review.

1. [draft](steps/draft.md)
2. [review](steps/review.md)
== .milepost/workflows/GUARDED/steps/draft.md
---
produces: [{path: draft.md, not_empty: true}]
---
# Orchestrator Guidance
Go on.
# Client Instructions
Write `draft.md`.
== .milepost/workflows/GUARDED/steps/review.md
# Orchestrator Guidance
Go on.
# Client Instructions
Read it.
== .milepost/workflows/ESCAPE/index.md
# Escape
1. [write](steps/write.md)
== .milepost/workflows/ESCAPE/steps/write.md
---
produces: [\"{{ context.path }}\"]
---
# Orchestrator Guidance
Go on.
# Client Instructions
Write it.
";

/// A project with one run in it, and a server.
struct Stage {
    project: Project,
    server: Server,
    run: String,
}

impl Stage {
    fn new(era: Era) -> Self {
        let project = Project::new().with("LOG_LEVEL", "warn");
        project.write_all(WORKFLOWS);
        let server = Server::inside(&project, &[], era);
        Self::with(project, server)
    }

    fn with(project: Project, server: Server) -> Self {
        let answer = server.call("start_workflow", json!({"workflow_name": "GUARDED"}));
        let run = answer.value["instance_id"].as_str().unwrap_or_else(|| panic!("{answer:?}"));
        Self { run: run.to_owned(), project, server }
    }

    /// Returns everything that is stored: every run, and every event of the first.
    fn picture(&self) -> (Value, Value) {
        let runs = self.project.ask(&["run", "list", "--limit", "100"]);
        (runs, self.project.ask(&["run", "history", &self.run, "--limit", "100000"]))
    }

    /// Calls a tool that must refuse with `code`, and must not change anything.
    fn refuses(&self, tool: &str, arguments: Value, code: &str) {
        let before = self.picture();
        let answer = self.server.call(tool, arguments);
        assert!(answer.is_error, "`{tool}` did not refuse: {:#}", answer.value);
        let refusal = &answer.value["refusal"];
        assert_eq!(refusal["code"], code, "{:#}", answer.value);
        for part in ["message", "hint"] {
            assert!(refusal[part].as_str().is_some_and(|it| !it.is_empty()), "{refusal:#}");
        }
        assert_eq!(self.picture(), before, "`{tool}` changed something");
    }

    fn report(&self, step: &str) -> Value {
        json!({"instance_id": self.run, "report": {"step_id": step, "status": "success"}})
    }

    /// Has the server show that it still works.
    fn goes_on(&self) {
        let note = json!({"instance_id": self.run, "type": "note", "text": "still here"});
        let answer = self.server.call("record_entry", note);
        assert!(!answer.is_error, "{:#}", answer.value);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(era);
        stage.refuses("start_workflow", json!({"workflow_name": "NOPE"}), "workflow_unknown");
        let unknown = json!({"instance_id": "0190b7a2-0000-7000-8000-000000000000"});
        for tool in ["get_workflow_status", "resume_workflow", "cancel_workflow"] {
            stage.refuses(tool, unknown.clone(), "run_unknown");
        }
        stage.refuses("advance_workflow", stage.report("no such step"), "step_unknown");
        let claim = json!({"instance_id": stage.run, "holder": "a", "step": "no such step"});
        stage.refuses("claim_step", claim, "step_unknown");
        let fork = json!({"instance_id": stage.run, "from_step": "no such step"});
        stage.refuses("fork_run", fork, "step_not_entered");
        stage.goes_on();
    }
}

#[test]
fn a_step_out_of_order_or_without_its_artifact_is_refused() {
    let stage = Stage::new(Era::Modern);
    stage.refuses("advance_workflow", stage.report("review"), "step_not_current");
    stage.refuses("advance_workflow", stage.report("draft"), "artifact_missing");
    stage.project.write("draft.md", "");
    stage.refuses("advance_workflow", stage.report("draft"), "artifact_invalid");
    stage.project.write("draft.md", "A draft.\n");
    let answer = stage.server.call("advance_workflow", stage.report("draft"));
    assert!(!answer.is_error, "{:#}", answer.value);
    stage.refuses("advance_workflow", stage.report("draft"), "step_not_current");
}

#[test]
fn a_lease_that_is_not_the_newest_is_refused() {
    let stage = Stage::new(Era::Modern);
    let claim = json!({"instance_id": stage.run, "holder": "a", "seconds": 60});
    for _ in 0..2 {
        assert!(!stage.server.call("claim_step", claim.clone()).is_error);
    }
    let mut late = stage.report("draft");
    late["holder"] = json!("a");
    late["lease"] = json!(1);
    stage.refuses("advance_workflow", late, "lease_stale");
    stage.refuses("advance_workflow", stage.report("draft"), "step_held");
}

#[test]
fn a_request_id_that_was_used_for_something_else_is_refused() {
    let stage = Stage::new(Era::Legacy);
    let note = |text: &str| json!({"instance_id": stage.run, "type": "note", "text": text, "request_id": "r-1"});
    let first = stage.server.call("record_entry", note("one"));
    assert!(!first.is_error, "{:#}", first.value);
    let before = stage.picture();
    assert_eq!(stage.server.call("record_entry", note("one")), first);
    assert_eq!(stage.picture(), before);
    stage.refuses("record_entry", note("two"), "request_conflict");
    let start = json!({"workflow_name": "GUARDED", "request_id": "r-1"});
    stage.refuses("start_workflow", start, "request_conflict");
}

#[test]
fn a_name_that_climbs_out_of_its_folder_is_refused() {
    let stage = Stage::new(Era::Modern);
    for name in ["../GUARDED", "../../etc", "a/../GUARDED", "..", "..\\GUARDED"] {
        stage.refuses("start_workflow", json!({"workflow_name": name}), "workflow_unknown");
        let keyed = json!({"workflow_name": "GUARDED", "key": name});
        stage.refuses("start_workflow", keyed, "key_invalid");
        stage.refuses("advance_workflow", stage.report(name), "step_unknown");
    }
    stage.refuses("get_workflow_status", json!({"instance_id": "../../x"}), "run_unknown");
}

#[test]
fn an_artifact_outside_of_the_folder_is_refused() {
    let stage = Stage::new(Era::Modern);
    stage.project.write("../outside.md", "Not yours.\n");
    symlink(stage.project.path("../outside.md"), stage.project.path("link.md")).unwrap();
    for path in ["../outside.md", "a/../../outside.md", "/etc/hostname", "link.md"] {
        let start = json!({"workflow_name": "ESCAPE", "context": {"path": path}});
        let begun = stage.server.call("start_workflow", start).value;
        let report = json!({"step_id": "write", "status": "success"});
        let arguments = json!({"instance_id": begun["instance_id"], "report": report});
        stage.refuses("advance_workflow", arguments, "artifact_invalid");
    }
}

#[test]
fn a_malformed_definition_is_refused_and_says_where_it_is_wrong() {
    let stage = Stage::new(Era::Legacy);
    let step = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    let secret = stage.project.path("../secret.md");
    fs::write(&secret, "secret\n").unwrap();
    for (name, front, text) in [
        ("UNCLOSED", "---\ndecider: [declared\n---\n", ""),
        ("UNKNOWN_KEY", "---\ndecidor: declared\n---\n", ""),
        ("CLIMBS", "", "{{file:../../../../../secret.md}}\n"),
        ("ABSOLUTE", "", "{{file:/etc/hostname}}\n"),
        ("HEADLESS", "", "# Client Instructions\n"),
    ] {
        let folder = format!(".milepost/workflows/{name}");
        let index = format!("{front}# X\n1. [a](steps/a.md)\n");
        stage.project.write(&format!("{folder}/index.md"), &index);
        stage.project.write(&format!("{folder}/steps/a.md"), &format!("{step}{text}"));
        stage.refuses("start_workflow", json!({"workflow_name": name}), "workflow_invalid");
        let checked = stage.project.milepost(&["workflow", "check", name]).output().unwrap();
        assert_eq!(checked.status.code(), Some(1), "{name}");
        let said = String::from_utf8_lossy(&checked.stdout).into_owned()
            + &String::from_utf8_lossy(&checked.stderr);
        assert!(said.contains(".md"), "{name}: {said}");
        assert!(!said.contains("secret\n"), "{name}: {said}");
    }
}

#[test]
fn a_text_that_is_too_large_is_refused_and_the_server_lives() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(era);
        let note = |bytes: usize| json!({"instance_id": stage.run, "type": "note", "text": "x".repeat(bytes)});
        stage.refuses("record_entry", note(1 << 20), "too_large");
        stage.refuses("record_entry", note(10 << 20), "too_large");
        let mut report = stage.report("draft");
        report["report"]["message"] = json!("x".repeat(1 << 20));
        stage.refuses("advance_workflow", report, "too_large");
        let context = json!({"workflow_name": "GUARDED", "context": {"x": "x".repeat(4 << 20)}});
        stage.refuses("start_workflow", context, "too_large");
        // A line of 50 MB is more than a message may have. It need not be answered, but survived.
        let before = stage.picture();
        let line = json!({"jsonrpc": "2.0", "id": "huge", "method": "tools/call", "params": {
            "name": "record_entry", "arguments": note(50 << 20)}});
        stage.write_raw(format!("{line}\n").as_bytes());
        assert_eq!(stage.picture(), before);
        stage.goes_on();
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_and_the_server_lives() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::new(era);
        let before = stage.picture();
        let mut line = json!({"jsonrpc": "2.0", "id": "odd", "method": "tools/call", "params": {
            "name": "record_entry",
            "arguments": {"instance_id": stage.run, "type": "note", "text": "@"}}})
        .to_string()
        .into_bytes();
        let place = line.iter().position(|it| *it == b'@').unwrap();
        line.splice(place..=place, [0xff, 0xfe, 0xc0]);
        line.push(b'\n');
        stage.write_raw(&line);
        stage.write_raw(b"\xff\xff\xff\n\0\0\n{\n\n[]\n");
        // Whatever was sent before has been read once the server answers again.
        let status = json!({"instance_id": stage.run});
        assert!(!stage.server.call("get_workflow_status", status).is_error);
        assert_eq!(stage.picture(), before);
        stage.goes_on();
    }
}

impl Stage {
    fn write_raw(&self, bytes: &[u8]) {
        let mut input = self.server.input.lock().unwrap();
        input.as_mut().unwrap().write_all(bytes).unwrap();
    }
}
