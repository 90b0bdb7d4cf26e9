//! How the commands behave towards terminals, pipes, shells and browsers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use project::Project;
use server::{Era, Server};

fn start(project: &Project, key: &str) -> Value {
    let server = Server::inside(project, &[], Era::Legacy);
    let arguments =
        json!({"workflow_name": "WORK", "key": key, "context": {"task": "<b>&\u{1b}[2J"}});
    let started = server.call("start_workflow", arguments);
    assert!(!started.is_error, "{started:?}");
    started.value
}

fn printed(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = project.milepost(arguments);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn colour_is_used_when_it_is_wanted_and_nothing_else_is_obeyed() {
    let project = Project::new();
    start(&project, "one");
    let list = ["run", "list"];
    assert!(!printed(&project, &[], &list).contains('\u{1b}'));
    assert!(printed(&project, &[("CLICOLOR_FORCE", "1")], &list).contains("\u{1b}[36m"));
    let always = ["run", "list", "--color", "always"];
    let never = ["run", "list", "--color", "never"];
    let unwanted = [("NO_COLOR", "1")];
    assert!(!printed(&project, &unwanted, &list).contains('\u{1b}'));
    assert!(printed(&project, &unwanted, &always).contains("\u{1b}[36m"));
    assert!(!printed(&project, &[("CLICOLOR_FORCE", "1")], &never).contains('\u{1b}'));
    for arguments in [always.as_slice(), &["run", "show", "one", "--color", "always"]] {
        let text = printed(&project, &[], arguments);
        assert!(!text.contains("\u{1b}[2J") && text.contains("\\u{1b}[2J"), "{text}");
    }
}

#[test]
fn another_program_gets_tables_whole_and_by_tabs_if_it_wants() {
    let project = Project::new();
    start(&project, "one");
    let list = printed(&project, &[], &["workflow", "list"]);
    assert!(!list.contains('…') && !list.contains("${{"), "{list}");
    assert!(list.lines().any(|it| 200 < it.chars().count()), "{list}");
    let plain = printed(&project, &[], &["run", "list", "--plain", "--color", "always"]);
    let cells: Vec<&str> = plain.trim_end().split('\t').collect();
    assert_eq!((cells.len(), plain.lines().count()), (8, 1), "{plain}");
    assert!(cells[0].starts_with("run_") && cells[1] == "one" && cells[2] == "WORK", "{plain}");
}

#[test]
fn times_are_shown_where_the_user_is() {
    let project = Project::new();
    start(&project, "one");
    let shown = |zone| printed(&project, &[("TZ", zone)], &["run", "show", "one"]);
    assert!(shown("UTC").contains(" UTC ("), "{}", shown("UTC"));
    let there = shown("<-0930>+9:30");
    assert!(there.contains(" -0930 (") && !there.contains("UTC"), "{there}");
}

#[test]
fn an_unknown_variable_is_a_warning() {
    let project = Project::new();
    let strange = [("MILEPOST_STORE_PTH", "x")];
    assert_eq!(printed(&project, &strange, &["run", "list"]), "");
    let found = printed(&project, &strange, &["doctor", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let finding = findings.iter().find(|it| it["what"] == "environment").unwrap();
    assert_eq!(finding["state"], "doubtful");
    let text = finding["text"].as_str().unwrap();
    assert!(text.contains("did you mean `MILEPOST_STORE_PATH`?"), "{text}");
}

#[test]
fn a_misspelt_workflow_is_recognised() {
    let project = Project::new();
    let output = project.milepost(&["workflow", "show", "sprnt_task"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("did you mean `SPRINT_TASK`?"), "{talk}");
    let output = project.milepost(&["workflow", "new", "My Flow"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("`milepost workflow check 'My Flow'`"), "{talk}");
}

#[test]
fn nobody_is_bothered_when_the_reader_has_had_enough() {
    let project = Project::new();
    start(&project, "one");
    let mut command = project.milepost(&["run", "show", "one"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn shells_complete_run_ids_keys_and_workflow_names() {
    let project = Project::new();
    let started = start(&project, "scene-7");
    let run = started["run"].as_str().unwrap();
    let offered = |words: &[&str]| {
        let mut command = project.milepost(&["--", "milepost"]);
        command.args(words).env("COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(offered(&["run", "show", "run_"]).contains(run));
    assert_eq!(offered(&["run", "show", "scene"]), "scene-7");
    assert_eq!(offered(&["workflow", "show", "SPR"]), "SPRINT_TASK");
    assert_eq!(offered(&["gate", "approve", "run_"]), "");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&project, &[], &["completions", shell]);
        assert!(script.contains("COMPLETE") && script.contains("milepost"), "{shell}: {script}");
    }
}

#[test]
fn a_run_is_followed_while_it_happens_until_it_ends() {
    let project = Project::new();
    start(&project, "one");
    let mut command = project.milepost(&["run", "watch", "one", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|it| {
        let event: Value = serde_json::from_str(&it.unwrap()).unwrap();
        assert_eq!(event["version"], 1);
        event["kind"].as_str().unwrap().to_owned()
    });
    assert_eq!(lines.next().unwrap(), "RunStarted");
    assert_eq!(lines.next().unwrap(), "StepEntered");
    // Another process changes it.
    project.ask(&["run", "cancel", "one"]);
    assert_eq!(lines.next().unwrap(), "RunCancelled");
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_a_command_answers_at_once_is_not_mixed_with_log_lines() {
    let project = Project::new();
    let quiet = project.milepost(&["run", "list", "--json"]).output().unwrap();
    assert!(quiet.stderr.is_empty(), "{quiet:?}");
    start(&project, "one");
    let mut command = project.milepost(&["run", "cancel", "one", "--log-level", "debug"]);
    let loud = command.args(["--set", "log.file=milepost.log"]).output().unwrap();
    let talk = String::from_utf8(loud.stderr).unwrap();
    let logged = talk.lines().find(|it| it.starts_with('{')).unwrap();
    assert_eq!(serde_json::from_str::<Value>(logged).unwrap()["level"], "DEBUG");
    let kept = std::fs::read_to_string(project.path("milepost.log")).unwrap();
    assert!(kept.contains("cancel_run"), "{kept}");
}

/// A `milepost serve` that is stopped when it goes out of sight.
struct Page {
    child: Child,
    address: String,
}

impl Page {
    fn open(project: &Project) -> Self {
        let mut command = project.milepost(&["serve", "--address", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["address"].as_str().unwrap().replace("http://", "");
        Self { child, address }
    }

    /// Gets `path` under the name `host`, and returns the whole answer.
    fn get(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn the_status_page_shows_runs_to_this_machine_only() {
    let project = Project::new();
    start(&project, "one");
    let page = Page::open(&project);
    let shown = page.get("/", &page.address);
    assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
    assert!(shown.contains("content-security-policy: default-src 'none'"), "{shown}");
    assert!(shown.contains("<b>1</b>running") && shown.contains("WORK"), "{shown}");
    assert!(shown.contains("&lt;b&gt;&amp;") && !shown.contains("<b>&"), "{shown}");
    assert!(page.get("/healthz", "localhost").ends_with("\r\n\r\nok\n"));
    assert!(page.get("/readyz", "[::1]:1234").ends_with("\r\n\r\nready\n"));
    assert!(page.get("/none", "localhost").starts_with("HTTP/1.1 404"));
    for name in ["example.com", "127.0.0.1.example.com", "127.example.com:80", ""] {
        assert!(page.get("/", name).starts_with("HTTP/1.1 403"), "{name}");
    }
    let again = project.milepost(&["serve", "--address", &page.address]).output().unwrap();
    let talk = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(1), "{talk}");
    assert!(talk.contains("is taken"), "{talk}");
}
