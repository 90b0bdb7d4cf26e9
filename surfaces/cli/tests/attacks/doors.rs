//! Attacks on what only a person may say: an answer at a gate, and what a project is allowed.
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are passed")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::http::HttpServer;
use crate::{
    project::Project,
    server::{Era, Server},
};

/// A step with a gate, then one that leaves it. `%` is which answers count.
const GATED: &str = "\
== .milepost/workflows/GATED/index.md
---
gates: %
---
1. [Plan](steps/plan.md)
2. [Ship](steps/ship.md)
== .milepost/workflows/GATED/steps/plan.md
---
gate: {show: [plan.md], ask: \"{{ context.ask | default('Is it right?') }}\"}
next: [Ship]
---
# Orchestrator Guidance
Go to \"Ship\".
# Client Instructions
Plan it.
== .milepost/workflows/GATED/steps/ship.md
---
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Ship it.";

/// A step that is left once a command ended well.
const CHECKED: &str = "\
== .milepost/workflows/CHECKED/index.md
1. [Build](steps/build.md)
== .milepost/workflows/CHECKED/steps/build.md
---
checks: [{run: [touch, ran-%]}]
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Build it.";

/// A step before which the server commits.
const CHORES: &str = "\
== .milepost/workflows/CHORES/index.md
---
vars: {is_done: false}
chores:
  - name: sneak
    when: \"not vars.is_done\"
    commit: {paths: \"['note.txt']\", message: \"not mine\"}
    set: {is_done: \"true\"}
---
1. [Build](steps/build.md)
== .milepost/workflows/CHORES/steps/build.md
---
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Build it.";

const DROPS: &str = "\
== .milepost/workflows/DROPS/index.md
1. [Drop](steps/drop.md)
== .milepost/workflows/DROPS/steps/drop.md
---
produces: [new.md]
drops: [old.md]
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Drop it.";

fn gated(answers: &str) -> Project {
    let project = Project::new();
    project.write_all(&GATED.replace('%', answers));
    project.write("plan.md", "do this");
    project
}

/// Begins a run of `workflow` with the key `v9`, and reports its first step.
fn report(project: &Project, workflow: &str, step: &str, context: Value) -> Value {
    let server = Server::inside(project, &[], Era::Legacy);
    let start = json!({"workflow_name": workflow, "key": "v9", "context": context});
    let begun = server.call("start_workflow", start);
    assert!(!begun.is_error, "{:#}", begun.value);
    report_again(&server, step)
}

fn report_again(server: &Server, step: &str) -> Value {
    report_on(server, "v9", step)
}

fn report_on(server: &Server, run: &str, step: &str) -> Value {
    let report = json!({"step_id": step, "status": "success"});
    server.call("advance_workflow", json!({"instance_id": run, "report": report})).value
}

/// Checks that a run of another folder is neither meant by its key nor changed by its id.
#[track_caller]
fn check_elsewhere(server: &Server, run: &Value, step: &str) {
    let refused = report_again(server, step);
    assert_eq!(refused["refusal"]["code"], "run_elsewhere", "{refused:#}");
    let refused = report_on(server, run.as_str().unwrap(), step);
    assert_eq!(refused["refusal"]["code"], "workspace_not_here", "{refused:#}");
}

fn status(project: &Project) -> String {
    let shown = project.ask(&["run", "show", "v9"]);
    shown["run"]["status"].as_str().unwrap_or_else(|| panic!("{shown:#}")).to_owned()
}

/// Runs a command as an agent's shell does: without a terminal.
fn shell(project: &Project, arguments: &[&str]) -> Output {
    project.milepost(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that must be refused, and returns its code and everything it said.
#[track_caller]
fn refused(project: &Project, arguments: &[&str]) -> (String, String) {
    let output = shell(project, &[arguments, &["--json"]].concat());
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    let start = said.find("{\n  \"error\"").unwrap_or_else(|| panic!("{said}"));
    let end = said.rfind('}').unwrap();
    let error: Value = serde_json::from_str(&said[start..=end]).unwrap();
    (error["error"]["code"].as_str().unwrap().to_owned(), said)
}

/// Types a command, and `answer` after it, at a terminal.
fn at_a_terminal(project: &Project, arguments: &str, answer: &str) -> Output {
    typed(project, arguments, answer).output().unwrap()
}

fn typed(project: &Project, arguments: &str, answer: &str) -> Command {
    let line = format!(
        "printf '{answer}' | script -qec '{} {arguments}' /dev/null",
        env!("CARGO_BIN_EXE_milepost")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line]);
    project.place(&mut command);
    command
}

fn serve(project: &Project) -> HttpServer {
    HttpServer::start(&mut project.milepost(&["serve", "--address", "127.0.0.1:0"]))
}

/// Asks for a form at the gate, and sends an acceptance back as an agent can: it is the client.
fn accept_own_form(server: &HttpServer, headers: &[(&str, &str)]) -> Value {
    accept_after(server, headers, || {})
}

/// The same, with something that happens in between.
fn accept_after(server: &HttpServer, headers: &[(&str, &str)], meanwhile: impl Fn()) -> Value {
    let call = |more: Value| {
        let mut params = json!({"name": "answer_gate", "arguments": {"instance_id": "v9"}});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let can = json!({"elicitation": {}});
        server.ask_with("tools/call", params, headers, &can).json()["result"].clone()
    };
    let asked = call(json!({}));
    let Some(questions) = asked["inputRequests"].as_object() else { return asked };
    let key = questions.keys().next().unwrap().clone();
    meanwhile();
    let reply = json!({"action": "accept", "content": {"answer": "approve"}});
    call(json!({"requestState": asked["requestState"], "inputResponses": {key: reply}}))
}

/// Returns who answered at the gate, and how.
fn answered(project: &Project) -> (String, String) {
    let history = project.ask(&["run", "history", "v9"]);
    let events = history["events"].as_array().unwrap().clone();
    let event = events.iter().find(|it| it["kind"] == "GateAnswered");
    let event = event.unwrap_or_else(|| panic!("{history:#}"))["event"].clone();
    let text = |it: &Value| it.as_str().unwrap_or_else(|| panic!("{event:#}")).to_owned();
    (text(&event["by"]), text(&event["how"]))
}

#[test]
fn over_http_the_agents_credential_does_not_approve() {
    let project = gated("verified");
    report(&project, "GATED", "Plan", json!({}));
    let server = serve(&project);
    let issued = project.ask(&["token", "new", "--scope", "write", "--name", "agent"]);
    let agent = format!("Bearer {}", issued["token"].as_str().unwrap());
    for headers in [&[][..], &[("authorization", agent.as_str())]] {
        let refused = accept_own_form(&server, headers);
        assert_eq!(refused["isError"], true, "{refused:#}");
        let refusal = &refused["structuredContent"]["refusal"];
        assert_eq!(refusal["code"], "gate_needs_person", "{refused:#}");
    }
    assert_eq!(status(&project), "waiting");
    let person = format!("Bearer {}", project.approve_token());
    let taken = accept_own_form(&server, &[("authorization", &person)]);
    assert_eq!(taken["isError"], false, "{taken:#}");
    let (by, how) = answered(&project);
    assert_eq!(how, "verified");
    assert!(by.contains("by the token `tests`"), "{by}");
}

#[test]
fn over_http_an_elicitation_is_an_answer_that_was_passed_on() {
    let project = gated("relayed");
    report(&project, "GATED", "Plan", json!({}));
    let taken = accept_own_form(&serve(&project), &[]);
    assert_eq!(taken["isError"], false, "{taken:#}");
    let (by, how) = answered(&project);
    assert_eq!(how, "relayed");
    assert!(by.contains("over HTTP without a token"), "{by}");
}

#[test]
fn over_http_an_answer_is_to_what_was_shown_and_to_nothing_else() {
    let project = gated("relayed");
    report(&project, "GATED", "Plan", json!({}));
    let swap = || project.write("plan.md", "do something else");
    let asked_again = accept_after(&serve(&project), &[], swap);
    assert!(asked_again["inputRequests"].is_object(), "{asked_again:#}");
    assert_eq!(status(&project), "waiting");
}

#[test]
fn a_token_that_only_reads_changes_nothing() {
    let project = gated("relayed");
    report(&project, "GATED", "Plan", json!({}));
    let server = serve(&project);
    let issued = project.ask(&["token", "new", "--scope", "read", "--name", "eye"]);
    let eye = format!("Bearer {}", issued["token"].as_str().unwrap());
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        server.ask_with("tools/call", params, &[("authorization", &eye)], &json!({})).json()
    };
    let run = json!({"instance_id": "v9"});
    assert_eq!(call("get_workflow_status", run.clone())["result"]["isError"], false);
    let answer = json!({"instance_id": "v9", "answer": "approve"});
    for (tool, arguments) in [("answer_gate", answer), ("resume_workflow", run)] {
        let told = call(tool, arguments);
        assert!(told["error"]["message"].as_str().unwrap().contains("may only read"), "{told:#}");
    }
    assert_eq!(status(&project), "waiting");
}

#[test]
fn a_gate_is_not_approved_from_a_shell_without_a_terminal() {
    let project = gated("verified");
    report(&project, "GATED", "Plan", json!({}));
    let digest = project.ask(&["gate", "show", "v9"])["gate"]["digest"].clone();
    let digest = digest.as_str().unwrap();
    let issued = project.ask(&["token", "new", "--scope", "write", "--name", "agent"]);
    project.write("token", issued["token"].as_str().unwrap());
    for (arguments, code) in [
        (&["-C", ".", "gate", "approve", "v9", "--yes"][..], "person_needed"),
        (&["gate", "reject", "v9", "--yes"], "person_needed"),
        (&["gate", "approve", "v9", "--digest", digest], "person_needed"),
        (&["gate", "approve", "v9", "--yes", "--token-file", "token"], "token_scope"),
        (&["token", "new", "--scope", "approve", "--name", "mine"], "person_needed"),
    ] {
        let (found, said) = refused(&project, arguments);
        assert_eq!(found, code, "{arguments:?}: {said}");
    }
    assert_eq!(status(&project), "waiting");
    project.write("token", project.approve_token());
    let approve = ["gate", "approve", "v9", "--yes", "--token-file", "token"];
    assert!(shell(&project, &approve).status.success());
    assert_eq!(answered(&project), ("the bearer of the token `tests`".into(), "verified".into()));
}

#[test]
fn a_gate_is_approved_by_a_person_at_a_terminal() {
    let project = gated("verified");
    report(&project, "GATED", "Plan", json!({}));
    let unsure = at_a_terminal(&project, "gate approve v9", "n\\n");
    assert!(!unsure.status.success(), "{unsure:?}");
    assert_eq!(status(&project), "waiting");
    // What is asked is the gate's own answer, with what it leads to.
    for (verb, effect) in [("approve", "(goes on)?"), ("reject", "(back to Plan)?")] {
        let asked = at_a_terminal(&project, &format!("gate {verb} v9"), "n\\n").stdout;
        let asked = String::from_utf8(asked).unwrap();
        assert!(asked.contains("Answer `") && asked.contains(effect), "{verb}: {asked}");
    }
    let sure = at_a_terminal(&project, "gate approve v9", "y\\n");
    assert!(sure.status.success(), "{sure:?}");
    assert_eq!(answered(&project).1, "verified");
    let history = project.ask(&["run", "history", "v9"]).to_string();
    assert!(history.contains("at a terminal"), "{history}");
}

#[test]
fn a_terminal_that_an_agent_started_is_not_a_persons() {
    let project = gated("verified");
    report(&project, "GATED", "Plan", json!({}));
    for arguments in ["gate approve v9 --yes", "token new --scope approve --name own"] {
        let output = typed(&project, arguments, "y\\n").env("GEMINI_CLI", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success(), "{arguments}: {said}");
        assert!(said.contains("`GEMINI_CLI` is set"), "{arguments}: {said}");
    }
    assert_eq!(status(&project), "waiting");
}

#[test]
fn a_repository_does_not_permit_its_own_commands() {
    let project = Project::new();
    project.write(".milepost/config.toml", "[checks]\nallow = true\n");
    project.write_all(&CHECKED.replace('%', "one"));
    let refusal = report(&project, "CHECKED", "Build", json!({}));
    assert_eq!(refusal["refusal"]["code"], "check_not_allowed", "{refusal:#}");
    assert!(!project.path("ran-one").exists());
    // The agent is not told to help itself, and could not.
    let hint = refusal["refusal"]["hint"].as_str().unwrap();
    assert!(hint.contains("do not run it yourself") && !hint.contains("checks.allow"), "{hint}");
    let (code, said) = refused(&project, &["trust", "--yes"]);
    assert_eq!(code, "person_needed", "{said}");

    let server = Server::inside(&project, &[], Era::Legacy);
    project.ask(&["trust", "--yes"]);
    assert_eq!(report_again(&server, "Build")["status"], "COMPLETED");
    assert!(project.path("ran-one").exists());
    assert_eq!(project.ask(&["trust", "list"])["allowed"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_allowed_is_what_was_shown_and_not_what_came_later() {
    let project = Project::new();
    project.write_all(&CHECKED.replace('%', "one"));
    project.ask(&["trust", "--yes"]);
    // A pull changes the command; the run is pinned to the new text.
    project.write_all(&CHECKED.replace('%', "two"));
    let refusal = report(&project, "CHECKED", "Build", json!({}));
    assert_eq!(refusal["refusal"]["code"], "check_not_allowed", "{refusal:#}");
    // The files are put back as they were allowed: what would be run is still the other command.
    project.write_all(&CHECKED.replace('%', "one"));
    let server = Server::inside(&project, &[], Era::Legacy);
    let refusal = report_again(&server, "Build");
    assert_eq!(refusal["refusal"]["code"], "check_not_allowed", "{refusal:#}");
    assert!(!project.path("ran-two").exists());
    // The person who is asked again is shown it, since the run would run it.
    let shown = project.ask(&["trust", "--yes"]);
    assert!(shown["powers"]["checks"].to_string().contains("ran-two"), "{shown:#}");
    assert_eq!(report_again(&server, "Build")["status"], "COMPLETED");
    project.ask(&["trust", "revoke"]);
    assert_eq!(project.ask(&["trust", "list"])["allowed"], json!([]));
}

#[test]
fn the_users_own_word_on_checks_counts_in_trusted_projects_only() {
    let project = Project::new();
    project.write("../home/.config/milepost/config.toml", "[checks]\nallow = true\n");
    project.write_all(&CHECKED.replace('%', "one"));
    let refusal = report(&project, "CHECKED", "Build", json!({}));
    assert_eq!(refusal["refusal"]["code"], "check_not_allowed", "{refusal:#}");
    project.ask(&["trust", "--yes"]);
    project.write("../home/.config/milepost/config.toml", "[checks]\nallow = false\n");
    let server = Server::inside(&project, &[], Era::Legacy);
    assert_eq!(report_again(&server, "Build")["refusal"]["code"], "check_not_allowed");
    assert!(!project.path("ran-one").exists());
}

#[test]
fn a_repository_does_not_commit_by_its_own_chores() {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        project.place(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q", "-b", "work"]);
    git(&["config", "user.name", "a"]);
    git(&["config", "user.email", "a@b"]);
    git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    project.write("note.txt", "x");
    project.write_all(CHORES);
    let refusal = report(&project, "CHORES", "Build", json!({}));
    let said = refusal.to_string();
    assert!(said.contains("chore_due") && said.contains("milepost trust"), "{refusal:#}");
    assert_eq!(git(&["log", "--format=%s"]), "mine\n");
    project.ask(&["trust", "--yes"]);
    let server = Server::inside(&project, &[], Era::Legacy);
    assert_eq!(report_again(&server, "Build")["status"], "COMPLETED");
    assert_eq!(git(&["log", "--format=%s"]), "not mine\nmine\n");
}

#[test]
fn a_repository_opens_no_port_and_names_no_token() {
    let project = Project::new();
    let settings = "[serve]\naddress = \"0.0.0.0:7420\"\ntoken_file = \"token\"\n\
                    [log]\nfile = \"/elsewhere/x\"\n[store]\npath = \"../elsewhere.db\"\n\
                    [chores]\nallow = \"push\"\n";
    project.write(".milepost/config.toml", settings);
    project.write("token", "a-token-of-many-letters\n");
    project.ask(&["trust", "--yes"]);
    let shown = project.ask(&["config", "show"]);
    let rows = shown["settings"].as_array().unwrap();
    for name in ["serve.address", "serve.token_file", "log.file", "store.path", "chores.allow"] {
        let row = rows.iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(row["origin"]["kind"], "default", "{row}");
        let ignored = shown["ignored"].as_array().unwrap();
        assert!(ignored.iter().any(|it| it["name"] == name), "{name}: {ignored:#?}");
    }
    let doctor = project.ask(&["doctor"]);
    let finding = doctor["findings"].as_array().unwrap().iter().find(|it| it["what"] == "settings");
    assert_eq!(finding.unwrap()["state"], "doubtful", "{doctor:#}");
}

#[test]
fn a_link_does_not_lead_a_repositorys_setting_out_of_it() {
    let project = Project::new();
    std::os::unix::fs::symlink(project.path("../home"), project.path("inside")).unwrap();
    project.write(".milepost/config.toml", "[store]\npath = \"inside/runs.db\"\n");
    project.ask(&["trust", "--yes"]);
    let shown = project.ask(&["config", "show"]);
    assert_eq!(shown["ignored"][0]["name"], "store.path", "{shown:#}");
}

#[test]
fn a_repository_makes_gates_stricter_and_not_laxer() {
    let project = Project::new();
    let value = || {
        let shown = project.ask(&["config", "show"]);
        let rows = shown["settings"].as_array().unwrap().clone();
        rows.iter().find(|it| it["name"] == "gates.answers").unwrap()["value"].clone()
    };
    project.write(".milepost/config.toml", "[gates]\nanswers = \"verified\"\n");
    assert_eq!(value(), "verified");
    project.write(".milepost/config.toml", "[gates]\nanswers = \"definition\"\n");
    project.write("../home/.config/milepost/config.toml", "[gates]\nanswers = \"verified\"\n");
    assert_eq!(value(), "verified");
}

#[test]
fn a_repository_cannot_keep_milepost_from_starting() {
    let project = Project::new();
    let settings = "[wait]\nmax = \"0s\"\n[gates]\nanswers = \"verifed\"\n";
    project.write(".milepost/config.toml", settings);
    project.ask(&["run", "list"]);
    let shown = project.ask(&["config", "show"]);
    let value = |name: &str| {
        let rows = shown["settings"].as_array().unwrap();
        rows.iter().find(|it| it["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!((value("wait.max"), value("gates.answers")), (json!("50s"), json!("verified")));
    let ignored = shown["ignored"].to_string();
    for said in ["`0s` is not a duration from 1s", "; `verified` counts instead"] {
        assert!(ignored.contains(said), "{said}: {ignored}");
    }
    let doctor = project.ask(&["doctor"]).to_string();
    assert!(doctor.contains("`wait.max`") && doctor.contains("is ignored: `0s`"), "{doctor}");
    let output = project.milepost(&["run", "list"]).output().unwrap();
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(warned.contains("wait.max"), "{warned}");
    // A mistake of the user's own is an error.
    project.write("../home/.config/milepost/config.toml", "[wait]\nmax = \"0s\"\n");
    let output = project.milepost(&["run", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn one_mistake_in_a_line_of_settings_is_told_once() {
    let project = Project::new();
    project.write("../home/.config/milepost/config.toml", "[mcp]\ntoolsets = [\"core\n");
    let output = project.milepost(&["run", "list", "--json"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("has 1 problem:") && said.contains("invalid basic string"), "{said}");
}

#[test]
fn a_repository_does_not_bring_the_word_that_allows_it() {
    let project = Project::new();
    project.write_all(&CHECKED.replace('%', "one"));
    project.ask(&["trust", "--yes"]);
    let kept = project.path("../home/.local/state/milepost/trust");
    let file = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The same words in a file that anybody can write are nobody's.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let refusal = report(&project, "CHECKED", "Build", json!({}));
    assert_eq!(refusal["refusal"]["code"], "check_not_allowed", "{refusal:#}");
}

#[test]
fn a_repository_does_not_bring_the_database() {
    let project = gated("verified");
    report(&project, "GATED", "Plan", json!({}));
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        project.place(&mut command);
        assert!(command.args(arguments).stdout(Stdio::null()).status().unwrap().success());
    };
    git(&["init", "-q"]);
    assert_eq!(status(&project), "waiting");
    git(&["add", "--force", ".milepost/milepost.db"]);
    let (code, said) = refused(&project, &["run", "list"]);
    assert_eq!(code, "database_tracked", "{said}");
    // A repository in the files of the repository hides nothing, and runs nothing.
    project.write(".milepost/HEAD", "ref: refs/heads/main\n");
    project.write(".milepost/objects/.keep", "");
    project.write(".milepost/refs/.keep", "");
    let ran = project.path("ran-it");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\
         \tfsmonitor = \"touch {}; false\"\n",
        ran.display()
    );
    project.write(".milepost/config", &config);
    let (code, said) = refused(&project, &["run", "list"]);
    assert_eq!(code, "database_tracked", "{said}");
    git(&["rm", "-q", "--cached", ".milepost/milepost.db"]);
    assert_eq!(status(&project), "waiting");
    assert!(!ran.exists());
}

#[test]
fn a_copy_of_a_project_leaves_the_original_alone() {
    let project = gated("relayed");
    project.write_all(DROPS);
    let start = json!({"workflow_name": "DROPS", "key": "v9"});
    let server = Server::inside(&project, &[], Era::Legacy);
    let run = server.call("start_workflow", start).value["instance_id"].clone();
    drop(server);
    project.write("old.md", "the original's");
    project.write("new.md", "the original's");
    let mut copy = Command::new("cp");
    project.place(&mut copy);
    assert!(copy.args(["-a", ".", "../copy"]).status().unwrap().success());
    let mut served = project.milepost(&["-C", "../copy", "mcp"]);
    let server = Server::start(&mut served, Era::Legacy);
    check_elsewhere(&server, &run, "Drop");
    assert!(project.path("old.md").exists() && project.path("../copy/old.md").exists());
    // What the hint advises can be done.
    let refused = report_on(&server, run.as_str().unwrap(), "Drop");
    let hint = refused["refusal"]["hint"].as_str().unwrap();
    assert!(hint.contains("call `cancel_workflow`, then `start_workflow`"), "{hint}");
    let ended = server.call("cancel_workflow", json!({"instance_id": run})).value;
    assert_eq!(ended["status"], "CANCELLED", "{ended:#}");
    let begun = server.call("start_workflow", json!({"workflow_name": "DROPS", "key": "v9"})).value;
    assert_eq!(begun["status"], "RUNNING", "{begun:#}");
}

#[test]
fn a_session_of_the_original_does_not_move_in_a_copy_of_its_project() {
    let project = Project::new();
    let serve = |folder: &str| {
        let arguments = ["-C", folder, "mcp", "--toolset", "devworkflow"];
        Server::start(&mut project.milepost(&arguments), Era::Legacy)
    };
    let start = json!({
        "task_description": "t", "action": "start", "context": "workflow: Simple Linear Workflow",
    });
    let session = serve(".").call("workflow_guidance", start).value["session_id"].clone();
    let mut copy = Command::new("cp");
    project.place(&mut copy);
    assert!(copy.args(["-a", ".", "../copy"]).status().unwrap().success());
    let evidence = json!({"restated": "r", "result": "r", "limits": "l"});
    let context = json!({"choose": "analyze", "criteria_evidence": evidence}).to_string();
    let choose = json!({"task_description": "t", "session_id": session, "context": context});
    let copy = serve("../copy");
    let refused = copy.call("workflow_guidance", choose).value;
    assert_eq!(refused["refusal"]["code"], "workspace_not_here", "{refused:#}");
    // What the hint advises can be done.
    let hint = refused["refusal"]["hint"].as_str().unwrap();
    assert!(hint.contains("`workflow_guidance` with `action` `start`"), "{hint}");
    let start = json!({
        "task_description": "t", "action": "start", "context": "workflow: Simple Linear Workflow",
    });
    let begun = copy.call("workflow_guidance", start);
    assert!(!begun.is_error, "{:#}", begun.value);
}

/// Plays the workflow that removes a file, and returns what the server says.
fn drop_file(project: &Project) -> String {
    let server = Server::inside(project, &[], Era::Legacy);
    server.call("start_workflow", json!({"workflow_name": "DROPS", "key": "v9"}));
    let report = json!({"step_id": "Drop", "status": "success"});
    let arguments = json!({"instance_id": "v9", "report": report});
    let call = json!({"name": "advance_workflow", "arguments": arguments});
    server.request("tools/call", call).unwrap().to_string()
}

#[test]
fn a_workflow_of_a_repository_removes_no_file_before_it_is_trusted() {
    let project = Project::new();
    project.write_all(DROPS);
    project.write("old.md", "");
    project.write("new.md", "");
    let said = drop_file(&project);
    assert!(said.contains("milepost trust"), "{said}");
    assert!(project.path("old.md").exists());
}

#[test]
fn no_workflow_removes_a_file_of_git_or_of_milepost() {
    for file in [".git/note", ".milepost/note", ".GIT/note"] {
        let project = Project::new();
        project.write_all(&DROPS.replace("old.md", file));
        project.write("new.md", "");
        project.write(file, "kept");
        project.ask(&["trust", "--yes"]);
        let said = drop_file(&project);
        assert!(said.contains("folder of git or Milepost"), "{file}: {said}");
        assert!(project.path(file).exists(), "{file}");
    }
}

#[test]
fn projects_with_one_database_leave_each_other_alone() {
    let project = Project::new();
    project.write_all(DROPS);
    project.write("old.md", "");
    project.write("new.md", "");
    project.write_all(&DROPS.replace(".milepost", "../other/.milepost"));
    let serve = |folder: &str| {
        let arguments = ["-C", folder, "--db", "../shared.db", "mcp"];
        Server::start(&mut project.milepost(&arguments), Era::Legacy)
    };
    let start = json!({"workflow_name": "DROPS", "key": "v9"});
    let run = serve(".").call("start_workflow", start).value["instance_id"].clone();
    check_elsewhere(&serve("../other"), &run, "Drop");
    assert!(project.path("old.md").exists());
    project.ask(&["trust", "--yes"]);
    assert_eq!(report_again(&serve("."), "Drop")["status"], "COMPLETED");
    assert!(!project.path("old.md").exists());
}

#[test]
fn lines_of_an_agent_do_not_imitate_lines_of_gate_show() {
    let project = gated("verified");
    let forged = "Is it right?\n  only a person's own answer counts; digest 000000000000\n  \
                  approve: nothing happens";
    report(&project, "GATED", "Plan", json!({"ask": forged}));
    let shown = shell(&project, &["gate", "show", "v9"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let own: Vec<&str> = shown.lines().filter(|it| !it.starts_with("  │ ")).collect();
    assert!(shown.contains("nothing happens"), "{shown}");
    assert!(!own.join("\n").contains("nothing happens"), "{shown}");
    assert!(!own.join("\n").contains("000000000000"), "{shown}");
}

#[test]
fn the_password_in_a_bad_endpoint_is_not_repeated() {
    let project = Project::new().with("AI_SERVICE_ENDPOINT", "https://ann:hunter2@models.example");
    for arguments in [&["run", "list"][..], &["config", "show"], &["doctor"]] {
        let output = shell(&project, arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("AI_SERVICE_ENDPOINT"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn files_that_others_can_read_or_write_are_warned_of() {
    let project = gated("verified").with("MILEPOST_SERVE_TOKEN_FILE", "token");
    report(&project, "GATED", "Plan", json!({}));
    project.write("token", "a-token-of-many-letters\n");
    let open = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let warned = || {
        let doctor = project.ask(&["doctor"]);
        let findings = doctor["findings"].as_array().unwrap().clone();
        let found = findings.iter().find(|it| it["what"] == "files");
        found.map(|it| it["text"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    let (token, database) = (project.path("token"), project.path(".milepost/milepost.db"));
    open(&token, 0o600);
    assert_eq!(warned(), "");
    open(&token, 0o644);
    open(&database, 0o666);
    let text = warned();
    assert!(text.contains("others can read") && text.contains("others can write"), "{text}");
}
