//! What every command prints, word for word: transcripts in `output/*.txt`. A line `$ …` is typed,
//! what follows is what came; `!` marks standard error. `<<< 'ok;quit'` types these lines. `UPDATE_EXPECT=1` writes them again.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use expect_test::expect_file;
use regex::Regex;
use serde_json::{Value, json};

use project::Project;
use server::{Era, Server};

const WORKFLOWS: &str = include_str!("output/workflows.md");
/// A gate at which an agent may pass the answer on.
const RELAYED: &str = "\
== .milepost/workflows/RELAYED/index.md
---
gates: relayed
---
1. [Plan](steps/plan.md)
== .milepost/workflows/RELAYED/steps/plan.md
---
gate: true
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Plan it.";
/// A graph that asks for an input, and a step with guards.
const TRIED: &str = "\
== .milepost/workflows/change.yaml
name: change
description: A change
inputs: {branch: {type: string, description: Where to}}
workflow:
  goal: Change it on ${{ inputs.branch }}
  root: plan
  tree:
    plan: {goal: 'Plan it for ${{ inputs.branch }}', next_allowed_nodes: [build], needs_approval: true}
    build: {goal: Build it, acceptance_criteria: {tests: 'Tests pass on ${{ inputs.branch }}'}, next_allowed_nodes: [plan, done]}
    done: {goal: Done}
== .milepost/workflows/GUARDED/index.md
---
language: 3
decider: declared
---
1. [Write](steps/write.md)
== .milepost/workflows/GUARDED/steps/write.md
---
produces: [{path: notes.md, words: 3, matches: {'(?m)^By: \\w': 'a line \"By: NAME\"'}}]
checks: [[make, test]]
next: [FINISH]
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Write notes.md.
";
/// Graphs, of which not all are right.
const GRAPHS: &str = include_str!("output/graphs.yaml");
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/orchestrator.sqlite");

/// A project with small workflows of its own, and none of the built-in.
fn project() -> Project {
    let project = Project::new().with("MILEPOST_WORKFLOWS_BUILTIN", "false");
    project.write_all(WORKFLOWS);
    fs::copy(FIXTURE, project.path("orchestrator.sqlite")).unwrap();
    project
}

/// Starts a run with a key, and reports on its steps one after the other.
fn run(project: &Project, workflow: &str, key: &str, reports: &[Value]) {
    // A server each, so that no two runs begin in the same millisecond.
    let server = Server::inside(project, &[], Era::Legacy);
    let context = json!({"task": format!("a task called {key}")});
    let started = server
        .call("start_workflow", json!({"workflow_name": workflow, "key": key, "context": context}));
    assert!(!started.is_error, "{started:?}");
    for report in reports {
        let arguments = json!({"instance_id": started.value["instance_id"], "report": report});
        let answer = server.call("advance_workflow", arguments);
        assert!(!answer.is_error, "{answer:?}");
    }
}

fn done(step: &str, message: &str) -> Value {
    json!({"step_id": step, "status": "success", "result": null, "message": message})
}

/// Runs what stands in a transcript, and compares what came.
fn check(project: &Project, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/output").join(name);
    let script = fs::read_to_string(&path).unwrap_or_default();
    let mut names = Names::new(project);
    if script.contains("MILEPOST_APPROVE_TOKEN") {
        project.approve_token();
    }
    let mut text = String::new();
    for line in script.lines().filter(|it| it.starts_with("$ ")) {
        text.push_str(line);
        text.push('\n');
        let typed = line.trim_start_matches("$ ");
        text.push_str(&names.replace(&perform(project, typed)));
    }
    expect_file![path].assert_eq(&text);
}

fn perform(project: &Project, typed: &str) -> String {
    let mut words = split(typed);
    let input = words.iter().position(|it| it == "<<<").map(|it| words.drain(it..).nth(1).unwrap());
    let at = words.iter().position(|it| it == "milepost").unwrap();
    let arguments: Vec<&str> = words[at + 1..].iter().map(String::as_str).collect();
    let mut command = project.milepost(&arguments);
    command.envs(words[..at].iter().map(|it| it.split_once('=').unwrap()));
    let output = match input {
        None => command.stdin(Stdio::null()).output().unwrap(),
        Some(lines) => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let lines = format!("{}\n", lines.replace(';', "\n"));
            child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        }
    };
    let mut text = String::from_utf8(output.stdout).unwrap();
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        text.push_str(&format!("! {line}\n"));
    }
    match output.status.code() {
        Some(0) => text,
        code => format!("{text}[exit {}]\n", code.unwrap()),
    }
}

/// Returns what the system calls anyone who runs this.
fn person() -> String {
    let asked = Command::new("id").arg("-un").output();
    let name = asked.ok().filter(|it| it.status.success()).map(|it| it.stdout);
    let name = name.and_then(|it| String::from_utf8(it).ok()).unwrap_or_default();
    if name.trim().is_empty() { "someone".to_owned() } else { name.trim().to_owned() }
}

/// Splits a line into words, with single quotes about what belongs together.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

/// What differs from one time to the next, and what stands for it.
struct Names {
    folder: String,
    person: Regex,
    runs: BTreeMap<String, usize>,
    rules: Vec<(Regex, &'static str)>,
}

impl Names {
    fn new(project: &Project) -> Self {
        let rule = |pattern: &str, name| (Regex::new(pattern).unwrap(), name);
        let folder = project.path("").canonicalize().unwrap();
        Self {
            folder: folder.display().to_string(),
            person: Regex::new(&format!(r"\b{}\b", person())).unwrap(),
            runs: BTreeMap::new(),
            rules: vec![
                rule(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "MOMENT"),
                rule(r"(20(2[6-9]|[3-9]\d)-\d\d-\d\d )\d\d:\d\d:\d\d UTC", "DATE TIME UTC"),
                rule(r"20(2[6-9]|[3-9]\d)-\d\d-\d\d", "DATE"),
                rule(r"\b\d\d:\d\d:\d\d\b", "TIME"),
                rule(r"(just now|\d+[smhd] ago)", "AGO"),
                rule(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}\b", "UUID"),
                rule(r"\b[0-9a-f]{64}\b", "DIGEST"),
                rule(r"(^|[^-0-9a-f])[0-9a-f]{12}\b", "${1}DIGEST"),
                rule(r"\b[0-9a-f]{13}\.RUN", "CURSOR.RUN"),
                rule(r#""score": [\d.]+"#, "\"score\": SCORE"),
                rule(r"/\S*milepost-try-\w+", "SCRATCH"),
                rule(r"\d+ KiB\)", "SIZE)"),
                rule(r#""bytes": \d+"#, "\"bytes\": SIZE"),
                // Columns are as wide as what was replaced; carets stay where they are.
                rule(r"(?m)^([^|\n]*?[^|\s])   +", "$1  "),
                rule(r"(?m) +$", ""),
            ],
        }
    }

    fn replace(&mut self, text: &str) -> String {
        let home = self.folder.replace("/work", "/home");
        let text = text.replace(&self.folder, "PROJECT").replace(&home, "HOME");
        let mut text = self.person.replace_all(&text, "PERSON").into_owned();
        // Ids are named by the order in which they are seen; ten letters tell them apart.
        for found in Regex::new(r"run_[0-9a-z]{10,26}").unwrap().find_iter(&text) {
            let count = self.runs.len() + 1;
            self.runs.entry(found.as_str()[..14].to_owned()).or_insert(count);
        }
        for (run, number) in &self.runs {
            let whole = Regex::new(&format!("{run}[0-9a-z]*")).unwrap();
            text = whole.replace_all(&text, format!("RUN{number}")).into_owned();
        }
        for (pattern, name) in &self.rules {
            // A pattern with a head of its own is found once in a line at each turn.
            for _ in 0..8 {
                text = pattern.replace_all(&text, *name).into_owned();
            }
        }
        text
    }
}

#[test]
fn commands_on_a_project_without_a_database_say_so_and_create_nothing() {
    let project = project();
    check(&project, "nothing_stored.txt");
    assert!(!project.path(".milepost/milepost.db").exists());
    assert!(!project.path(".milepost/project.toml").exists());
}

#[test]
fn runs_are_listed_shown_and_steered() {
    let project = project();
    run(&project, "SMALL", "first", &[done("Draft", "wrote it"), done("Publish", "it is out")]);
    run(&project, "SMALL", "second", &[done("Draft", "wrote \u{1b}[31mred\u{202e} it")]);
    check(&project, "runs.txt");
}

#[test]
fn a_run_that_is_over_is_deleted() {
    let project = project();
    run(&project, "SMALL", "first", &[done("Draft", "wrote it"), done("Publish", "it is out")]);
    run(&project, "SMALL", "second", &[done("Draft", "wrote more")]);
    check(&project, "deleting.txt");
    let audit = project.ask(&["audit"]);
    assert_eq!((&audit["is_fine"], &audit["runs"]), (&json!(true), &json!([])));
    let doctor = project.ask(&["doctor"]).to_string();
    assert!(doctor.contains(": 0 runs, 0 events, "), "{doctor}");
}

#[test]
fn gates_are_shown_and_answered() {
    let project = project();
    project.write("plan.md", "# Plan\n\nFirst this, then that.\n");
    run(&project, "ASKING", "a1", &[done("Plan", "the plan is written")]);
    run(&project, "ASKING", "a2", &[done("Plan", "the plan is written")]);
    check(&project, "gates.txt");
    project.write("plan.md", "# Plan\n\nSomething else.\n");
    check(&project, "gate_with_changed_files.txt");
    fs::write(project.path("plan.md"), [0x89, b'P', b'N', b'G', 0xff]).unwrap();
    check(&project, "gate_with_a_picture.txt");
    project.write("plan.md", "# Plan\n\nSomething else.\n");
    let shown = project.ask(&["gate", "show", "a1"]);
    let digest = shown["gate"]["digest"].as_str().unwrap();
    let answered = project.ask(&["gate", "approve", "a1", "--digest", digest]);
    assert_eq!(answered["answer"], "approve");
    assert_eq!(answered["run"]["step"], "Build");
    run(&project, "ASKING", "a3", &[done("Plan", "the plan is written")]);
    let only = project.ask(&["gate"]);
    assert_eq!(only["gate"]["step"], "Plan", "the only one is shown: {only:#}");
    assert_eq!(project.ask(&["gate", "approve", "--yes"])["answer"], "approve");
    assert_eq!(project.ask(&["gate"])["gates"], serde_json::json!([]));
}

#[test]
fn workflows_are_listed_drawn_checked_and_written() {
    check(&project(), "workflows.txt");
}

#[test]
fn graphs_are_listed_drawn_and_checked() {
    let project = Project::new().with("MILEPOST_WORKFLOWS_BUILTIN", "false");
    project.write_all(GRAPHS);
    check(&project, "graphs.txt");
}

#[test]
fn a_run_goes_on_with_the_graph_that_it_began_with() {
    let project = Project::new().with("MILEPOST_WORKFLOWS_BUILTIN", "false");
    project.write_all(GRAPHS);
    let server = Server::inside(&project, &[], Era::Legacy);
    let call = |server: &Server, tool: &str, arguments: Value| server.call(tool, arguments).value;
    let inputs = json!({"inputs": {"task_description": "the task", "n": 3}});
    let begun =
        call(&server, "start_workflow", json!({"workflow_name": "Tiny", "context": inputs}));
    assert_eq!(
        begun["next_step"]["instructions"],
        "Think about the task, with n=3.\n\nTake your time."
    );
    project.write(".accordo/workflows/tiny.yaml", "name: [");
    drop(server);
    let server = Server::inside(&project, &[], Era::Legacy);
    let arguments = json!({
        "instance_id": begun["instance_id"],
        "report": {"step_id": "Alpha", "status": "success"},
    });
    assert_eq!(call(&server, "advance_workflow", arguments)["status"], "SUSPENDED");
    let answer = json!({"instance_id": begun["instance_id"], "answer": "approve"});
    let answered = call(&server, "answer_gate", answer);
    // Only `Beta` may follow, and it ends the run.
    assert_eq!(answered["status"], "COMPLETED", "{answered:#}");
}

#[test]
fn the_guide_is_printed_as_it_is_written() {
    let guide = project().milepost(&["workflow", "guide"]).output().unwrap().stdout;
    let written = include_str!("../../../docs/guide/writing-workflows.md");
    assert_eq!(String::from_utf8(guide).unwrap(), written);
}

#[test]
fn an_answer_that_was_passed_on_is_shown_as_such() {
    let project = project();
    project.write_all(RELAYED);
    run(&project, "RELAYED", "r1", &[done("Plan", "the plan is written")]);
    let server = Server::inside(&project, &[], Era::Legacy);
    let said = json!({"instance_id": "r1", "answer": "approve", "person": "ann"});
    assert!(!server.call("answer_gate", said).is_error);
    let shown = project.milepost(&["run", "show", "r1"]).output().unwrap().stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("Plan approve by ann, relayed by an agent"), "{shown}");
}

#[test]
fn words_are_found_and_briefs_are_printed() {
    let project = project();
    let failed = json!({"step_id": "Publish", "status": "failure", "result": null, "error": "the network is down"});
    run(&project, "SMALL", "first", &[done("Draft", "wrote it"), failed]);
    check(&project, "search_and_brief.txt");
}

#[test]
fn settings_come_from_many_places_and_all_problems_are_told_at_once() {
    let project = project();
    project.write(
        "../home/.config/milepost/config.toml",
        "[brief]\ntokens = 900\n[limits]\nparts = 7\n",
    );
    project.write(
        ".milepost/config.toml",
        "[brief]\ntokens = 1000\n[store]\npath = \"data/runs.db\"\n",
    );
    check(&project, "settings_of_an_untrusted_project.txt");
    project.ask(&["trust", "--yes"]);
    check(&project, "settings.txt");
    project.write("../home/.config/milepost/config.toml", "[checks]\nallow = true\n");
    project.write(
        ".milepost/config.toml",
        "speed = 1\n[store]\npth = \"x\"\n[brief]\ntokens = \"many\"\n",
    );
    check(&project, "settings_with_problems.txt");
}

#[test]
fn runs_of_the_original_are_taken_over_once() {
    let project = project();
    check(&project, "import.txt");
    assert_eq!(fs::read(FIXTURE).unwrap(), fs::read(project.path("orchestrator.sqlite")).unwrap());
}

#[test]
fn a_copy_is_made_and_never_over_something() {
    let project = project();
    run(&project, "SMALL", "first", &[]);
    check(&project, "backup.txt");
    let copied = project.milepost(&["run", "list", "--db", "copy.db"]).output().unwrap();
    assert!(copied.status.success());
}

#[test]
fn a_lost_database_is_restored_from_a_copy_that_is_sound() {
    let project = project();
    run(&project, "SMALL", "one", &[done("Draft", "it is drafted")]);
    project.ask(&["backup", "copy.db"]);
    let copy = fs::read(project.path("copy.db")).unwrap();
    check(&project, "restore.txt");
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    project.write_all(WORKFLOWS);
    // A damaged copy is refused, and leaves nothing behind.
    let mut damaged = copy.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 4096].fill(7);
    fs::write(project.path("damaged.db"), damaged).unwrap();
    for verify in [&["--verify"][..], &[]] {
        let arguments = [&["restore", "damaged.db"], verify].concat();
        let output = project.milepost(&arguments).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        assert!(!project.path(".milepost/milepost.db").exists());
    }
    check(&project, "restored.txt");
    assert_eq!(fs::read(project.path("copy.db")).unwrap(), copy);
    assert!(project.path(".milepost/.gitignore").exists());
    let names = fs::read_dir(project.path(".milepost")).unwrap();
    let names: Vec<String> =
        names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|it| it.contains("restore")), "{names:?}");
}

#[test]
fn a_value_is_set_in_a_file_and_taken_out_again() {
    let project = project();
    let file = "../home/.config/milepost/config.toml";
    let before = "# mine\n[log]\nfile = \"x.log\" # keep\n";
    project.write(file, before);
    check(&project, "config_set.txt");
    assert_eq!(fs::read_to_string(project.path(file)).unwrap(), before);
    let own = fs::read_to_string(project.path(".milepost/config.toml")).unwrap();
    assert_eq!(own, "[brief]\ntokens = 900\n\n[gates]\nanswers = \"verified\"\n");
}

#[test]
fn what_makes_no_sense_is_usage() {
    check(&project(), "usage.txt");
}

#[test]
fn the_demo_plays() {
    check(&project(), "demo.txt");
}

#[test]
fn a_workflow_is_walked_without_an_agent() {
    let project = project();
    project.write_all(TRIED);
    check(&project, "trying.txt");
    let text = perform(&project, "milepost workflow try GUARDED --json <<< 'ok'");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["calls"][0]["now"]["checks"], json!(["make test"]));
    let refused = "artifact `notes.md` is missing from step `Write`";
    assert_eq!(told["calls"][1]["refused"], refused);
    assert_eq!(told["run"]["status"], "running");
    // Nothing of it is stored.
    assert!(!project.path(".milepost/milepost.db").exists());
}
